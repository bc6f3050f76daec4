import CaravanModel
import CaravanQueryCore
import CaravanRuntime

/// Whose notifications are kept together.
struct LogKey: Sendable, Hashable {
  let user: UserID
  let container: ContainerID
  let environment: Environment
}

/// What happened to a record, or to a zone.
struct Happening: Sendable {
  var zone: String
  var record = ""
  /// Of the record; of a zone the life that begins or ends.
  var version: UInt64 = 0
  var writer = ""
  /// Who made the record: in a public database, who may see it may depend on that.
  var maker = ""
  var at: WallTime
}

/// A notification that is to be written to its log.
struct PendingHit: Sendable {
  let id: Int64
  let database: DatabaseID
  let subscription: String
  let reason: NotificationLog.Reason
  /// Empty: of zones.
  let type: String
  let viewer: Query.Viewer?
  let happening: Happening
  /// What it shows, as an encoded body with fields of the log.
  let shown: [UInt8]
}

/// Notifications between the transaction that found them and their log, on the index's writing connection: the index,
/// its cursor and they advance in one transaction.
struct Outbox {
  private let connection: any IndexConnection

  init(_ connection: any IndexConnection) { self.connection = connection }

  /// - Parameter shown: what it shows, as an encoded body with fields of the log.
  func add(
    _ reason: NotificationLog.Reason, of happening: Happening, to standing: Int64,
    showing shown: [UInt8] = []
  ) throws(CaravanError) {
    try connection.run(
      """
      INSERT INTO outbox(
        partition, container, environment, owner, subscriber, name, type, viewer, reason, zone, record, version, writer,
        maker, at, shown)
      SELECT partition, container, environment, owner, subscriber, name, coalesce(type_name, ''), viewer, ?, ?, ?, ?, ?,
        ?, ?, ?
      FROM standing LEFT JOIN standing_types USING (in_table) WHERE id = ?
      """, reason.rawValue, happening.zone, happening.record, happening.version, happening.writer, happening.maker,
      happening.at.milliseconds, shown, standing)
  }

  /// Logs that something waits for, of these partitions.
  func logs(in partition: Partition) throws(CaravanError) -> [LogKey] {
    try connection.all(
      "SELECT DISTINCT subscriber, container, environment FROM outbox WHERE partition = ?", partition.number
    ) { row throws(CaravanError) -> LogKey? in
      guard let environment = Environment(rawValue: row.text(2)) else { return nil }
      return LogKey(user: try UserID(row.text(0)), container: try ContainerID(row.text(1)), environment: environment)
    }.compactMap(\.self)
  }

  func count(of log: LogKey, in partition: Partition) throws(CaravanError) -> Int64 {
    try connection.first(
      "SELECT count(*) FROM outbox WHERE partition = ? AND subscriber = ? AND container = ? AND environment = ?",
      partition.number, log.user.text, log.container.text, log.environment.rawValue
    ) { row in row.integer(0) } ?? 0
  }

  /// In place of all that waits for a log each subscription is told that it missed something.
  func giveUp(_ log: LogKey, in partition: Partition, at now: WallTime) throws(CaravanError) {
    let last = try connection.first(
      "SELECT max(id) FROM outbox WHERE partition = ? AND subscriber = ? AND container = ? AND environment = ?",
      partition.number, log.user.text, log.container.text, log.environment.rawValue
    ) { row in row.integer(0) }
    guard let last, last > 0 else { return }
    try connection.run(
      """
      INSERT INTO outbox(
        partition, container, environment, owner, subscriber, name, type, viewer, reason, zone, record, version, writer,
        maker, at, shown)
      SELECT partition, container, environment, owner, subscriber, name, type, viewer, ?, '', '', 0, '', '', ?, ''
      FROM outbox WHERE id IN (
        SELECT max(id) FROM outbox
        WHERE partition = ? AND subscriber = ? AND container = ? AND environment = ? AND id <= ? GROUP BY owner, name)
      """, NotificationLog.Reason.missed.rawValue, now.milliseconds, partition.number, log.user.text,
      log.container.text, log.environment.rawValue, last)
    try remove(upTo: last, of: log, in: partition)
  }

  /// The next of them, in order.
  func next(
    of log: LogKey, in partition: Partition, atMost most: Int
  ) throws(CaravanError) -> [PendingHit] {
    try connection.all(
      """
      SELECT id, owner, name, type, viewer IS NULL, viewer, reason, zone, record, version, writer, maker, at, shown
      FROM outbox WHERE partition = ? AND subscriber = ? AND container = ? AND environment = ? ORDER BY id LIMIT ?
      """, partition.number, log.user.text, log.container.text, log.environment.rawValue, Int64(most)
    ) { row throws(CaravanError) -> PendingHit? in
      guard let reason = NotificationLog.Reason(rawValue: row.text(6)) else { return nil }
      let database = try DatabaseID(
        container: log.container, environment: log.environment, ownerText: row.text(1))
      return PendingHit(
        id: row.integer(0), database: database, subscription: row.text(2), reason: reason, type: row.text(3),
        viewer: row.isTrue(4) ? nil : Query.Viewer(text: row.text(5)),
        happening: Happening(
          zone: row.text(7), record: row.text(8), version: row.unsigned(9), writer: row.text(10), maker: row.text(11),
          at: WallTime(milliseconds: row.integer(12))),
        shown: row.bytes(13))
    }.compactMap(\.self)
  }

  /// What is in the log, up to this one.
  func remove(upTo id: Int64, of log: LogKey, in partition: Partition) throws(CaravanError) {
    try connection.run(
      "DELETE FROM outbox WHERE partition = ? AND subscriber = ? AND container = ? AND environment = ? AND id <= ?",
      partition.number, log.user.text, log.container.text, log.environment.rawValue, id)
  }

  /// What waits of a subscription that is another now, or none.
  func removeAll(of subscription: String, of user: UserID, _ database: DatabaseID) throws(CaravanError) {
    try connection.run(
      """
      DELETE FROM outbox
      WHERE partition = ? AND subscriber = ? AND container = ? AND environment = ? AND owner = ? AND name = ?
      """, Partition(of: database).number, user.text, database.container.text, database.environment.rawValue,
      database.ownerText, subscription)
  }

  func removeAll(of database: DatabaseID) throws(CaravanError) {
    try connection.run(
      "DELETE FROM outbox WHERE container = ? AND environment = ? AND owner = ?", database.container.text,
      database.environment.rawValue, database.ownerText)
  }
}
