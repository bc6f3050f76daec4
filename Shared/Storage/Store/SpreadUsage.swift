package import CaravanModel

/// What accounts hold beside the partition that is written to: a default zone is spread over shards, each partition has
/// a writer of its own, and none sees what others write (CK-10, CK-102). Maintenance sums it for those accounts that
/// writers ask about, and tells them: so it is some seconds old, and a quota is kept to but for what was written
/// meanwhile. Times are of a clock that never goes back, in nanoseconds.
package struct SpreadUsage: Sendable {
  private struct Told {
    let parts: [Partition: Usage]
    let total: Usage
    let time: Int64
    /// Something of it lies, or is to lie, elsewhere than at home.
    var isSpread: Bool
  }

  private var told: [Account: Told] = [:]
  /// In the order in which writers asked.
  private var waiting: [Account] = []
  private var isWaiting: Set<Account> = []

  package init() {}

  /// Of an account with a limit that is about to write. Nothing, as long as maintenance has not looked.
  package mutating func elsewhere(of account: Account, but partition: Partition) -> Usage {
    if waiting.count < StoreLimits.spreadAccounts, isWaiting.insert(account).inserted { waiting.append(account) }
    guard let known = told[account] else { return Usage() }
    if partition != account.partition { told[account]?.isSpread = true }
    let here = known.parts[partition] ?? Usage()
    return Usage(records: known.total.records - here.records, bytes: known.total.bytes - here.bytes)
  }

  /// Those to be summed now: they have written since they were.
  package mutating func due(at now: Int64) -> [Account] {
    var due: [Account] = []
    for account in waiting where due.count < StoreLimits.spreadAccountsSummed && isDue(account, at: now) {
      due.append(account)
    }
    isWaiting.subtract(due)
    waiting.removeAll { !isWaiting.contains($0) }
    return due
  }

  /// Most accounts are at home in one partition, and stay there.
  private func isDue(_ account: Account, at now: Int64) -> Bool {
    guard let known = told[account] else { return true }
    let freshness = known.isSpread ? StoreLimits.spreadFreshness : StoreLimits.homeFreshness
    return .nanoseconds(now - known.time) >= freshness
  }

  /// - Parameter parts: what the account holds, by partition.
  package mutating func tell(_ account: Account, _ parts: [Partition: Usage], at now: Int64) {
    if told.count >= StoreLimits.spreadAccounts { told = [:] }
    told[account] = Told(
      parts: parts, total: parts.values.reduce(Usage(), +), time: now,
      isSpread: parts.keys.contains { $0 != account.partition })
  }
}
