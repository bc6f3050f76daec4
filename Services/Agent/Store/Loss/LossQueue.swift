internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

extension CounterName {
  static let toleratedRows = CounterName(
    "caravan_agent_tolerated_rows_total", "Rows that may be lost, by table and what became of them.")
}

/// The bounded queues of rows that may be lost (UNI-16).
struct LossQueue: TablePart {
  let writer: RowWriter
  let openWrites: OpenWrites

  var catalog: TableCatalog { writer.catalog }
  private var tolerances: Tolerances { catalog.tolerances }

  // MARK: Rows

  /// A new row enters the queue, inside the transaction that makes it. The oldest make room, as far as they may be
  /// lost.
  /// - Throws: `limitExceeded` when the queue is full and nothing more may be lost.
  func accept(_ id: String, _ intent: WriteIntent, in state: TableState) throws(CaravanError) {
    guard var ledger = try tolerances.ledgers.ledger(of: state.number),
      let life = ledger.tolerance.timeToLive(of: intent),
      let row = try state.rows.row(id: id, database)
    else { return }
    if ledger.waiting >= options.toleratedRows { try expire(&ledger, in: state) }
    ledger.accept()
    try tolerances.ledgers.add(
      row: row.key, of: state.number, expires: life == 0 ? 0 : host.clock.wallTime.milliseconds + Int64(life))
    if ledger.waiting > options.toleratedRows, try lose(1, to: .queue, &ledger, in: state) == 0 {
      throw CaravanError(
        .limitExceeded,
        "\(ledger.waiting - 1) rows of '\(state.table.name)' wait that may be lost, and no more of them may be now: "
          + "sync, or write this one without loss", retryAfterMilliseconds: 1_000)
    }
    try tolerances.ledgers.save(ledger, of: state.number)
    tolerances.count("accepted", of: state.table)
  }

  /// Gives rows up, oldest first, as many as may be; also those that are too old to be sent.
  /// - Returns: how many still wait.
  @discardableResult
  func lose(of table: TableID, to place: LossPlace) throws(CaravanError) -> UInt64 {
    guard tolerances.mayLose.contains(try state(table).number) else { return 0 }
    return try change(table) { (state) throws(CaravanError) -> UInt64 in
      guard var ledger = try tolerances.ledgers.ledger(of: state.number) else { return 0 }
      try expire(&ledger, in: state)
      _ = try lose(ledger.mayLose, to: place, &ledger, in: state)
      try tolerances.ledgers.save(ledger, of: state.number)
      try openWrites.sweep()
      return ledger.waiting
    }
  }

  /// Stale rows are never sent (UNI-16). Inside the transaction of a plan.
  func expire(in state: TableState) throws(CaravanError) {
    guard tolerances.mayLose.contains(state.number), var ledger = try tolerances.ledgers.ledger(of: state.number) else {
      return
    }
    try expire(&ledger, in: state)
    try tolerances.ledgers.save(ledger, of: state.number)
  }

  private func expire(_ ledger: inout LossLedger, in state: TableState) throws(CaravanError) {
    let now = host.clock.wallTime.milliseconds
    let gone = try drop(try tolerances.ledgers.rows(of: state.number, expiredAt: now), atMost: .max, in: state)
    ledger.expire(gone)
    if gone > 0 { tolerances.count("expired", gone, of: state.table) }
  }

  private func lose(
    _ rows: UInt64, to place: LossPlace, _ ledger: inout LossLedger, in state: TableState
  ) throws(CaravanError) -> UInt64 {
    let allowed = min(rows, ledger.mayLose)
    guard allowed > 0 else { return 0 }
    let gone = try drop(try tolerances.ledgers.rows(of: state.number), atMost: allowed, in: state)
    ledger.lose(gone, to: place)
    if gone > 0 { tolerances.count("lost_\(place.rawValue)", gone, of: state.table) }
    return gone
  }

  /// Rows that are in a push, or that an app has open, stay.
  private func drop(_ keys: [Int64], atMost most: UInt64, in state: TableState) throws(CaravanError) -> UInt64 {
    var gone: UInt64 = 0
    for key in keys where gone < most {
      guard let row = try state.rows.row(key: key, database), !row.head.flags.syncPending,
        !openWrites.isOpen(row: row.id, of: state.table)
      else { continue }
      _ = try tolerances.ledgers.remove(row: key, of: state.number)
      try writer.remove(row, of: state)
      gone += 1
    }
    return gone
  }

}

extension LocalChange {
  init(bytes: Int, _ intent: WriteIntent, _ promise: WritePromise) {
    let isTolerated = promise == .accepted
    self.init(
      bytes: max(1, bytes), withinMilliseconds: isTolerated ? nil : intent.withinMilliseconds, isTolerated: isTolerated)
  }
}
