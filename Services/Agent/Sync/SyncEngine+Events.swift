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
    guard state.lacksSomething else { return }
    schedule.pullWhatIsLacking(of: table, at: moment)
    signal.raise()
  }
}

// MARK: The connection

extension SyncEngine {
  /// The cloud can be reached through `bus`. Everything registered is looked at: what happened meanwhile was not heard.
  func connected(_ bus: any MessageBus) async {
    await exchanger.use(bus)
    metrics.connected.set(1)
    connection.fulfil()
    schedule.connected(at: moment)
    signal.raise()
    connectionMade?()
    await planAtOnceWhatGoesAtOnce()
    await admission.admit()
  }

  /// An attempt to connect has failed.
  func connectingFailed(_ error: CaravanError) async {
    connection.failure = error
    if error.code == .notAuthenticated { await admission.refuse() }
  }

  func disconnected() async {
    await exchanger.use(nil)
    metrics.connected.set(0)
    connection.renew()
    schedule.disconnected()
    failWaiters(.notConnected)
    await planAtOnceWhatGoesAtOnce()
  }

  func pullEverything() {
    schedule.pullEverything(at: moment)
    signal.raise()
  }

  func failWaiters(_ error: CaravanError) {
    for answer in waiters.takeAll() { answer.fulfil(.failure(error)) }
  }

  /// - Throws: `networkNotPermitted`.
  func limit(of key: Coalescer.Key, isDemanded: Bool) throws(CaravanError) -> CaravanModel.LinkClass {
    guard let limit = schedule.limit(of: key, isDemanded: isDemanded) else { throw notPermitted(key.table) }
    return limit
  }

  func notPermitted(_ table: TableID) -> CaravanError {
    .notPermitted(table, schedule.link, budget: meter.budget?.left)
  }
}

// MARK: Notifications

extension SyncEngine {
  /// The cloud has something new, and may have sent it along.
  func notified(_ notification: Notification) {
    let pages = schedule.list.pages(of: notification)
    let notice = schedule.notified(
      notification.number, bitmap: notification.bitmap, generation: notification.generation, inline: Set(pages.keys),
      waited: notification.waitedMilliseconds, at: moment)
    switch notice {
    case .repeated: metrics.notification("repeated")
    case .otherList: metrics.notification("otherList")
    case .taken(let inline):
      metrics.notification("taken")
      inlinePages += inline.compactMap { table in pages[table].map { ReceivedPage(table: table, page: $0) } }
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
