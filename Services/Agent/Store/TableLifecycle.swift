internal import CaravanAgentCore
internal import CaravanChunkFiles
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// How tables are made, changed and dropped.
struct TableLifecycle: TablePart {
  let writes: WriteSessions
  let readers: Readers

  var catalog: TableCatalog { writes.catalog }
  var retention: Retention { writes.retention }
  var arrivals: Arrivals { writes.arrivals }
  var wantedObjects: WantedObjects { readers.wanted }
  var openWrites: OpenWrites { writes.openWrites }
  var writer: RowWriter { writes.writer }
  var resolutions: Resolutions { arrivals.resolutions }

  /// Makes a table, or confirms that it is there: then it gains the columns that it lacks, and its properties may
  /// change, without loss of data (SIM-10, SIM-11, CK-26).
  /// - Throws: `schemaNotAdditive` for a schema without one of its columns, or with another kind of it, `limitExceeded`
  ///   beyond `StoreLimits.tablesPerApp`.
  func create(
    _ table: TableID, schema: SchemaText, localOnly: Bool, properties: TableChange = TableChange()
  ) throws(CaravanError) {
    var wanted = properties
    // Without a word on it, a table that was local only is synced, and one that keeps recent rows goes on.
    if wanted.replication == nil, localOnly || catalog.tables[table]?.isLocalOnly ?? true {
      wanted.replication = localOnly ? .localOnly : .full
    }
    try Self.check(name: table.name)
    if let state = catalog.tables[table] { return try confirm(state, schema, wanted) }
    let names = catalog.tables.keys.filter { $0.app == table.app }.map(\.name)
    if let twin = names.first(where: { $0.lowercased() == table.name.lowercased() }) {
      throw CaravanError(.invalidData, "table '\(table.name)' differs from '\(twin)' in case only: take another name")
    }
    guard names.count < StoreLimits.tablesPerApp else {
      throw CaravanError(.limitExceeded, "app '\(table.app)' has \(names.count) tables, which is the limit: drop one")
    }
    try make(table, schema: schema, properties: try Self.checked(TableProperties(), wanted, schema))
  }

  /// Makes the table of the app's notifications, unless it is there; one of an earlier release gains the columns that
  /// it lacks. It is beside the limit of tables: the app has not chosen to have it, and what it has subscribed to would
  /// be lost on it.
  /// - Parameters:
  ///   - registration: how it is read, with which it begins: without one no crash leaves it.
  ///   - type: whose fields are its columns.
  /// - Returns: whether it is new.
  func createNotificationLog(
    of app: ContainerID, _ registration: SyncRegistration, like type: RecordType = NotificationLog.type
  ) throws(CaravanError) -> Bool {
    let table = TableID(app: app, name: NotificationLog.name)
    let schema = SchemaText(
      columns: type.fields.map {
        SchemaText.Column(name: $0.name, kind: $0.kind, isList: $0.isList)
      })
    if let state = catalog.tables[table] {
      let extended = try SchemaExtension.of(state.schema, by: schema, in: table.name)
      if extended != state.schema { try extend(table, to: extended) }
      return false
    }
    try make(table, schema: schema, properties: TableProperties(), read: registration)
    return true
  }

  private func make(
    _ table: TableID, schema: SchemaText, properties: TableProperties, read: SyncRegistration? = nil
  ) throws(CaravanError) {
    let number = try (database.first("SELECT max(id) FROM tables") { row in row.integer(0) } ?? 0) + 1
    var state = TableState(number: number, table: table, schema: schema, properties: properties, damage: damage)
    try retention.checkQuery(of: state)
    var meta = context.meta
    try database.transaction { () throws(CaravanError) in
      try state.rows.create(database)
      try state.insert(database)
      try catalog.beginLog(of: &state)
      if let read { try Registrations(catalog: catalog).beginReading(state, read, &meta) }
    }
    context.meta = meta
    catalog.tables[table] = state
    readers.pool.forgetPrepared()
    KeptRoots.write(context.directory, try database, options)
  }

  /// A table's name is also a zone's and a record type's.
  private static func check(name: String) throws(CaravanError) {
    let allowed = name.utf8.allSatisfy {
      (0x61...0x7a).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x5f
    }
    guard allowed, (1...64).contains(name.utf8.count),
      name.utf8.first.map({ (0x61...0x7a).contains($0 | 0x20) }) == true
    else {
      throw CaravanError(
        .invalidData,
        "table name '\(name.prefix(80))' is not allowed: use 1 to 64 of A-Z a-z 0-9 _ beginning with a letter")
    }
  }

  private func confirm(_ state: TableState, _ schema: SchemaText, _ wanted: TableChange) throws(CaravanError) {
    let extended = try SchemaExtension.of(state.schema, by: schema, in: state.table.name)
    // What is refused is refused before anything changes.
    var changed = state
    if extended != state.schema { changed.extend(to: extended, damage: damage) }
    changed.properties = try Self.checked(state.properties, wanted, extended)
    try retention.checkQuery(of: changed)
    if extended != state.schema { try extend(state.table, to: extended) }
    try update(state.table, wanted)
  }

