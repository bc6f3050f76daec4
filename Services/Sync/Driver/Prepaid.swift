import CaravanRuntime

/// What a frame has paid for its bytes before it was opened. Its operations draw on that first, so that nothing is paid
/// twice, and a frame that was let in is not refused for its own bytes.
final class Prepaid: Sendable {
  private let left: Mutex<UInt64>

  init(_ accesses: UInt64) { left = Mutex(accesses) }

  /// - Returns: what is still to be paid of so much.
  func cover(_ accesses: UInt64) -> UInt64 {
    left.withLock { left in
      let covered = min(left, accesses)
      left -= covered
      return accesses - covered
    }
  }
}
