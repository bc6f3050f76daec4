internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// Who writes: a row of `writers` for each epoch of each writer, with the outcomes of its ops. Rows are few, because
/// entries and outcomes are keyed by their ids (TRU-03): an epoch that its writer has left behind gives its row to
/// the next.
final class WriterEpochs: FilePart {
  let context: FileContext
  private var rows: [WriterID: Row] = [:]
  private var names = WriterNames()

  struct WriterID: Hashable {
    var name: String
    var epoch: UInt64
  }

  struct Row {
    var id: Int64
    var floor: UInt64
    /// No outcome of a higher number is kept: such an op is new, without looking.
    var highest: UInt64
    /// Outcomes that are kept.
    var outcomes: Int
  }

  init(_ context: FileContext) { self.context = context }

  func forget() {
    rows = [:]
    names = WriterNames()
  }

  /// - Parameter isCarried: it comes from another store, or a backup, where it had its place: no share bounds it.
  func writer(_ op: OpID, isCarried: Bool = false) throws(CaravanError) -> Row {
    let key = WriterID(name: op.writer, epoch: op.epoch)
    if let known = rows[key] { return known }
    let found = try db.first(
      "SELECT id, floor FROM writers WHERE name = ? AND epoch = ?", op.writer, op.epoch,
      read: { (id: $0.integer(0), floor: $0.unsigned(1)) })
    var row: Row
    if let found {
      row = Row(id: found.id, floor: found.floor, highest: 0, outcomes: 0)
      try countOutcomes(of: &row)
    } else {
      row = Row(id: try begin(op, isCarried), floor: 0, highest: 0, outcomes: 0)
    }
    rows.remember(key, row)
    return row
  }

  /// The name of the writer whose row has this number.
  func name(_ number: Int64) throws(CaravanError) -> String {
    String(decoding: try names.name(number, db), as: UTF8.self)
  }

  private func countOutcomes(of row: inout Row) throws(CaravanError) {
    let kept = try db.first(
      "SELECT count(*), max(key) FROM ops WHERE key BETWEEN ? AND ?", Key.make(row.id, 0),
      Key.make(row.id, StoreLimits.highestNumber), read: { (Int($0.integer(0)), Key.counter($0.integer(1))) })
    if let kept, kept.0 > 0 { (row.outcomes, row.highest) = kept }
  }

  // MARK: Epochs

  /// The first op of an epoch.
  /// - Returns: the number of its row.
  /// - Throws: `limitExceeded` when its user has too many; `serverBusy` when groups hold all epochs of the writer.
  private func begin(_ op: OpID, _ isCarried: Bool) throws(CaravanError) -> Int64 {
    let epochs = try db.all(
      "SELECT id, used FROM writers WHERE name = ? ORDER BY used, id", op.writer,
      read: { (id: $0.integer(0), used: $0.integer(1)) })
    let deadBefore = now - StoreLimits.deadEpochsRemembered.components.seconds * 1_000
    for epoch in epochs where epoch.used < deadBefore { try forgetOutcomes(of: epoch.id) }
    if epochs.count >= StoreLimits.epochs(of: op.writer) { return try replace(epochs.map(\.id), by: op) }
    if !isCarried { try checkEpochs(of: op.writer) }
    try db.run("INSERT INTO writers(name, epoch, floor, used) VALUES (?, ?, 0, ?)", op.writer, op.epoch, now)
    try context.checkRoom(for: db.lastInsertedRow, .writers)
    return db.lastInsertedRow
  }

  /// The epoch takes the row of the one that was used longest ago. What that had written stays under the writer's name.
  private func replace(_ epochs: [Int64], by op: OpID) throws(CaravanError) -> Int64 {
    for id in epochs where try !hasGroup(id) {
      try forgetOutcomes(of: id)
      try db.run(
        "UPDATE objects SET op = NULL WHERE op BETWEEN ? AND ?", Key.make(id, 0),
        Key.make(id, StoreLimits.highestNumber))
      try db.run(
        "UPDATE writers SET epoch = ?1, floor = 0, used = ?2, since = ?2 WHERE id = ?3", op.epoch, now, id)
      for (key, row) in rows where row.id == id { rows[key] = nil }
      return id
    }
    throw CaravanError(
      .serverBusy, "every epoch that is known of \(op.writer) has a group: end them before another epoch begins",
      retryAfterMilliseconds: 60_000)
  }

