internal import CaravanModel

/// Builds a tree of terms in postfix order, which is how they travel: no message nests.
struct Postfix<Leaf: Sendable & Hashable> {
  private var results: [Expression<Leaf>] = []
  /// What errors call the terms.
  private let subject: String

  init(_ subject: String) { self.subject = subject }

  mutating func add(_ part: Expression<Leaf>) { results.append(part) }

  /// - Throws: `invalidData` when there are not so many results.
  mutating func combineAll(_ count: UInt32) throws(CaravanError) {
    results.append(.joined(try take(count, "all"), by: Expression.all))
  }

  /// - Throws: as `combineAll`.
  mutating func combineAny(_ count: UInt32) throws(CaravanError) {
    results.append(.joined(try take(count, "any"), by: Expression.any))
  }

  /// - Throws: `invalidData` when there is no result.
  mutating func negate() throws(CaravanError) {
    guard let last = results.popLast() else {
      throw CaravanError(.invalidData, "'not' stands where no result does: it takes the one before it")
    }
    results.append(.not(last))
  }

  private mutating func take(_ count: UInt32, _ name: String) throws(CaravanError) -> [Expression<Leaf>] {
    guard count > 0, count <= results.count else {
      throw CaravanError(
        .invalidData, "'\(name) \(count)' stands where \(results.count) results do: it takes 1 to that many")
    }
    defer { results.removeLast(Int(count)) }
    return Array(results.suffix(Int(count)))
  }

  /// - Throws: `invalidData` when the terms come to no single result.
  func whole() throws(CaravanError) -> Expression<Leaf> {
    guard results.count == 1 else {
      throw CaravanError(
        .invalidData, "the \(subject) leaves \(results.count) results: combine them to one with 'all' or 'any'")
    }
    return results[0]
  }
}
