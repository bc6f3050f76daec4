import CaravanSimulation
import CaravanTestKit
import Testing

/// What a subscriber may know of zones, and what answers may be.
extension CheckerTests {
  static let low = WatchedQuery("low", .below(50, zone: nil))
  private static let zones = WatchedQuery("zones", .zones)

  /// A record enters, is written, and leaves, each of which is told.
  static let watched: [WatchEvent] = [
    .subscribed(low), .subscribed(zones),
    .wrote(zone: "z", life: 1, [WatchedRecord("a", seq: 1, number: 7)]),
    .told(SeenNotification("zones", .zoneMade, number: 1, zone: "z", version: 1)),
    .told(SeenNotification("low", .enters, number: 2, zone: "z", record: "a", version: 1)),
    .wrote(zone: "z", life: 1, [WatchedRecord("a", seq: 2, number: 8), WatchedRecord("b", seq: 3, number: 60)]),
    .told(SeenNotification("low", .changes, number: 3, zone: "z", record: "a", version: 2)),
    .wrote(zone: "z", life: 1, [WatchedRecord("a", seq: 4, number: 90)]),
    .told(SeenNotification("low", .leaves, number: 4, zone: "z", record: "a", version: 4)),
  ]

  /// As `broken` has them.
  static let brokenWatches: [(invariant: String, what: String, breaking: @Sendable (inout History) -> Void)] = [
    ("CK-82", "an enter is not told", { $0.watches["ann"] = Array(watched[...3]) }),
    (
      "CK-80", "an answer has what never was",
      { $0.watches["ann"] = watched + [.answered(SeenAnswer(low, zone: "z", found: ["a": 3], since: 0))] }
    ),
  ]

  private static func found(_ events: [WatchEvent]) -> [String] {
    var history = Self.sound
    history.watches["ann"] = events
    return Self.violations(history).filter { $0.invariant.hasPrefix("CK-8") }.map(\.explanation)
  }

  @Test("CK-82: a subscriber who hears of everything knows all, and so does one who is to ask anew")
  func subscribersKnow() {
    #expect(Self.found(Self.watched) == [])
    // What was missed is said, after it happened.
    var missed = Array(Self.watched.dropLast())
    missed.append(.told(SeenNotification("low", .missed, number: 4, zone: "z")))
    #expect(Self.found(missed) == [])
    missed += [.deletedZone("z"), .told(SeenNotification("zones", .zoneDeleted, number: 5, zone: "z", version: 1))]
    #expect(Self.found(missed) == [])
    // Several versions may be told as one.
    #expect(Self.found(Self.watched.filter { $0 != Self.watched[6] }.renumbered) == [])
  }

  @Test(
    "CK-82: what is missed, told twice, out of order, or not so is found",
    arguments: [
      // An enter, a leave, the making of a zone, and a number are missing.
      [0, 1, 2, 3, 5], [0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 4], [0, 1, 2, 3, 4, 5, 7, 8],
      // Told twice, and in the wrong order.
      [0, 1, 2, 3, 4, 4], [0, 1, 2, 3, 4, 5, 7, 8, 6],
    ])
  func missing(of kept: [Int]) {
    var events = kept.map { Self.watched[$0] }
    if !kept.elementsEqual([0, 1, 2, 3, 4, 5, 7, 8]) { events = events.renumbered }
    #expect(!Self.found(events).isEmpty)
  }

  @Test("CK-82: nobody is told of a version that it has what it has not") func untrue() {
    var events = Self.watched
    events[4] = .told(SeenNotification("low", .leaves, number: 2, zone: "z", record: "a", version: 1))
    #expect(!Self.found(events).isEmpty)
    events[4] = .told(SeenNotification("low", .enters, number: 2, zone: "z", record: "b", version: 3))
    #expect(!Self.found(events).isEmpty)
  }

  @Test(
    "CK-80: an answer is a state of the zone, not before what its asker knows",
    arguments: [
      (["a": 1], 0, true), (["a": 2], 0, true), ([:], 0, true), (["a": 1, "b": 3], 0, false), (["a": 4], 0, false),
      (["a": 1], 6, false), (["a": 2], 6, true), (["a": 2], 8, false), ([:], 8, true),
    ] as [([String: UInt64], Int, Bool)])
  func answers(found: [String: UInt64], since: Int, isSound: Bool) {
    let answer = SeenAnswer(WatchedQuery("asked", .below(50, zone: "z")), zone: "z", found: found, since: since)
    #expect(Self.found(Self.watched + [.answered(answer)]).isEmpty == isSound)
  }
}

extension [WatchEvent] {
  /// With numbers that have no gap.
  fileprivate var renumbered: [WatchEvent] {
    var number: UInt64 = 0
    return map { event in
      guard case .told(var told) = event else { return event }
      number += 1
      told.number = number
      return .told(told)
    }
  }
}
