internal import CCaravanSQLite
public import CaravanModel

extension Connection {
  public enum TransactionKind: Sendable {
    /// Takes a snapshot at the first read and keeps it to the end.
    case read
    /// Takes the write lock at once, so that no statement in it can meet `busy`.
    case write
  }

  /// Runs `body` in one transaction: committed when it returns, rolled back when it or the commit throws.
  public func transaction<Result>(
    _ kind: TransactionKind = .write, _ body: () throws(CaravanError) -> Result
  ) throws(CaravanError) -> Result {
    try begin(kind)
    do {
      let result = try body()
      try commit()
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  /// Runs `body` in one snapshot, the open transaction's or one of its own, and locks the database's log once for all
  /// that it reads.
  public func reading<Result>(_ body: () throws(CaravanError) -> Result) throws(CaravanError) -> Result {
    isInTransaction ? try body() : try transaction(.read, body)
  }

  /// Runs `body`, outside of a transaction.
  /// - Parameter isDurable: false: its transactions survive a power cut only once a later one does, and nobody waits
  ///   for the disk.
  public func committing<Result>(
    durably isDurable: Bool, _ body: () throws(CaravanError) -> Result
  ) throws(CaravanError) -> Result {
    guard !isDurable, durability == .full else { return try body() }
    try execute("PRAGMA synchronous = NORMAL")
    let result: Result
    do { result = try body() } catch {
      try execute("PRAGMA synchronous = FULL")
      throw error
    }
    try execute("PRAGMA synchronous = FULL")
    return result
  }

  public func begin(_ kind: TransactionKind = .write) throws(CaravanError) {
    switch kind {
    case .read: try run("BEGIN DEFERRED")
    case .write: try run("BEGIN IMMEDIATE")
    }
  }

  /// - Throws: with the transaction still open where SQLite left it so: `rollBack` then.
  public func commit() throws(CaravanError) { try run("COMMIT") }

  /// Does nothing when a failure has rolled back already.
  public func rollBack() {
    guard isInTransaction else { return }
    // It cannot fail in a way that leaves the transaction open; nor do tests let it, who ask for that of statements.
    try? execute("ROLLBACK")
  }

  /// Runs `body` under a savepoint of the open transaction: when it throws, what it did is undone and nothing else,
  /// unless the failure rolled the whole transaction back (`isInTransaction` is then false).
  public func savepoint<Result>(_ body: () throws(CaravanError) -> Result) throws(CaravanError) -> Result {
    try run("SAVEPOINT inner")
    do {
      let result = try body()
      try run("RELEASE inner")
      return result
    } catch {
      if isInTransaction {
        try run("ROLLBACK TO inner")
        try run("RELEASE inner")
      }
      throw error
    }
  }
}
