import CaravanModel
import CaravanQueryCore
import CaravanRuntime
import CaravanSQLite

/// Writes the index. One connection on its own thread.
actor IndexWriter {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private let connection: Connection
  private var tables: IndexCatalog
  private let records: IndexedRecords

  init(_ file: IndexFile, executors: any ExecutorSource) throws(CaravanError) {
    executor = executors.makeSerial("query-writer")
    connection = try file.openForWriting()
    tables = IndexCatalog(connection)
    records = IndexedRecords(connection)
  }

  func close() { connection.close() }

  // MARK: Progress

  /// How far the partition's log has been taken in; nil: not at all.
  func cursor(of partition: Partition) throws(CaravanError) -> UInt64? {
    try connection.first("SELECT position FROM cursors WHERE partition = ?", partition.number) { row in
      row.unsigned(0)
    }
  }

  /// Databases that are kept, and when they were asked about last.
  func wanted(in partition: Partition) throws(CaravanError) -> [DatabaseID: WallTime] {
    let rows = try connection.all(
      "SELECT container, environment, owner, asked FROM wanted WHERE partition = ?", partition.number
    ) { row throws(CaravanError) in
      guard let environment = Environment(rawValue: row.text(1)) else { return (DatabaseID, WallTime)?.none }
      let database = try DatabaseID(
        container: ContainerID(row.text(0)), environment: environment, ownerText: row.text(2))
      return (database, WallTime(milliseconds: row.integer(3)))
    }
    return Dictionary(rows.compactMap(\.self)) { first, _ in first }
  }

  func want(_ database: DatabaseID, at now: WallTime) throws(CaravanError) {
    try connection.run(
      "INSERT OR REPLACE INTO wanted(container, environment, owner, partition, asked) VALUES(?, ?, ?, ?, ?)",
      database.container.text, database.environment.rawValue, database.ownerText, Partition(of: database).number,
      now.milliseconds)
  }

  /// Drops all there is of a database.
  func forget(_ database: DatabaseID) throws(CaravanError) {
    try changing { () throws(CaravanError) in
      let zones = try connection.all(
        "SELECT name FROM zones WHERE container = ? AND environment = ? AND owner = ?", database.container.text,
        database.environment.rawValue, database.ownerText
      ) { row in row.text(0) }
      for zone in zones { try forget(ZoneID(database, zone)) }
      try tables.drop(database)
      try connection.run(
        "DELETE FROM wanted WHERE container = ? AND environment = ? AND owner = ?", database.container.text,
        database.environment.rawValue, database.ownerText)
    }
  }

  func progress(of zone: ZoneID) throws(CaravanError) -> ZoneProgress? {
    try place(of: zone)?.progress
  }

  func zones(in partition: Partition) throws(CaravanError) -> [ZoneID: ZoneProgress] {
    let rows = try connection.all(
      "SELECT container, environment, owner, name, incarnation, seq FROM zones WHERE partition = ?", partition.number
    ) { row throws(CaravanError) in
      guard let environment = Environment(rawValue: row.text(1)) else { return (ZoneID, ZoneProgress)?.none }
      let database = try DatabaseID(
        container: ContainerID(row.text(0)), environment: environment, ownerText: row.text(2))
      return (try ZoneID(database, row.text(3)), ZoneProgress(incarnation: row.unsigned(4), seq: row.unsigned(5)))
    }
    return Dictionary(rows.compactMap(\.self)) { first, _ in first }
  }

  // MARK: Changes

  /// One transaction: the updates in order, and the cursor with them.
  func apply(_ updates: [IndexUpdate], cursor: (partition: Partition, position: UInt64)? = nil) throws(CaravanError) {
    try changing { () throws(CaravanError) in
      for update in updates { try apply(update) }
      guard let cursor else { return }
      try connection.run(
        "INSERT OR REPLACE INTO cursors(partition, position) VALUES(?, ?)", cursor.partition.number, cursor.position)
    }
  }

  /// One transaction, in which tables may come and go.
  private func changing(_ body: () throws(CaravanError) -> Void) throws(CaravanError) {
    do throws(CaravanError) { try connection.transaction { () throws(CaravanError) in try body() } } catch {
      tables.forget()
      throw error
    }
  }

  private func apply(_ update: IndexUpdate) throws(CaravanError) {
    switch update {
    case .forget(let zone): try forget(zone)
    case .write(let zone, let rows, let removed, let progress):
      let id = try record(progress, of: zone)
      var used = try connection.all("SELECT in_table FROM uses WHERE zone = ?", id) { row in row.integer(0) }
      for row in rows {
        let table = try tables.make(TableKey(database: zone.database, definition: row.definition))
        // A record that changed its type leaves its row elsewhere.
        for other in used where other != table.id { try delete(row.name, zone, from: other) }
        try records.write(row, zone, to: table)
        guard !used.contains(table.id) else { continue }
        try connection.run("INSERT INTO uses(zone, in_table) VALUES(?, ?)", id, table.id)
        used.append(table.id)
      }
      for name in removed { for table in used { try delete(name, zone, from: table) } }
    }
  }

  private func delete(_ name: String, _ zone: ZoneID, from table: Int64) throws(CaravanError) {
    try connection.run("DELETE FROM records WHERE in_table = ? AND zone = ? AND name = ?", table, zone.name, name)
  }

  private func forget(_ zone: ZoneID) throws(CaravanError) {
    guard let id = try place(of: zone)?.id else { return }
    for table in try connection.all("SELECT in_table FROM uses WHERE zone = ?", id, read: { row in row.integer(0) }) {
      try connection.run("DELETE FROM records WHERE in_table = ? AND zone = ?", table, zone.name)
    }
    try connection.run("DELETE FROM uses WHERE zone = ?", id)
    try connection.run("DELETE FROM zones WHERE id = ?", id)
  }

  private func place(of zone: ZoneID) throws(CaravanError) -> (id: Int64, progress: ZoneProgress)? {
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
    try connection.run(
      """
      INSERT INTO zones(partition, container, environment, owner, name, incarnation, seq) VALUES(?, ?, ?, ?, ?, ?, ?)
      """, Partition(of: database).number, database.container.text, database.environment.rawValue, database.ownerText,
      zone.name, progress.incarnation, progress.seq)
    return connection.lastInsertedRow
  }

  // MARK: Indexes

  /// Begins the indexes that a query needs and the table lacks. Those of a few records are ready at once.
  /// - Returns: what is ready, and whether that is all; nil: there are no records of that type.
  func prepare(_ key: TableKey, _ needs: [IndexNeed]) throws(CaravanError) -> (indexes: TableIndexes, isReady: Bool)? {
    guard let table = try tables.find(key) else { return nil }
    if !table.lacking(needs).isEmpty {
      try changing { () throws(CaravanError) in
        try tables.begin(needs, of: key)
        try build(key)
      }
    }
    guard let table = try tables.find(key) else { return nil }
    let isBuilding = table.indexes.contains { $0.building != nil && needs.contains($0.need) }
    return (table.ready, !isBuilding)
  }

  /// Builds the table's indexes by one step.
  /// - Returns: whether there is more to be built.
  func step(_ key: TableKey) throws(CaravanError) -> Bool {
    guard let table = try tables.find(key), !table.isReady else { return false }
    try changing { () throws(CaravanError) in try build(key) }
    return try tables.find(key)?.isReady == false
  }

  func unfinished() throws(CaravanError) -> [TableKey] { try tables.unfinished() }

  private func build(_ key: TableKey) throws(CaravanError) {
    guard let table = try tables.find(key), let front = table.front else { return }
    let end = try records.fill(front.indexes, of: table, after: front.from, atMost: QueryLimits.recordsPerStep)
    try tables.moved(key, from: front.from, to: end)
  }
}
