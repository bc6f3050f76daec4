internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStore
internal import CaravanWire

/// Promises that are tried one at a time, once all is quiet.
struct Probes: Sendable {
  /// What a transfer takes, and the cloud to answer, if need be at the second attempt.
  private static let transferMilliseconds: Int64 = 10_000

  private let suite: Suite
  private let clock: any Clock
  private var recorder: Recorder { suite.ground.recorder }

  init(_ suite: Suite, clock: any Clock) {
    self.suite = suite
    self.clock = clock
  }

  /// - Returns: whether something was written.
  func run(_ apps: inout [App]) async throws -> Bool {
    if suite.scale.users.count > 1 { try await lookAround() }
    var hasWritten = false
    if suite.scale.isProbed { hasWritten = try await time(&apps[0]) }
    if suite.scale.hasQuota { hasWritten = try await quotaPressure(&apps[0]) || hasWritten }
    return hasWritten
  }

  /// A new row, in a table that goes by itself.
  private func write(_ app: inout App) async -> (tag: ChangeTag, place: Place)? {
    guard let session = app.device.slot.session, await app.prepare(session),
      let (table, place) = app.places.first(where: { $0.table.period != nil && !$0.table.hasKey })
    else { return nil }
    await app.insert(table, place, session)
    let device = app.device.name
    let newest = recorder.history.writes.values.filter { $0.tag.device == device }.max { $0.tag < $1.tag }
    guard let newest, newest.standing == .acknowledged, newest.kind == .insert else { return nil }
    return (newest.tag, place)
  }

  private func isAtCloud(_ tag: ChangeTag) -> Bool { recorder.history.versions.contains { $0.tag == tag } }

  // MARK: I12

  private func time(_ app: inout App) async throws -> Bool {
    guard let (tag, place) = await write(&app), let session = app.device.slot.session,
      let registration = try await session.store.registrations().first(where: {
        $0.table == place.id && $0.direction == .write
      })?.registration
    else { return false }
    let start = clock.now
    let allowed =
      Int64(registration.periodMilliseconds) + Int64(registration.delayToleranceMilliseconds)
      + Self.transferMilliseconds
    var took: Int64?
    while took == nil, (clock.now - start).wholeMilliseconds <= 2 * allowed {
      if isAtCloud(tag) { took = (clock.now - start).wholeMilliseconds }
      try await clock.sleep(for: .milliseconds(100))
    }
    let promise = KeptPromise(tag, took: took, allowed: allowed)
    recorder.saw("\(tag) took \(took ?? -1) ms of \(allowed)") { $0.promises.append(promise) }
    return true
  }

  // MARK: CK-102

  private func quotaPressure(_ app: inout App) async throws -> Bool {
    let quotaPressure = QuotaPressure(suite, seed: 0)
    guard app.device.user == suite.scale.users[0] else { return false }
    await quotaPressure.tighten()
    guard let (tag, place) = await write(&app), let session = app.device.slot.session else {
      await quotaPressure.loosen(clock)
      return false
    }
    var isVisible = false
    for _ in 0..<60 where !isVisible {
      try await clock.sleep(for: .seconds(2))
      let status = try await session.store.status(of: place.id.app).first { $0.table == place.id }
      isVisible = status?.refused.contains("beyond") == true && status?.dirty == 1
    }
    let rows = try await App.rows(of: place, in: session.store)
    let isKept = rows.contains { $0.tag == tag && !$0.isClean }
    await quotaPressure.loosen(clock)
    for _ in 0..<180 where !isAtCloud(tag) { try await clock.sleep(for: .seconds(1)) }
    let refusal = SeenRefusal(
      device: app.device.name, isVisible: isVisible, isKept: isKept, isResumed: isAtCloud(tag))
    recorder.saw("\(tag) had no room: \(refusal)") { $0.refusals.append(refusal) }
    return true
  }

  // MARK: I14

  /// Somebody asks about a zone of another user, and about one that is not there.
  private func lookAround() async throws {
    let (owner, stranger) = (suite.scale.users[0], suite.scale.users[1])
    let hidden = Place(user: owner, app: "album", table: "hidden")
    guard let store = suite.vault.store else { return }
    _ = try await store.createZone(ZoneID(hidden.database, hidden.table), writer: "operator")
    let caller = Caller("stranger", of: stranger, in: .development, on: suite.ground)
    defer { caller.bus.close() }
    func answer(_ question: String, _ zone: String) async -> [UInt8] {
      let operation: CaravanWire.Operation.Kind =
        switch question {
        case "pull": .pull(Pull(container: "album", zone: zone))
        case "read": .read(ReadRecords(container: "album", zone: zone, names: ["r"]))
        case "settlement": .settle(Settle(container: "album", zone: zone, op: 1))
        default: .operation(AskOperation(container: "album", zone: zone, op: 7))
        }
      guard var result = await caller.insist(operation) else { return [] }
      // Its token is a seal over the zone's name.
      if case .pull(var page) = result {
        page.token = [UInt8](repeating: 0, count: page.token.count)
        result = .pull(page)
      }
      return CaravanWire.Result(kind: result).encoded()
    }
    for question in ["pull", "read", "settlement", "state of an operation"] {
      let (one, other) = (await answer(question, "hidden"), await answer(question, "absent"))
      let sight = HiddenAnswer(question, ofHidden: one, ofAbsent: other)
      recorder.saw("a stranger's \(question) is answered") { $0.secrets.append(sight) }
    }
  }
}
