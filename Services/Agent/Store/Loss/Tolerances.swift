internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime

/// Which tables may lose rows, and what writes to them are promised.
final class Tolerances: StorePart {
  let context: StoreContext
  /// Numbers of the tables that are registered with a tolerance of loss.
  private(set) var mayLose: Set<Int64> = []

  init(_ context: StoreContext) { self.context = context }

  var ledgers: LossTable { get throws(CaravanError) { LossTable(database: try database) } }

  /// After opening, and after every registration.
  func recall() throws(CaravanError) { mayLose = try ledgers.tables() }

  /// The table is dropped, in this transaction.
  func forget(_ table: Int64) throws(CaravanError) {
    try ledgers.end(table)
    try ledgers.clearDeadline(of: table)
    mayLose.remove(table)
  }

  /// What a write to the table with this intent is promised.
  /// - Throws: `invalidData` when the intent asks for what the table is not registered for.
  func promise(
    _ intent: WriteIntent, isInsert: Bool, in state: TableState
  ) throws(CaravanError) -> WritePromise {
    guard mayLose.contains(state.number), let ledger = try ledgers.ledger(of: state.number) else {
      guard intent.loss != .tolerated else {
        throw CaravanError(
          .invalidData, "table '\(state.table.name)' loses nothing: register its writes with a maximum loss first")
      }
      return .durable
    }
    guard ledger.tolerance.timeToLive(of: intent) != nil else { return .durable }
    guard isInsert else {
      guard intent.loss != .tolerated else {
        throw CaravanError(.invalidData, "an update cannot be lost, only a new row: write one, or leave the intent out")
      }
      return .durable
    }
    return .accepted
  }

  /// The row can no longer be lost: the cloud has it, or the app has changed it. Inside the transaction that says so.
  func settle(row key: Int64, in state: TableState) throws(CaravanError) {
    guard mayLose.contains(state.number), try ledgers.remove(row: key, of: state.number),
      var ledger = try ledgers.ledger(of: state.number)
    else { return }
    ledger.settle()
    try ledgers.save(ledger, of: state.number)
    count("settled", of: state.table)
  }

  /// Inside the transaction that registers or unregisters the table's writes. A tolerance with another maximum begins
  /// to count anew, with the rows that wait.
  func declare(_ tolerance: LossTolerance?, in state: TableState) throws(CaravanError) {
    guard let tolerance, tolerance.maximumPermille > 0 else { return try ledgers.end(state.number) }
    guard tolerance.maximumPermille <= 1000 else {
      throw CaravanError(
        .invalidData, "a maximum loss of \(tolerance.maximumPermille) permille: everything is 1000")
    }
    let old = try ledgers.ledger(of: state.number)
    guard let old, old.tolerance.maximumPermille == tolerance.maximumPermille else {
      return try ledgers.save(LossLedger(tolerance, accepted: old?.waiting ?? 0), of: state.number)
    }
    let ledger = LossLedger(
      tolerance, accepted: old.accepted, settled: old.settled, expired: old.expired, lostInQueue: old.lostInQueue,
      lostToServer: old.lostToServer)
    try ledgers.save(ledger, of: state.number)
  }

  /// How many of these rows may be lost.
  func count(among rows: [Int64], in state: TableState) throws(CaravanError) -> Int {
    guard mayLose.contains(state.number) else { return 0 }
    var count = 0
    for row in rows where try ledgers.contains(row: row, of: state.number) { count += 1 }
    return count
  }

  /// A deadline of its own outlives a restart. Inside the transaction of the write.
  func note(_ intent: WriteIntent, _ promise: WritePromise, in state: TableState) throws(CaravanError) {
    guard promise == .durable, let wait = intent.withinMilliseconds, !state.isLocalOnly else { return }
    try ledgers.note(deadline: host.clock.wallTime.milliseconds + Int64(wait), of: state.number)
  }

  func count(_ outcome: String, _ rows: UInt64 = 1, of table: TableID) {
    host.metrics.counter(.toleratedRows, [.table: table.description, .outcome: outcome]).add(Int(rows))
  }
}
