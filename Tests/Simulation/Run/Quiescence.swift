internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStore

/// The quiet end of a run: no more faults, everything is up, and what was written must get through.
struct Quiescence: Sendable {
  /// By when tables that are registered must agree without being asked to, and then all of them when they are asked.
  private static let patience: Duration = .seconds(900)

  private let suite: Suite
  private let contents: Contents
  private let seed: UInt64
  private let clock: any Clock

  init(_ suite: Suite, contents: Contents, seed: UInt64, clock: any Clock) {
    self.suite = suite
    self.contents = contents
    self.seed = seed
    self.clock = clock
  }

  func restore() async throws {
    suite.ground.recorder.note("quiet")
    suite.ground.faults.healAll()
    for part in suite.parts {
      suite.ground.hub.reconnect(part.name)
      part.start()
    }
    for device in suite.devices { await device.setLink(.wifi) }
    for device in suite.devices where suite.scale.hasBudgets { await device.haveNoBudget(clock) }
    shareAtLast()
    for device in suite.devices { await device.markFigures() }
    if suite.scale.hasQuota { await QuotaPressure(suite, seed: seed).loosen(clock) }
    var apps = suite.devices.map { App($0, in: suite, contents: contents, seed: seed) }
    try await waitForProgress(&apps)
    try await demand(&apps)
    for device in suite.devices { suite.ground.egressGuard.weaken(device.name, nil) }
    if try await Probes(suite, clock: clock).run(&apps) { try await waitForProgress(&apps) }
    guard !suite.diffClients.isEmpty else { return }
    suite.ground.recorder.diffSyncEnded(try await DiffClients(suite).converge(clock))
  }

  /// What was local only is to get through as well.
  private func shareAtLast() {
    for device in suite.devices {
      for (_, place) in suite.scale.places(of: device.user)
      where suite.ground.recorder.share(of: device.name, place) == .own {
        suite.ground.recorder.keeps(.all, of: place, on: device.name)
      }
    }
  }

  // MARK: Without being asked

  private func waitForProgress(_ apps: inout [App]) async throws {
    let end = clock.now + Self.patience
    var turn = 0
    while true {
      try await clock.sleep(for: .seconds(5))
      for part in suite.parts where !part.isUp { part.start() }
      // From here on all wait for the slowest, and its own transfers may take as long as what is in them says.
      suite.ground.heard?.end()
      turn += 1
      await decide(&apps, registered: true, turn: turn)
      let behind = await behind(apps, registered: true)
      if behind.isEmpty { return suite.ground.recorder.note("all that is registered got through") }
      guard clock.now < end else {
        suite.ground.recorder.note("what is registered did not get through")
        return suite.ground.recorder.stalled(behind)
      }
    }
  }

  /// One device of a user decides at a time, or they would contradict each other for ever.
  private func decide(_ apps: inout [App], registered: Bool, turn: Int) async {
    for user in suite.scale.users {
      let own = apps.indices.filter { apps[$0].device.user == user }
      await decide(&apps[own[turn % own.count]], registered: registered)
    }
  }

  private func decide(_ app: inout App, registered: Bool) async {
    guard let session = app.device.slot.session, await app.prepare(session) else { return }
    for (table, place) in app.places where (table.period != nil) == registered {
      await app.resolve(table, place, session, all: true)
    }
  }

  // MARK: Asked

  private func demand(_ apps: inout [App]) async throws {
    let end = clock.now + Self.patience
    var turn = 0
    while true {
      await decide(&apps, registered: false, turn: turn)
      turn += 1
      for app in apps {
        guard let session = app.device.slot.session else { continue }
        for (_, place) in app.places { await app.sync(place, session) }
      }
      let behind = await behind(apps, registered: nil)
      if behind.isEmpty { return suite.ground.recorder.note("everything got through") }
      guard clock.now < end else {
        suite.ground.recorder.note("not everything got through")
        return suite.ground.recorder.stalled(behind)
      }
      try await clock.sleep(for: .seconds(2))
    }
  }

  /// What devices and cloud do not agree on.
  /// - Parameter registered: of tables with a registration, without one, or (nil) of both.
  private func behind(_ apps: [App], registered: Bool?) async -> [String] {
    // What was on its way from one device may come after others have been looked at.
    let first = await differences(apps, registered: registered)
    return first.isEmpty ? await differences(apps, registered: registered) : first
  }

  private func differences(_ apps: [App], registered: Bool?) async -> [String] {
    var behind: [String] = []
    guard let store = suite.vault.store else { return ["storage is down"] }
    for app in apps {
      for (table, place) in app.places where registered.map({ $0 == (table.period != nil) }) ?? true {
        guard let session = app.device.slot.session else {
          behind.append("\(app.device.name) is down")
          continue
        }
        if let reason = await difference(app.device.name, place, session, store) {
          behind.append("\(app.device.name), \(place): \(reason)")
        }
      }
    }
    return behind
  }

  private func difference(
    _ device: String, _ place: Place, _ session: App.Session, _ store: any Store
  ) async -> String? {
    guard let status = try? await session.store.status(of: place.id.app).first(where: { $0.table == place.id }) else {
      return "the table is not there"
    }
    if status.dirty + status.pending + status.conflicts > 0 {
      return "\(status.dirty) dirty, \(status.pending) pending, \(status.conflicts) in conflict\(status.refused)"
    }
    // What a table is to keep does not say it where the device itself decides, by its clock.
    if let state = try? await session.store.syncState(of: place.id), state.lacksChunks || state.isResyncing {
      return state.isResyncing ? "it starts over" : "chunks of its rows are not here"
    }
    guard let rows = try? await App.versions(of: place, in: session.store),
      let entries = try? await store.entries(of: place)
    else { return "a read failed" }
    let cloud = kept(of: entries, at: place, on: device, here: Set(rows.keys))
    if rows == cloud { return nil }
    let lacking = cloud.filter { rows[$0.key] != $0.value }.count
    let more = rows.filter { cloud[$0.key] == nil }.count
    return "\(lacking) rows of the cloud's \(cloud.count) are not here, \(status.torn) torn, \(more) too many"
  }

  /// What the device is to have.
  private func kept(
    of entries: [CaravanModel.Entry], at place: Place, on device: String, here: Set<String>
  ) -> [String: Seq] {
    let all = Dictionary(entries.map { ($0.name, $0.version) }) { _, newer in newer }
    let rows = entries.map { entry in
      Share.Row(id: entry.name, seq: entry.version, number: Recorder.tag(of: entry).flatMap { contents[$0]?.n })
    }
    let kept = suite.ground.recorder.history.kept(of: rows, at: place, on: device, here: here)
    return all.filter { kept.contains($0.key) }
  }
}
