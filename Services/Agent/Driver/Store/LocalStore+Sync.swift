public import CaravanAgentCore
internal import CaravanEncoding
public import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

extension LocalStore: SyncStore {
  public var epoch: UInt64 { context.meta.epoch }

  public var opFloor: UInt64 {
    min(tables.values.compactMap(\.op).min() ?? context.meta.nextOp, context.settledLater ?? .max)
  }

  public func beginEpoch() throws(CaravanError) {
    guard tables.values.allSatisfy({ $0.op == nil }) else {
      throw CaravanError(.invalidData, "plans are in flight: settle them before a new epoch begins")
    }
    var meta = context.meta
    let time = UInt64(max(0, host.clock.wallTime.milliseconds)) << 16 & UInt64(Int64.max)
    try database.transaction { () throws(CaravanError) in
      try meta.begin(epoch: max(meta.epoch + 1, time | host.random.below(1 << 16)), database)
    }
    context.meta = meta
  }

  // MARK: Tables

  public func syncedTables() -> [TableID] {
    tables.values.filter { !$0.isLocalOnly }.sorted { $0.number < $1.number }.map(\.table)
  }

  public func isSynced(_ table: TableID) throws(CaravanError) -> Bool { try !state(table).isLocalOnly }

  public func syncState(of table: TableID) throws(CaravanError) -> TableSyncState {
    let state = try state(table)
    let summary = try state.rows.summary(of: state.number, database)
    let isHeld = state.isLocalOnly || state.isResyncing || state.absence != nil
    let rows = isHeld ? (dirty: 0, tolerated: 0) : try catalog.collectable(of: summary.collectable, in: state)
    return TableSyncState(
      proposal: state.proposal, type: state.agreedType, token: state.token,
      newestFirst: state.readsBackwards ? state.properties.window?.rows : nil, dirtyRows: rows.dirty,
      toleratedRows: rows.tolerated, deadline: rows.dirty > 0 ? try tolerances.ledgers.deadline(of: state.number) : nil,
      isLocalOnly: state.isLocalOnly, opInFlight: state.op, lacksChunks: summary.lacksChunks,
      lacksRows: summary.lacksRows || state.mustStartOver || state.lacksOwnRows,
      isResyncing: state.isResyncing, keepsQuery: state.properties.query != nil, filter: state.filter,
      showsSnapshots: state.showsSnapshots, keepsEntries: state.waiting > 0,
      mustStartOver: state.mustStartOver, ownThrough: state.ownThrough ?? 0,
      isResolving: resolutions[table] != nil, fault: state.fault, refused: state.refused,
      zoneIsGone: state.absence != nil)
  }

  public func agree(on type: RecordType, for table: TableID) throws(CaravanError) {
    for column in try state(table).schema.columns {
      guard let field = type.field(named: column.name), field.id > 0 else {
        throw CaravanError(
          .schemaViolation, "record type '\(type.name)' lacks the column '\(column.name)' of table '\(table)'")
      }
      guard field.kind == column.kind else {
        throw CaravanError(
          .schemaViolation,
          "column '\(column.name)' of '\(table)' is \(column.kind.rawValue), in its record type \(field.kind.rawValue)"
        )
      }
    }
    try change(table) { (state) throws(CaravanError) in
      let old = state.type
      state.type = type
      if let old {
        try renumber(FieldRenumbering(from: old, to: type), in: state)
        try noteSettings(from: old, in: state)
        if !SchemaExtension.isAgreed(old) { try adoptKnownFields(in: state) }
      }
      state.refused = ""
      try state.save(database)
    }
    catalog.tellNewsIfAny(of: table)
  }

  /// Gives what is encoded here, beside the rows themselves, the numbers that the cloud has for its fields now: a
  /// restore may have taken those that it had (UNI-18).
  private func renumber(_ fields: FieldRenumbering, in state: TableState) throws(CaravanError) {
    guard !fields.isEmpty else { return }
    for name in ["ancestors", "incoming"] {
      let bodies = try database.statement(text: "SELECT rowid, body FROM \(name) WHERE table_id = \(state.number)")
        .all { row in (id: row.integer(0), body: row.bytes(1)) }
      for (id, body) in bodies {
        try database.statement(text: "UPDATE \(name) SET body = ? WHERE rowid = ?").run(fields.of(body), id)
      }
    }
    for key in try state.rows.keys(where: "length(_extra) > 0", database) {
      guard var row = try state.rows.soundRow(key: key, database) else { continue }
      row.extra = try fields.of(row.extra)
      try state.rows.update(row, database)
    }
  }

