internal import CaravanAgentCore
public import CaravanAgentStore
public import CaravanAgentSync
public import CaravanModel
internal import CaravanRuntime
public import CaravanWire

/// One app at work: answers its requests and keeps what is open for it. Used through a socket by `AppServer`, and
/// directly by simulations and tests.
///
/// Runs on the store's own thread, so that a local request costs one change of thread and no more.
public actor AppSession {
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe store.unownedExecutor }

  public nonisolated let app: ContainerID
  let store: LocalStore
  let sync: any SyncControl
  /// Names this session to the store.
  let owner: UInt64
  /// The app runs as the user the agent runs as, or as root.
  private let isOwner: Bool
  /// The app's client is of a release that knows cells with locations, references and lists.
  private let knowsLists: Bool
  /// Tables the app wants to hear of, and how far it has been told.
  private var watched: [TableID: Watching] = [:]
  /// Live queries that are open, by the app's numbers.
  var lives: [UInt64: UInt64] = [:]
  private var isEnded = false

  private struct Watching {
    /// Of the last event of which this connection was told.
    var number: UInt64
    /// It is to hear of conflicts that are there already: the app may not have been told of them (SIM-44).
    var isNew = false
    /// It says itself what it has taken.
    var saysTaken = false
  }

  /// - Parameter owner: unlike that of any other session of this store.
  public init(
    app: ContainerID, owner: UInt64, store: LocalStore, sync: any SyncControl, isOwner: Bool = true,
    knowsLists: Bool = true
  ) {
    self.app = app
    self.owner = owner
    self.store = store
    self.sync = sync
    self.isOwner = isOwner
    self.knowsLists = knowsLists
  }

  /// Answers one request; a refusal is an answer as well. Requests that wait for the cloud may be many at once.
  public func answer(_ request: AppRequest.Kind?) async -> AppReply.Kind {
    do throws(CaravanError) {
      guard !isEnded else { throw CaravanError(.cancelled, "the session has ended: connect again") }
      guard let request else { throw CaravanError(.invalidData, "the request has no kind this agent knows: update it") }
      return try await carryOut(request)
    } catch {
      return .failure(Failure(error))
    }
  }

  /// What this connection asked to be told, as far as it has not been.
  public func takeUpcalls() async -> [Upcall] {
    var upcalls: [Upcall] = []
    for (table, known) in watched.sorted(by: { $0.key < $1.key }) {
      // A table that was dropped has nothing to tell.
      guard let pending = try? await store.upcalls(of: table, after: known.number) else { continue }
      upcalls += Self.upcalls(of: table, pending, since: known)
      watched[table] = Watching(number: pending.number, saysTaken: known.saysTaken)
      if !known.saysTaken { try? await store.tell(table, upTo: pending.number) }
    }
    return upcalls
  }

  private static func upcalls(of table: TableID, _ pending: PendingUpcalls, since known: Watching) -> [Upcall] {
    var upcalls: [Upcall] = []
    func tell(_ kind: UpcallKind, _ rows: Int, _ names: [String]) {
      upcalls.append(
        Upcall(
          kind: kind, table: table.name, rows: UInt64(rows), lost: kind == .rowsLost ? names : [],
          number: pending.number, rowIds: names, after: known.number))
    }
    if pending.isCutOff { tell(.lookAnew, 0, []) }
    // Whoever does not know that kind of upcall has to hear of it in the words of old.
    if pending.changed.count > 0 || pending.isCutOff { tell(.newData, pending.changed.count, pending.changed.names) }
    if pending.lost.count > 0 { tell(.rowsLost, pending.lost.count, pending.lost.names) }
    if pending.contested.count > 0 || (known.isNew || pending.isCutOff) && pending.conflicts > 0 {
      tell(.conflict, max(pending.conflicts, pending.contested.names.count), pending.contested.names)
    }
    return upcalls
  }

  /// Whether anything is left the store knows, at the time the app is told.
  func completed(_ event: SyncEvent) async -> SyncEvent {
    guard let state = try? await store.syncState(of: table(event.table)) else { return event }
    var event = event
    let isLeft =
      event.write
      ? state.dirtyRows + state.toleratedRows > 0 || state.opInFlight != nil
      : state.lacksChunks || state.lacksRows || state.isResyncing
    event.complete = event.complete && !isLeft
    return event
  }

  /// The app has gone: everything open is abandoned (SIM-43).
  public func end() async {
    isEnded = true
    await store.release(owner: owner)
  }

  // MARK: Requests

  private func carryOut(_ request: AppRequest.Kind) async throws(CaravanError) -> AppReply.Kind {
    try checkRight(to: request)
    try checkKeepsNotifications(request)
    switch request {
    case .hello, .listApps, .allowApp, .forgetApp:
      throw CaravanError(.invalidData, "this connection is an app's and has said hello: connect again for that")
    case .createTable(let request): try await createTable(request)
    case .updateTable(let request):
      try await store.updateTable(table(request.table), request.properties?.model() ?? TableChange())
      await sync.askForWhatIsLacking()
    case .resetTable(let request):
      guard let choice = request.choice.model else {
        throw CaravanError(
          .invalidData, "what becomes of changes that are not at the cloud: keep local, or take server?")
      }
      try await sync.reset(table(request.table), choice, discardingUnsent: request.discardUnsent)
    case .resetDevice: await sync.resetDevice()
    case .dropTable(let request):
      try await store.dropTable(table(request.table), discardingUnsent: request.discardUnsent)
      watched[table(request.table)] = nil
      await sync.tableDropped(table(request.table))
    case .beginWrite(let request): return try await beginWrite(request)
    case .writeObject(let request):
      try await store.writeObject(
        request.write, row: Int(request.row), object: request.object, offset: request.offset, bytes: request.data,
        owner: owner)
    case .truncateObject(let request):
      try await store.truncateObject(
        request.write, row: Int(request.row), object: request.object, size: request.size, owner: owner)
    case .closeWrite(let request): return try await close(request)
    case .beginRead(let request):
      return try shown(try await store.beginRead(try ReadRequest(request, table: table(request.table)), owner: owner))
    case .nextPage(let request): return try shown(try await store.nextPage(request.cursor, owner: owner))
    case .closeCursor(let request): await store.closeCursor(request.cursor, owner: owner)
    case .readObject(let request): return try await readObject(request)
    case .deleteRows(let request):
      let rows = try await store.delete(table(request.table), selection: try request.selection?.store())
      return .affected(Affected(rows: UInt64(rows)))
    case .registerSync(let request): try await register(request)
    case .unregisterSync(let request):
      try await store.unregister(table(request.table), request.read ? .read : .write)
      await sync.registrationsChanged(of: table(request.table))
    case .syncNow(let request): try await syncNow(request)
    case .beginResolution(let request): try await store.beginResolution(table(request.table), owner: owner)
    case .conflictedRows(let request): return try await conflicts(request)
    case .resolveConflict(let request): try await resolve(request)
    case .endResolution(let request):
      try await store.endResolution(table(request.table), isAbandoned: request.abandon, owner: owner)
    case .status: return .status(try await status())
    case .setLink(let request): try await setLink(request)
    case .setPolicy(let request): try await sync.setPolicy(request.model)
    case .watch(let request):
      // Another device of the user may have subscribed; whoever wants to hear of it has the table here, too.
      if request.table == NotificationLog.name { try await haveNotifications() }
      try await watch(table(request.table), request)
    case .taken(let taken): try await store.tell(table(taken.table), upTo: taken.number)
    case .queryCloud, .manageSubscriptions, .managePushTargets, .fetchRecords, .reserveNumbers, .changeRecords,
      .openObjects:
      return try await askCloud(request)
    case .beginLive, .nextLive, .endLive: return try await live(request)
    case .listen(let request): _ = try await store.isSynced(table(request.table))
    }
    return .done(Empty())
  }

  nonisolated func table(_ name: String) -> TableID { TableID(app: app, name: name) }

  private func createTable(_ request: CreateTable) async throws(CaravanError) {
    let schema = try SchemaText(parsing: request.schema)
    try await store.createTable(
      table(request.table), schema: schema, localOnly: request.sync == .localOnly,
      properties: request.properties?.model() ?? TableChange())
    await sync.askForWhatIsLacking()
  }

  private func beginWrite(_ request: BeginWrite) async throws(CaravanError) -> AppReply.Kind {
    let table = table(request.table)
    if request.deletion { return try await beginDeletion(request, in: table) }
    let cells = try CellValue.list(request.cells)
    // An empty selection is an update of every row, none at all an insert.
    let selection = try request.selection.map { (selection) throws(CaravanError) in
      try selection.store() ?? Selection("1")
    }
    let intent = request.intent?.store ?? CaravanAgentCore.WriteIntent()
    let contents = request.contents.map { ObjectValue($0.object, $0.data) }
    guard contents.isEmpty || request.objects.isEmpty else {
      throw CaravanError(.invalidData, "a write gives whole objects, or opens some: not both at once")
    }
    if request.hold || !request.objects.isEmpty {
      let opened = try await store.openWrite(
        table, cells: cells, objects: request.objects + contents.map(\.column), selection: selection, intent: intent,
        owner: owner, isHeld: request.hold)
      do throws(CaravanError) { try await store.fill(opened, contents, owner: owner) } catch {
        try await store.abandonWrites([opened.handle], owner: owner)
        throw error
      }
      return .writeOpened(WriteOpened(write: opened.handle, rows: opened.rows))
    }
    let promise = WriteClass(try await store.promise(intent, isInsert: selection == nil, in: table))
    let rows =
      contents.isEmpty
      ? try await store.write(table, cells: cells, selection: selection, intent: intent)
      : try await store.write(table, cells: cells, contents: contents, selection: selection, intent: intent)
    return .writeOpened(WriteOpened(rows: rows, promise: promise))
  }

  private func close(_ request: CloseWrite) async throws(CaravanError) -> AppReply.Kind {
    guard !request.abandon else {
      try await store.abandonWrites(request.writes, owner: owner)
      return .writeClosed(WriteClosed())
    }
    let promise = WriteClass(await store.promise(ofWrites: request.writes))
    let rows = try await store.closeWrites(request.writes, isAtomic: request.atomic, owner: owner)
    return .writeClosed(WriteClosed(rows: rows, promise: promise))
  }

  private func beginDeletion(_ request: BeginWrite, in table: TableID) async throws(CaravanError) -> AppReply.Kind {
    guard request.hold, request.cells.isEmpty, request.objects.isEmpty, request.contents.isEmpty else {
      throw CaravanError(.invalidData, "a deletion among writes is held and has no values: delete rows for themselves")
    }
    let selection = try request.selection?.store()
    let opened = try await store.openDeletion(table, selection: selection, owner: owner)
    return .writeOpened(WriteOpened(write: opened.handle, rows: opened.rows))
  }

  /// A read whose bytes are not on this device: fetches them first, over whatever link the app's wish allows.
  public func fetch(_ request: ReadObject) async -> AppReply.Kind {
    do throws(CaravanError) {
      // A list may have to come before it is known what is in it.
      for _ in 0..<AppLimits.fetchRounds {
        let table = table(request.table)
        try await store.want(
          table, row: request.row, object: request.object, offset: request.offset, length: Int(request.length))
        try await syncNow(SyncNow(table: request.table, read: true))
        do { return try await readObject(request) } catch {
          guard error.code == .chunksMissing else { throw error }
        }
      }
      throw CaravanError(.unavailable, "object '\(request.object.prefix(80))' could not be fetched: retry later")
    } catch {
      return .failure(Failure(error))
    }
  }

  private func shown(_ page: RowsPage) throws(CaravanError) -> AppReply.Kind {
    let page = RowPage(page)
    for row in page.rows { try checkKnown(row) }
    return .rows(page)
  }

  /// A client of an earlier release would take the cell for null, and its app might write that back.
  func checkKnown(_ row: CaravanWire.Row) throws(CaravanError) {
    guard !knowsLists, let cell = row.cells.first(where: \.needsLists) else { return }
    throw CaravanError(
      .featureDisabled,
      "column '\(cell.column)' holds a location, a reference or a list, which the app's client does not know: build "
        + "the app with a newer one, or read other columns")
  }

  private func readObject(_ request: ReadObject) async throws(CaravanError) -> AppReply.Kind {
    if request.publicDatabase { return try await askCloud(.readObject(request)) }
    let slice = try await store.readObject(
      table(request.table), row: request.row, object: request.object, offset: request.offset,
      length: Int(request.length), cursor: request.cursor, copy: request.copy.store, owner: owner)
    return .objectBytes(ObjectBytes(data: slice.bytes, size: slice.size))
  }

  private func conflicts(_ request: ConflictedRows) async throws(CaravanError) -> AppReply.Kind {
    // Three copies of each row must fit into one message, so a page is cut off by bytes as well.
    let views = try await store.conflicts(table(request.table), after: request.after)
    var page = ConflictPage()
    var bytes = 0
    for view in views {
      let row = ConflictRow(view)
      for copy in [row.mine, row.theirs, row.ancestor] { try copy.map(checkKnown) }
      bytes += row.encoded().count
      guard page.conflicts.isEmpty || bytes <= StoreLimits.pageBytes else { break }
      page.conflicts.append(row)
    }
    page.more = page.conflicts.count < views.count || views.count == StoreLimits.conflictsPerPage
    return .conflicts(page)
  }

  private func resolve(_ request: ResolveConflict) async throws(CaravanError) {
    guard let resolution = request.choice.model else {
      throw CaravanError(
        .invalidData, "the conflict of row '\(request.row.prefix(80))' needs a choice: mine, theirs or new")
    }
    try await store.resolve(
      table(request.table), row: request.row, resolution, cells: try CellValue.list(request.cells),
      fromTheirs: request.fromTheirs, owner: owner)
  }

  private func register(_ request: RegisterSync) async throws(CaravanError) {
    guard let link = request.link.model else {
      throw CaravanError(.invalidData, "a registration needs a link: wired, wifi, cellular or roaming")
    }
    let registration = SyncRegistration(
      periodMilliseconds: request.periodMilliseconds,
      delayToleranceMilliseconds: request.delayToleranceMilliseconds, link: link)
    guard !request.read || request.loss == nil else {
      throw CaravanError(.invalidData, "only writes can be lost: leave the tolerance out of a read registration")
    }
    try await store.register(
      table(request.table), request.read ? .read : .write, registration, loss: request.loss?.store)
    await sync.registrationsChanged(of: table(request.table))
  }

  private func syncNow(_ request: SyncNow) async throws(CaravanError) {
    guard request.read || request.write else { throw CaravanError(.invalidData, "sync what? read, write or both") }
    // Whether it is, the engine says; here, that there is such a table.
    _ = try await store.isSynced(table(request.table))
    try await sync.syncNow(table(request.table), write: request.write, read: request.read)
  }

  private func watch(_ table: TableID, _ request: Watch) async throws(CaravanError) {
    let told = try await store.told(of: table)
    guard watched[table] != nil || watched.count < AppLimits.watchedTables else {
      throw CaravanError(.limitExceeded, "\(watched.count) tables are watched, which is the limit")
    }
    watched[table] = Watching(
      number: request.after == 0 ? told : request.after, isNew: request.after == 0, saysTaken: request.saysTaken)
    await store.tellAgain(table)
  }

  /// The device is its owner's; other users' apps have wishes, no say.
  private func checkRight(to request: AppRequest.Kind) throws(CaravanError) {
    guard isOwner || !request.isOfDevice else {
      throw CaravanError(
        .notAuthenticated, "what holds for the whole device is set by the user the agent runs as, or by root: ask them")
    }
  }

  private func setLink(_ request: SetLink) async throws(CaravanError) {
    guard !request.automatic else { return try await sync.useDetectedLink() }
    await sync.linkChanged(to: request.link.model.map { Link($0, isMetered: request.metered) })
  }

  private func status() async throws(CaravanError) -> AgentStatus {
    let device = await sync.status().shown(to: app, isOwner: isOwner)
    let isFull = await store.isDiskFull()
    return AgentStatus(device, try await store.status(of: app), isDiskFull: isFull)
  }
}

extension AppRequest.Kind {
  /// Whether it concerns the whole device and not one app. A new kind of request is decided here, or does not compile.
  fileprivate var isOfDevice: Bool {
    switch self {
    case .setLink, .setPolicy, .resetDevice, .listApps, .allowApp, .forgetApp: true
    case .hello, .status, .createTable, .updateTable, .resetTable, .dropTable, .beginWrite, .openObjects, .writeObject,
      .truncateObject, .closeWrite, .beginRead, .nextPage, .closeCursor, .readObject, .deleteRows, .registerSync,
      .unregisterSync, .syncNow, .beginResolution, .conflictedRows, .resolveConflict, .endResolution, .watch, .taken,
      .listen, .queryCloud, .manageSubscriptions, .managePushTargets, .fetchRecords, .reserveNumbers, .changeRecords,
      .beginLive, .nextLive,
      .endLive:
      false
    }
  }
}
