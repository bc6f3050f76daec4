import CaravanAgentCore
import CaravanModel
import CaravanTestKit
import Testing

/// Goal: an answer that is brought up to date row by row is the one that reading everything would give, with the
/// cloud's rows in their places. Method: random changes against the definition, and the cases that need a full reading.
@Suite("Answers to live queries") struct LiveAnswerTests {
  private static func entry(
    _ id: String, _ rank: Int64, key: Int64? = nil, stamp: UInt64 = 0
  ) -> LiveEntry {
    LiveEntry(
      id: Array(id.utf8), ranks: [.integer(rank)], place: key.map { .row($0) } ?? .cloud, stamp: stamp)
  }

  private static func names(_ answer: LiveAnswer) -> [String] {
    answer.shown.map { String(decoding: $0.id, as: UTF8.self) }
  }

  private static let ascending = LiveOrder(isDescending: [false])

  @Test(
    "UNI-15: ranks are as SQLite's: null, numbers, texts by their bytes, bytes",
    arguments: [
      (LiveRank.null, LiveRank.integer(.min), true), (.integer(2), .integer(10), true), (.integer(1), .real(1.5), true),
      (.real(2.5), .integer(2), false), (.real(-1), .real(1), true), (.integer(9), .text(Array("".utf8)), true),
      (.text(Array("Z".utf8)), .text(Array("a".utf8)), true), (.text(Array("a".utf8)), .text(Array("ab".utf8)), true),
      (.text(Array("\u{e9}".utf8)), .text(Array("e\u{301}".utf8)), false),
      (.text([0xff]), .data([0]), true), (.data([1]), .data([1, 0]), true),
    ])
  func ranks(_ one: LiveRank, _ two: LiveRank, _ isFirst: Bool) {
    func entry(_ rank: LiveRank) -> LiveEntry { LiveEntry(id: [1], ranks: [rank], place: .cloud, stamp: 0) }
    #expect(Self.ascending.precedes(entry(one), entry(two)) == isFirst)
    #expect(Self.ascending.precedes(entry(two), entry(one)) == !isFirst)
    #expect(LiveOrder(isDescending: [true]).precedes(entry(one), entry(two)) == !isFirst)
  }

  @Test("UNI-15: rows of equal rank come by the bytes of their ids, whatever the direction")
  func ties() {
    var answer = LiveAnswer(order: LiveOrder(isDescending: [true]), limit: 9)
    answer.replaceLocal(
      [Self.entry("b", 1, key: 1), Self.entry("a", 1, key: 2), Self.entry("c", 2, key: 3)], hasMore: false)
    #expect(Self.names(answer) == ["c", "a", "b"])
    // One text to Unicode, and two ids.
    answer.replaceLocal([Self.entry("e\u{301}", 1, key: 1), Self.entry("\u{e9}", 1, key: 2)], hasMore: false)
    #expect(answer.shown.count == 2 && answer.shown[0].id.count == 3)
  }

  @Test("UNI-15: row by row, with a limit, an answer is as if all had been read")
  func random() {
    var random = SplitMix64(seed: 3)
    for _ in 0..<600 {
      let limit = Int.random(in: 1...6, using: &random)
      var table: [Int64: Int64] = [:]
      var answer = LiveAnswer(order: Self.ascending, limit: limit)
      func all() -> [LiveEntry] {
        table.map { Self.entry("r\($0.key)", $0.value, key: $0.key) }.sorted(by: Self.ascending.precedes)
      }
      for _ in 0..<25 {
        let keys = Set(
          (0..<Int.random(in: 1...3, using: &random)).map { _ in Int64.random(in: 0..<10, using: &random) })
        for key in keys { table[key] = Bool.random(using: &random) ? Int64.random(in: 0..<6, using: &random) : nil }
        let matching = all().filter { if case .row(let key) = $0.place { keys.contains(key) } else { false } }
        if !answer.change(keys, matching) {
          #expect(answer.shown.count < limit, "only where rows are missing is more to be read")
          answer.replaceLocal(Array(all().prefix(limit)), hasMore: all().count > limit)
        }
        #expect(answer.shown.map(\.id) == all().prefix(limit).map(\.id))
      }
    }
  }

  @Test("UNI-15: what the device holds of a row counts, whatever it is; the others are the cloud's")
  func joined() {
    var answer = LiveAnswer(order: Self.ascending, limit: 3)
    answer.replaceLocal([Self.entry("b", 2, key: 1), Self.entry("d", 9, key: 2)], hasMore: false)
    // Of e the device has a deletion, of d another rank.
    let found = [Self.entry("a", 1), Self.entry("c", 3), Self.entry("d", 0), Self.entry("e", 0), Self.entry("f", 4)]
    let held: [Int64: [UInt8]] = [2: Array("d".utf8), 7: Array("e".utf8)]
    answer.replaceCloud(found, held: held, hasMore: false)
    #expect(Self.names(answer) == ["a", "b", "c"] && !answer.needsMoreOfCloud)
    var isKnown = answer.change([1], [])
    #expect(isKnown && Self.names(answer) == ["a", "c", "f"])
    // The row of the deletion goes: what the cloud had said of it was before that.
    let lacksSome = answer.leave(key: 7)
    #expect(lacksSome && answer.held[7] == nil && Self.names(answer) == ["a", "c", "f"])
    let lacksNone = !answer.leave(key: 99)
    #expect(lacksNone)
    // One comes to the device that only the cloud had.
    answer.hold(Array("a".utf8), key: 4)
    isKnown = answer.change([4], [Self.entry("a", 8, key: 4)])
    #expect(isKnown && Self.names(answer) == ["c", "f", "a"])
    #expect(answer.shown[2].place == .row(4))
    answer.forgetCloud()
    #expect(Self.names(answer) == ["a", "d"])
  }

  @Test("UNI-15: behind the last row of which the cloud has told there may be others that belong into the answer")
  func more() {
    var answer = LiveAnswer(order: Self.ascending, limit: 3)
    answer.replaceLocal([Self.entry("x", 10, key: 1)], hasMore: false)
    answer.replaceCloud([Self.entry("a", 1), Self.entry("b", 2)], held: [:], hasMore: true)
    #expect(answer.needsMoreOfCloud, "x is shown, and what follows b may be before it")
    answer.replaceCloud([Self.entry("a", 1), Self.entry("b", 2)], held: [:], hasMore: false)
    #expect(!answer.needsMoreOfCloud)
    let three = [Self.entry("a", 1), Self.entry("b", 2), Self.entry("c", 3)]
    answer.replaceCloud(three, held: [:], hasMore: true)
    #expect(!answer.needsMoreOfCloud && Self.names(answer) == ["a", "b", "c"])
    answer.replaceCloud(three, held: [5: Array("b".utf8)], hasMore: true)
    #expect(answer.needsMoreOfCloud, "the device has deleted b")
  }

  @Test("UNI-15: an update is a row that may be another one, or is elsewhere now")
  func updates() {
    let old = [
      Self.entry("a", 1, key: 1, stamp: 1), Self.entry("b", 2, stamp: 4), Self.entry("c", 3, key: 3, stamp: 1),
    ]
    let new = [Self.entry("a", 1, key: 1, stamp: 2), Self.entry("b", 2, key: 2, stamp: 4), old[2]]
    #expect(ListDifference(from: old, to: new).updates == [0, 1])
  }
}
