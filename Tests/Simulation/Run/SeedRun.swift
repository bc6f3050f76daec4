internal import CaravanBus
public import CaravanRuntime
internal import CaravanTestKit

/// What one seed showed.
public struct SeedReport: Sendable {
  public var seed: UInt64
  /// Of everything that happened, in order.
  public var traceHash: UInt64
  public var violations: [Violation]
  /// Virtual.
  public var time: Duration
  public var steps: UInt64
  public var writes: Int
  public var versions: Int
  public var conflicts: Int
  /// The last lines of the trace.
  public var trace: [String]
  /// The last lines that the services logged.
  public var log: [String]
  /// What a `Coverage` gets to know of it; empty: nobody asked.
  public var features: [Int] = []
}

/// One cluster from its beginning to its end.
public struct SeedRun: Sendable {
  public struct Options: Sendable {
    public var breakage: Breakage?
    /// Where files of the simulated disks lie; memory, or it takes long.
    public var directory: String
    public var listener: (@Sendable (String) -> Void)?
    public var logLevel: LogLevel = .warning
    public var variation = Variation()
    /// The report says which states and transitions there were.
    public var isSurveyed = false

    public init(directory: String, breakage: Breakage? = nil, listener: (@Sendable (String) -> Void)? = nil) {
      self.directory = directory
      self.breakage = breakage
      self.listener = listener
    }

    func listener(beside signature: Signature?) -> (@Sendable (String) -> Void)? {
      guard let signature else { return listener }
      return { [listener] line in
        signature.note(line)
        listener?(line)
      }
    }
  }

  public static func run(_ seed: UInt64, _ options: Options) throws -> SeedReport {
    var scale = Scale(seed: seed)
    options.variation.shape(&scale)
    return try run(seed, options, scale, nil).report
  }

  /// - Parameter secret: what is another in another run of this cluster; nil: nothing.
  static func run(
    _ seed: UInt64, _ options: Options, _ scale: Scale, _ secret: Secret?
  ) throws -> (report: SeedReport, observations: Observations) {
    var settings = Simulation.Settings()
    settings.logLevel = options.logLevel
    settings.isComparable = secret != nil
    let simulation = Simulation(seed: seed, settings: settings)
    let signature = options.isSurveyed ? Signature() : nil
    let ground = try Ground(
      simulation, directory: options.directory, listener: options.listener(beside: signature),
      breakage: options.breakage, secret: secret)
    defer { TemporaryDirectory.removeTree(ground.directory) }
    var scale = scale
    options.breakage?.shape(&scale)
    let suite = try Suite(scale, on: ground, breakage: options.breakage)
    var failure: [Violation] = []
    do { try SeedRun(seed: seed, suite: suite).play() } catch {
      failure = [Violation(invariant: "the run ends", explanation: "\(error)")]
    }
    let history = ground.recorder.history
    let violations = failure.isEmpty ? Checker.all.flatMap { $0.check(history) } : failure
    for part in suite.parts { signature?.count(part.name, part.machine.host.metrics.snapshot()) }
    let report = SeedReport(
      seed: seed, traceHash: simulation.traceHash, violations: violations,
      time: simulation.now - Instant(nanoseconds: 0),
      steps: simulation.steps, writes: history.writes.count, versions: history.versions.count,
      conflicts: history.decisions.count, trace: ground.recorder.lines,
      log: simulation.log.records.map { Self.line($0) }, features: signature?.features ?? [])
    return (report, Observations(heard: ground.heard?.all ?? [:], path: simulation.path, notes: ground.recorder.notes))
  }

  private static func line(_ record: LogRecord) -> String { String(decoding: record.line, as: UTF8.self) }

  let seed: UInt64
  let suite: Suite

  private func play() throws {
    let (simulation, hub) = (suite.ground.simulation, suite.ground.hub)
    let deliveries = simulation.start { await hub.run() }
    defer { suite.bury(deliveries) }
    for (device, shares) in zip(suite.devices, suite.scale.shares) {
      for ((_, place), share) in zip(suite.scale.places(of: device.user), shares) {
        suite.ground.recorder.keeps(share, of: place, on: device.name)
      }
    }
    let spy = try simulation.run {
      var spy = Spy(suite)
      try await spy.listen()
      return spy
    }
    for part in suite.parts { part.start() }
    let clock = simulation.host("people").host.clock
    let contents = Contents()
    try simulation.run(deadline: .seconds(7_200)) { try await self.live(contents, clock) }
    suite.ground.recorder.end(try simulation.run { try await FinalCheck(self.suite, contents).outcome() })
    // Whatever others try, no course of events before that is another.
    try simulation.run {
      try await Outsiders(suite, clock: clock).run()
      try await spy.conclude()
    }
    for name in ["caravan_storage_purged_tombstones_total", "caravan_sync_resets_total"] {
      suite.ground.recorder.note("\(name) \(suite.total(of: name))")
    }
  }

  private func live(_ contents: Contents, _ clock: any Clock) async throws {
    let end = clock.now + suite.scale.faultTime
    let seed = seed
    let witnesses = try Witnesses(suite, seed: seed)
    let rarities = Rarities(suite, seed: seed)
    await withDiscardingTaskGroup { group in
      if let witnesses { group.addTask { await witnesses.run(until: end) } }
      group.addTask { await rarities.run(until: end, clock: clock) }
      group.addTask {
        var faultScheduler = FaultScheduler(suite, seed: seed)
        await faultScheduler.run(until: end, clock: clock)
      }
      for diffClient in suite.diffClients {
        group.addTask {
          await diffClient.live(suite.ground, pause: suite.scale.appPause, seed: seed, until: end, clock: clock)
        }
      }
      if !suite.diffClients.isEmpty {
        group.addTask { await DiffClients(suite).liveNatively(seed: seed, until: end, clock: clock) }
      }
      for device in suite.devices {
        group.addTask {
          var app = App(device, in: suite, contents: contents, seed: seed)
          await app.run(until: end, clock: clock)
        }
      }
    }
    try await Quiescence(suite, contents: contents, seed: seed, clock: clock).restore()
    try await witnesses?.conclude()
    try await rarities.conclude(clock)
  }
}

struct SeedFailure: Error, CustomStringConvertible {
  let what: String
  var description: String { what }
}
