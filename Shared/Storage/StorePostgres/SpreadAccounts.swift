internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStore

/// The store's `SpreadUsage`, which its writers ask and its maintenance tells.
final class SpreadAccounts: Sendable {
  private let usage = Mutex(SpreadUsage())
  private let clock: any Clock

  init(clock: any Clock) { self.clock = clock }

  func elsewhere(of account: Account, but partition: Partition) -> Usage {
    usage.withLock { $0.elsewhere(of: account, but: partition) }
  }

  /// - Parameter parts: reads what an account holds, by partition.
  /// - Returns: whether there may be more.
  func sum(_ parts: (Account) async throws(CaravanError) -> [Partition: Usage]) async throws(CaravanError) -> Bool {
    let now = Int64(clock.now.nanoseconds)
    let due = usage.withLock { $0.due(at: now) }
    for account in due {
      let found = try await parts(account)
      usage.withLock { $0.tell(account, found, at: now) }
    }
    return due.count == StoreLimits.spreadAccountsSummed
  }
}
