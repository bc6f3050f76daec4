public import CaravanModel

/// A thread where statements run that take long, so that the owner of their connection can do other things meanwhile.
public actor SelectionThread {
  private let executor: any SerialExecutor
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  public init(_ executor: any SerialExecutor) { self.executor = executor }

  public func run<Result: Sendable>(
    _ lent: LentStatement, _ work: @Sendable (LentStatement) throws(CaravanError) -> Result
  ) throws(CaravanError) -> Result {
    try work(lent)
  }
}

/// A statement and its connection in the hands of a `SelectionThread`. `@unchecked Sendable` is safe because "separate
/// threads are allowed to use SQLite at the same time, as long as each thread is using a different database
/// connection" (https://sqlite.org/c3ref/open.html), and whoever lends them uses neither from then on until the thread
/// has given its answer.
public struct LentStatement: @unchecked Sendable {
  public let connection: Connection
  public let statement: Statement

  public init(_ statement: Statement, of connection: Connection) {
    self.connection = connection
    self.statement = statement
  }
}
