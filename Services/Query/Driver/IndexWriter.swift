package import CaravanModel
import CaravanQueryCore
package import CaravanRuntime

import struct Synchronization.Atomic

/// Writes the index. One connection on its own thread.
package actor IndexWriter {
  private let executor: any SerialExecutor
  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  let connection: any IndexConnection
  var tables: IndexCatalog
  private let records: IndexedRecords
  var standings: Standings
  let outbox: Outbox
  /// All instances have one index.
  nonisolated let isShared: Bool
  /// Partitions that this instance serves; each is opened when it is lost.
  private nonisolated let served = Mutex<[Partition: Latch]>([:])
  /// Of each partition: raised when something was put there.
  nonisolated let signals = Mutex<[UInt32: Signal]>([:])
  /// Partitions with subscriptions, or that had some.
  nonisolated let watched = Mutex<Set<UInt32>>([])
  private nonisolated let takingCount = Atomic<Int>(0)
  /// Tables as they were when all that a query needed of them was ready: who knows them need not ask the writer. Who
  /// reads compares their generation.
  private nonisolated let known = Mutex(BoundedCache<TableKey, IndexCatalog.Table>(capacity: QueryLimits.cachedTables))

  package init(_ place: any IndexPlace, host: Host) throws(CaravanError) {
    executor = host.executors.makeSerial("query-writer")
    isShared = place.engine == .postgres
    connection = try place.openForWriting(host)
    tables = IndexCatalog(connection)
    records = IndexedRecords(connection, place.engine)
    standings = Standings(connection)
    outbox = Outbox(connection)
  }

  package func close() { connection.close() }

  // MARK: Progress

  /// How far the partition's log has been taken in; nil: not at all.
  func cursor(of partition: Partition) throws(CaravanError) -> UInt64? {
    try connection.first("SELECT position FROM cursors WHERE partition = ?", partition.number) { row in
      row.unsigned(0)
    }
  }

  /// Serves a partition from now on. What others have written there since is not known here.
  func begin(_ partition: Partition, under token: UInt64) throws(CaravanError) {
    tables.forget()
    standings.forget()
    try connection.take(partition, under: token)
    let hasStandings =
      try connection.first(
        "SELECT 1 FROM standing WHERE partition = ? LIMIT 1", partition.number, read: { _ in true }) ?? false
    watched.withLock { watched in
      if hasStandings { watched.insert(partition.number) } else { watched.remove(partition.number) }
    }
    served.withLock { $0[partition] = Latch() }
  }

  nonisolated func end(_ partition: Partition) { served.withLock { $0[partition] = nil } }

  nonisolated func serves(_ partition: Partition) -> Bool { served.withLock { $0[partition] != nil } }

  /// Returns when a partition is to be begun anew.
  nonisolated func waitUntilLost(_ partition: Partition) async {
    await served.withLock { $0[partition] }?.wait()
  }

  private func noticeLosses() {
    served.withLock { served in
      for (partition, lost) in served where !connection.holds(partition) { lost.open() }
    }
  }

  /// Under which token this instance was current with the partition's log last; nil: never.
  func lastToken(in partition: Partition) throws(CaravanError) -> UInt64? {
    try connection.first("SELECT token FROM tokens WHERE partition = ?", partition.number) { row in row.unsigned(0) }
  }

  func isCurrent(with partition: Partition, under token: UInt64) throws(CaravanError) {
    try changing(partition) { () throws(CaravanError) in
      try connection.run(
        "INSERT INTO tokens(partition, token) VALUES(?, ?) ON CONFLICT(partition) DO UPDATE SET token = excluded.token",
        partition.number, token)
    }
  }

  /// Databases that are kept, and when they were asked about last.
  func wanted(in partition: Partition) throws(CaravanError) -> [DatabaseID: WallTime] {
    let rows = try connection.all(
      "SELECT container, environment, owner, asked FROM wanted WHERE partition = ?", partition.number
    ) { row throws(CaravanError) in
      guard let database = try row.database() else { return (DatabaseID, WallTime)?.none }
      return (database, WallTime(milliseconds: row.integer(3)))
    }
    return Dictionary(rows.compactMap(\.self)) { first, _ in first }
  }

  func want(_ database: DatabaseID, at now: WallTime) throws(CaravanError) {
    let partition = Partition(of: database)
    try changing(partition) { () throws(CaravanError) in
      try connection.run(
        """
        INSERT INTO wanted(container, environment, owner, partition, asked) VALUES(?, ?, ?, ?, ?)
        ON CONFLICT(container, environment, owner) DO UPDATE SET asked = excluded.asked
        """, database.container.text, database.environment.rawValue, database.ownerText, partition.number,
        now.milliseconds)
    }
  }

  /// Drops some of what there is of a database.
  /// - Returns: whether there is more.
  func forgetSome(of database: DatabaseID) throws(CaravanError) -> Bool {
    let zone = try connection.first(
      "SELECT name FROM zones WHERE container = ? AND environment = ? AND owner = ? LIMIT 1", database.container.text,
      database.environment.rawValue, database.ownerText
    ) { row in row.text(0) }
    if let zone {
      _ = try forgetSome(of: ZoneID(database, zone))
      return true
    }
    try changing(Partition(of: database)) { () throws(CaravanError) in
      try tables.drop(database)
      try standings.removeAll(of: database)
      try outbox.removeAll(of: database)
      try connection.run(
        "DELETE FROM wanted WHERE container = ? AND environment = ? AND owner = ?", database.container.text,
        database.environment.rawValue, database.ownerText)
    }
    return false
  }

  func progress(of zone: ZoneID) throws(CaravanError) -> ZoneProgress? {
    try place(of: zone)?.progress
  }

  func zones(in partition: Partition) throws(CaravanError) -> [ZoneID: ZoneProgress] {
    let rows = try connection.all(
      "SELECT container, environment, owner, name, incarnation, seq FROM zones WHERE partition = ?", partition.number
    ) { row throws(CaravanError) in
      guard let database = try row.database() else { return (ZoneID, ZoneProgress)?.none }
      return (try ZoneID(database, row.text(3)), ZoneProgress(incarnation: row.unsigned(4), seq: row.unsigned(5)))
    }
    return Dictionary(rows.compactMap(\.self)) { first, _ in first }
  }

  // MARK: Changes

  /// How often changes were taken in.
  nonisolated var takings: Int { takingCount.load(ordering: .relaxed) }

  /// One transaction: the updates, all of one partition, and the cursor with them.
  package func apply(
    _ updates: [IndexUpdate], in partition: Partition, cursor position: UInt64? = nil
  ) throws(CaravanError) {
    takingCount.wrappingAdd(1, ordering: .relaxed)
    try changing(partition) { () throws(CaravanError) in
      for update in updates { try apply(update) }
      guard let position else { return }
      try connection.run(
        """
        INSERT INTO cursors(partition, position) VALUES(?, ?)
        ON CONFLICT(partition) DO UPDATE SET position = excluded.position
        """, partition.number, position)
    }
  }

  /// One transaction, in which tables may come and go.
  func changing(_ partition: Partition, _ body: () throws(CaravanError) -> Void) throws(CaravanError) {
    do throws(CaravanError) { try connection.writing(to: partition, body) } catch {
      tables.forget()
      standings.forget()
      noticeLosses()
      throw error
    }
  }

  private func apply(_ update: IndexUpdate) throws(CaravanError) {
    let zone = update.zone
    let id = try record(update.progress, of: zone)
    if update.isMade { try tellOfZone(.zoneMade, zone, life: update.progress.incarnation, at: update.at) }
    let tells = update.telling == .differences
    var used = try connection.all("SELECT in_table FROM uses WHERE zone = ?", id) { row in row.integer(0) }
    for row in update.rows {
      let key = TableKey(database: zone.database, definition: row.definition)
      let table = try tables.make(key)
      let happening = Happening(
        zone: zone.name, record: row.name, version: row.entry.version, writer: row.entry.writer, at: update.at)
      // A record that changed its type leaves its row elsewhere.
      for other in used where other != table.id { try delete(row.name, zone, from: other, tells, happening) }
      let isWatched = tells ? try standings.watches(table.id) : false
      let before = isWatched ? try records.cells(of: row.name, zone, in: table.id) : nil
      let partial = try records.write(row, zone, to: table)
      if !partial.isEmpty { try tables.setPartial(partial, of: key) }
      if isWatched { try tell(table.id, from: before, to: row, happening, in: zone) }
      guard !used.contains(table.id) else { continue }
      try connection.run("INSERT INTO uses(zone, in_table) VALUES(?, ?)", id, table.id)
      used.append(table.id)
    }
    for row in update.removed {
      let happening = Happening(
        zone: zone.name, record: row.name, version: row.version, writer: row.writer, at: update.at)
      for table in used { try delete(row.name, zone, from: table, tells, happening) }
    }
    if update.telling == .loss, !update.rows.isEmpty || !update.removed.isEmpty {
      try tellOfLoss(of: zone, in: used, at: update.at)
    }
    for change in update.standings { try take(change, zone.database, isLate: update.isRead, at: update.at) }
  }

  // MARK: Records that are gone

  private func delete(
    _ name: String, _ zone: ZoneID, from table: Int64, _ tells: Bool, _ happening: Happening
  ) throws(CaravanError) {
    let isWatched = tells ? try standings.watches(table) : false
    let before = isWatched ? try records.cells(of: name, zone, in: table) : nil
    try records.delete(name, zone, from: table)
    if before != nil { try tell(table, from: before, to: nil, happening, in: zone) }
  }

  /// Drops some of what there is of a zone, or of this life of it. What is left of it is of a life that no zone has, so
  /// that nothing goes on from there.
  /// - Returns: whether there is more.
  func forgetSome(of zone: ZoneID) throws(CaravanError) -> Bool {
    guard let id = try place(of: zone)?.id else { return false }
    var hasMore = true
    try changing(Partition(of: zone.database)) { () throws(CaravanError) in
      let table = try connection.first("SELECT in_table FROM uses WHERE zone = ? LIMIT 1", id) { row in row.integer(0) }
      guard let table else {
        try connection.run("DELETE FROM zones WHERE id = ?", id)
        hasMore = false
        return
      }
      try connection.run("UPDATE zones SET incarnation = 0, seq = 0 WHERE id = ?", id)
      guard try !records.deleteSome(of: zone, in: table) else { return }
      try connection.run("DELETE FROM uses WHERE zone = ? AND in_table = ?", id, table)
    }
    return hasMore
  }

  func place(of zone: ZoneID) throws(CaravanError) -> (id: Int64, progress: ZoneProgress)? {
    let database = zone.database
    return try connection.first(
      """
      SELECT id, incarnation, seq FROM zones
      WHERE container = ? AND environment = ? AND owner = ? AND name = ?
      """, database.container.text, database.environment.rawValue, database.ownerText, zone.name
    ) { row in (row.integer(0), ZoneProgress(incarnation: row.unsigned(1), seq: row.unsigned(2))) }
  }

  private func record(_ progress: ZoneProgress, of zone: ZoneID) throws(CaravanError) -> Int64 {
    if let known = try place(of: zone) {
      try connection.run(
        "UPDATE zones SET incarnation = ?, seq = ? WHERE id = ?", progress.incarnation, progress.seq, known.id)
      return known.id
    }
    let database = zone.database
    return try connection.id(
      """
      INSERT INTO zones(partition, container, environment, owner, name, incarnation, seq) VALUES(?, ?, ?, ?, ?, ?, ?)
      RETURNING id
      """, Partition(of: database).number, database.container.text, database.environment.rawValue, database.ownerText,
      zone.name, progress.incarnation, progress.seq)
  }

  // MARK: Indexes

  /// A table, where all that a query needs of it is known to be ready.
  nonisolated func ready(_ key: TableKey, _ needs: [IndexNeed], at now: WallTime) -> TableIndexes? {
    guard let table = known.withLock({ $0.value(for: key) }), table.lacking(needs, at: now).isEmpty,
      table.unmarked(needs, at: now).isEmpty, table.isReady(for: needs)
    else { return nil }
    return table.ready
  }

  /// Begins the indexes that a query needs and the table lacks. Those of a few records are ready at once.
  /// - Returns: what is ready, and whether that is all; nil: there are no records of that type.
  func prepare(
    _ key: TableKey, _ needs: [IndexNeed], at now: WallTime
  ) throws(CaravanError) -> (indexes: TableIndexes, isReady: Bool)? {
    guard let table = try tables.find(key) else { return nil }
    let isLacking = !table.lacking(needs, at: now).isEmpty
    if isLacking || !table.unmarked(needs, at: now).isEmpty {
      try changing(Partition(of: key.database)) { () throws(CaravanError) in
        try tables.begin(needs, of: key, at: now)
        if isLacking { try build(key) }
      }
    }
    guard let table = try tables.find(key) else { return nil }
    known.withLock { $0.insert(table, for: key) }
    return (table.ready, table.isReady(for: needs))
  }

  /// Builds the table's indexes by one step.
  /// - Returns: whether there is more to be built.
  func step(_ key: TableKey) throws(CaravanError) -> Bool {
    guard let table = try tables.find(key), !table.isReady else { return false }
    try changing(Partition(of: key.database)) { () throws(CaravanError) in try build(key) }
    return try tables.find(key)?.isReady == false
  }

  func unfinished(in partition: Partition) throws(CaravanError) -> [TableKey] {
    try tables.unfinished(in: partition)
  }

  private func build(_ key: TableKey) throws(CaravanError) {
    guard let table = try tables.find(key), let front = table.front else { return }
    let (end, partial) = try records.fill(
      front.indexes, of: table, after: front.from, atMost: QueryLimits.recordsPerBuildStep)
    if !partial.isEmpty { try tables.setPartial(partial, of: key) }
    try tables.moved(key, from: front.from, to: end)
  }
}
