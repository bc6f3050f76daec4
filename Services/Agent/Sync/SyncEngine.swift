internal import CaravanAgentCore
internal import CaravanAgentNetwork
public import CaravanAgentStore
internal import CaravanBus
public import CaravanModel
public import CaravanRuntime

/// Keeps the device's tables and the cloud's in step (SIM-60): asks the schedule what is due whenever something has
/// happened, sends it in one frame, and lets each table and direction go on by itself from there. What is due is
/// decided by `SyncSchedule`, what a session does by `PushSession` and `PullSession`; the engine carries that out.
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
  nonisolated let meter: Meter

  var schedule: SyncSchedule
  var waiters = SyncWaiters()
  var connection = ConnectionPromise()
  var speech = SpeechPermission()
  var sessionEnded: (@Sendable (SessionReport) -> Void)?
  var connectionMade: (@Sendable () -> Void)?
  var wanted = ChunkRequests()
  /// Rows that came with notifications and have not been taken in; one page a table at most.
  var inlinePages: [ReceivedPage] = []

  /// - Parameters:
  ///   - record: what `store` remembers of the network, so that the user's policy holds before anything is sent.
  ///   - link: what the machine is connected by; nil: nothing, nothing is sent.
  ///   - credentials: digest of those that the device has now; nil: they stay those of `identity`.
  public init(
    store: any SyncStore, remembering record: NetworkRecord, identity: DeviceIdentity, link: LinkClass?, host: Host,
    credentials: (@Sendable () -> String)? = nil
  ) {
    self.store = store
    self.identity = identity
    schedule = SyncSchedule(link: link.map { Link($0) })
    schedule.setPolicy(record.policy)
    self.host = host
    metrics = SyncMetrics(host.metrics)
    events = LocalEvents(signal)
    admission = BrokerAdmission(
      record.refusal, credentials: credentials ?? { identity.credentials }, store: store, metrics: metrics, host: host)
    meter = Meter(record, store: store, host: host)
    exchanger = Exchanger(identity: identity, metrics: metrics, meter: meter, clock: host.clock)
    alarm = Alarm(clock: host.clock, ring: signal)
    meter.use(link)
    let totals = SessionTotals()
    dependencies = SyncDependencies(
      store: store, exchanger: exchanger,
      mover: ChunkMover(
        store: store, exchanger: exchanger, clock: host.clock, metrics: metrics, totals: totals),
      metrics: metrics, totals: totals, clock: host.clock, cloudTypes: CloudTypes(clock: host.clock),
      cloudObjects: CloudObjects())
  }

  /// Until `shutDown`. What is on its way then is cut off, as a crash would: the next start takes it up.
  /// - Throws: when the store cannot be read.
  public func run() async throws {
    await admission.dropOutdated()
    await permissionsChanged()
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
    for page in inlinePages { group.addTask { await self.takeIn(page) } }
    inlinePages = []
    if events.takeDamage() { group.addTask { await self.repairStore() } }
    if schedule.hasFaults { group.addTask { await self.noteFaults() } }
    discard(in: &group, at: now)
    lookAtBudget(in: &group)
    while let transfer = schedule.takeTransfer(at: now) {
      metrics.transfer(transfer.coalesced)
      group.addTask { await self.carry(transfer) }
    }
    if let wake = schedule.nextWake(after: now) { alarm.set(Instant(nanoseconds: wake)) }
  }

  func takeLocalChanges(at now: Moment) { schedule.noteChanges(events.takeChanges(), at: now) }

  /// Due again, now or after a wait.
  func putBack(_ key: Key, afterNanoseconds wait: UInt64 = 0) {
    schedule.putBack(key, isAwaited: waiters.isAwaited(key), afterNanoseconds: wait, at: moment)
  }

  var moment: Moment {
    Moment(monotonic: host.clock.now.nanoseconds, wallMilliseconds: host.clock.wallTime.milliseconds)
  }

  // MARK: Beginning

  /// Takes up what the store remembers.
  private func recall() async throws(CaravanError) {
    await exchanger.use(epoch: store.epoch)
    for plan in try await store.plansInFlight() { schedule.recall(plan) }
    try await loadRegistrations()
    for table in await store.syncedTables() {
      let state = try await store.syncState(of: table)
      schedule.recall(state, of: table)
      if state.zoneIsGone { putBack(Key(table, .read)) }
    }
    await askForWhatIsLacking()
    await noteDirtyTables()
    for (table, isTolerated) in schedule.pendingPlans {
      if isTolerated { schedule.noteTolerated(table, at: moment) } else { putBack(Key(table, .write)) }
    }
  }

  /// What waits in the store to be sent.
  func noteDirtyTables() async {
    for table in await store.syncedTables() { await noteRows(of: table) }
  }

  func noteRows(of table: TableID) async {
    guard let state = try? await store.syncState(of: table) else { return }
    for change in state.waitingChanges(at: host.clock.wallTime.milliseconds) { tableChanged(table, change) }
  }

  /// Registrations as they are in the store now.
  func loadRegistrations() async throws(CaravanError) {
    let items = try await store.registrations()
    let current = Dictionary(uniqueKeysWithValues: items.map { (Key($0.table, $0.direction), $0.registration) })
    let before = schedule.link
    let patience = schedule.register(current, at: moment)
    // A link that nobody knows is what the registrations make of it.
    if schedule.link != before { await permissionsChanged() }
    try await numberList(patience: patience)
    await planAtOnceWhatGoesAtOnce()
    signal.raise()
  }

  func mayCollect(_ table: TableID) -> Bool { schedule.mayCollect(table) }
  var isFree: Bool { schedule.isFree }

  /// Tells the store which tables' changes leave as soon as they are made.
  func planAtOnceWhatGoesAtOnce() async {
    let tables = schedule.immediateWrites(hasBudget: schedule.isConnected && meter.budget != nil)
    do throws(CaravanError) { try await store.planAtOnce(tables) } catch {
      host.log.debug("plans that nobody needs stay", [.error: error.description])
    }
  }
}
