internal import CaravanCrypto
internal import CaravanLaunch
internal import CaravanModel
package import CaravanRuntime

/// `caravan-bench WHAT`: measures a suite of its own, with the machine's floors in the same run.
package enum BenchCommand {
  static let asJSON = Flag<Bool>("json", "", "one JSON line a figure")
  static let rounds = Flag<Int>(
    "rounds", "N", "operations measured (latency, fanout, local, conflicts)", default: 200, in: 5...100_000)
  static let rows = Flag<Int>(
    "rows", "N", "rows of a zone or a device (catchup, flat, index, queries, start)", default: 100_000,
    in: 400...10_000_000)
  static let seconds = Flag<Int>("seconds", "S", "length of each throughput figure", default: 4, in: 1...600)
  static let zoneRows = Flag<Int>("rows", "N", "rows of a zone (changes)", default: 20_000, in: 1_000...1_000_000)
  static let updates = Flag<Int>("rows", "N", "updates (amplification)", default: 100_000, in: 1_000...10_000_000)
  static let devices = Flag<Int>("devices", "N", "devices told (fanout)", default: 100, in: 1...10_000)

  static let trace = Flag<String>(
    "trace", "FILE", "a car's sensors as CSV, a line a second; without it made up", default: "")
  static let photos = Flag<String>("photos", "DIR", "photos to send (.jpg); without it made up", default: "")
  static let creds = Flag<String>("creds", "FILE", "credentials of the device that floods")
  static let kind = Flag<HostileKind>("kind", "KIND", "what it sends: \(HostileKind.flagKind)", default: .empty)
  static let rate = Flag<Int>("rate", "N", "frames a second", default: 200, in: 1...10_000)
  static let subscriptions = Flag<Int>(
    "subscriptions", "N", "subscriptions to queries", default: 1_000_000, in: 1_000...10_000_000)
  static let saves = Flag<Int>("saves", "N", "saves offered a second", default: 2_000, in: 1...100_000)
  static let hours = Flag<Double>("hours", "H", "virtual time", default: 2)
  static let seed = Flag<Int>("seed", "N", "of all that is random", default: 4, in: 0...1_000_000_000)

  package static let commands: [Command] = [
    command("latency", "A row saved on one device until it is durable and read on another."),
    command("throughput", "Durable saves a second: 1, 8 and 64 devices, singly and in batches."),
    command("zones", "Durable single saves a second of 64 devices: to one zone, to a zone each, to a default zone."),
    command("sizes", "A save of 1 to 400 records."),
    command("contention", "How often saves to one zone are aborted, by how many write to it."),
    command("flat", "A save, an update and a pull in zones of 1,000 records and more."),
    command("reads", "A record, a page of changes and a query, as one client waits for them."),
    command("queries", "A page of a query by each kind of index, and how long a save takes until it is found."),
    Command(
      "caravan-bench index", "Saves beside an index that is built, and how long a save takes until a query finds it.",
      flags: [asJSON, rows, seconds, saves, Flag<String?>.postgres]),
    command("catchup", "A new device fetches everything."),
    command("fanout", "A saved row until all devices have been told."),
    command("notifications", "A save until devices are told, by what they subscribed to; and what that costs."),
    command("schema", "Where record types are found, when devices save and ask."),
    Command(
      "caravan-bench standing", "A change that hits a few of a million subscriptions to queries.",
      flags: [asJSON, subscriptions, rounds]),
    command("local", "A row with a 1 MiB object through the agent, beside a file and SQLite; both store modes."),
    command("hostile", "Saves of ten devices beside an eleventh, and beside a hostile one."),
    Command(
      "caravan-bench flood", "One hostile device: sends what costs most, whatever is answered.",
      flags: [creds, .nats, kind, rate, seconds]),
    command("conflicts", "Devices that change one row at once, until all have the same."),
    command("start", "An agent with ten apps and many rows: its start, and what it takes while it is idle."),
    Command(
      "caravan-bench changes", "What snapshots cost beside the plain way, and to know each row's last writer.",
      flags: [asJSON, zoneRows, Flag<String?>.postgres]),
    Command(
      "caravan-bench amplification", "What a store takes after each record was updated ten times, and before.",
      flags: [asJSON, updates, Flag<String?>.postgres]),
    Command(
      "caravan-bench radio", "How long a cellular radio is on for three apps, apart and together. On a virtual clock.",
      flags: [asJSON, trace, photos, hours, seed]),
    Command(
      "caravan-bench frames", "Bytes of many apps' rows in one frame, and in a frame for each app.",
      flags: [asJSON, trace, hours, seed]),
  ]

  private static func command(_ name: String, _ summary: String) -> Command {
    Command(
      "caravan-bench \(name)", summary,
      flags: [asJSON, rounds, rows, seconds, devices, Flag<String?>.postgres])
  }

  /// - Parameters:
  ///   - name: last word of one of `commands`.
  ///   - programs: the directory of Caravan's executables.
  package static func run(_ name: String, _ options: Options, programs: String, host: Host) async throws {
    if name == "flood" { return try await flood(options, host) }
    let report = BenchReport(bench: name, asJSON: options[asJSON])
    if name == "radio" { return try radio(options, report) }
    if name == "standing" { return try await standing(options, report, host) }
    if name == "frames" { return try frames(options, report, host) }
    try await BenchSuite.with(programs: programs, postgres: options[Flag<String?>.postgres], host: host) { suite in
      switch name {
      case "latency": try await LatencyBench(suite: suite, report: report, rounds: options[rounds]).run()
      case "throughput":
        try await ThroughputBench(suite: suite, report: report, seconds: Double(options[seconds])).run()
      case "zones": try await ZonesBench(suite: suite, report: report, seconds: Double(options[seconds])).run()
      case "sizes": try await SizesBench(suite: suite, report: report, rounds: options[rounds]).run()
      case "contention":
        try await ContentionBench(suite: suite, report: report, seconds: Double(options[seconds])).run()
      case "flat":
        try await FlatBench(suite: suite, report: report, rows: options[rows], rounds: options[rounds]).run()
      case "reads": try await ReadsBench(suite: suite, report: report, rounds: options[rounds]).run()
      case "queries":
        try await QueriesBench(suite: suite, report: report, rows: options[rows], rounds: options[rounds]).run()
      case "index":
        try await IndexBench(
          suite: suite, report: report, rows: options[rows], savesPerSecond: options[saves],
          seconds: Double(options[seconds])
        ).run()
      case "catchup": try await CatchupBench(suite: suite, report: report, rows: options[rows]).run()
      case "fanout":
        try await FanoutBench(
          suite: suite, report: report, devices: options[devices], rounds: min(options[rounds], 30)
        ).run()
      case "notifications":
        try await NotificationsBench(
          suite: suite, report: report, devices: options[devices], rounds: options[rounds]
        ).run()
      case "schema": try await SchemaBench(suite: suite, report: report, rounds: options[rounds]).run()
      case "changes":
        try await WriterBench(suite: suite, report: report, rows: options[zoneRows]).run()
        try await SnapshotBench(suite: suite, report: report, rows: options[zoneRows]).run()
      case "amplification":
        try await AmplificationBench(suite: suite, report: report, updates: options[updates]).run()
      case "local": try await LocalBench(suite: suite, report: report, rounds: min(options[rounds], 100)).run()
      case "hostile":
        try await HostileBench(suite: suite, report: report, seconds: Double(options[seconds])).run()
      case "conflicts": try await ConflictsBench(suite: suite, report: report, rounds: min(options[rounds], 20)).run()
      case "start": try await StartBench(suite: suite, report: report, rows: options[rows]).run()
      default: throw CaravanError(.invalidData, "there is no bench '\(name)'")
      }
    }
  }

  private static func flood(_ options: Options, _ host: Host) async throws {
    try await HostileDriver(
      host: host, credentials: try Credentials.reading(options[creds]), urls: options[Flag<[String]>.nats],
      kind: options[kind], perSecond: options[rate], seconds: Double(options[seconds])
    ).run()
  }

  private static func standing(_ options: Options, _ report: BenchReport, _ host: Host) async throws {
    try await BenchSuite.withDirectory { directory in
      try await StandingBench(
        report: report, host: host, directory: directory, subscriptions: options[subscriptions],
        rounds: options[rounds] * 10
      ).run()
    }
  }

  private static func radio(_ options: Options, _ report: BenchReport) throws(CaravanError) {
    let workload = try workload(options, photos: options[photos])
    try RadioBench(report: report, workload: workload, seed: UInt64(options[seed])).run()
  }

  private static func frames(_ options: Options, _ report: BenchReport, _ host: Host) throws(CaravanError) {
    let drive = try workload(options, photos: "")
    let seed = UInt64(options[seed])
    let traffic = [
      FrameTraffic.drive(drive), .chatter(hours: drive.hours, seed: seed), .thumbnails(hours: drive.hours, seed: seed),
    ]
    try FramesBench(report: report, host: host, traffic: traffic).run()
  }

  private static func workload(_ options: Options, photos: String) throws(CaravanError) -> RadioWorkload {
    try RadioWorkload(
      trace: options[trace], photos: photos, hours: min(max(options[hours], 0.1), 48), seed: UInt64(options[seed]))
  }
}
