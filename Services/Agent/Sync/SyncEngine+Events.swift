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
    events.changed(table, change, at: host.clock.now.nanoseconds)
  }

  /// Checksums have found damage in the store. Callable from anywhere, returns at once.
  public nonisolated func storeDamaged() { events.damaged() }

  /// Has the store see to its damage, and asks the cloud for what is lacking, whatever is registered.
  func repairStore() async {
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
    coalescer.trigger(Key(table, .read), at: moment)
    signal.raise()
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
    tables.forAll { $0.endRest() }
    startAfresh()
    await planAtOnceWhatGoesAtOnce()
    await admission.admit()
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
    sessions.forgetFailures()
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

  func notPermitted(_ table: TableID) -> CaravanError { .notPermitted(table, link, budget: meter.budget?.left) }
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
    case (false, let flagged?):
      metrics.notification("taken")
      let pages = list.pages(of: notification)
      for table in flagged {
        if let page = pages[table], !tables[table].isVoid, !sessions.isRunning(Key(table, .read)) {
          _ = sessions.begin(Key(table, .read))
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

  /// Notifications were dropped on their way.
  func notificationsLost() {
    metrics.notification("lost")
    pullEverything()
  }
}

extension CaravanAgentCore.SubscriptionList {
  /// Rows that came with a notification, by table.
  fileprivate func pages(of notification: Notification) -> [TableID: NotifiedPage] {
    var pages: [TableID: NotifiedPage] = [:]
    for page in notification.pages where page.subscription < items.count {
      pages[items[Int(page.subscription)].table] = page
    }
    return pages
  }
}

extension CaravanError {
  /// - Parameter budget: bytes that are left today; nil: the link has no budget.
  fileprivate static func notPermitted(_ table: TableID, _ link: Link?, budget: UInt64?) -> CaravanError {
    let link = link.map { "the link is \($0)" } ?? "there is no link"
    let budget = budget.map { ", \($0) bytes of today's budget are left" } ?? ""
    return CaravanError(
      .networkNotPermitted, "\(table) may not be synced now, \(link)\(budget): it goes when the link is one it may use")
  }
}