  /// Changes what is done with a table, not what is in it (SIM-11). Rows of one that was local only are new to the
  /// cloud; those of one that becomes local only stay there as they were. What a wider choice has the device keep comes
  /// with its next sync.
  /// - Throws: `tableNotFound`, `schemaViolation` for a column that holds no objects.
  func update(_ table: TableID, _ wanted: TableChange) throws(CaravanError) {
    let old = try state(table).properties
    let new = try Self.checked(old, wanted, state(table).schema)
    guard new != old else { return }
    var changed = try state(table)
    changed.properties = new
    try retention.checkQuery(of: changed)
    let rows = try change(table) { (state) throws(CaravanError) in
      state.properties = new
      try state.saveProperties(database)
      // What was left to the cloud is told again when the table is pulled from the beginning.
      if old.isPartial, new.replication != old.replication { state.mustStartOver = true }
      let widened = old.fetch.keys.filter { new.policy(of: $0) == .eager }
      var columns: [Int] = []
      for name in widened { columns.append(try state.column(named: name)) }
      try wantedObjects.wantEverything(in: columns, of: &state)
      if new.consistency != old.consistency {
        state.point = 0
        try arrivals.applyWaiting(&state)
      }
      try state.save(database)
      let armed = old.isLocalOnly && !new.isLocalOnly ? try armEverything(in: state) : 0
      if new.replication != old.replication {
        try retention.evictOutOfFilter(in: &state)
        try retention.evictOld(&state)
      }
      return armed
    }
    catalog.tellNewsIfAny(of: table)
    if rows > 0 { context.events.tellDirtied(try self.state(table), bytes: rows) }
  }

  private static func checked(
    _ old: TableProperties, _ wanted: TableChange, _ schema: SchemaText
  ) throws(CaravanError) -> TableProperties {
    for column in wanted.fetch.keys.sorted() {
      guard schema.columns.contains(where: { $0.name.lowercased() == column.lowercased() && $0.kind == .object }) else {
        throw CaravanError(.schemaViolation, "there is no OBJECT column '\(column.prefix(80))': only those are fetched")
      }
    }
    let new = old.applying(wanted)
    guard new.consistency == .row || new.replication == .full else {
      throw CaravanError(
        .invalidData, "only a table that keeps all rows can show them as they once were: keep all, or show row by row")
    }
    if let window = new.window {
      guard window.rows ?? 1 > 0, window.milliseconds ?? 1 > 0, window != RecentWindow() else {
        throw CaravanError(.invalidData, "the recent rows of a table need a bound: a number of rows, an age, or both")
      }
      guard window.milliseconds == nil || !schema.columns.contains(where: \.isPrimaryKey) else {
        throw CaravanError(
          .invalidData, "rows of a table with a primary key do not say when they were made: bound their number instead")
      }
    }
    return new
  }

  /// A table that was local only begins to sync: every row of it is new to the cloud.
  private func armEverything(in state: TableState) throws(CaravanError) -> Int {
    let keys = try state.rows.keys(where: "_flags = 0", database)
    for key in keys {
      guard var row = try state.rows.row(key: key, database), row.head.version == 0 else { continue }
      _ = row.head.write(RowChange(cells: true, objects: true))
      row.change = nextChange()
      try state.rows.updateHead(row, database)
    }
    return keys.count
  }

  /// Removes rows, objects, chunks, registrations and everything in flight, and gives the space back (SIM-12).
  /// - Throws: `invalidData` when rows have changes that the cloud does not have, unless these are to be discarded.
  func drop(_ table: TableID, discardingUnsent: Bool = false) throws(CaravanError) {
    let dropped = try state(table)
    if !discardingUnsent { try catalog.requireNothingUnsent(in: dropped) }
    readers.closeAll(of: table)
    let writes = openWrites.all.values.filter { $0.table == table }
    try self.writes.discard(writes)
    for write in writes { damage.overwrote(write.claimed) }
    openWrites.all = openWrites.all.filter { $0.value.table != table }
    resolutions.sessions[table] = nil
    try context.freeing { () throws(CaravanError) in
      try context.transaction { () throws(CaravanError) in
        try releaseEverything(of: dropped)
        try dropped.rows.drop(database)
        try Registrations(catalog: catalog).endAll(dropped)
        try database.run("DELETE FROM tables WHERE id = ?", dropped.number)
        try chunkTable.sweep()
      }
    }
    catalog.tables[table] = nil
    context.events.tableChanged?(table)
    catalog.noteWaiting()
    readers.pool.forgetPrepared()
    KeptRoots.write(context.directory, try database, options)
    giveSpaceBack()
  }

  /// The table is gone already; what cannot be given back now is used again later.
  private func giveSpaceBack() {
    do throws(CaravanError) {
      var free = try freePages()
      while free > 0 {
        try database.execute("PRAGMA incremental_vacuum(\(StoreLimits.vacuumPages))")
        let left = try freePages()
        guard left < free else { break }
        free = left
      }
      guard !context.isBeingRead else { return }
      context.chunkFile.giveBack()
      try database.checkpoint(.truncate)
    } catch {
      host.log.warning("the space of a dropped table was not given back", [.error: error])
    }
  }

  private func freePages() throws(CaravanError) -> Int {
    try database.prepare("PRAGMA freelist_count").first { row in Int(row.integer(0)) } ?? 0
  }

}
