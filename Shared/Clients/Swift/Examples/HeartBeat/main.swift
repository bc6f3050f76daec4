// A heart monitor in one file of app code: what Caravan asks of an app are the lines that end in "// sync" below.

import CaravanClient
import CommandLineOptions
import FoundationEssentials

let socket = Flag<String>("socket", "PATH", "socket of the device's agent", environment: "CARAVAN_SOCKET")
let app = Flag<String>("app", "NAME", "the app's name, which is its container's", default: "heartbeat")
let period = Flag<Duration>("period", "TIME", "how often beats are looked at; 0s: at once", default: .seconds(600))
let tolerance = Flag<Duration>("delay-tolerance", "TIME", "how long they may wait then", default: .seconds(600))
let alarm = Flag<Int>("alarm", "RATE", "beats a minute that somebody must hear of at once", default: 180, in: 1...300)
let seconds = Flag<Int>("seconds", "N", "how long the sensor is worn", default: 60, in: 1...86_400)
let speed = Flag<Double>("speed", "N", "times as fast as the clock", default: 1)
let common: FlagList = [socket, app]

let commands = CommandSet(
  "caravan-heartbeat", "A heart's rate, second by second, and its alarms, on all your devices.",
  [
    Command(
      "caravan-heartbeat wear", "Records a run: rate, cadence and height, as a sensor at the chest has them.",
      flags: common + [period, tolerance, alarm, seconds, speed]),
    Command("caravan-heartbeat follow", "Keeps what other devices record here.", flags: common),
    Command("caravan-heartbeat show", "Sums up what is here.", flags: common),
  ])

func beats(of client: CaravanClient) async throws -> Table {
  try await client.createTable("beats", "at INTEGER, rate INTEGER, cadence INTEGER, height FLOAT")  // sync
}

/// What a sensor would say of somebody who runs up a hill, and sprints every now and then.
func sample(_ second: Int) -> (rate: Int, cadence: Int, height: Double) {
  let effort = min(1, Double(second) / 600) * 0.7 + (second % 40 >= 35 ? 0.5 : 0)
  return (Int(70 + 100 * effort), Int(140 + 40 * effort), 400 + Double(second) / 20)
}

func wear(_ beats: Table, _ options: Options) async throws {
  guard options[speed] > 0 else { throw CaravanError(.invalidData, "--speed is a number above 0") }
  try await beats.registerWriteSync(  // sync
    period: options[period], delayTolerance: options[tolerance], link: .cellular)  // sync
  let start = ContinuousClock.now
  let day = Int64(Date().timeIntervalSince1970)
  var alarms = 0
  for second in 0..<options[seconds] {
    try await Task.sleep(until: start + .seconds(Double(second) / options[speed]), clock: .continuous)
    let (rate, cadence, height) = sample(second)
    let cells: [String: Value] = [
      "at": .integer(day + Int64(second)), "rate": .integer(Int64(rate)), "cadence": .integer(Int64(cadence)),
      "height": .real(height),
    ]
    let isAlarm = rate >= options[alarm]
    alarms += isAlarm ? 1 : 0
    try await beats.write(cells, intent: isAlarm ? WriteIntent(within: .zero) : WriteIntent())  // sync
  }
  print("\(options[seconds]) samples, \(alarms) of them alarms")
}

func show(_ beats: Table) async throws {
  var rates: [Int64] = []
  for try await row in beats.rows(columns: ["rate"], orderBy: [("at", false)]) {  // sync
    if case .integer(let rate) = row["rate"] { rates.append(rate) }
  }
  let mean = rates.isEmpty ? 0 : rates.reduce(0, +) / Int64(rates.count)
  print("\(rates.count) samples, \(mean) beats a minute, at most \(rates.max() ?? 0)")
}

func run(_ command: Command, _ options: Options) async throws {
  try await CaravanClient.withConnection(to: options[socket], app: options[app]) { client in  // sync
    let beats = try await beats(of: client)
    switch command.name.split(separator: " ").last {
    case "wear": try await wear(beats, options)
    case "follow": try await beats.registerReadSync(period: .zero, delayTolerance: .zero, link: .cellular)  // sync
    default: try await show(beats)
    }
  }
}

commands.run(run)
