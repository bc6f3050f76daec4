import CaravanModel
import CaravanTestKit

/// Short ways to say who saw what.
extension ZoneCall {
  static func commit(
    _ process: String, _ time: ClosedRange<UInt64>, _ changes: [Change], _ verdicts: [Verdict], seq: Seq,
    atomic: Bool = true, retried: Bool = false
  ) -> ZoneCall {
    ZoneCall(
      process, invoked: time.lowerBound, returned: time.upperBound, .commit(changes, isAtomic: atomic),
      .committed(verdicts, seq: seq), isRetried: retried)
  }

  static func unknown(_ process: String, _ invoked: UInt64, _ changes: [Change], atomic: Bool = true) -> ZoneCall {
    ZoneCall(process, invoked: invoked, returned: nil, .commit(changes, isAtomic: atomic), .unknown)
  }

  static func fetch(_ process: String, _ time: ClosedRange<UInt64>, _ names: [String], _ observations: [Observation])
    -> ZoneCall
  {
    ZoneCall(process, invoked: time.lowerBound, returned: time.upperBound, .fetch(names), .fetched(observations))
  }

  static func pull(_ process: String, _ time: ClosedRange<UInt64>, after: Seq, _ page: Page) -> ZoneCall {
    ZoneCall(process, invoked: time.lowerBound, returned: time.upperBound, .pull(after: after), .pulled(page))
  }
}

extension ZoneCall.Change {
  static func save(_ name: String, _ value: String, _ base: Base = .any) -> Self { Self(name, base, .save(value)) }
  static func delete(_ name: String, _ base: Base = .any) -> Self { Self(name, base, .delete) }
  static func read(_ name: String, _ base: Base = .any) -> Self { Self(name, base, .read) }
}

extension ZoneCall.Observation {
  static func live(_ name: String, _ version: Seq, _ value: String) -> Self { Self(name, version, .value(value)) }
  static func gone(_ name: String, _ version: Seq) -> Self { Self(name, version, .tombstone) }
}

/// A history in which one promise is broken.
struct BadHistory: Sendable, CustomStringConvertible {
  let what: String
  let rule: ZoneHistory.Rule
  let calls: [ZoneCall]
  /// What each record promises by itself is kept: only a serialisable zone is not.
  var isOnlyOfZone = false

  var description: String { what }

  /// x and y, made at 1 and 2.
  static let begun: ZoneCall = .commit(
    "a", 1...2, [.save("x", "x1", .absent), .save("y", "y1", .absent)], [.accepted(version: 1), .accepted(version: 2)],
    seq: 2)

  static let all: [BadHistory] = records + writes + zones
}

extension BadHistory {
  static let records: [BadHistory] = [
    BadHistory(
      what: "stale read: what was acknowledged is not there", rule: .recordOrder,
      calls: [
        begun, .commit("a", 3...4, [.save("x", "x2", .version(1))], [.accepted(version: 3)], seq: 3),
        .fetch("b", 5...6, ["x"], [.live("x", 1, "x1")]),
      ]),
    BadHistory(
      what: "lost acknowledged write: nothing is there", rule: .recordOrder,
      calls: [begun, .fetch("b", 3...4, ["x"], [])]),
    BadHistory(
      what: "back in time: a reader sees the new, then another the old", rule: .recordOrder,
      calls: [
        begun, .commit("a", 3...12, [.save("x", "x2")], [.accepted(version: 3)], seq: 3),
        .fetch("b", 4...5, ["x"], [.live("x", 3, "x2")]), .fetch("c", 6...7, ["x"], [.live("x", 1, "x1")]),
      ]),
    BadHistory(
      what: "seen before it was asked for", rule: .recordOrder,
      calls: [
        begun, .fetch("b", 3...4, ["x"], [.live("x", 3, "x2")]),
        .commit("a", 5...6, [.save("x", "x2")], [.accepted(version: 3)], seq: 3),
      ]),
    BadHistory(
      what: "a deleted record comes back", rule: .recordOrder,
      calls: [
        begun, .commit("a", 3...4, [.delete("x", .version(1))], [.accepted(version: 3)], seq: 3),
        .fetch("b", 5...6, ["x"], [.gone("x", 3)]), .fetch("b", 7...8, ["x"], [.live("x", 1, "x1")]),
      ]),
    BadHistory(
      what: "an unknown write is seen, then not any more", rule: .recordOrder,
      calls: [
        begun, .unknown("a", 3, [.save("x", "x2")]), .fetch("b", 5...6, ["x"], [.live("x", 3, "x2")]),
        .fetch("b", 7...8, ["x"], [.live("x", 1, "x1")]),
      ]),
    BadHistory(
      what: "a conflict shows what was replaced before", rule: .recordOrder,
      calls: [
        begun, .commit("a", 3...4, [.save("x", "x2")], [.accepted(version: 3)], seq: 3),
        .commit("b", 5...6, [.save("x", "x3", .version(2))], [.conflict(.live("x", 1, "x1"))], seq: 3),
      ]),
  ]

