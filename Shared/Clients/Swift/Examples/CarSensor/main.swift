// A car's sensor in one file of app code: what Caravan asks of an app are the lines that end in "// sync" below.

import CaravanClient
import CommandLineOptions
import Foundation

let socket = Flag<String>("socket", "PATH", "socket of the device's agent", environment: "CARAVAN_SOCKET")
let app = Flag<String>("app", "NAME", "the app's name, which is its container's", default: "car")
let period = Flag<Duration>("period", "TIME", "how often samples are looked at; 0s: at once", default: .seconds(60))
let tolerance = Flag<Duration>("delay-tolerance", "TIME", "how long they may wait then", default: .seconds(60))
let loss = Flag<Double>(
  "loss", "SHARE", "share of samples that may be lost; they then only go along with other data", default: 0)
let speed = Flag<Double>("speed", "N", "times as fast as it was driven, at a sample a second", default: 1)
let common: FlagList = [socket, app]

let commands = CommandSet(
  "caravan-car", "What a car's sensors say, second by second, on all your devices.",
  [
    Command(
      "caravan-car drive", "Replays a drive: a CSV file of an OBD2 reader, a line a second.",
      operands: .init("FILE", 1...1), flags: common + [period, tolerance, loss, speed]),
    Command("caravan-car follow", "Keeps the drives of other devices here.", flags: common + [period, tolerance]),
    Command("caravan-car show", "Sums up the drives that are here.", flags: common),
  ])

/// Columns of the reader's file, and what they are called here.
let sensors = [
  ("ENGINE_RPM", "rpm"), ("VEHICLE_SPEED", "speed"), ("ENGINE_LOAD", "load"), ("THROTTLE", "throttle"),
  ("COOLANT_TEMPERATURE", "coolant"), ("FUEL_TANK", "fuel"), ("INTAKE_AIR_TEMP", "intake"),
]

func makeTable(_ client: CaravanClient) async throws -> Table {
  let columns = ["drive VARCHAR", "second INTEGER"] + sensors.map { "\($0.1) FLOAT" }
  return try await client.createTable("samples", columns.joined(separator: ", "))  // sync
}

func share(_ samples: Table, _ options: Options) async throws {
  guard (0...1).contains(options[loss]) else { throw CaravanError(.invalidData, "--loss is a number from 0 to 1") }
  let lost = options[loss] > 0 ? LossTolerance(maximumPermille: UInt32(options[loss] * 1000)) : nil  // sync
  try await samples.registerWriteSync(  // sync
    period: options[period], delayTolerance: options[tolerance], link: .cellular, loss: lost)  // sync
}

/// A drive's samples, line by line.
func samples(of file: String) throws -> [[String: Value]] {
  guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
    throw CaravanError(.invalidData, "'\(file)' cannot be read: is it there, and a CSV file?")
  }
  let lines = text.split(whereSeparator: \.isNewline)
  guard let head = lines.first else { return [] }
  let names = head.split(separator: ",").map { $0.split(separator: " ").first.map(String.init) ?? "" }
  let wanted = sensors.compactMap { sensor in names.firstIndex(of: sensor.0).map { (column: sensor.1, index: $0) } }
  guard !wanted.isEmpty else {
    throw CaravanError(.invalidData, "'\(file)' has none of the columns \(sensors.map(\.0).joined(separator: ", "))")
  }
  return lines.dropFirst().map { line in
    let fields = line.split(separator: ",", omittingEmptySubsequences: false)
    var cells: [String: Value] = [:]
    for (column, index) in wanted where index < fields.count {
      if let number = Double(fields[index].trimmingCharacters(in: .whitespaces)) { cells[column] = .real(number) }
    }
    return cells
  }
}

func drive(_ file: String, in table: Table, _ options: Options) async throws {
  let name = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
  let lines = try samples(of: file)
  guard options[speed] > 0 else { throw CaravanError(.invalidData, "--speed is a number above 0") }
  let start = ContinuousClock.now
  for (second, sample) in lines.enumerated() {
    try await Task.sleep(until: start + .seconds(Double(second) / options[speed]), clock: .continuous)
    let place: [String: Value] = ["drive": .text(name), "second": .integer(Int64(second))]
    try await table.write(sample.merging(place) { $1 })  // sync
  }
  print("\(name): \(lines.count) samples")
}

func show(_ table: Table) async throws {
  var drives: [String: (samples: Int, fastest: Double, kilometres: Double)] = [:]
  for try await row in table.rows(columns: ["drive", "speed"]) {  // sync
    guard case .text(let name) = row["drive"] else { continue }
    var sum = drives[name] ?? (0, 0, 0)
    sum.samples += 1
    if case .real(let speed) = row["speed"] {
      sum.fastest = max(sum.fastest, speed)
      sum.kilometres += speed / 3600
    }
    drives[name] = sum
  }
  for (name, sum) in drives.sorted(by: { $0.key < $1.key }) {
    print(
      "\(name): \(sum.samples) samples, \(String(format: "%.1f km, at most %.0f km/h", sum.kilometres, sum.fastest))")
  }
}

func run(_ command: Command, _ options: Options) async throws {
  try await CaravanClient.withConnection(to: options[socket], app: options[app]) { client in  // sync
    let table = try await makeTable(client)
    switch command.name.split(separator: " ").last {
    case "drive":
      try await share(table, options)
      try await drive(options.operands[0], in: table, options)
    case "follow":
      try await table.registerReadSync(  // sync
        period: options[period], delayTolerance: options[tolerance], link: .cellular)  // sync
    default: try await show(table)
    }
  }
}

commands.run(run)
