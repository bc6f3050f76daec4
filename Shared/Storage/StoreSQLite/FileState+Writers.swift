internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

// Who writes: a row of `writers` for each epoch of each writer. Rows are few, because entries and outcomes are keyed by
// their ids (issue 5, A3): an epoch that its writer has left behind gives its row to the next.
extension FileState {
  /// - Parameter isCarried: it comes from another store, or a backup, where it had its place: no share bounds it.
  func writer(_ op: OpID, isCarried: Bool = false) throws(CaravanError) -> WriterRow {
    let key = WriterKey(name: op.writer, epoch: op.epoch)
    if let known = writerRows[key] { return known }
    let found = try db.first(
      "SELECT id, floor FROM writers WHERE name = ? AND epoch = ?", op.writer, op.epoch,
      read: { (id: $0.integer(0), floor: $0.unsigned(1)) })
    var row: WriterRow
    if let found {
      row = WriterRow(id: found.id, floor: found.floor, highest: 0, outcomes: 0)
      try countOutcomes(of: &row)
    } else {
      row = WriterRow(id: try begin(op, isCarried), floor: 0, highest: 0, outcomes: 0)
    }
    remember(&writerRows, key, row)
    return row
  }

  private func countOutcomes(of row: inout WriterRow) throws(CaravanError) {
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
    try checkRoom(for: db.lastInsertedRow, .writers)
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
      for (key, row) in writerRows where row.id == id { writerRows[key] = nil }
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
    for (key, row) in writerRows where row.id == writer { writerRows[key] = nil }
  }

  // MARK: Outcomes

  func keep(_ outcome: OpOutcome, of op: OpID, _ writer: WriterRow, floor: UInt64) throws(CaravanError) {
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

  func remember(_ writer: WriterRow, of op: OpID) {
    remember(&writerRows, WriterKey(name: op.writer, epoch: op.epoch), writer)
  }

  /// Its writer never asks for lower ones again.
  private func raise(_ writer: inout WriterRow, to floor: UInt64) throws(CaravanError) {
    try db.run(
      "DELETE FROM ops WHERE key >= ? AND key < ?", Key.make(writer.id, writer.floor), Key.make(writer.id, floor))
    writer.outcomes -= db.changedRows
    try db.run("UPDATE writers SET floor = ?, used = ? WHERE id = ?", floor, now, writer.id)
    writer.floor = floor
  }

  // MARK: Shares

  /// Rows that a file numbers.
  enum Numbered: String, CaseIterable { case writers, zones }

  /// What the metrics say of a file that is opened.
  func showNumbers() throws(CaravanError) {
    let writers = try db.first("SELECT max(id) FROM writers", read: { $0.integer(0) })
    metrics.numbered(.writers, upTo: writers ?? 0, isNew: false)
    let zones = try db.first("SELECT max(id) FROM zones", read: { $0.integer(0) })
    metrics.numbered(.zones, upTo: zones ?? 0, isNew: false)
  }

  /// - Throws: `limitExceeded`.
  func checkRoom(for id: Int64, _ rows: Numbered) throws(CaravanError) {
    metrics.numbered(rows, upTo: id)
    guard id <= FileLimits.highestOwner else {
      throw CaravanError(
        .limitExceeded, "a storage file knows at most \(FileLimits.highestOwner) \(rows.rawValue): add files")
    }
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

  func checkZones(of database: DatabaseID) throws(CaravanError) {
    let made = try db.first(
      """
      SELECT sum(made) FROM databases WHERE owner = ?1 AND (?1 <> '' OR container = ?2 AND environment = ?3)
      """, database.ownerText, database.container.text, database.environment.rawValue, read: { $0.integer(0) })
    try StoreLimits.checkShare(zones: made ?? 0)
  }
}
