package import CaravanModel

/// What a ticket lets its device do, once its seal has been found good.
package struct ChunkRules: Sendable {
  package var database: DatabaseID
  package var isUpload: Bool

  package init(database: DatabaseID, isUpload: Bool) {
    self.database = database
    self.isUpload = isUpload
  }

  /// What a chunk that is put takes.
  package struct Load: Sendable, Hashable {
    /// On the wire.
    package var bytes: Int
    /// Of the chunk itself.
    package var plain: Int
    /// Chunks it is a patch of.
    package var bases: Int

    package init(bytes: Int, plain: Int, bases: Int = 0) {
      self.bytes = bytes
      self.plain = plain
      self.bases = bases
    }
  }

  /// - Parameters:
  ///   - wanted: how many are asked for.
  ///   - bases: for each of those, how many chunks it may be a patch of.
  package func check(partition: Partition, put: [Load], wanted: Int, bases: [Int]) throws(CaravanError) {
    try RequestRules.check(database, in: partition)
    guard put.isEmpty || isUpload else {
      throw CaravanError(.notAuthenticated, "the ticket is for downloads: ask sync for one for uploads")
    }
    // What is sent to a public database is not read there before a record has it.
    guard wanted == 0 || !isUpload || !database.isPublic else {
      throw CaravanError(.notAuthenticated, "the ticket is for uploads: ask sync for one for the record")
    }
    guard max(put.count, wanted) <= Limits.chunksPerRequest else {
      throw CaravanError(
        .limitExceeded, "a request names more than \(Limits.chunksPerRequest) chunks: split it")
    }
    guard bases.count <= wanted else {
      throw CaravanError(.invalidData, "a request has bases for \(bases.count) chunks and asks for \(wanted)")
    }
    try Self.check(put)
    try Self.check(bases: bases)
  }

  /// Chunks that come with one message. What they hold counts, not what they take: it has to be in memory.
  package static func check(_ put: [Load]) throws(CaravanError) {
    for load in put where !(1...Limits.chunkBytes).contains(load.plain) || load.bytes > Limits.chunkBytes {
      throw CaravanError(
        .limitExceeded, "a chunk has \(max(load.plain, load.bytes)) bytes: 1 to \(Limits.chunkBytes) are allowed")
    }
    let total = put.reduce(0) { $0 + $1.plain }
    guard total <= Limits.chunkBatchBytes else {
      throw CaravanError(
        .limitExceeded, "a request brings \(total) chunk bytes: the limit is \(Limits.chunkBatchBytes), split it")
    }
    try check(bases: put.map(\.bases))
  }

  /// Each base is read to make or open a patch.
  private static func check(bases: [Int]) throws(CaravanError) {
    for count in bases where count > Limits.basesPerPatch {
      throw CaravanError(.limitExceeded, "a patch has \(count) bases: the limit is \(Limits.basesPerPatch)")
    }
    let total = bases.reduce(0, +)
    guard total <= StorageLimits.basesPerRequest else {
      throw CaravanError(
        .limitExceeded, "a request names \(total) bases: the limit is \(StorageLimits.basesPerRequest), split it")
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
    precondition(accounts.count <= capacity, "a ledger of \(accounts.count) tickets has room for \(capacity)")
  }

  private mutating func makeRoom(now: Int64) {
    accounts = accounts.filter { $0.value.expires > now }
    guard accounts.count >= capacity else { return }
    let byEnd = accounts.sorted { $0.value.expires < $1.value.expires }
    let half = byEnd.suffix(capacity / 2)
    accounts = Dictionary(uniqueKeysWithValues: half.map { ($0.key, $0.value) })
    precondition(accounts.count < capacity, "no room was made")
    precondition(
      byEnd.prefix(byEnd.count - half.count).allSatisfy { $0.value.expires <= half.first?.value.expires ?? .max },
      "a ticket was forgotten that ends later than one that is remembered")
  }
}