  private func hasGroup(_ writer: Int64) throws(CaravanError) -> Bool {
    try db.first(
      "SELECT 1 FROM groups WHERE key BETWEEN ? AND ? LIMIT 1", Key.make(writer, 0),
      Key.make(writer, StoreLimits.highestNumber), read: { _ in true }) ?? false
  }

  private func forgetOutcomes(of writer: Int64) throws(CaravanError) {
    try db.run(
      "DELETE FROM ops WHERE key BETWEEN ? AND ?", Key.make(writer, 0), Key.make(writer, StoreLimits.highestNumber))
    for (key, row) in rows where row.id == writer { rows[key] = nil }
  }

  // MARK: Outcomes

  func checked(_ op: OpID, floor: UInt64) throws(CaravanError) -> Row {
    let writer = try self.writer(op)
    try op.check(floor: floor, stored: writer.floor)
    return writer
  }

  func outcome(of op: OpID, _ writer: Row, in zone: ZoneID) throws(CaravanError) -> OpOutcome? {
    guard op.number <= writer.highest else { return nil }
    let key = Key.make(writer.id, op.number)
    guard let stored = try db.first("SELECT outcome FROM ops WHERE key = ?", key, read: { $0.bytes(0) }) else {
      return nil
    }
    let outcome = try OpOutcome(encoded: stored)
    if case .decided(_, _, let incarnation, _) = outcome, incarnation != 0 {
      if try reads.isForeign(incarnation, to: zone) { throw op.foreign(to: zone) }
    }
    return outcome
  }

  func keep(_ outcome: OpOutcome, of op: OpID, _ writer: Row, floor: UInt64) throws(CaravanError) {
    var writer = writer
    let key = Key.make(writer.id, op.number)
    try db.statement("INSERT INTO ops(key, outcome) VALUES (?, ?)").run(borrowing: outcome.encoded, at: 2) {
      (row) throws(CaravanError) in try row.bind(key, at: 1)
    }
    writer.highest = max(writer.highest, op.number)
    writer.outcomes += 1
    if floor >= writer.floor + StoreLimits.opFloorStep {
      try raise(&writer, to: floor)
    } else if writer.outcomes > StoreLimits.outcomesKept {
      // Nobody has so many ops under way.
      let oldest = try db.first(
        "SELECT key FROM ops WHERE key >= ? ORDER BY key LIMIT 1 OFFSET ?", Key.make(writer.id, 0),
        StoreLimits.outcomesKept / 4, read: { Key.counter($0.integer(0)) })
      if let oldest { try raise(&writer, to: oldest) }
    }
    remember(writer, of: op)
  }

  func remember(_ writer: Row, of op: OpID) {
    rows.remember(WriterID(name: op.writer, epoch: op.epoch), writer)
  }

  /// Its writer never asks for lower ones again.
  private func raise(_ writer: inout Row, to floor: UInt64) throws(CaravanError) {
    try db.run(
      "DELETE FROM ops WHERE key >= ? AND key < ?", Key.make(writer.id, writer.floor), Key.make(writer.id, floor))
    writer.outcomes -= db.changedRows
    try db.run("UPDATE writers SET floor = ?, used = ? WHERE id = ?", floor, now, writer.id)
    writer.floor = floor
  }

  private func checkEpochs(of writer: String) throws(CaravanError) {
    guard let author = WriterName.author(writer), !WriterName.isService(writer) else { return }
    var count = 0
    for first in ["\(author)", WriterName.settling(for: "\(author)")] {
      count +=
        try db.first(
          "SELECT count(*) FROM (SELECT 1 FROM writers WHERE name > ? AND name < ? LIMIT ?)", "\(first)/", "\(first)0",
          StoreLimits.epochsOfUser, read: { Int($0.integer(0)) }) ?? 0
    }
    guard count < StoreLimits.epochsOfUser else {
      throw CaravanError(
        .limitExceeded,
        "devices of \(author) have begun \(count) times here, which is the most: go on with those that are enrolled")
    }
  }
}
