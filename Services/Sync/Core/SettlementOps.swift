import CaravanModel

/// The op ids under which sync settles one row of a device's push: they follow from the push's own, so that a push
/// that is sent again, after its answer was lost, finds what was settled the first time (UNI-07).
package struct SettlementOps: Sendable, Hashable {
  /// Bits for the row within its push, and for the attempt.
  private static let rowBits: UInt64 = 9
  private static let attemptBits: UInt64 = 3
  private static let highestNumber: UInt64 = (1 << 40) - 1

  private let first: UInt64
  /// Outcomes below may be forgotten.
  package let floor: UInt64

  /// nil: the device has counted further than there are ids; its conflicts stay with it.
  package init?(op: UInt64, floor: UInt64, row: Int) {
    precondition((0..<Limits.recordsPerCommit).contains(row) && Limits.recordsPerCommit <= 1 << Self.rowBits)
    let shift = Self.rowBits + Self.attemptBits
    guard op <= Self.highestNumber >> shift, floor <= op else { return nil }
    first = op << shift | UInt64(row) << Self.attemptBits
    self.floor = floor << shift
    precondition(self.floor <= first, "what settles a row might be forgotten before it is used")
    precondition(first | (1 << Self.attemptBits - 1) <= Self.highestNumber, "op \(op) leaves no room for attempts")
  }

  package func number(_ attempt: Int) -> UInt64 {
    precondition((0..<1 << Self.attemptBits).contains(UInt64(attempt)), "there is no attempt \(attempt)")
    return first | UInt64(attempt)
  }

  /// No device can be called so.
  package static func writer(for device: String) -> String { WriterName.settling(for: device) }
}