  public func note(refusal: String?, fault: TableFault?, of table: TableID) throws(CaravanError) {
    let known = try state(table)
    guard known.refused != refusal ?? "" || known.fault != fault ?? known.fault else { return }
    if fault != nil, let plan = catalog.takePlan(of: table) { try abort(plan.op) }
    try change(table) { (state) throws(CaravanError) in
      state.refused = refusal ?? ""
      state.fault = fault ?? state.fault
      try state.save(database)
    }
  }

  // MARK: Registrations

  /// Registers a table for periodic sync, or changes its registration (SIM-17, SIM-20).
  /// - Throws: `invalidData` for a table that is local only.
  /// - Parameter loss: of writes (MOB-05); nil: rows that wait and might have been lost no longer may.
  public func register(
    _ table: TableID, _ direction: Direction, _ registration: SyncRegistration, loss: LossTolerance? = nil
  ) throws(CaravanError) {
    guard try !state(table).isLocalOnly else {
      throw CaravanError(.invalidData, "table '\(table.name)' is local only: create it with full sync first")
    }
    var meta = context.meta
    try change(table) { (state) throws(CaravanError) in
      try database.run(
        """
        INSERT INTO registrations VALUES (?1, ?2, (SELECT ifnull(max(ordinal), 0) + 1 FROM registrations), ?3, ?4, ?5)
        ON CONFLICT DO UPDATE SET period = excluded.period, tolerance = excluded.tolerance, link = excluded.link
        """, state.number, Int64(direction.rawValue), registration.periodMilliseconds,
        registration.delayToleranceMilliseconds, Int64(registration.link.rawValue))
      if direction == .read { try meta.bumpListGeneration(database) } else { try tolerances.declare(loss, in: state) }
    }
    context.meta = meta
    try tolerances.recall()
  }

  /// Ends periodic sync of a direction; dirty rows keep their flags (SIM-18, SIM-21).
  public func unregister(_ table: TableID, _ direction: Direction) throws(CaravanError) {
    var meta = context.meta
    try change(table) { (state) throws(CaravanError) in
      try database.run(
        "DELETE FROM registrations WHERE table_id = ? AND direction = ?", state.number, Int64(direction.rawValue))
      if direction == .read, try database.changedRows > 0 { try meta.bumpListGeneration(database) }
      if direction == .write { try tolerances.declare(nil, in: state) }
    }
    context.meta = meta
    try tolerances.recall()
  }

  /// Part of dropping a table, inside its transaction.
  func unregisterAll(_ state: TableState) throws(CaravanError) {
    try database.run("DELETE FROM registrations WHERE table_id = ?", state.number)
    if try database.changedRows > 0 { try context.meta.bumpListGeneration(database) }
    try tolerances.forget(state.number)
  }

  public func registrations() throws(CaravanError) -> [TableRegistration] {
    try storedRegistrations().sorted { ($0.table, $0.direction) < ($1.table, $1.direction) }
  }

  public func subscriptions(toldOnly: Set<TableID>?) throws(CaravanError) -> SubscriptionList {
    let items = try storedRegistrations().filter { $0.direction == .read }.map {
      SubscriptionList.Item(
        table: $0.table, periodMilliseconds: $0.registration.periodMilliseconds,
        isToldOnly: (toldOnly?.contains($0.table) ?? false) || tables[$0.table]?.properties.query != nil)
    }
    if toldOnly != nil { try number(items) }
    return SubscriptionList(generation: context.meta.listGeneration, items: items)
  }

  /// The list is another one where other tables than last are told only.
  private func number(_ items: [SubscriptionList.Item]) throws(CaravanError) {
    let names = items.filter(\.isToldOnly).map { "\($0.table)\n" }.joined()
    let sum = names.isEmpty ? 0 : XXHash64.hash(Array(names.utf8))
    guard sum != context.meta.toldOnlySum else { return }
    var meta = context.meta
    try context.transaction { () throws(CaravanError) in
      try meta.bumpListGeneration(database)
      try meta.note(toldOnlySum: sum, database)
    }
    context.meta = meta
  }

  /// In the order of registration.
  private func storedRegistrations() throws(CaravanError) -> [TableRegistration] {
    try database.all(
      """
      SELECT app, name, direction, period, tolerance, link FROM registrations JOIN tables ON id = table_id
      ORDER BY ordinal
      """
    ) { row in
      TableRegistration(
        table: TableID(app: ContainerID(unchecked: row.text(0)), name: row.text(1)),
        direction: row.integer(2) == 0 ? .write : .read,
        registration: SyncRegistration(
          periodMilliseconds: UInt32(truncatingIfNeeded: row.integer(3)),
          delayToleranceMilliseconds: UInt32(truncatingIfNeeded: row.integer(4)),
          link: LinkClass(rawValue: UInt8(truncatingIfNeeded: row.integer(5))) ?? .wired))
    }
  }
}
