package import CaravanModel
import CaravanQueryCore
package import CaravanRuntime
import CaravanSQLite

import struct Synchronization.Atomic

/// Writes the index. One connection on its own thread.
package actor IndexWriter {
  private let executor: any SerialExecutor
  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private let connection: Connection
  private var tables: IndexCatalog
  private let records: IndexedRecords
  private var standings: Standings
  private let outbox: Outbox
  /// Of each partition: raised when something was put there.
  private nonisolated let signals = Mutex<[UInt32: Signal]>([:])
  /// Partitions with subscriptions, or that had some.
  private nonisolated let watched = Mutex<Set<UInt32>>([])
  private nonisolated let takingCount = Atomic<Int>(0)
  /// Tables as they were when all that a query needed of them was ready: who knows them need not ask the writer. Who
  /// reads compares their generation.
  private nonisolated let known = Mutex(BoundedCache<TableKey, IndexCatalog.Table>(capacity: QueryLimits.cachedTables))

  package init(_ file: IndexFile, executors: any ExecutorSource) throws(CaravanError) {
    executor = executors.makeSerial("query-writer")
    connection = try file.openForWriting()
    tables = IndexCatalog(connection)
    records = IndexedRecords(connection)
    standings = Standings(connection)
    outbox = Outbox(connection)
    let partitions = try connection.all("SELECT DISTINCT partition FROM standing") { row in
      UInt32(clamping: row.integer(0))
    }
    watched.withLock { $0.formUnion(partitions) }
  }

  package func close() { connection.close() }

  // MARK: Progress

  /// How far the partition's log has been taken in; nil: not at all.
  func cursor(of partition: Partition) throws(CaravanError) -> UInt64? {
    try connection.first("SELECT position FROM cursors WHERE partition = ?", partition.number) { row in
      row.unsigned(0)
    }
  }

  /// Under which token this instance was current with the partition's log last; nil: never.
  func lastToken(in partition: Partition) throws(CaravanError) -> UInt64? {
    try connection.first("SELECT token FROM tokens WHERE partition = ?", partition.number) { row in row.unsigned(0) }
  }

  func isCurrent(with partition: Partition, under token: UInt64) throws(CaravanError) {
    try connection.run("INSERT OR REPLACE INTO tokens(partition, token) VALUES(?, ?)", partition.number, token)
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
    try connection.run(
      "INSERT OR REPLACE INTO wanted(container, environment, owner, partition, asked) VALUES(?, ?, ?, ?, ?)",
      database.container.text, database.environment.rawValue, database.ownerText, Partition(of: database).number,
      now.milliseconds)
  }

  /// Drops some of what there is of a database.
  /// - Returns: whether there is more.
  func forgetSome(of database: DatabaseID) throws(CaravanError) -> Bool {
    let zone = try connection.first(
      "SELECT name FROM zones WHERE container = ? AND environment = ? AND owner = ?", database.container.text,
      database.environment.rawValue, database.ownerText
    ) { row in row.text(0) }
    if let zone {
      _ = try forgetSome(of: ZoneID(database, zone))
      return true
    }
    try changing { () throws(CaravanError) in
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

  /// One transaction: the updates, and the cursor with them.
  package func apply(
    _ updates: [IndexUpdate], cursor: (partition: Partition, position: UInt64)? = nil
  ) throws(CaravanError) {
    takingCount.wrappingAdd(1, ordering: .relaxed)
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
      standings.forget()
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

  /// Whether somebody waits for what happens in a partition.
  nonisolated func isWatched(_ partition: Partition) -> Bool { watched.withLock { $0.contains(partition.number) } }

  /// Raised when there are notifications of a partition to be sent.
  nonisolated func hits(in partition: Partition) -> Signal {
    signals.withLock { signals in
      if let signal = signals[partition.number] { return signal }
      let signal = Signal()
      signals[partition.number] = signal
      return signal
    }
  }

  /// - Parameter isLate: it may have counted before, for what the index has taken in without it.
  private func take(
    _ change: StandingChange, _ database: DatabaseID, isLate: Bool, at now: WallTime
  ) throws(CaravanError) {
    switch change {
    case .removed(let user, let name):
      try standings.remove(name, of: user, database)
      try outbox.removeAll(of: name, of: user, database)
    case .saved(let row):
      let table = try row.type.map { type throws(CaravanError) in
        try tables.make(TableKey(database: database, definition: type.definition)).id
      }
      guard let standing = try standings.save(row, database, table: table) else { return }
      try outbox.removeAll(of: row.query.id, of: row.user, database)
      if isLate {
        try outbox.add(.missed, of: Happening(zone: "", at: now), to: standing)
        hits(in: Partition(of: database)).raise()
      }
      watched.withLock { _ = $0.insert(Partition(of: database).number) }
    }
  }

  // MARK: What subscribers are told

  private func tell(
    _ table: Int64, from before: RecordCells?, to after: IndexRow?, _ happening: Happening, in zone: ZoneID
  ) throws(CaravanError) {
    var told: RecordFields?
    for match in try standings.matches(table, from: before, to: after?.cells, in: happening.zone) {
      var happening = happening
      happening.maker = (match.reason == .leaves ? before : after?.cells)?.authorship.creator ?? ""
      // Of what has left the answer nothing but its name is told, as its reader may not see the rest any more.
      let isTold = match.reason != .leaves && match.content.hasValues
      if isTold, told == nil { told = after?.fields() }
      try outbox.add(
        match.reason, of: happening, to: match.standing, showing: match.content.encoded(of: isTold ? told : nil))
      hits(in: Partition(of: zone.database)).raise()
    }
  }

  private func tellOfZone(
    _ reason: NotificationLog.Reason, _ zone: ZoneID, life: Incarnation, at now: WallTime
  ) throws(CaravanError) {
    guard zone.name != SubscriptionZone.name else { return }
    for (standing, content) in try standings.aboutZones(of: zone.database) {
      try outbox.add(
        reason, of: Happening(zone: zone.name, version: life, at: now), to: standing,
        showing: content.encoded(of: nil))
      hits(in: Partition(of: zone.database)).raise()
    }
  }

  /// A zone is known too little of: who has subscribed to records of it is to ask anew.
  /// - Parameter life: of the zone, that is over; nil: it goes on.
  func tellOfLoss(of zone: ZoneID, ended life: Incarnation?, at now: WallTime) throws(CaravanError) {
    try changing { () throws(CaravanError) in
      if let life { try tellOfZone(.zoneDeleted, zone, life: life, at: now) }
      guard let id = try place(of: zone)?.id else { return }
      let tables = try connection.all("SELECT in_table FROM uses WHERE zone = ?", id) { row in row.integer(0) }
      try tellOfLoss(of: zone, in: tables, at: now)
    }
  }

  private func tellOfLoss(of zone: ZoneID, in tables: [Int64], at now: WallTime) throws(CaravanError) {
    for table in tables {
      for standing in try standings.about(table) {
        try outbox.add(.missed, of: Happening(zone: zone.name, at: now), to: standing)
        hits(in: Partition(of: zone.database)).raise()
      }
    }
  }

  /// Others have served the partition since: what they told of nobody here knows, so that whoever was to hear of
  /// something is to ask anew.
  func giveUpHits(in partition: Partition, at now: WallTime) throws(CaravanError) {
    try changing { () throws(CaravanError) in
      for log in try outbox.logs(in: partition) { try outbox.giveUp(log, in: partition, at: now) }
    }
  }

  /// A log takes nothing, or not enough.
  func giveUpHits(of log: LogKey, in partition: Partition, at now: WallTime) throws(CaravanError) {
    try changing { () throws(CaravanError) in try outbox.giveUp(log, in: partition, at: now) }
  }

  /// The index has read all of a database, and does not know what it was before.
  func tellOfLoss(of database: DatabaseID, at now: WallTime) throws(CaravanError) {
    try changing { () throws(CaravanError) in
      for standing in try standings.all(of: database) {
        try outbox.add(.missed, of: Happening(zone: "", at: now), to: standing)
        hits(in: Partition(of: database)).raise()
      }
    }
  }

  func hasStandings(_ database: DatabaseID) throws(CaravanError) -> Bool { try standings.has(database) }

  func logs(in partition: Partition) throws(CaravanError) -> [LogKey] { try outbox.logs(in: partition) }

  func hits(of log: LogKey, in partition: Partition) throws(CaravanError) -> [PendingHit] {
    try outbox.next(of: log, in: partition, atMost: QueryLimits.hitsPerCommit)
  }

  func hitCount(of log: LogKey, in partition: Partition) throws(CaravanError) -> Int64 {
    try outbox.count(of: log, in: partition)
  }

  func remove(hitsUpTo id: Int64, of log: LogKey, in partition: Partition) throws(CaravanError) {
    try outbox.remove(upTo: id, of: log, in: partition)
  }

  // MARK: Records that are gone

  private func delete(
    _ name: String, _ zone: ZoneID, from table: Int64, _ tells: Bool, _ happening: Happening
  ) throws(CaravanError) {
    let isWatched = tells ? try standings.watches(table) : false
    let before = isWatched ? try records.cells(of: name, zone, in: table) : nil
    try connection.run("DELETE FROM records WHERE in_table = ? AND zone = ? AND name = ?", table, zone.name, name)
    if before != nil { try tell(table, from: before, to: nil, happening, in: zone) }
  }

  /// Drops some of what there is of a zone, or of this life of it. What is left of it is of a life that no zone has, so
  /// that nothing goes on from there.
  /// - Returns: whether there is more.
  func forgetSome(of zone: ZoneID) throws(CaravanError) -> Bool {
    guard let id = try place(of: zone)?.id else { return false }
    var hasMore = true
    try changing { () throws(CaravanError) in
      let table = try connection.first("SELECT in_table FROM uses WHERE zone = ?", id) { row in row.integer(0) }
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
      try changing { () throws(CaravanError) in
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
    try changing { () throws(CaravanError) in try build(key) }
    return try tables.find(key)?.isReady == false
  }

  func unfinished() throws(CaravanError) -> [TableKey] { try tables.unfinished() }

  private func build(_ key: TableKey) throws(CaravanError) {
    guard let table = try tables.find(key), let front = table.front else { return }
    let (end, partial) = try records.fill(
      front.indexes, of: table, after: front.from, atMost: QueryLimits.recordsPerBuildStep)
    if !partial.isEmpty { try tables.setPartial(partial, of: key) }
    try tables.moved(key, from: front.from, to: end)
  }
}
