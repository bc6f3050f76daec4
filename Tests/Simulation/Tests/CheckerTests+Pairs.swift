import CaravanSimulation
import CaravanTestKit
import Testing

/// What a table of snapshots may show of records that others write in twos.
extension CheckerTests {
  /// Of p2 the device has given back one half, and decided the other.
  private static func sees(_ a: UInt64?, _ b: UInt64?) -> SeenPairs {
    var versions: [String: UInt64] = ["p2a": 9]
    (versions["p1a"], versions["p1b"]) = (a, b)
    return SeenPairs(device: "d1", pairs: [:], versions: versions, unsettled: ["p2b"])
  }

  private static let pairs = [
    PairCommit(writer: "parent", versions: ["p1a": 3, "p1b": 4, "p2a": 5, "p2b": 6], high: 6),
    PairCommit(writer: "parent", versions: ["p1a": 7, "p1b": 8], high: 8),
    PairCommit(writer: "d1", versions: ["p2a": 9], high: 9),
    PairCommit(writer: "parent", versions: ["p1a": nil, "p1b": nil], high: 11),
  ]

  @Test(
    "UNI-13, UNI-18: it shows what the zone was, in one of its lives, and what the device gives back beside that",
    arguments: [
      (3, 4, true), (7, 8, true), (nil, nil, true), (3, 8, false), (nil, 8, false), (15, 16, false),
      // Both of the former life; one of them is given back.
      (13, 14, true), (7, 14, true), (3, 14, true),
    ])
  func pairs(a: UInt64?, b: UInt64?, isSound: Bool) {
    var history = Self.sound
    history.pastPairs = [[PairCommit(writer: "parent", versions: ["p1a": 13, "p1b": 14], high: 14)]]
    history.pairs = Self.pairs
    history.seenPairs = [Self.sees(a, b)]
    let found = Self.violations(history).filter { $0.invariant.hasPrefix("UNI-13") }
    #expect(found.isEmpty == isSound, "\(found)")
  }

  @Test(
    "UNI-13, UNI-18: beside what the zone was in a former life it shows what the device gave back in a later one",
    arguments: [("d1", true), ("d2", false)])
  func laterLife(giver: String, isSound: Bool) {
    let kept = PairCommit(writer: "parent", versions: ["p3a": 1, "p4a": 2], high: 2)
    var history = Self.sound
    history.pastPairs = [[kept, PairCommit(writer: "parent", versions: ["p1a": 13, "p3a": nil], high: 14)]]
    history.pairs = [kept, PairCommit(writer: giver, versions: ["p2a": 9], high: 9)]
    history.seenPairs = [SeenPairs(device: "d1", pairs: [:], versions: ["p1a": 13, "p2a": 9, "p4a": 2])]
    let found = Self.violations(history).filter { $0.invariant.hasPrefix("UNI-13") }
    #expect(found.isEmpty == isSound, "\(found)")
  }
}
