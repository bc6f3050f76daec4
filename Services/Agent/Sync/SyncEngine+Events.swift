public import CaravanAgentCore
internal import CaravanAgentNetwork
internal import CaravanAgentStore
internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

// MARK: The store

extension SyncEngine {
  /// Rows of the table were changed by an app and are durable. Callable from anywhere, returns at once.
  public nonisolated func tableChanged(_ table: TableID, _ change: LocalChange) {
    let now = host.clock.now.nanoseconds
    localChanges.withLock { $0[table, default: LocalChanges()].add(change, at: now) }
    signal.raise()
  }

  /// Checksums have found damage in the store. Callable from anywhere, returns at once.
  public nonisolated func storeDamaged() {
    isDamaged.withLock { $0 = true }
    signal.raise()
  }

  /// Has the store see to its damage, and asks the cloud for what is lacking, whatever is registered.
  func mend() async {
    do throws(CaravanError) { try await store.repairDamage() } catch {
      host.log.warning("damage in the store could not be seen to yet", [.error: error.description])
    }
    await askForWhatIsLacking()
  }

  public func askForWhatIsLacking() async {
    // A table that is kept by a query is told only.
    await renumberList()
    for table in await store.syncedTables() { await askForWhatIsLacking(of: table) }
  }

  func askForWhatIsLacking(of table: TableID) async {
    guard let state = try? await store.syncState(of: table) else { return }
    // A table that has gained columns is agreed on anew, and may hold what belongs into them.
    let lacksAgreement = state.type == nil && !state.token.isEmpty && state.fault == nil
    guard state.lacksChunks || state.lacksRows || state.isResyncing || lacksAgreement else { return }
    coalescer.urge(Key(table, .read), at: moment)
    signal.raise()
  }
}

/// What apps changed of one table since the engine last looked.
struct LocalChanges: Sendable {
  private(set) var bytes: UInt64?
  private(set) var toleratedBytes: UInt64?
  /// Monotonic; of what was written with a deadline of its own.
  private(set) var deadline: UInt64?

  mutating func add(_ change: LocalChange, at now: UInt64) {
    let size = UInt64(max(0, change.bytes))
    if change.isTolerated {
      toleratedBytes = (toleratedBytes ?? 0) + size
    } else {
      bytes = (bytes ?? 0) + size
    }
    if let wait = change.withinMilliseconds { deadline = min(deadline ?? .max, now + UInt64(wait) * 1_000_000) }
  }
}

// MARK: The connection

extension SyncEngine {
  /// The cloud can be reached through `bus`. Everything registered is looked at: what happened meanwhile was not heard.
  func connected(_ bus: any MessageBus) async {
    await exchanger.use(bus)
    self.bus = bus
    metrics.connected.set(1)
    connection.fulfil(())
    resting = [:]
    startAfresh()
    await planAtOnceWhatGoesAtOnce()
    await admitted()
  }

  func disconnected() async {
    await exchanger.use(nil)
    bus = nil
    metrics.connected.set(0)
    if connection.value != nil { connection = Promise() }
    controlMessages.disconnected()
    failWaiters(.notConnected)
    await planAtOnceWhatGoesAtOnce()
  }

  func startAfresh() {
    let now = moment
    board.forgetFailures()
    controlMessages.connected(at: now.monotonic)
    coalescer.retryNow(at: now)
    pullEverything()
  }

  func pullEverything() {
    let now = moment
    for item in list.items { coalescer.noteChange(Key(item.table, .read), bytes: 0, at: now) }
    signal.raise()
  }

  func failWaiters(_ error: CaravanError) {
    for answer in waiters.takeAll() { answer.fulfil(.failure(error)) }
  }

  /// - Throws: `networkNotPermitted`.
  func limit(of key: Coalescer.Key, isDemanded: Bool) throws(CaravanError) -> CaravanModel.LinkClass {
    guard coalescer.permits(key, isDemanded: isDemanded) else { throw notPermitted(key.table) }
    return coalescer.limit(of: key, isDemanded: isDemanded)
  }

  func notPermitted(_ table: TableID) -> CaravanError {
    let link = link.map { "the link is \($0)" } ?? "there is no link"
    let budget = meter.budget.map { ", \($0.left) bytes of today's budget are left" } ?? ""
    return CaravanError(
      .networkNotPermitted, "\(table) may not be synced now, \(link)\(budget): it goes when the link is one it may use")
  }
}

// MARK: Notifications

extension SyncEngine {
  /// The cloud has something new, and may have sent it along. It is acknowledged as soon as the coalescer has taken
  /// over what it flags: should the agent die before the pull, its next hello says what it lacks.
  func notified(_ notification: Notification) {
    let now = moment
    let isRepeated = controlMessages.notified(notification.number)
    switch (isRepeated, list.tables(in: notification.bitmap, generation: notification.generation)) {
    case (true, _): metrics.notification("repeated")
    case (false, let tables?):
      metrics.notification("taken")
      let pages = list.items.isEmpty ? [:] : pages(of: notification)
      for table in tables {
        if let page = pages[table], voided.isDisjoint(with: [table]), !board.isRunning(Key(table, .read)) {
          _ = board.begin(Key(table, .read))
          carried.append(ReceivedPage(table: table, page: page))
        } else {
          // Of how many bytes is not known: what waits for tomorrow yields to it.
          coalescer.noteChange(Key(table, .read), bytes: 1, at: now)
        }
      }
    case (false, nil):
      metrics.notification("otherList")
      controlMessages.listMistaken()
      pullEverything()
    }
    signal.raise()
  }

  private func pages(of notification: Notification) -> [TableID: NotifiedPage] {
    var pages: [TableID: NotifiedPage] = [:]
    for page in notification.pages where page.subscription < list.items.count {
      pages[list.items[Int(page.subscription)].table] = page
    }
    return pages
  }

  /// Notifications were dropped on their way.
  func notificationsLost() {
    metrics.notification("lost")
    pullEverything()
  }
}
