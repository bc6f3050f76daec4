internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// One life of a zone.
struct ZoneRecord {
  var id: Int64
  var database: Int64
  var incarnation: Incarnation
  var seq: Seq
  var records: Int64
  /// What its account is charged for them, without chunks.
  var bytes: Int64
  /// The newest snapshot that somebody may read; 0: none.
  var snapshot: Seq = 0
  /// Records of it refer to others, or once did.
  var isLinked = false
  /// When it was last written to; 0: before the store kept that.
  var time: Int64 = 0
}

/// The rows of databases and zones. The writer is the only one that writes, so what it remembers of them is true until
/// a write of its own is rolled back.
final class FileZones: FilePart {
  let context: FileContext
  private let log: FileLog
  private let accounts: FileAccounts
  private var zoneRows: [ZoneID: ZoneRecord] = [:]
  private var databaseRows: [DatabaseID: Int64] = [:]

  init(_ context: FileContext, log: FileLog, accounts: FileAccounts) {
    self.context = context
    self.log = log
    self.accounts = accounts
  }

  func forget() {
    zoneRows = [:]
    databaseRows = [:]
  }

  // MARK: Databases

  func databaseID(of database: DatabaseID) throws(CaravanError) -> Int64? {
    if let known = databaseRows[database] { return known }
    guard let id = try reads.database(database) else { return nil }
    databaseRows.remember(database, id)
    return id
  }

  func makeDatabase(_ database: DatabaseID) throws(CaravanError) -> Int64 {
    if let known = try databaseID(of: database) { return known }
    try db.run(
      "INSERT INTO databases(partition, container, environment, owner) VALUES (?, ?, ?, ?)",
      Partition(of: database).number, database.container.text, database.environment.rawValue, database.ownerText
    )
    let id = db.lastInsertedRow
    databaseRows.remember(database, id)
    return id
  }

  // MARK: Zones

  /// The zone of this name, if it is alive.
  func zone(_ zone: ZoneID) throws(CaravanError) -> ZoneRecord? {
    if let known = zoneRows[zone] { return known }
    guard let database = try databaseID(of: zone.database) else { return nil }
    let row = try db.first(
      """
      SELECT id, seq, records, bytes, snapshot, linked, incarnation, time FROM zones
      WHERE database = ? AND name = ? AND state = 0
      """, database, zone.name,
      read: {
        ZoneRecord(
          id: $0.integer(0), database: database, incarnation: reads.incarnation($0.integer(0), $0.unsigned(6)),
          seq: $0.unsigned(1), records: $0.integer(2), bytes: $0.integer(3), snapshot: $0.unsigned(4),
          isLinked: $0.flag(5), time: $0.integer(7))
      })
    if let row { zoneRows.remember(zone, row) }
    return row
  }

  /// A new life of the zone: another id, and versions that continue those of the life before.
  func makeZone(_ zone: ZoneID, seq: Seq) throws(CaravanError) -> ZoneRecord {
    let database = try makeDatabase(zone.database)
    try db.run("UPDATE databases SET made = made + 1 WHERE id = ?", database)
    try db.run(
      "INSERT INTO zones(database, name, seq, records, bytes, state) VALUES (?, ?, ?, 0, 0, 0)", database, zone.name,
      seq)
    let id = db.lastInsertedRow
    let row = ZoneRecord(
      id: id, database: database, incarnation: reads.incarnation(id, 0), seq: seq, records: 0, bytes: 0)
    try context.checkRoom(for: id, .zones)
    zoneRows.remember(zone, row)
    return row
  }

  /// A life of the zone that goes on behind the last one, as far as any is known here.
  /// - Throws: `limitExceeded` when its owner has too many.
  func beginZone(_ zone: ZoneID) throws(CaravanError) -> ZoneRecord {
    try checkShare(of: zone.database)
    if let last = try reads.zone(zone) { return try makeZone(zone, seq: last.seq) }
    let lives = try reads.pastIncarnations(of: zone)
    for life in lives { try addPastIncarnation(life, of: zone) }
    return try makeZone(zone, seq: UnknownZone.beginning(after: lives))
  }

  @discardableResult
  func addPastIncarnation(_ life: PastIncarnation, of zone: ZoneID) throws(CaravanError) -> ZoneRecord {
    let row = try makeZone(zone, seq: life.seq)
    try db.run(
      "UPDATE zones SET state = ?, lost_through = ? WHERE id = ?",
      life.isRestored ? ZoneStage.restored : ZoneStage.purged, life.lostThrough, row.id)
    // It goes on in what follows it, and takes nothing of its owner's share.
    if life.isRestored { try db.run("UPDATE databases SET made = made - 1 WHERE id = ?", row.database) }
    zoneRows[zone] = nil
    return row
  }

  /// What the next entry of the log is about.
  func save(_ row: ZoneRecord, of zone: ZoneID) throws(CaravanError) {
    guard row.seq <= StoreLimits.highestNumber else {
      throw CaravanError(.limitExceeded, "zone \(zone) has used up its versions")
    }
    let position = try log.nextPosition(in: Partition(of: zone.database).number)
    try db.statement("UPDATE zones SET seq = ?, records = ?, bytes = ?, changed = ?, time = ? WHERE id = ?").run {
      (zone) throws(CaravanError) in
      try zone.bind(row.seq, at: 1)
      try zone.bind(row.records, at: 2)
      try zone.bind(row.bytes, at: 3)
      try zone.bind(position, at: 4)
      try zone.bind(row.time, at: 5)
      try zone.bind(row.id, at: 6)
    }
    zoneRows.remember(zone, row)
  }

  func createZone(_ zone: ZoneID, writer: String) throws(CaravanError) -> ZonePosition {
    let row: ZoneRecord
    if let known = try self.zone(zone) {
      row = known
    } else {
      row = try beginZone(zone)
      try save(row, of: zone)
      try log.append(zone, row, low: row.seq, high: row.seq, writer: writer, entries: [])
    }
    return ZonePosition(zone: zone, seq: row.seq, incarnation: row.incarnation)
  }

  func remember(_ row: ZoneRecord, of zone: ZoneID) { zoneRows.remember(zone, row) }

  func deleteZone(_ zone: ZoneID, incarnation: Incarnation?, writer: String) throws(CaravanError) -> Bool {
    guard let row = try self.zone(zone), incarnation ?? row.incarnation == row.incarnation else {
      return false
    }
    let position = try log.nextPosition(in: Partition(of: zone.database).number)
    try db.run(
      "UPDATE zones SET state = 1, records = 0, bytes = 0, snapshot = 0, changed = ?, time = ? WHERE id = ?", position,
      now, row.id)
    accounts.grow(zone.database, by: Usage(records: -row.records, bytes: -row.bytes))
    zoneRows[zone] = nil
    try log.append(zone, row, low: row.seq, high: row.seq, writer: writer, isDeletion: true, entries: [])
    return true
  }

  private func checkShare(of database: DatabaseID) throws(CaravanError) {
    let made = try db.first(
      """
      SELECT sum(made) FROM databases WHERE owner = ?1 AND (?1 <> '' OR container = ?2 AND environment = ?3)
      """, database.ownerText, database.container.text, database.environment.rawValue, read: { $0.integer(0) })
    try StoreLimits.checkShare(zones: made ?? 0)
  }
}
