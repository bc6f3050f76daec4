package import Model

/// What a ticket lets its device do, once its seal has been found good.
package struct ChunkRules: Sendable {
  package var database: DatabaseID
  package var isUpload: Bool

  package init(database: DatabaseID, isUpload: Bool) {
    self.database = database
    self.isUpload = isUpload
  }

  /// - Parameters:
  ///   - sizes: of the chunks put.
  ///   - wanted: how many are asked for.
  package func check(partition: Partition, sizes: [Int], wanted: Int) throws(CaravanError) {
    try RequestRules.check(database, in: partition)
    guard sizes.isEmpty || isUpload else {
      throw CaravanError(.notAuthenticated, "the ticket is for downloads: ask sync for one for uploads")
    }
    guard max(sizes.count, wanted) <= StorageLimits.chunksPerRequest else {
      throw CaravanError(
        .limitExceeded, "a request names more than \(StorageLimits.chunksPerRequest) chunks: split it")
    }
    for size in sizes where !(1...Limits.chunkBytes).contains(size) {
      throw CaravanError(.limitExceeded, "a chunk has \(size) bytes: 1 to \(Limits.chunkBytes) are allowed")
    }
    let total = sizes.reduce(0, +)
    guard total <= Limits.chunkBatchBytes else {
      throw CaravanError(
        .limitExceeded, "a request brings \(total) chunk bytes: the limit is \(Limits.chunkBatchBytes), split it")
    }
  }
}

/// How much of each upload ticket has been used. Bounded: when it is full, the tickets that end first are forgotten,
/// whose devices may then bring their allowance once more.
package struct TicketLedger: Sendable {
  private struct Account {
    var used: UInt64
    var expires: Int64
  }

  private let capacity: Int
  private var accounts: [[UInt8]: Account] = [:]

  package init(capacity: Int = StorageLimits.ticketsRemembered) {
    precondition(capacity > 0, "a ledger without room limits nothing")
    self.capacity = capacity
  }

  package var count: Int { accounts.count }

  /// Counts `bytes` against the ticket with this MAC.
  /// - Throws: `limitExceeded`, and counts nothing, when the ticket does not allow so much more.
  package mutating func use(
    _ bytes: Int, of mac: [UInt8], allowing limit: UInt64, expires: Int64, now: Int64
  ) throws(CaravanError) {
    precondition(bytes >= 0, "a ticket cannot be used backwards")
    let used = (accounts[mac]?.used ?? 0) + UInt64(bytes)
    guard used <= limit else {
      throw CaravanError(
        .limitExceeded, "the ticket allows \(limit) bytes and would have carried \(used): ask for another")
    }
    if accounts[mac] == nil, accounts.count >= capacity { makeRoom(now: now) }
    accounts[mac] = Account(used: used, expires: expires)
  }

  private mutating func makeRoom(now: Int64) {
    accounts = accounts.filter { $0.value.expires > now }
    guard accounts.count >= capacity else { return }
    let half = accounts.sorted { $0.value.expires < $1.value.expires }.suffix(capacity / 2)
    accounts = Dictionary(uniqueKeysWithValues: half.map { ($0.key, $0.value) })
  }
}
