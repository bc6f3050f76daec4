import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: the checker of histories finds what is wrong and accuses nobody wrongly. Method: a history for everything that
/// can be wrong, sound ones by hand and by chance, and those of real stores.
@Suite struct ZoneHistoryTests {
  /// Everything that may look odd and is not.
  static let sound: [ZoneCall] = [
    BadHistory.begun, .fetch("b", 3...4, ["x", "y", "z"], [.live("x", 1, "x1"), .live("y", 2, "y1")]),
    .commit("b", 5...6, [.save("x", "x2", .version(1))], [.accepted(version: 3)], seq: 3),
    .commit(
      "a", 5...8, [.read("x"), .save("y", "y2", .version(2))], [.read(.live("x", 3, "x2")), .accepted(version: 4)],
      seq: 4),
    .unknown("c", 7, [.save("z", "z1")]), .unknown("d", 7, [.save("w", "w1")]),
    .pull("e", 9...10, after: 2, .init([.live("x", 3, "x2"), .live("y", 4, "y2")], last: 4, head: 4)),
    .fetch("e", 11...12, ["z"], [.live("z", 5, "z1")]),
    .commit("a", 13...16, [.delete("x", .version(3))], [.accepted(version: 6)], seq: 6),
    .commit("b", 13...15, [.delete("x")], [.accepted(version: 6)], seq: 6),
    .commit("b", 17...18, [.save("y", "y3", .version(2))], [.conflict(.live("y", 4, "y2"))], seq: 6),
    .pull("e", 19...20, after: 4, .init([.live("z", 5, "z1"), .gone("x", 6)], last: 6)),
    .pull("e", 21...22, after: 0, .init([.live("y", 4, "y2")], last: 4, more: true)),
    .commit("a", 23...24, [.save("x", "x3", .absent)], [.accepted(version: 7)], seq: 7),
    // Its first answer was lost: what it shows is newer than what it did.
    .commit(
      "b", 17...26, [.read("x"), .save("v", "v1")], [.read(.live("x", 7, "x3")), .accepted(version: 8)], seq: 8,
      retried: true),
    .commit("c", 30...31, [.save("q", "q1")], [.accepted(version: 10)], seq: 10),
    // Both are told of one deletion at one seq. It was c, whose range ends there; b began earlier and found it done.
    .commit(
      "c", 34...37, [.save("u", "u1"), .delete("q")], [.accepted(version: 11), .accepted(version: 12)], seq: 12),
    .commit("b", 33...38, [.delete("q")], [.accepted(version: 12)], seq: 12),
  ]

  @Test("CK-22, CK-23: a sound history is sound")
  func soundness() {
    let findings = ZoneHistory(Self.sound).findings(isSerialisable: true)
    #expect(findings.isEmpty, "\(findings)")
  }

  @Test("CK-22, CK-23: what is broken is found", arguments: BadHistory.all)
  func broken(history: BadHistory) {
    let found = ZoneHistory(history.calls).findings(isSerialisable: true)
    #expect(found.contains { $0.rule == history.rule }, "\(found)")
    let ofRecords = ZoneHistory(history.calls).findings(isSerialisable: false)
    #expect(ofRecords.isEmpty == history.isOnlyOfZone, "\(ofRecords)")
  }

  @Test("every rule has a history that breaks it")
  func coverage() { #expect(Set(BadHistory.all.map(\.rule)) == Set(ZoneHistory.Rule.allCases)) }

  @Test("CK-22, CK-23: whatever clients of a sound zone see is sound, also where answers are lost")
  func chance() {
    var unknown = 0
    for seed in 1...150 {
      let calls = RandomHistory(seed: UInt64(seed)).calls
      unknown += calls.count { $0.answer == .unknown }
      let findings = ZoneHistory(calls).findings(isSerialisable: true)
      #expect(findings.isEmpty, "seed \(seed): \(findings.prefix(3))")
    }
    #expect(unknown > 300)
  }

  @Test("two commits by chance that have each other's answers are mostly found out")
  func damage() {
    var found = 0
    for seed in 1...100 {
      var calls = RandomHistory(seed: UInt64(seed)).calls
      var chance = SplitMix64(seed: UInt64(seed))
      let commits = calls.indices.filter { if case .committed = calls[$0].answer { true } else { false } }
      guard let late = commits.last, let early = commits.randomElement(using: &chance), early != late else { continue }
      (calls[early].answer, calls[late].answer) = (calls[late].answer, calls[early].answer)
      if !ZoneHistory(calls).findings(isSerialisable: true).isEmpty { found += 1 }
    }
    #expect(found >= 90, "\(found)")
  }
}
