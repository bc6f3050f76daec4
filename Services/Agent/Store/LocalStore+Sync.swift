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
      isResolving: resolutions.sessions[table] != nil, fault: state.fault, refused: state.refused,
      zoneIsGone: state.absence != nil)
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

  public func agree(on type: RecordType, for table: TableID) throws(CaravanError) {
    try TypeAgreement(catalog: catalog).agree(on: type, for: table)
  }

  // MARK: Registrations

  private var registered: Registrations { Registrations(catalog: catalog) }

  /// Registers a table for periodic sync, or changes its registration (SIM-17, SIM-20).
  /// - Throws: `invalidData` for a table that is local only.
  /// - Parameter loss: of writes (MOB-05); nil: rows that wait and might have been lost no longer may.
  public func register(
    _ table: TableID, _ direction: Direction, _ registration: SyncRegistration, loss: LossTolerance? = nil
  ) throws(CaravanError) { try registered.begin(table, direction, registration, loss: loss) }

  /// Ends periodic sync of a direction; dirty rows keep their flags (SIM-18, SIM-21).
  public func unregister(_ table: TableID, _ direction: Direction) throws(CaravanError) {
    try registered.end(table, direction)
  }

  public func registrations() throws(CaravanError) -> [TableRegistration] { try registered.all() }

  public func subscriptions(
    toldOnly: Set<TableID>?, deferrable: Set<TableID> = []
  ) throws(CaravanError) -> SubscriptionList {
    try registered.subscriptions(toldOnly: toldOnly, deferrable: deferrable)
  }

  // MARK: Making tables

  var lifecycle: TableLifecycle { TableLifecycle(writes: writes, readers: readers) }

  /// Makes a table, or confirms that it is there: then it gains the columns that it lacks, and its properties may
  /// change, without loss of data (SIM-10, SIM-11, CK-26).
  /// - Throws: `schemaNotAdditive` for a schema without one of its columns, or with another kind of it, `limitExceeded`
  ///   beyond `StoreLimits.tablesPerApp`.
  public func createTable(
    _ table: TableID, schema: SchemaText, localOnly: Bool, properties: TableChange = TableChange()
  ) throws(CaravanError) {
    try lifecycle.create(table, schema: schema, localOnly: localOnly, properties: properties)
  }

  /// Makes the table of the app's notifications, unless it is there, and has it pulled as soon as there are some:
  /// over any link but a roaming one, until the app registers it otherwise. Its rows are the cloud's alone: what apps
  /// may not do to it, their sessions refuse.
  /// - Returns: whether it is new.
  public func createNotificationLog(of app: ContainerID) throws(CaravanError) -> Bool {
    try lifecycle.createNotificationLog(
      of: app, SyncRegistration(periodMilliseconds: 0, delayToleranceMilliseconds: 0, link: .cellular))
  }

  /// Changes what is done with a table, not what is in it (SIM-11).
  /// - Throws: `tableNotFound`, `schemaViolation` for a column that holds no objects.
  public func updateTable(_ table: TableID, _ wanted: TableChange) throws(CaravanError) {
    try lifecycle.update(table, wanted)
  }

  /// Removes rows, objects, chunks, registrations and everything in flight, and gives the space back (SIM-12).
  /// - Throws: `invalidData` when rows have changes that the cloud does not have, unless these are to be discarded.
  public func dropTable(_ table: TableID, discardingUnsent: Bool = false) throws(CaravanError) {
    try lifecycle.drop(table, discardingUnsent: discardingUnsent)
  }

  public func zoneIsGone(_ table: TableID) throws(CaravanError) -> ZoneVerdict { try lifecycle.zoneIsGone(table) }
  public func zoneIsThere(_ table: TableID) throws(CaravanError) { try lifecycle.zoneIsThere(table) }
}
