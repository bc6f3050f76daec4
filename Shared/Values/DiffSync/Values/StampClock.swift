public import CaravanModel

/// A client's hybrid clock: its own wall clock, corrected by what the server said last, and never behind a stamp it has
/// seen. So who knew a value writes later than it, and a clock that is ahead is so only until the next sync (DIF-31,
/// E16).
public struct StampClock: Sendable, Hashable {
  /// What to add to the wall clock, in milliseconds.
  public var offset: Int64
  /// The newest stamp seen or given.
  public var last: HybridStamp

  public init(offset: Int64 = 0, last: HybridStamp = HybridStamp(rawValue: 0)) {
    self.offset = offset
    self.last = last
  }

  /// - Parameter wall: Unix milliseconds on the client.
  public mutating func stamp(at wall: Int64) -> HybridStamp {
    let next = HybridStamp(rawValue: last.rawValue + 1)
    last = max(HybridStamp(milliseconds: wall + offset), next)
    return last
  }

  /// The server says what time it is, and what is pending was made by then.
  mutating func hear(serverTime: Int64, at wall: Int64) {
    offset = serverTime - wall
    last = min(last, HybridStamp(milliseconds: serverTime))
  }

  mutating func see(_ diffs: [Diff]) {
    for diff in diffs {
      last = max(last, diff.timestamp)
      if case .create(let fields) = diff.change { for stamped in fields.values { last = max(last, stamped.timestamp) } }
    }
  }
}
