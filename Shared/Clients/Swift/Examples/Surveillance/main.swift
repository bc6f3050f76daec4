// A camera that watches a door: what Caravan asks of an app are the lines that end in "// sync" below.
//
// Pictures in which nothing moves may be lost and only go along with other data; one in which something does goes at
// once. Who looks on gets the pictures' facts, the most recent ones, and a picture itself when it is looked at.

import CaravanClient
import CommandLineOptions
import FoundationEssentials

let socket = Flag<String>("socket", "PATH", "socket of the device's agent", environment: "CARAVAN_SOCKET")
let app = Flag<String>("app", "NAME", "the app's name, which is its container's", default: "door")
let camera = Flag<String>("camera", "NAME", "which one", default: "front")
let every = Flag<Duration>("every", "TIME", "between two pictures", default: .seconds(1))
let loss = Flag<Double>("loss", "SHARE", "share of the pictures without motion that may be lost", default: 0.5)
let period = Flag<Duration>("period", "TIME", "how often those are looked at", default: .seconds(60))
let last = Flag<Int>("last", "N", "so many pictures are kept here", default: 1_000, in: 1...1_000_000)
let common: FlagList = [socket, app]

let commands = CommandSet(
  "caravan-door", "What a camera sees, on all your devices.",
  [
    Command(
      "caravan-door watch", "Takes the pictures of a folder, one after the other, as a camera would.",
      operands: .init("FOLDER", 1...1), flags: common + [camera, every, loss, period]),
    Command("caravan-door follow", "Keeps what other devices' cameras see here.", flags: common + [last]),
    Command("caravan-door show", "Lists what was seen.", flags: common),
    Command(
      "caravan-door save", "Fetches a picture, and writes it to a file.", operands: .init("ROW FILE", 2...2),
      flags: common),
  ])

func frames(_ client: CaravanClient, _ properties: TableProperties = TableProperties()) async throws -> Table {
  try await client.createTable(  // sync
    "frames", "camera VARCHAR, at INTEGER, motion INTEGER, picture OBJECT", properties: properties)  // sync
}

/// How much two pictures differ, in thousandths: what a camera's chip would say.
func motion(from old: [UInt8]?, to new: [UInt8]) -> Int64 {
  guard let old, !old.isEmpty else { return 0 }
  let count = min(old.count, new.count)
  let step = max(1, count / 4_096)
  let places = stride(from: 0, to: count, by: step)
  let changed = places.reduce(into: 0) { if old[$1] != new[$1] { $0 += 1 } }
  return Int64(changed * 1_000 / max(1, count / step))
}

func watch(_ folder: String, _ frames: Table, _ options: Options) async throws {
  guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
    throw CaravanError(.invalidData, "'\(folder)' cannot be listed: is it there, and a folder?")
  }
  guard (0...1).contains(options[loss]) else { throw CaravanError(.invalidData, "--loss is a number from 0 to 1") }
  try await frames.registerWriteSync(  // sync
    period: options[period], delayTolerance: options[period], link: .cellular,  // sync
    loss: LossTolerance(maximumPermille: UInt32(options[loss] * 1_000), isOnRequest: true))  // sync
  let files = names.filter { !$0.hasPrefix(".") }.sorted()
  var previous: [UInt8]?
  var alarms = 0
  for file in files {
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(file)) else {
      throw CaravanError(.invalidData, "'\(file)' in '\(folder)' cannot be read: is it a picture?")
    }
    let picture = Array(data)
    let motion = motion(from: previous, to: picture)
    let isAlarm = motion > 100
    let cells: [String: Value] = [
      "camera": .text(options[camera]), "at": .integer(Int64(Date().timeIntervalSince1970 * 1_000)),
      "motion": .integer(motion),
    ]
    let intent = isAlarm ? WriteIntent(within: .zero, loss: .never) : WriteIntent(loss: .tolerated)  // sync
    try await frames.write(cells, objects: ["picture"], intent: intent) {  // sync
      try await $0.write(picture, to: "picture", at: 0)  // sync
    }  // sync
    alarms += isAlarm ? 1 : 0
    previous = picture
    try await Task.sleep(for: options[every])
  }
  print("\(files.count) pictures, \(alarms) of them with motion")
}

func show(_ frames: Table) async throws {
  for try await row in frames.rows(columns: ["camera", "motion", "picture"], orderBy: [("at", false)]) {  // sync
    guard case .text(let camera) = row["camera"], case .integer(let motion) = row["motion"] else { continue }
    print("\(row.id)  \(camera)  motion \(motion)  \(row.objects["picture"] ?? 0) bytes")
  }
}

func save(_ row: String, to file: String, from frames: Table) async throws {
  let picture = try await frames.contents(of: "picture", row: row).all()  // sync
  try Data(picture).write(to: URL(fileURLWithPath: file))
}

func run(_ command: Command, _ options: Options) async throws {
  try await CaravanClient.withConnection(to: options[socket], app: options[app]) { client in  // sync
    switch command.name.split(separator: " ").last {
    case "watch": try await watch(options.operands[0], frames(client), options)
    case "follow":
      let here = TableProperties(  // sync
        replication: .recent(rows: UInt64(options[last])), fetch: ["picture": .lazy])  // sync
      let frames = try await frames(client, here)
      try await frames.registerReadSync(period: .zero, delayTolerance: .zero, link: .cellular)  // sync
    case "save": try await save(options.operands[0], to: options.operands[1], from: client.table("frames"))  // sync
    default: try await show(client.table("frames"))  // sync
    }
  }
}

commands.run(run)
