import CaravanSimulation
import CaravanTestKit
import Testing

/// What may become of notifications on their way to push targets.
extension CheckerTests {
  private static func item(_ number: UInt64, _ subscription: String = "low") -> SeenNotification {
    SeenNotification(subscription, .enters, number: number, zone: "z", record: "r\(number)", version: number)
  }

  private static func logged(_ number: UInt64, of user: String = "ann", _ subscription: String = "low") -> PushEvent {
    .logged(user: user, LoggedPush(item(number, subscription), at: "\(number)", seq: number))
  }

  private static func came(
    _ number: UInt64, _ subscription: String = "low", id: String? = nil, at url: String = "u1", time: UInt64 = 0,
    _ status: Int? = 204
  ) -> PushEvent {
    .came(
      PushCall(
        url, id: id ?? "\(url)/\(number)", item(number, subscription), at: "\(number)", time: time, status: status))
  }

  private static func kept(
    _ registration: String = "1", at url: String = "u1", wants subscriptions: [String] = [], after seq: UInt64? = nil,
    perMinute: UInt32 = 0, of user: String = "ann"
  ) -> PushEvent {
    .kept(
      KeptTarget(
        user, "hook", registration: registration, url: url, subscriptions: subscriptions,
        from: seq.map { KeptTarget.Position(seq: $0) }, perMinute: perMinute))
  }

  private static func told(
    _ position: UInt64, givenUp: [TargetStanding.GivenUp] = [], hasEnded: Bool = false
  ) -> PushEvent {
    .told(
      user: "ann", id: "hook",
      TargetStanding(
        registration: "1", position: KeptTarget.Position(seq: position), givenUp: givenUp.count, hasEnded: hasEnded,
        last: givenUp))
  }

  private static let lost = TargetStanding.GivenUp(number: 2, status: 413)

  /// Of three notifications one is taken at the second try, one is refused, and one is taken.
  static let pushed: [PushEvent] = [
    logged(1), kept(after: 0), came(1, 503), logged(2), came(1), came(2, 413), logged(3), came(3),
    told(3, givenUp: [lost]), .quiet,
  ]

  /// As `broken` has them.
  static let brokenPushes: [(invariant: String, what: String, breaking: @Sendable (inout History) -> Void)] = [
    ("CK-85 every", "a notification does not come", { $0.pushes = pushed + [logged(4)] }),
    ("CK-85 a target", "another's notification comes", { $0.pushes = pushed + [logged(4, of: "bob"), came(4)] }),
  ]

  private static func came(_ number: UInt64, _ status: Int) -> PushEvent { came(number, "low", status) }

  private static func found(_ events: [PushEvent]) -> [String] {
    var history = Self.sound
    history.pushes = events
    return Self.violations(history).filter { $0.invariant.hasPrefix("CK-85") }.map(\.explanation)
  }

  @Test("CK-85: what is taken at last, what is refused and counted, and what ends with its target is in order")
  func pushesArrive() {
    #expect(Self.found(Self.pushed) == [])
    // Twice under one id, and nobody hears the first answer.
    #expect(Self.found([Self.kept(), Self.logged(1), Self.came(1, "low", nil), Self.came(1), Self.came(1)]) == [])
    // What was before it, what it does not want, and what comes after its end, is not for a target.
    #expect(Self.found([Self.logged(1), Self.kept(after: 1), Self.logged(2), Self.came(2)]) == [])
    #expect(Self.found([Self.kept(wants: ["low"]), Self.logged(1, of: "ann", "north")]) == [])
    #expect(
      Self.found([
        Self.kept(), Self.logged(1), Self.came(1), Self.logged(2), Self.came(2, 410), Self.told(1, hasEnded: true),
        Self.logged(3),
      ]) == [])
    // Whoever is removed, or is another target by now, need not have had all.
    #expect(Self.found([Self.kept(), Self.logged(1), .removed(user: "ann", id: "hook")]) == [])
    #expect(Self.found([Self.kept(), Self.logged(1), Self.kept("2", at: "u2", after: 1)]) == [])
  }

  @Test("CK-85: what is lost, what is given up untold, and what is told and not so is found")
  func pushesMissing() {
    for index in [4, 5, 7, 8] {
      var events = Self.pushed
      events.remove(at: index)
      #expect(!Self.found(events).isEmpty, "without \(Self.pushed[index])")
    }
    #expect(!Self.found([Self.kept(), Self.logged(1), Self.came(1, 503)]).isEmpty, "it gave up a failure")
    #expect(!Self.found([Self.kept(), Self.logged(1), Self.came(1, "low", nil)]).isEmpty, "nobody answered")
    #expect(!Self.found([Self.kept(), Self.told(0, hasEnded: true)]).isEmpty, "nobody said that it is gone")
    #expect(
      !Self.found([Self.kept(), Self.logged(2), Self.came(2), Self.told(2, givenUp: [Self.lost])]).isEmpty,
      "nobody refused it")
  }

  @Test("CK-85: what is another's, is not wanted, has two ids, is out of order or in too great a hurry is found")
  func pushesTrue() {
    let start = [Self.kept(wants: ["low"]), Self.logged(1), Self.logged(2), Self.logged(3, of: "ann", "north")]
    let rest = [Self.came(1), Self.came(2)]
    #expect(Self.found(start + rest) == [])
    #expect(!Self.found(start + rest + [Self.came(3, "north")]).isEmpty, "it does not want this")
    #expect(!Self.found(start + rest + [Self.came(1, id: "other")]).isEmpty, "another id")
    #expect(!Self.found(start + [Self.came(1), Self.came(2, id: "u1/1")]).isEmpty, "one id for two")
    #expect(!Self.found(start + [Self.came(2), Self.came(1)]).isEmpty, "out of order")
    #expect(!Self.found(start + rest + [Self.came(1, at: "u2")]).isEmpty, "no target is there")
    #expect(!Self.found(start + rest + [.unreadable(url: "u1")]).isEmpty, "it cannot be read")
    let others = [Self.kept(at: "u2", of: "bob"), Self.logged(9, of: "ann"), Self.came(9), Self.came(9, at: "u2")]
    #expect(!Self.found(start + rest + others).isEmpty, "it is another user's")
  }

  @Test("CK-85: a target gets no more in a minute than its server takes", arguments: [(20_000, true), (19_000, false)])
  func pushesPaced(pause: UInt64, isSound: Bool) {
    var events = [Self.kept(perMinute: 3), .quiet]
    for number in 1...9 as ClosedRange<UInt64> {
      events += [Self.logged(number), Self.came(number, time: 61_000 + number * pause)]
    }
    #expect(Self.found(events).isEmpty == isSound)
  }
}
