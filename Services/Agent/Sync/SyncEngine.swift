internal import CaravanAgentCore
internal import CaravanAgentNetwork
public import CaravanAgentStore
internal import CaravanBus
public import CaravanModel
public import CaravanRuntime

/// Keeps the device's tables and the cloud's in step (SIM-60): asks the coalescer what is due whenever something has
/// happened, sends it in one frame, and lets each table and direction go on by itself from there. All decisions are in
/// values (`Coalescer`, `ControlMessages`, `SessionBoard`); nothing here must survive a crash, for the store holds it
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
  /// Tables with new local changes since the loop last looked.
  nonisolated let localChanges = Mutex<[TableID: LocalChanges]>([:])
  /// Chunks of rows that are being written, since the loop last looked.
  nonisolated let cutChunks = Mutex<[(table: TableID, chunks: [ChunkHash])]>([])
  /// The store has found damage since the loop last looked.
  nonisolated let isDamaged = Mutex(false)

  var coalescer = Coalescer()
  var controlMessages = ControlMessages(generation: 0)
  var board = SessionBoard()
  var waiters = SyncWaiters()
  var list = SubscriptionList()
  var registered: [Key: SyncRegistration] = [:]
  var linkState: LinkState
  var link: Link? { linkState.link.map { $0.assumed(among: registered.values.lazy.map(\.link)) } }
  var policy = NetworkPolicy()
  var admission: Admission
  /// Of the budgets that were looked at last.
  var budgetDay: Int64 = 0
  nonisolated let meter: Meter
  var bus: (any MessageBus)?
  /// Waits for a connection.
  var connection = Promise<Void>()
  /// Wait for the device to be allowed to speak, and for the end of that.
  var speech = (permitted: Promise<Void>(), forbidden: Promise<Void>())
  /// Plans whose outcomes are not recorded, and whose session has ended.
  var pending: [TableID: Upstream.Pending] = [:]
  /// Tables of which the store has said, during a session of theirs, that there is more to send.
  var leftOver: Set<TableID> = []
  /// Until when rows that the cloud has refused are not tried again; monotonic.
  var resting: [TableID: UInt64] = [:]
  /// Tables whose account at the cloud is full: their deletions go first, and alone.
  var lackRoom: Set<TableID> = []
  /// Tables that show the store to be older than what it once sent. No plan begins before a new epoch has.
  var unexplained: Set<TableID> = []
  /// Tables that start over with their next way down, in the epoch that has begun.
  var voided: Set<TableID> = []
  /// Tables of which the cloud has said that they start over, while a push of theirs was in flight. No plan of theirs
  /// begins before they have, or it never would where an app writes faster than a push takes.
  var awaitingPush: Set<TableID> = []
  var isBeginningEpoch = false
  /// Tables that have failed so often that their sync is going to rest.
  var faults: [TableID: CaravanError] = [:]
  var cutSessions = CutSessions()
  var sessionEnded: (@Sendable (SessionReport) -> Void)?
  /// What the device's disk has refused, and how, until it takes it.
  var refusedByDisk: [Key: String] = [:]
  var transfersInFlight = 0
  /// Messages with chunks that go ahead of their rows.
  var ahead: [TableID: Int] = [:]
  /// What the cloud has lost and asks for, by app.
  var wanted: [ContainerID: [ChunkHash]] = [:]
  /// When each of what it asked for was sent, within a heartbeat.
  var brought: [ChunkHash: UInt64] = [:]
  /// What came with notifications and has not been taken in; one a table at most.
  var carried: [ReceivedPage] = []

  /// - Parameters:
  ///   - link: what the machine is connected by; nil: nothing, nothing is sent.
  public init(store: any SyncStore, identity: DeviceIdentity, link: LinkClass?, host: Host) {
    self.store = store
    self.identity = identity
    admission = Admission(credentials: identity.credentials)
    linkState = LinkState(announced: link.map { Link($0) })
    self.host = host
    metrics = SyncMetrics(host.metrics)
    meter = Meter(store: store, host: host)
    exchanger = Exchanger(identity: identity, metrics: metrics, meter: meter, clock: host.clock)
    alarm = Alarm(clock: host.clock, ring: signal)
    coalescer.setLink(link)
    meter.use(link)
    let tallies = SessionTotals()
    dependencies = SyncDependencies(
      store: store, exchanger: exchanger,
      mover: ChunkMover(
        store: store, exchanger: exchanger, clock: host.clock, metrics: metrics, tallies: tallies),
      metrics: metrics, tallies: tallies, clock: host.clock)
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
    if isDamaged.withLock({ damaged in
      defer { damaged = false }
      return damaged
    }) {
      group.addTask { await self.mend() }
    }
    if !faults.isEmpty { group.addTask { await self.noteFaults() } }
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
    let changes = localChanges.withLock { changes in
      defer { changes.removeAll(keepingCapacity: true) }
      return changes
    }
    for (table, change) in changes.sorted(by: { $0.key < $1.key }) {
      let key = Key(table, .write)
      if change.bytes == 0, board.isRunning(key) {
        leftOver.insert(table)
      } else if let bytes = change.bytes {
        coalescer.noteChange(key, bytes: bytes, by: change.deadline, at: now)
      }
      if let bytes = change.toleratedBytes { coalescer.noteTolerated(key, bytes: bytes, at: now) }
    }
  }

  private func nextTransfer(at now: Moment) -> Transfer? {
    let hasRoom = board.count < EngineLimits.sessions
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
      pending[plan.table] = Upstream.Pending(plan, mustSettle: true)
      cutSessions.note(Key(plan.table, .write))
    }
    try await loadRegistrations()
    for table in await store.syncedTables() {
      let state = try await store.syncState(of: table)
      // Perhaps for what could not be explained when the agent stopped.
      if state.mustStartOver { unexplained.insert(table) }
      if state.lacksChunks || state.isResyncing { cutSessions.note(Key(table, .read)) }
      if state.zoneIsGone { putBack(Key(table, .read)) }
    }
    await askForWhatIsLacking()
    await noteDirtyTables()
    for (table, unsettled) in pending.sorted(by: { $0.key < $1.key }) {
      if unsettled.plan.isTolerated {
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
    let current = try await store.registrations()
    let now = moment
    var kept: [Key: SyncRegistration] = [:]
    var patience = EngineLimits.heartbeatMilliseconds
    for item in current {
      let key = Key(item.table, item.direction)
      kept[key] = item.registration
      guard registered[key] != item.registration else { continue }
      var registration = item.registration
      if key.direction == .read { patience = min(patience, UInt64(item.registration.delayToleranceMilliseconds)) }
      // The period of reads is kept by the cloud, which notifies at it: counted here too it would be waited for twice.
      if key.direction == .read { registration.periodMilliseconds = 0 }
      coalescer.register(key, registration, at: now)
      if key.direction == .read { coalescer.noteChange(key, bytes: 0, at: now) }
    }
    for key in registered.keys.sorted() where kept[key] == nil { coalescer.unregister(key) }
    let before = link
    registered = kept
    // A link that nobody knows is what the registrations make of it.
    if link != before { await permissionsChanged() }
    try await numberList(patience: patience)
    await planAtOnceWhatGoesAtOnce()
    signal.raise()
  }

  func mayCollect(_ table: TableID) -> Bool { unexplained.isEmpty && !awaitingPush.contains(table) }

  /// Tells the store which tables' changes leave as soon as they are made.
  func planAtOnceWhatGoesAtOnce() async {
    let keys = registered.filter { key, registration in
      key.direction == .write && registration.periodMilliseconds == 0 && registration.delayToleranceMilliseconds == 0
        && bus != nil && mayCollect(key.table) && meter.budget == nil
        && !lackRoom.contains(key.table) && coalescer.permits(key, isDemanded: false)
    }
    do throws(CaravanError) { try await store.planAtOnce(Set(keys.keys.map(\.table))) } catch {
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
