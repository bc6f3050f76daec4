package import CaravanModel
package import CaravanRuntime

/// Numbers the commits of one instance of a service. No two lives share op ids, as each has
/// its epoch.
package final class OpSource: Sendable {
  private struct State {
    var next: UInt64 = 1
    /// Numbers given out and not yet answered; bounded by the service's requests in flight.
    var open: Set<UInt64> = []
  }

  private let writer: String
  private let epoch: UInt64
  private let state = Mutex(State())

  package init(writer: String, epoch: UInt64) {
    self.writer = writer
    self.epoch = epoch
  }

  /// An epoch that is later than any before it, as long as the clock goes forward, and nobody else's: milliseconds
  /// since 1970, and 20 bits that are drawn. It fits a signed column.
  package static func epoch(_ host: Host) -> UInt64 {
    UInt64(max(0, host.clock.wallTime.milliseconds)) << 20 | host.random.below(1 << 20)
  }

  /// A new op id; `floor` is the oldest number that may still be sent again.
  package func begin() -> (op: OpID, floor: UInt64) {
    state.withLock { state in
      let number = state.next
      state.next += 1
      state.open.insert(number)
      return (OpID(writer: writer, epoch: epoch, number: number), state.open.min() ?? number)
    }
  }

  package func end(_ op: OpID) {
    state.withLock { _ = $0.open.remove(op.number) }
  }
}
