public import CaravanAgentCore
public import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

extension CounterName {
  static let toleratedRows = CounterName(
    "caravan_agent_tolerated_rows_total", "Rows that may be lost, by table and what became of them.")
}

extension LocalStore {
  var lossTable: LossTable { get throws(CaravanError) { LossTable(database: try database) } }

  /// What a write with this intent may rely on.
  /// - Throws: `tableNotFound`; `invalidData` when the intent asks for what the table is not registered for.
  public func promise(
    _ intent: WriteIntent, isInsert: Bool, in table: TableID
  ) throws(CaravanError) -> WritePromise { try promise(intent, isInsert: isInsert, in: try state(table)) }

  /// The same, of open writes that end together.
  public func promise(ofWrites handles: [UInt64]) -> WritePromise {
    handles.allSatisfy { openWrites[$0]?.promise == .accepted } ? .accepted : .durable
  }

  /// What a write to the table with this intent is promised.
  /// - Throws: `invalidData` when the intent asks for what the table is not registered for.
  func promise(
    _ intent: WriteIntent, isInsert: Bool, in state: TableState
  ) throws(CaravanError) -> WritePromise {
    guard mayLose.contains(state.number), let ledger = try lossTable.ledger(of: state.number) else {
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

  // MARK: Rows

  /// A new row enters the queue, inside the transaction that makes it. The oldest make room, as far as they may be
  /// lost.
  /// - Throws: `limitExceeded` when the queue is full and nothing more may be lost.
  func accept(_ id: String, _ intent: WriteIntent, in state: TableState) throws(CaravanError) {
    guard var ledger = try lossTable.ledger(of: state.number), let life = ledger.tolerance.timeToLive(of: intent),
      let row = try state.rows.row(id: id, database)
    else { return }
    if ledger.waiting >= options.toleratedRows { try expire(&ledger, in: state) }
    ledger.accept()
    try lossTable.add(
      row: row.key, of: state.number, expires: life == 0 ? 0 : host.clock.wallTime.milliseconds + Int64(life))
    if ledger.waiting > options.toleratedRows, try lose(1, to: .queue, &ledger, in: state) == 0 {
      throw CaravanError(
        .limitExceeded,
        "\(ledger.waiting - 1) rows of '\(state.table.name)' wait that may be lost, and no more of them may be now: "
          + "sync, or write this one without loss", retryAfterMilliseconds: 1_000)
    }
    try lossTable.save(ledger, of: state.number)
    count("accepted", of: state.table)
  }

  /// The row can no longer be lost: the cloud has it, or the app has changed it. Inside the transaction that says so.
  func settleTolerated(row key: Int64, in state: TableState) throws(CaravanError) {
    guard mayLose.contains(state.number), try lossTable.remove(row: key, of: state.number),
      var ledger = try lossTable.ledger(of: state.number)
    else { return }
    ledger.settle()
    try lossTable.save(ledger, of: state.number)
    count("settled", of: state.table)
  }

  /// Gives rows up, oldest first, as many as may be; also those that are too old to be sent.
  /// - Returns: how many still wait.
  @discardableResult
  public func loseTolerated(of table: TableID, to place: LossPlace) throws(CaravanError) -> UInt64 {
    guard mayLose.contains(try state(table).number) else { return 0 }
    return try change(table) { (state) throws(CaravanError) -> UInt64 in
      guard var ledger = try lossTable.ledger(of: state.number) else { return 0 }
      try expire(&ledger, in: state)
      _ = try lose(ledger.mayLose, to: place, &ledger, in: state)
      try lossTable.save(ledger, of: state.number)
      try chunkTable.sweepUnlessWriting(openWrites)
      return ledger.waiting
    }
  }

  /// Stale rows are never sent (UNI-16). Inside the transaction of a plan.
  func expireTolerated(in state: TableState) throws(CaravanError) {
    guard mayLose.contains(state.number), var ledger = try lossTable.ledger(of: state.number) else { return }
    try expire(&ledger, in: state)
    try lossTable.save(ledger, of: state.number)
  }

  private func expire(_ ledger: inout LossLedger, in state: TableState) throws(CaravanError) {
    let now = host.clock.wallTime.milliseconds
    let gone = try drop(try lossTable.rows(of: state.number, expiredAt: now), atMost: .max, in: state)
    ledger.expire(gone)
    if gone > 0 { count("expired", gone, of: state.table) }
  }

  private func lose(
    _ rows: UInt64, to place: LossPlace, _ ledger: inout LossLedger, in state: TableState
  ) throws(CaravanError) -> UInt64 {
    let allowed = min(rows, ledger.mayLose)
    guard allowed > 0 else { return 0 }
    let gone = try drop(try lossTable.rows(of: state.number), atMost: allowed, in: state)
    ledger.lose(gone, to: place)
    if gone > 0 { count("lost_\(place.rawValue)", gone, of: state.table) }
    return gone
  }

  /// Rows that are in a push, or that an app has open, stay.
  private func drop(_ keys: [Int64], atMost most: UInt64, in state: TableState) throws(CaravanError) -> UInt64 {
    var gone: UInt64 = 0
    for key in keys where gone < most {
      guard let row = try state.rows.row(key: key, database), !row.head.flags.syncPending,
        !isOpen(row: row.id, of: state.table)
      else { continue }
      _ = try lossTable.remove(row: key, of: state.number)
      try removeRow(row, of: state)
      gone += 1
    }
    return gone
  }

  private func count(_ outcome: String, _ rows: UInt64 = 1, of table: TableID) {
    host.metrics.counter(.toleratedRows, [.table: table.description, .outcome: outcome]).add(Int(rows))
  }

  // MARK: Registration

  /// Inside the transaction that registers or unregisters the table's writes. A tolerance with another maximum begins
  /// to count anew, with the rows that wait.
  func declare(_ tolerance: LossTolerance?, in state: TableState) throws(CaravanError) {
    guard let tolerance, tolerance.maximumPermille > 0 else { return try lossTable.end(state.number) }
    guard tolerance.maximumPermille <= 1000 else {
      throw CaravanError(
        .invalidData, "a maximum loss of \(tolerance.maximumPermille) permille: everything is 1000")
    }
    let old = try lossTable.ledger(of: state.number)
    guard let old, old.tolerance.maximumPermille == tolerance.maximumPermille else {
      return try lossTable.save(LossLedger(tolerance, accepted: old?.waiting ?? 0), of: state.number)
    }
    let ledger = LossLedger(
      tolerance, accepted: old.accepted, settled: old.settled, expired: old.expired, lostInQueue: old.lostInQueue,
      lostToServer: old.lostToServer)
    try lossTable.save(ledger, of: state.number)
  }

  /// Of the rows that can be collected, those that may start a transfer, and those that only ride along.
  func collectable(of all: Int, in state: TableState) throws(CaravanError) -> (dirty: Int, tolerated: Int) {
    let dirty = try all - batches.heldBack(in: state)
    guard mayLose.contains(state.number), dirty > 0 else { return (dirty, 0) }
    let tolerated = try state.rows.count(
      where: "\(RowTable.isCollectable) AND _row IN (SELECT row FROM tolerated WHERE table_id = \(state.number))",
      database)
    return (dirty - tolerated, tolerated)
  }

  /// How many of these rows may be lost.
  func toleratedRows(among rows: [Int64], in state: TableState) throws(CaravanError) -> Int {
    guard mayLose.contains(state.number) else { return 0 }
    var count = 0
    for row in rows where try lossTable.contains(row: row, of: state.number) { count += 1 }
    return count
  }

  // MARK: Intents

  /// A deadline of its own outlives a restart. Inside the transaction of the write.
  func note(_ intent: WriteIntent, _ promise: WritePromise, in state: TableState) throws(CaravanError) {
    guard promise == .durable, let wait = intent.withinMilliseconds, !state.isLocalOnly else { return }
    try lossTable.note(deadline: host.clock.wallTime.milliseconds + Int64(wait), of: state.number)
  }
}

extension LocalChange {
  init(bytes: Int, _ intent: WriteIntent, _ promise: WritePromise) {
    let isTolerated = promise == .accepted
    self.init(
      bytes: max(1, bytes), withinMilliseconds: isTolerated ? nil : intent.withinMilliseconds, isTolerated: isTolerated)
  }
}
