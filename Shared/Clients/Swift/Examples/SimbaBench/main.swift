// The Simba paper's benchmark app (§7.2): a row with an object every so often. What Caravan asks of an app are the
// lines that end in "// sync" below.

import CaravanClient
import CommandLineOptions

let socket = Flag<String>("socket", "PATH", "socket of the device's agent", environment: "CARAVAN_SOCKET")
let app = Flag<String>("app", "NAME", "the app's name, which is its container's", default: "simbabench")
let rows = Flag<Int>("rows", "N", "rows to write", default: 60, in: 1...1_000_000)
let bytes = Flag<Int>("bytes", "N", "of each object", default: 1 << 20, in: 1...256 << 20)
let cells = Flag<Int>("cells", "N", "bytes of each row beside it", default: 100, in: 1...100_000)
let entropy = Flag<Int>("compressible", "PERCENT", "of the object", default: 50, in: 0...100)
let every = Flag<Duration>("every", "TIME", "between two rows", default: .seconds(10))
let period = Flag<Duration>("period", "TIME", "how often changes are looked at", default: .seconds(60))
let tolerance = Flag<Duration>("delay-tolerance", "TIME", "how long they may wait then", default: .zero)
let common: FlagList = [socket, app]

let commands = CommandSet(
  "caravan-simbabench", "Writes rows with objects at a steady pace, and says what that took.",
  [
    Command(
      "caravan-simbabench write", "Writes the rows.",
      flags: common + [rows, bytes, cells, entropy, every, period, tolerance]),
    Command("caravan-simbabench read", "Keeps other devices' rows here.", flags: common + [period, tolerance]),
    Command("caravan-simbabench count", "Counts rows and bytes that are here, whole.", flags: common),
  ])

/// Random bytes for the part that is not to be compressed, a line again and again for the rest.
func object(_ number: Int, _ options: Options) -> [UInt8] {
  var chance = SystemRandomNumberGenerator()
  let random = options[bytes] * (100 - options[entropy]) / 100
  var object = (0..<random).map { _ in UInt8.random(in: 0...255, using: &chance) }
  let line = Array("row \(number) of a benchmark\n".utf8)
  while object.count < options[bytes] { object += line.prefix(options[bytes] - object.count) }
  return object
}

func write(_ table: Table, _ options: Options) async throws {
  try await table.registerWriteSync(  // sync
    period: options[period], delayTolerance: options[tolerance], link: .cellular)  // sync
  let start = ContinuousClock.now
  var took: [Duration] = []
  for number in 0..<options[rows] {
    let next = object(number, options)
    try await Task.sleep(until: start + options[every] * number, clock: .continuous)
    let began = ContinuousClock.now
    let filler = String(repeating: "x", count: options[cells])
    try await table.write(["number": .integer(Int64(number)), "filler": .text(filler)], objects: ["thing"]) {  // sync
      try await $0.write(next, to: "thing", at: 0)  // sync
    }  // sync
    took.append(ContinuousClock.now - began)
  }
  let sorted = took.sorted()
  print(
    "\(took.count) rows, each durable after \(sorted[sorted.count / 2]) (median), \(sorted[sorted.count - 1]) at most")
}

func count(_ table: Table) async throws {
  var (rows, bytes) = (0, 0)
  for try await row in table.rows(columns: ["number"]) {  // sync
    rows += 1
    for try await piece in table.contents(of: "thing", row: row.id) { bytes += piece.count }  // sync
  }
  print("\(rows) rows, \(bytes) bytes of objects")
}

func run(_ command: Command, _ options: Options) async throws {
  try await CaravanClient.withConnection(to: options[socket], app: options[app]) { client in  // sync
    let table = try await client.createTable("rows", "number INTEGER, filler VARCHAR, thing OBJECT")  // sync
    switch command.name.split(separator: " ").last {
    case "write": try await write(table, options)
    case "read":
      try await table.registerReadSync(  // sync
        period: options[period], delayTolerance: options[tolerance], link: .cellular)  // sync
    default: try await count(table)
    }
  }
}

commands.run(run)
