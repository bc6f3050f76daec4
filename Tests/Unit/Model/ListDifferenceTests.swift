import CaravanModel
import CaravanTestKit
import Testing

/// Goal: a difference makes the new list of the former one, and moves no more than has to move. Method: tables, and
/// random lists against the definition.
@Suite("Differences of lists") struct ListDifferenceTests {
  private static func difference(_ old: String, _ new: String, changed: Set<Character> = []) -> ListDifference {
    let (old, new) = (Array(old), Array(new))
    return ListDifference(from: old, to: new) { from, to in
      #expect(old[from] == new[to], "only items that are in both are asked about")
      return changed.contains(new[to])
    }
  }

  private static func text(_ difference: ListDifference) -> String {
    (difference.deletions.map { "-\($0)" } + difference.moves.map { "\($0.from)>\($0.to)" }
      + difference.insertions.map { "+\($0)" } + difference.updates.map { "~\($0)" }).joined(separator: " ")
  }

  @Test(
    "UNI-15: deletions, moves, insertions and updates by their places",
    arguments: [
      ("", "", "", ""), ("", "ab", "", "+0 +1"), ("ab", "", "", "-0 -1"), ("abc", "abc", "", ""),
      ("abc", "abc", "b", "~1"), ("abc", "abc", "ac", "~0 ~2"), ("abc", "axc", "", "-1 +1"),
      ("abcde", "bcdea", "", "0>4"), ("abcde", "eabcd", "", "4>0"), ("abcd", "abXcd", "d", "+2 ~4"),
      ("abcd", "acd", "cd", "-1 ~1 ~2"), ("abcd", "dcba", "", "3>0 2>1 1>2"), ("abcd", "badc", "b", "1>0 3>2 ~0"),
      ("abcdef", "fXbca", "c", "-3 -4 5>0 0>4 +1 ~3"),
    ])
  func places(_ old: String, _ new: String, _ changed: String, _ expected: String) {
    let difference = Self.difference(old, new, changed: Set(changed))
    // Of a reversal any one item may stay.
    if old == "abcd", new == "dcba" { return #expect(difference.moves.count == 3) }
    if old == "abcd", new == "badc" {
      return #expect(difference.moves.count == 2 && difference.updates == [0] && difference.insertions.isEmpty)
    }
    #expect(Self.text(difference) == expected, "\(old) to \(new)")
    #expect(difference.isEmpty == expected.isEmpty)
  }

  @Test("UNI-15: applied, a difference makes the new list, and of the items in both as few move as can")
  func random() {
    var random = SplitMix64(seed: 7)
    for round in 0..<5_000 {
      let names = Array(0..<Int.random(in: 1...12, using: &random))
      func list() -> [Int] { names.shuffled(using: &random).filter { _ in Int.random(in: 0..<4, using: &random) > 0 } }
      let old = list()
      // Mostly alike, as answers are.
      var new = round.isMultiple(of: 2) ? list() : old
      if !round.isMultiple(of: 2), new.count > 1 { new.insert(new.remove(at: 0), at: new.count / 2) }
      let changed = Set(names.filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
      let difference = ListDifference(from: old, to: new) { _, to in changed.contains(new[to]) }

      var rows = old.map { (name: $0, version: 0) }
      let isApplied = difference.apply(to: &rows) { (name: new[$0], version: 1) }
      #expect(isApplied)
      #expect(rows.map(\.name) == new, "\(old) to \(new)")
      for row in rows {
        let isOther = changed.contains(row.name) || !old.contains(row.name)
        #expect(row.version == (isOther ? 1 : 0), "\(row) of \(old) to \(new)")
      }
      let both = new.filter(old.contains)
      let places = both.compactMap { old.firstIndex(of: $0) }
      #expect(difference.moves.count == both.count - Self.longest(places), "\(old) to \(new)")
    }
  }

  /// The length of a longest increasing subsequence, by its definition.
  private static func longest(_ numbers: [Int]) -> Int {
    var lengths: [Int] = []
    for (index, number) in numbers.enumerated() {
      lengths.append(1 + (numbers[..<index].indices.filter { numbers[$0] < number }.map { lengths[$0] }.max() ?? 0))
    }
    return lengths.max() ?? 0
  }

  @Test("UNI-15: a difference of another list changes nothing, and says so")
  func ofAnotherList() {
    func refuses(_ difference: ListDifference, of list: String, _ item: Character?) -> Bool {
      var rows = Array(list)
      return !difference.apply(to: &rows) { _ in item } && rows == Array(list)
    }
    let difference = Self.difference("abc", "cxa")
    #expect(!refuses(difference, of: "abc", "x"))
    #expect(refuses(difference, of: "ab", "x"))
    #expect(refuses(difference, of: "abc", nil), "an item is missing")
    var broken = ListDifference()
    for places in [[-1], [3], [0, 0]] {
      broken.deletions = places
      #expect(refuses(broken, of: "abc", "x"))
    }
    broken = ListDifference()
    broken.moves = [.init(from: 0, to: 9)]
    #expect(refuses(broken, of: "abc", "x"))
    broken = ListDifference()
    broken.updates = [3]
    #expect(refuses(broken, of: "abc", "x"))
  }
}