  static let writes: [BadHistory] = [
    BadHistory(
      what: "lost update: two saves over one version", rule: .lostUpdate,
      calls: [
        begun, .commit("a", 3...5, [.save("x", "x2", .version(1))], [.accepted(version: 3)], seq: 3),
        .commit("b", 4...6, [.save("x", "x3", .version(1))], [.accepted(version: 4)], seq: 4),
      ]),
    BadHistory(
      what: "created twice", rule: .lostUpdate,
      calls: [begun, .commit("b", 3...4, [.save("x", "x2", .absent)], [.accepted(version: 3)], seq: 3)]),
    BadHistory(
      what: "deleted over something that it was not based on", rule: .lostUpdate,
      calls: [
        begun, .commit("a", 3...4, [.save("x", "x2")], [.accepted(version: 3)], seq: 3),
        .commit("b", 3...6, [.delete("x", .version(1))], [.accepted(version: 4)], seq: 4),
      ]),
    BadHistory(
      what: "a batch's read is accepted over another version", rule: .lostUpdate,
      calls: [
        begun, .commit("a", 3...4, [.save("x", "x2")], [.accepted(version: 3)], seq: 3),
        .commit(
          "b", 5...6, [.read("x", .version(1)), .save("y", "y2")],
          [.read(.live("x", 3, "x2")), .accepted(version: 4)], seq: 4),
      ]),
    BadHistory(
      what: "false conflict: the base is what is there", rule: .falseConflict,
      calls: [
        begun,
        .commit("b", 3...4, [.save("x", "x2", .version(1))], [.conflict(.live("x", 1, "x1"))], seq: 2),
      ]),
    BadHistory(
      what: "duplicate apply: one save under two versions", rule: .appliedTwice,
      calls: [
        begun, .commit("a", 3...4, [.save("x", "x2")], [.accepted(version: 3)], seq: 3),
        .fetch("b", 5...6, ["x"], [.live("x", 4, "x2")]),
      ]),
    BadHistory(
      what: "duplicate apply of an unknown save", rule: .appliedTwice,
      calls: [
        begun, .unknown("a", 3, [.save("x", "x2")]), .fetch("b", 4...5, ["x"], [.live("x", 3, "x2")]),
        .fetch("b", 6...7, ["x"], [.live("x", 4, "x2")]),
      ]),
    BadHistory(
      what: "an aborted batch is there nevertheless", rule: .refusedButApplied,
      calls: [
        begun,
        .commit(
          "a", 3...4, [.save("x", "x2"), .save("y", "y2", .version(1))], [.aborted, .conflict(.live("y", 2, "y1"))],
          seq: 2), .fetch("b", 5...6, ["x"], [.live("x", 3, "x2")]),
      ]),
    BadHistory(
      what: "a settled op happens later", rule: .refusedButApplied,
      calls: [
        begun, ZoneCall("a", invoked: 3, returned: 4, .commit([.save("x", "x2")], isAtomic: true), .failed),
        .fetch("b", 5...6, ["x"], [.live("x", 3, "x2")]),
      ]),
    BadHistory(
      what: "a value out of nowhere", rule: .nobodyWrote,
      calls: [begun, .fetch("b", 3...4, ["x"], [.live("x", 3, "what")])]),
    BadHistory(
      what: "another value under a known version", rule: .nobodyWrote,
      calls: [begun, .fetch("b", 3...4, ["x"], [.live("x", 1, "what")])]),
    BadHistory(
      what: "a deletion that nobody asked for", rule: .nobodyWrote,
      calls: [begun, .fetch("b", 3...4, ["x"], [.gone("x", 3)])]),
    BadHistory(
      what: "two saves under one version", rule: .sharedVersion,
      calls: [
        begun, .commit("a", 3...5, [.save("x", "x2")], [.accepted(version: 3)], seq: 3),
        .commit("b", 4...6, [.save("y", "y2")], [.accepted(version: 3)], seq: 3),
      ]),
    BadHistory(
      what: "a version that nobody can have written", rule: .hole,
      calls: [begun, .commit("a", 3...5, [.save("x", "x2")], [.accepted(version: 4)], seq: 4)]),
  ]

