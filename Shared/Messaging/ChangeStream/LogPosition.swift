import CaravanModel

/// How far a partition's log has been followed, and what a change event means for it.
struct LogPosition: Sendable, Equatable {
  enum Verdict: Sendable, Equatable {
    /// The entries from this index on are the next ones.
    case take(from: Int)
    /// Everything in it is known.
    case known
    /// Something before it is missing: read the log.
    case gap
  }

  private(set) var value: UInt64

  init(_ value: UInt64) { self.value = value }

  /// - Parameters:
  ///   - previous: the position before the first entry.
  ///   - positions: of the entries, ascending; none: `previous` is how far the log has come.
  func judge(previous: UInt64, positions: [UInt64]) -> Verdict {
    if previous > value { return .gap }
    guard let last = positions.last, last > value else { return .known }
    // `previous` at or before here and the entries contiguous: the first one beyond is the next.
    return positions.firstIndex { $0 > value }.map { .take(from: $0) } ?? .known
  }

  mutating func advance(to position: UInt64) {
    precondition(position > value, "the log position went from \(value) to \(position)")
    value = position
  }

  /// After a rebuild, any position is possible.
  mutating func reset(to position: UInt64) { value = position }
}
