internal import CaravanBus
internal import CaravanRuntime
internal import CaravanTestKit

/// What the weeks of a fleet showed (BEN-17).
public struct FleetReport: Sendable {
  public var agents: Int
  public var users: Int
  public var days: Int
  /// How often somebody took up a device, by the day of the week.
  public var sessions: [(day: String, count: Int)]
  public var troubles: [String: Int]
  public var writes: Int
  /// Of them, those that an app was told are durable.
  public var acknowledged: Int
  public var versions: Int
  public var conflicts: Int
  public var tombstonesPurged: UInt64
  public var steps: UInt64
  public var traceHash: UInt64
  public var violations: [Violation]
}

/// Weeks of a fleet in one process: people with a few devices each, who use them as `Week` says, through `Outages`.
public struct FleetRun: Sendable {
  private let suite: Suite
  private let seed: UInt64
  private let contents = Contents()
  private let counters = Counters()

  /// - Parameters:
  ///   - directory: where files of the simulated disks lie; memory, or it takes long.
  ///   - listener: hears of every day that has passed.
  public static func run(
    _ seed: UInt64, agents: Int, days: Int, directory: String,
    listener: (@Sendable (String) -> Void)? = nil
  ) throws -> FleetReport {
    var settings = Simulation.Settings()
    settings.stepLimit = .max / 2
    let simulation = Simulation(seed: seed, settings: settings)
    let ground = try Ground(simulation, directory: directory, listener: nil)
    defer { TemporaryDirectory.removeTree(ground.directory) }
    let suite = try Suite(Scale(agents: agents, days: days), on: ground, breakage: nil)
    let run = FleetRun(suite: suite, seed: seed)
    var violations: [Violation] = []
    do {
      try run.play(days: days, listener)
      violations = check(ground.recorder.history, users: suite.scale.users)
    } catch {
      violations = [Violation(invariant: "the run ends", explanation: "\(error)")]
    }
    let history = ground.recorder.history
    return FleetReport(
      agents: agents, users: suite.scale.users.count, days: days,
      sessions: zip(Week.days, run.counters.sessions).map { ($0, $1) }, troubles: run.counters.troubles,
      writes: history.writes.count, acknowledged: history.writes.values.count { $0.standing == .acknowledged },
      versions: history.versions.count, conflicts: history.decisions.count,
      tombstonesPurged: suite.total(of: "caravan_storage_purged_tombstones_total"), steps: simulation.steps,
      traceHash: simulation.traceHash, violations: violations)
  }

  private init(suite: Suite, seed: UInt64) {
    self.suite = suite
    self.seed = seed
  }

  private func play(days: Int, _ listener: (@Sendable (String) -> Void)?) throws {
    let (simulation, hub) = (suite.ground.simulation, suite.ground.hub)
    let deliveries = simulation.start { await hub.run() }
    defer { suite.bury(deliveries) }
    for part in suite.parts { part.start() }
    let clock = simulation.host("people").host.clock
    try simulation.run(deadline: suite.scale.faultTime + .seconds(86_400)) { try await self.live(clock, listener) }
    suite.ground.recorder.end(
      try simulation.run { [suite, contents] in try await FinalCheck(suite, contents).outcome() })
  }

  private func live(_ clock: any Clock, _ listener: (@Sendable (String) -> Void)?) async throws {
    let end = clock.now + suite.scale.faultTime
    let reaches = suite.devices.map { Reach($0) }
    await withDiscardingTaskGroup { group in
      group.addTask { [suite, counters, seed] in
        var outages = Outages(suite, reaches, counters, seed: seed)
        await outages.run(until: end, clock: clock)
      }
      group.addTask { [suite] in
        var day = 0
        while clock.now < end, (try? await clock.sleep(for: .seconds(86_400))) != nil {
          day += 1
          listener?("day \(day): \(suite.ground.recorder.writeCount) writes, \(suite.ground.simulation.steps) steps")
        }
      }
      for (number, device) in suite.devices.enumerated() {
        let app = App(device, in: suite, contents: contents, seed: seed)
        group.addTask { [counters, seed] in
          var person = Person(number, app, reaches[number], counters, seed: seed)
          await person.live(until: end, clock: clock)
        }
      }
    }
    try await Quiescence(suite, contents: contents, seed: seed, clock: clock).restore()
  }

  /// Users share nothing, and so each one's history is held against all that was promised by itself: the time that
  /// takes grows with a user's weeks, not with the fleet.
  private static func check(_ history: History, users: [String]) -> [Violation] {
    var common = history
    (common.writes, common.decisions, common.acknowledged, common.readings) = ([:], [], [:], [])
    (common.versions, common.end.cloud, common.end.devices) = ([], [:], [:])
    let parts = history.byUser()
    return Checker.all.flatMap { $0.check(common) }
      + users.flatMap { user in Checker.all.flatMap { $0.check(parts[user] ?? History()) } }
  }
}

extension History {
  /// What concerns each user's rows alone.
  func byUser() -> [String: History] {
    var parts: [String: History] = [:]
    var owners: [String: String] = [:]
    for (tag, write) in writes {
      owners[tag.device] = write.place.user
      parts[write.place.user, default: History()].writes[tag] = write
    }
    var places: [Int: Int] = [:]
    for (index, decision) in decisions.enumerated() {
      let user = decision.row.place.user
      places[index] = parts[user]?.decisions.count ?? 0
      parts[user, default: History()].decisions.append(decision)
    }
    for (device, events) in acknowledged {
      guard let user = owners[device] else { continue }
      parts[user, default: History()].acknowledged[device] = events.map { event in
        switch event {
        case .write: event
        case .decision(let index): .decision(places[index] ?? index)
        }
      }
    }
    for version in versions { parts[version.row.place.user, default: History()].commit([version]) }
    for reading in readings { parts[reading.place.user, default: History()].readings.append(reading) }
    for (place, rows) in end.cloud { parts[place.user, default: History()].end.cloud[place] = rows }
    for (device, rows) in end.devices {
      guard let user = rows.keys.first?.user else { continue }
      parts[user, default: History()].end.devices[device] = rows
    }
    return parts
  }
}