  static let zones: [BadHistory] = [
    BadHistory(
      what: "a batch that another came in between of", rule: .scatteredBatch,
      calls: [
        begun,
        .commit(
          "a", 3...6, [.save("x", "x2"), .save("y", "y2")], [.accepted(version: 3), .accepted(version: 5)], seq: 5),
        .commit("b", 4...5, [.save("z", "z1")], [.accepted(version: 4)], seq: 4),
      ]),
    BadHistory(
      what: "dirty read: half a batch, fetched", rule: .zoneOrder,
      calls: [
        begun,
        .commit(
          "a", 3...8, [.save("x", "x2"), .save("y", "y2")], [.accepted(version: 3), .accepted(version: 4)], seq: 4),
        .fetch("b", 4...5, ["x", "y"], [.live("x", 3, "x2"), .live("y", 2, "y1")]),
      ], isOnlyOfZone: true),
    BadHistory(
      what: "dirty read: half an unknown batch, fetched", rule: .zoneOrder,
      calls: [
        begun, .unknown("a", 3, [.save("x", "x2"), .save("y", "y2")]),
        .fetch("b", 4...5, ["x", "y"], [.live("x", 3, "x2"), .live("y", 2, "y1")]),
      ], isOnlyOfZone: true),
    BadHistory(
      what: "dirty read: half a batch, pulled", rule: .zoneOrder,
      calls: [
        begun,
        .commit(
          "a", 3...8, [.save("x", "x2"), .save("y", "y2")], [.accepted(version: 3), .accepted(version: 4)], seq: 4),
        .pull("b", 4...5, after: 2, .init([.live("x", 3, "x2")], last: 3, head: 3)),
      ], isOnlyOfZone: true),
    BadHistory(
      what: "write skew: two batches read what the other writes, and neither sees it", rule: .wrongRead,
      calls: [
        begun,
        .commit(
          "a", 3...6, [.read("x"), .save("y", "y2")], [.read(.live("x", 1, "x1")), .accepted(version: 3)], seq: 3),
        .commit(
          "b", 4...7, [.read("y"), .save("x", "x2")], [.read(.live("y", 2, "y1")), .accepted(version: 4)], seq: 4),
      ], isOnlyOfZone: true),
    BadHistory(
      what: "a pull leaves out what is in its range", rule: .zoneOrder,
      calls: [begun, .pull("b", 3...4, after: 0, .init([.live("x", 1, "x1")], last: 2, head: 2))]),
    BadHistory(
      what: "a pull goes back: its zone is shorter than before", rule: .zoneOrder,
      calls: [
        begun, .commit("a", 3...4, [.save("z", "z1")], [.accepted(version: 3)], seq: 3),
        .pull("b", 5...6, after: 3, .init([], last: 2)),
      ], isOnlyOfZone: true),
    BadHistory(
      what: "non-monotonic pulls: the second shows the zone as it was before", rule: .zoneOrder,
      calls: [
        begun, .commit("a", 3...20, [.save("z", "z1")], [.accepted(version: 3)], seq: 3),
        .pull("b", 5...6, after: 2, .init([.live("z", 3, "z1")], last: 3, head: 3)),
        .pull("b", 7...8, after: 2, .init([], last: 2, head: 2)),
      ], isOnlyOfZone: true),
    BadHistory(
      what: "two records, each right by itself, and no moment at which both were so", rule: .zoneOrder,
      calls: [
        begun, .commit("a", 3...20, [.save("x", "x2")], [.accepted(version: 3)], seq: 3),
        .commit("b", 4...20, [.save("y", "y2")], [.accepted(version: 4)], seq: 4),
        .fetch("c", 5...6, ["x", "y"], [.live("x", 1, "x1"), .live("y", 4, "y2")]),
      ], isOnlyOfZone: true),
    BadHistory(
      what: "seq order against real time: a later batch has earlier versions", rule: .zoneOrder,
      calls: [
        begun, .commit("a", 3...4, [.save("x", "x2")], [.accepted(version: 4)], seq: 4),
        .commit("b", 5...6, [.save("y", "y2")], [.accepted(version: 3)], seq: 3),
      ], isOnlyOfZone: true),
    BadHistory(
      what: "a batch that only reads sees the zone before the one that was answered", rule: .zoneOrder,
      calls: [
        begun, .commit("a", 3...4, [.save("x", "x2")], [.accepted(version: 3)], seq: 3),
        .commit("b", 5...6, [.read("y")], [.read(.live("y", 2, "y1"))], seq: 2),
      ], isOnlyOfZone: true),
  ]
}
