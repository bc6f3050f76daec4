internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit
internal import CaravanWire

/// Users have notifications pushed to servers and browsers: they save targets, save those anew that have ended, choose
/// other subscriptions, and remove targets. What comes, and what is said of what does not, is held against the logs of
/// `Subscribers` (CK-85).
struct PushUsers: Rarity {
  private static let targets = ["hook", "paced", "phone"]
  /// By when all has come once nothing goes wrong any more.
  private static let patience: Duration = .seconds(900)

  private let suite: Suite
  private let receiver: PushReceiver
  private let callers: [Caller]
  private var dice: Dice
  private var saved = 0
  /// What each user has, as far as they know.
  private var known: [UserID: [String: PushTarget]] = [:]

  init(_ suite: Suite, _ receiver: PushReceiver, seed: UInt64) {
    self.suite = suite
    self.receiver = receiver
    callers = suite.scale.users.map { Caller("pushed-\($0)", of: $0, in: .development, on: suite.ground) }
    dice = Dice(seed: seed, "pushes")
  }

  mutating func run(until end: Instant, clock: any Clock) async {
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(200...6_000))) != nil else { return }
      guard clock.now < end else { return }
      await act(dice.pick(callers), on: dice.pick(Self.targets))
    }
  }

  /// Everything that can be pushed comes, once all servers are there.
  mutating func conclude(_ clock: any Clock) async throws {
    receiver.recover()
    suite.ground.recorder.pushed(.quiet)
    let end = clock.now + Self.patience
    while clock.now < end {
      if Checker.pushesArrive.check(suite.ground.recorder.history).isEmpty { break }
      try await clock.sleep(for: .seconds(5))
    }
    for caller in callers { caller.bus.close() }
  }

  // MARK: What they do

  private mutating func act(_ caller: Caller, on id: String) async {
    guard let old = known[caller.user]?[id] else { return await save(fresh(id), by: caller) }
    if dice.happens(100) { return await save(fresh(id), by: caller) }
    if dice.happens(80) { return await remove(id, by: caller) }
    if dice.happens(100) {
      var other = old
      other.subscriptions = chosen()
      return await save(other, by: caller)
    }
    // Who looks after a target begins one that has ended anew.
    guard let reply = await ask(PushTargetsRequest(), caller) else { return }
    for status in reply.targets where status.state?.ended == true {
      guard let target = status.target, let own = known[caller.user]?[target.id] else { continue }
      await save(dice.happens(500) ? own : fresh(target.id), by: caller)
    }
  }

  /// At another address than all before.
  private mutating func fresh(_ id: String) -> PushTarget {
    saved += 1
    var target = PushTarget(id: id, subscriptions: chosen())
    switch id {
    case "phone": target.webPush = receiver.endpoint(saved)
    default: target.webhook = PushReceiver.hook(saved, perMinute: id == "paced" ? dice.pick([60, 120]) : nil)
    }
    return target
  }

  private mutating func chosen() -> [String] {
    dice.happens(600) ? [] : Subscribers.subscriptions.filter { _ in dice.happens(500) }
  }

  private mutating func save(_ target: PushTarget, by caller: Caller) async {
    known[caller.user, default: [:]][target.id] = target
    let url = target.webhook?.url ?? ""
    receiver.expect(nil, at: url)
    guard let reply = await ask(PushTargetsRequest(save: target), caller), !reply.secret.isEmpty else { return }
    receiver.expect(reply.secret, at: url)
  }

  private mutating func remove(_ id: String, by caller: Caller) async {
    guard await ask(PushTargetsRequest(remove: id), caller) != nil else { return }
    known[caller.user]?[id] = nil
  }

  private func ask(_ request: PushTargetsRequest, _ caller: Caller) async -> PushTargetsReply? {
    let question = AskPushTargets(container: Subscribers.container, request: request.encoded())
    guard case .pushTargets(let result)? = await caller.insist(.pushTargets(question)) else { return nil }
    return try? PushTargetsReply.decode(result.answer)
  }
}
