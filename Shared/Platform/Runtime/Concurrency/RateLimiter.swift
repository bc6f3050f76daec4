package import CaravanModel

/// Lets everybody do so much and no more (CK-101). What it knows is this process's alone and gone with it: with n
/// instances behind one queue group, each sees about a part in n of what everybody asks.
package final class RateLimiter: Sendable {
  private let ledger: Mutex<RateLedger>
  private let clock: any Clock
  private let refused: [RateLedger.Scope: Counter]

  /// - Parameter refusals: counts them, by whose rate it was.
  package init(_ limits: RateLimits, counting refusals: CounterName, host: Host) {
    ledger = Mutex(RateLedger(limits))
    clock = host.clock
    refused = Dictionary(
      uniqueKeysWithValues: RateLedger.Scope.allCases.map {
        ($0, host.metrics.counter(refusals, [.kind: $0.rawValue]))
      })
  }

  /// - Throws: `rateLimited`, with the time until the same would be let through; then nothing is charged.
  package func pass(_ accesses: UInt64, from payer: RateLedger.Payer) throws(CaravanError) {
    let now = clock.now.nanoseconds
    guard let refusal = ledger.withLock({ $0.take(accesses, from: payer, at: now) }) else { return }
    refused[refusal.scope]?.add()
    let milliseconds = UInt32(clamping: (refusal.nanoseconds + 999_999) / 1_000_000)
    throw CaravanError(
      .rateLimited, "too much at once of this \(refusal.scope.rawValue): come again in \(milliseconds) ms",
      retryAfterMilliseconds: milliseconds)
  }

  /// For what has been done.
  package func charge(_ accesses: UInt64, to payer: RateLedger.Payer) {
    let now = clock.now.nanoseconds
    ledger.withLock { $0.charge(accesses, to: payer, at: now) }
  }
}
