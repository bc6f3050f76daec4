import CaravanAgentCore
import Testing

/// Goal: what is needed goes first, whatever needs what (CK-27). Method: a table of graphs; numbers are rows.
@Suite struct PushOrderTests {
  /// - Parameters:
  ///   - needs: of each row; what is not in it needs nothing.
  ///   - stuck: rows that cannot go now.
  private static func outcome(
    of row: Int64, _ needs: [Int64: [Int64]], stuck: Set<Int64> = [], after chosen: Set<Int64> = []
  ) -> PushOrder.Step {
    var order = PushOrder(to: .row(row), after: Set(chosen.map { .row($0) }))
    while true {
      let step = order.next()
      guard case .ask(.row(let asked)) = step else { return step }
      order.answer(stuck.contains(asked) ? nil : (needs[asked] ?? []).map { .row($0) })
    }
  }

  private static func rows(_ numbers: Int64...) -> [PushUnit] { numbers.map { .row($0) } }

  @Test("CK-27: chains, diamonds, what goes anyway, what cannot go, and circles of every length")
  func table() {
    #expect(Self.outcome(of: 1, [:]) == .go(Self.rows(1)))
    #expect(Self.outcome(of: 1, [1: [2], 2: [3]]) == .go(Self.rows(3, 2, 1)))
    #expect(Self.outcome(of: 1, [1: [2, 3], 2: [4], 3: [4]]) == .go(Self.rows(4, 2, 3, 1)))
    #expect(Self.outcome(of: 1, [1: [2, 3], 2: [4]], after: [2]) == .go(Self.rows(3, 1)))
    #expect(Self.outcome(of: 1, [1: [2], 2: [3]], stuck: [3]) == .hold)
    #expect(Self.outcome(of: 1, [1: [2]], stuck: [1]) == .hold)
    #expect(Self.outcome(of: 1, [1: [2], 2: [1]]) == .join(Self.rows(1, 2)))
    #expect(Self.outcome(of: 1, [1: [2], 2: [3], 3: [2]]) == .join(Self.rows(2, 3)))
    #expect(Self.outcome(of: 1, [1: [2], 2: [3], 3: [4], 4: [2]], after: [4]) == .go(Self.rows(3, 2, 1)))
    let chain = Dictionary(uniqueKeysWithValues: (1..<10_000).map { (Int64($0), [Int64($0) + 1]) })
    #expect(Self.outcome(of: 1, chain) == .go((1...10_000).reversed().map { .row($0) }))
  }
}
