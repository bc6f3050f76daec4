// A photo album in one file of app code: what Caravan asks of an app is the calls on `album` below.

import CaravanClient
import CommandLineOptions
import Exif
import Foundation

let socket = Flag<String>("socket", "PATH", "socket of the device's agent", environment: "CARAVAN_SOCKET")
let app = Flag<String>("app", "NAME", "the app's name, which is its container's", default: "album")
let period = Flag<Duration>("period", "TIME", "how often changes are looked at; 0s: at once", default: .zero)
let tolerance = Flag<Duration>("delay-tolerance", "TIME", "how long they may wait then", default: .zero)
let digests = Flag<Bool>("digests", "", "print each photo's SHA-256 and name only, in the order of the names")
let common: FlagList = [socket, app]

let commands = CommandSet(
  "caravan-album", "An album of photos that is the same on all your devices.",
  [
    Command("caravan-album join", "Makes the album here and keeps it in sync.", flags: common + [period, tolerance]),
    Command(
      "caravan-album import", "Adds the photos of a folder: name, date and place from EXIF, and the photo itself.",
      operands: .init("FOLDER", 1...1), flags: common + [period, tolerance]),
    Command("caravan-album show", "Lists the photos that are here.", flags: common + [digests]),
    Command("caravan-album watch", "Says when photos arrive, until it is stopped.", flags: common),
    Command("caravan-album samples", "Makes a folder with a few pictures.", operands: .init("FOLDER", 1...1)),
  ])

/// SIM-30: the walk-through of the Simba paper, §3.2.
func join(_ client: CaravanClient, _ options: Options) async throws -> Table {
  let album = try await client.createTable(
    "photos", "name VARCHAR, date INTEGER, latitude FLOAT, longitude FLOAT, photo OBJECT")
  try await album.registerWriteSync(period: options[period], delayTolerance: options[tolerance], link: .wifi)
  try await album.registerReadSync(period: options[period], delayTolerance: options[tolerance], link: .cellular)
  return album
}

func add(_ file: URL, to album: Table) async throws {
  let photo = try FileHandle(forReadingFrom: file)
  defer { try? photo.close() }
  let facts = PhotoFacts(jpeg: Array(try photo.read(upToCount: 128 << 10) ?? Data()))
  try photo.seek(toOffset: 0)
  let cells: [String: Value] = [
    "name": .text(file.lastPathComponent), "date": facts.takenAt.map(Value.integer) ?? .null,
    "latitude": facts.latitude.map(Value.real) ?? .null, "longitude": facts.longitude.map(Value.real) ?? .null,
  ]
  try await album.write(cells, objects: ["photo"]) { objects in
    var offset: UInt64 = 0
    while let piece = try photo.read(upToCount: 256 << 10), !piece.isEmpty {
      try await objects.write(piece, to: "photo", at: offset)
      offset += UInt64(piece.count)
    }
  }
  print("\(file.lastPathComponent): \(describe(cells))")
}

func importFolder(_ folder: String, into album: Table) async throws {
  let known = Set(try await album.rows(columns: ["name"]).all().map { $0["name"] })
  let place = URL(fileURLWithPath: folder)
  guard let files = try? FileManager.default.contentsOfDirectory(at: place, includingPropertiesForKeys: nil) else {
    throw CaravanError(.invalidData, "'\(folder)' cannot be listed: is it there, and a folder?")
  }
  let photos = files.filter { ["jpg", "jpeg", "png"].contains($0.pathExtension.lowercased()) }
    .sorted { $0.lastPathComponent < $1.lastPathComponent }
  for photo in photos where !known.contains(.text(photo.lastPathComponent)) { try await add(photo, to: album) }
}

func describe(_ cells: [String: Value]) -> String {
  var parts: [String] = []
  if case .integer(let seconds)? = cells["date"] {
    let time = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    parts.append(time.prefix(16).replacingOccurrences(of: "T", with: " "))
  }
  if case .real(let north)? = cells["latitude"], case .real(let east)? = cells["longitude"] {
    parts.append(String(format: "%.4f %.4f", north, east))
  }
  return parts.isEmpty ? "without date and place" : parts.joined(separator: ", ")
}

func show(_ album: Table, digestsOnly: Bool) async throws {
  for try await row in album.rows(orderBy: [("name", false)]) {
    guard case .text(let name) = row["name"] else { continue }
    if digestsOnly {
      print("\(try await digest(of: row, in: album))  \(name)")
    } else {
      let size = Double(row.objects["photo"] ?? 0) / 1024
      print(
        "\(name.padding(toLength: max(28, name.count), withPad: " ", startingAt: 0)) "
          + "\(String(format: "%8.1f KiB", size))  \(describe(row.cells))")
    }
  }
}

/// At once, even into a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

func watch(_ client: CaravanClient, _ album: Table) async throws {
  try await album.watch()
  while let upcall = try await client.nextUpcall() {
    switch upcall.kind {
    case .newData: say("\(upcall.rows) new or changed")
    case .rowsLost: say("\(upcall.rows) were lost before they were sent")
    case .lookAnew: say("much has changed: list photos again")
    case .conflict: say("\(upcall.rows) in conflict: caravan app … conflicts photos")
    }
  }
}

func run(_ command: Command, _ options: Options) async throws {
  if command.name.hasSuffix("samples") { return try SamplePictures.make(in: options.operands[0]) }
  try await CaravanClient.withConnection(to: options[socket], app: options[app]) { client in
    switch command.name.split(separator: " ").last {
    case "join": _ = try await join(client, options)
    case "import": try await importFolder(options.operands[0], into: join(client, options))
    case "show": try await show(client.table("photos"), digestsOnly: options[digests])
    default: try await watch(client, client.table("photos"))
    }
  }
}

commands.run(run)
