internal import CaravanAgentCore
internal import CaravanAgentNetwork
public import CaravanAgentStore
internal import CaravanBus
public import CaravanModel
public import CaravanRuntime

/// Keeps the device's tables and the cloud's in step (SIM-60): asks the coalescer what is due whenever something has
/// happened, sends it in one frame, and lets each table and direction go on by itself from there. All decisions are in
/// values (`Coalescer`, `ControlMessages`, `SessionTable`); nothing here must survive a crash, for the store holds it
/// all.
public actor SyncEngine: Service {
  typealias Key = Coalescer.Key

  nonisolated let identity: DeviceIdentity
  nonisolated let host: Host
  nonisolated let store: any SyncStore
  nonisolated let dependencies: SyncDependencies
  nonisolated let exchanger: Exchanger
  nonisolated let metrics: SyncMetrics
  nonisolated let signal = Signal()
  nonisolated let alarm: Alarm
  nonisolated let stop = Latch()
  /// The broker is to be tried at once, whatever rest was chosen.
  nonisolated let attemptNow = Signal()
  nonisolated let events: LocalEvents
  nonisolated let admission: BrokerAdmission

  var coalescer = Coalescer()
  var controlMessages = ControlMessages(generation: 0)
  var sessions = SessionTable()
  var waiters = SyncWaiters()
  var list = SubscriptionList()
  var registered = SyncRegistrations()
  var linkState: LinkState
  var link: Link? { registered.link(linkState.link) }
  var policy = NetworkPolicy()
  /// Of the budgets that were looked at last.
  var budgetDay: Int64 = 0
  nonisolated let meter: Meter
  var bus: (any MessageBus)?
  /// Waits for a connection.
  var connection = Promise<Void>()
  var speech = SpeechPermission()
  var tables = TableSyncs()
  var isBeginningEpoch = false
  var cutSessions = CutSessions()
  var sessionEnded: (@Sendable (SessionReport) -> Void)?
  var transfersInFlight = 0
  var wanted = ChunkRequests()
  /// What came with notifications and has not been taken in; one a table at most.
  var carried: [ReceivedPage] = []

  /// - Parameters:
  ///   - link: what the machine is connected by; nil: nothing, nothing is sent.
  public init(store: any SyncStore, identity: DeviceIdentity, link: LinkClass?, host: Host) {
    self.store = store
    self.identity = identity
    linkState = LinkState(announced: link.map { Link($0) })
    self.host = host
    metrics = SyncMetrics(host.metrics)
    events = LocalEvents(signal)
    admission = BrokerAdmission(credentials: identity.credentials, store: store, metrics: metrics, host: host)
    meter = Meter(store: store, host: host)
    exchanger = Exchanger(identity: identity, metrics: metrics, meter: meter, clock: host.clock)
    alarm = Alarm(clock: host.clock, ring: signal)
    coalescer.setLink(link)
    meter.use(link)
    let totals = SessionTotals()
    dependencies = SyncDependencies(
      store: store, exchanger: exchanger,
      mover: ChunkMover(
        store: store, exchanger: exchanger, clock: host.clock, metrics: metrics, totals: totals),
      metrics: metrics, totals: totals, clock: host.clock)
  }

  /// Until `shutDown`. What is on its way then is cut off, as a crash would: the next start takes it up.
  /// - Throws: when the store cannot be read.
  public func run() async throws {
    try await recallPolicy()
    try await recall()
    await withDiscardingTaskGroup { group in
      group.addTask { await self.alarm.run() }
      while !stop.isOpen, !Task.isCancelled {
        launch(in: &group)
        await signal.wait()
      }
      group.cancelAll()
    }
    failWaiters(CaravanError(.cancelled, "the agent stops"))
    if !Task.isCancelled { await meter.close() }
  }

  public nonisolated func shutDown() {
    stop.open()
    signal.raise()
  }

  // MARK: The loop

  /// Starts every transfer that is due now, and sets the alarm for the next.
  private func launch(in group: inout DiscardingTaskGroup) {
    let now = moment
    takeLocalChanges(at: now)
    uploadEarly(in: &group)
    sendWanted(in: &group)
    for page in carried { group.addTask { await self.takeIn(page) } }
    carried = []
    if events.takeDamage() { group.addTask { await self.repairStore() } }
    if tables.faultCount > 0 { group.addTask { await self.noteFaults() } }
    discard(in: &group, at: now)
    lookAtBudget(in: &group)
    while bus != nil, coalescer.permitsSpeaking, transfersInFlight < EngineLimits.transfersInFlight,
      let transfer = nextTransfer(at: now)
    {
      transfersInFlight += 1
      group.addTask { await self.carry(transfer) }
    }
    if bus != nil, coalescer.permitsSpeaking, transfersInFlight < EngineLimits.transfersInFlight,
      let wake = [coalescer.nextWake(after: now), controlMessages.nextWake].compactMap(\.self).min()
    {
      alarm.set(Instant(nanoseconds: wake))
    }
  }

  func takeLocalChanges(at now: Moment) {
    for (table, change) in events.takeChanges() {
      let key = Key(table, .write)
      if change.bytes == 0, sessions.isRunning(key) {
        tables[table].noteMore()
      } else if let bytes = change.bytes {
        coalescer.noteChange(key, bytes: bytes, by: change.deadline, at: now)
      }
      if let bytes = change.toleratedBytes { coalescer.noteTolerated(key, bytes: bytes, at: now) }
    }
  }

  private func nextTransfer(at now: Moment) -> Transfer? {
    let hasRoom = sessions.count < EngineLimits.sessions
    var due = hasRoom ? coalescer.takeTransfer(at: now) : nil
    let batch = controlMessages.take(at: now.monotonic, isUnderway: due != nil)
    if due == nil, batch != nil, hasRoom { due = coalescer.takeTransfer(at: now, isUnderway: true) }
    guard due != nil || batch != nil else { return nil }
    metrics.transfer(due ?? Coalescer.Transfer(trigger: .control, items: []))
    return Transfer(controlMessages: batch, items: due?.items ?? [])
  }

  /// Due again, now or after a wait.
  func putBack(_ key: Key, afterNanoseconds wait: UInt64 = 0, yields: Bool = false) {
    let notBefore = host.clock.now.nanoseconds + wait
    coalescer.putBack(key, isDemanded: waiters.isAwaited(key), notBefore: notBefore, yields: yields)
  }

  var moment: Moment {
    Moment(monotonic: host.clock.now.nanoseconds, wallMilliseconds: host.clock.wallTime.milliseconds)
  }

  // MARK: Beginning

  /// Takes up what the store remembers.
  private func recall() async throws(CaravanError) {
    await exchanger.use(epoch: store.epoch)
    for plan in try await store.plansInFlight() {
      tables[plan.table].pending = PlanInFlight(plan, mustSettle: true)
      cutSessions.note(Key(plan.table, .write))
    }
    try await loadRegistrations()
    for table in await store.syncedTables() {
      let state = try await store.syncState(of: table)
      // Perhaps for what could not be explained when the agent stopped.
      if state.mustStartOver { tables[table].foundUnexplained() }
      if state.lacksChunks || state.isResyncing { cutSessions.note(Key(table, .read)) }
      if state.zoneIsGone { putBack(Key(table, .read)) }
    }
    await askForWhatIsLacking()
    await noteDirtyTables()
    for table in tables.tables(where: { $0.pending != nil }) {
      if tables[table].pending?.plan.isTolerated == true {
        coalescer.noteTolerated(Key(table, .write), bytes: 0, at: moment)
      } else {
        putBack(Key(table, .write))
      }
    }
  }

  /// What waits in the store to be sent.
  func noteDirtyTables() async {
    for table in await store.syncedTables() { await noteRows(of: table) }
  }

  func noteRows(of table: TableID) async {
    guard let state = try? await store.syncState(of: table) else { return }
    let left = state.deadline.map { UInt32(clamping: $0 - host.clock.wallTime.milliseconds) }
    if state.dirtyRows > 0 { tableChanged(table, LocalChange(bytes: 1, withinMilliseconds: left)) }
    if state.toleratedRows > 0 { tableChanged(table, LocalChange(bytes: 1, isTolerated: true)) }
  }

  /// Registrations as they are in the store now.
  func loadRegistrations() async throws(CaravanError) {
    let items = try await store.registrations()
    let current = Dictionary(uniqueKeysWithValues: items.map { (Key($0.table, $0.direction), $0.registration) })
    let now = moment
    let before = link
    let changes = registered.replace(with: current)
    for (key, registration) in changes.new {
      coalescer.register(key, registration, at: now)
      if key.direction == .read { coalescer.noteChange(key, bytes: 0, at: now) }
    }
    for key in changes.gone { coalescer.unregister(key) }
    // A link that nobody knows is what the registrations make of it.
    if link != before { await permissionsChanged() }
    try await numberList(patience: changes.patience)
    await planAtOnceWhatGoesAtOnce()
    signal.raise()
  }

  func mayCollect(_ table: TableID) -> Bool { tables.unexplainedCount == 0 && !tables[table].awaitsPush }

  /// Tells the store which tables' changes leave as soon as they are made.
  func planAtOnceWhatGoesAtOnce() async {
    let mayGo = bus != nil && meter.budget == nil
    let tables = registered.immediateWrites { key in
      mayGo && mayCollect(key.table) && !self.tables[key.table].lacksRoom
        && coalescer.permits(key, isDemanded: false)
    }
    do throws(CaravanError) { try await store.planAtOnce(tables) } catch {
      host.log.debug("plans that nobody needs stay", [.error: error.description])
    }
  }
}

/// What goes together in the frames of one transfer.
struct Transfer: Sendable {
  var controlMessages: ControlMessages.Batch?
  var items: [Coalescer.Key]

  /// Nothing but notifications taken over is to be told: that needs no frame and no answer.
  var isAcknowledgement: Bool {
    guard items.isEmpty, let controlMessages else { return false }
    return !controlMessages.hello && !controlMessages.subscribe
  }
}
