/// What the device syncs when: which tables are due and which are under way, which link they may use, and what the
/// cloud is to be told of the device. The sync engine tells the schedule what has happened, asks it what is due, and
/// carries that out. Nothing here must survive a crash, for the store holds what has to.
public struct SyncSchedule: Sendable {
  public typealias Key = Coalescer.Key

  /// What goes together in the frames of one transfer.
  public struct Transfer: Sendable, Equatable {
    public let controlMessages: ControlMessages.Batch?
    /// With no items where the device has only to speak about itself.
    public let coalesced: Coalescer.Transfer

    /// Nothing but notifications taken over is to be told: that needs no frame and no answer.
    public var isAcknowledgement: Bool {
      guard coalesced.items.isEmpty, let controlMessages else { return false }
      return !controlMessages.hello && !controlMessages.subscribe
    }
  }

  /// What a notification came to.
  public enum Notice: Sendable, Hashable {
    /// It was heard before.
    case repeated
    /// What it flags is going to be pulled, but for these tables: they have a session, to take in the rows that the
    /// notification has brought.
    case taken(inline: [TableID])
    /// It was made for another list than the device's.
    case otherList
  }

  var coalescer = Coalescer()
  public var controlMessages = ControlMessages(generation: 0)
  var sessions = SessionTable()
  var tables = TableSyncs()
  var cutSessions = CutSessions()
  var registrations = SyncRegistrations()
  /// The tables that the device wants to hear of, as numbered last.
  public private(set) var list = SubscriptionList()
  public private(set) var isConnected = false
  private var transfersInFlight = 0
  private var isBeginningEpoch = false
  var linkState: LinkState
  public internal(set) var policy = NetworkPolicy()
  /// The day of the budget that was looked at last.
  var budgetDay: Int64 = 0

  /// - Parameter link: what the machine is connected by, until somebody says otherwise.
  public init(link: Link?) {
    linkState = LinkState(announced: link)
    coalescer.setLink(link?.cost)
  }

  // MARK: The store

  /// A plan was in flight when the agent stopped.
  public mutating func recall(_ plan: PushPlan) {
    tables[plan.table].pending = PlanInFlight(plan, mustSettle: true)
    cutSessions.note(Key(plan.table, .write))
  }

  /// How a table's sync stood when the agent stopped.
  public mutating func recall(_ state: TableSyncState, of table: TableID) {
    // Perhaps for what could not be explained when the agent stopped.
    if state.mustStartOver { tables[table].foundUnexplained() }
    if state.lacksChunks || state.isResyncing { cutSessions.note(Key(table, .read)) }
  }

  /// Tables with a plan whose outcomes are not recorded, in order, and whether its rows only ride along.
  public var pendingPlans: [(table: TableID, isTolerated: Bool)] {
    tables.tables { $0.pending != nil }.map { ($0, tables[$0].pending?.plan.isTolerated == true) }
  }

  /// Rows of tables were changed, and are durable.
  /// - Parameter changes: in the order of the tables.
  public mutating func noteChanges(_ changes: [(key: TableID, value: LocalChanges)], at now: Moment) {
    for (table, change) in changes {
      let key = Key(table, .write)
      if change.bytes == 0, sessions.isRunning(key) {
        tables[table].noteMore()
      } else if let bytes = change.bytes {
        coalescer.noteChange(key, bytes: bytes, by: change.deadline, at: now)
      }
      if let bytes = change.toleratedBytes { coalescer.noteTolerated(key, bytes: bytes, at: now) }
    }
  }

  /// Rows of the table that may be lost wait in the store.
  public mutating func noteTolerated(_ table: TableID, at now: Moment) {
    coalescer.noteTolerated(Key(table, .write), bytes: 0, at: now)
  }

  /// The cloud is to send again what the table lacks: no delay applies.
  public mutating func pullWhatIsLacking(of table: TableID, at now: Moment) {
    coalescer.trigger(Key(table, .read), at: now)
  }

  /// Nobody syncs the table any more.
  public mutating func forget(_ table: TableID) {
    coalescer.forget(table)
    tables[table].forget()
    cutSessions.forget(table)
  }

  // MARK: Apps

  /// What apps have registered, as the store has it now.
  /// - Returns: how long the least patient of the new reads waits for its first notification, in milliseconds.
  public mutating func register(_ current: [Key: SyncRegistration], at now: Moment) -> UInt64 {
    let changes = registrations.replace(with: current)
    for (key, registration) in changes.new {
      coalescer.register(key, registration, at: now)
      if key.direction == .read { coalescer.noteChange(key, bytes: 0, at: now) }
    }
    for key in changes.gone { coalescer.unregister(key) }
    return changes.patience
  }

  public func isRegistered(_ key: Key) -> Bool { registrations.contains(key) }
  /// Whether nothing is registered, as before the registrations have been read.
  public var hasNoRegistrations: Bool { registrations.isEmpty }

  /// An app waits for the table's sync.
  public mutating func demand(_ key: Key, at now: Moment) { coalescer.demand(key, at: now) }

  // MARK: The connection

  /// Whether there is a connection, and it may be used.
  public var canSpeak: Bool { isConnected && coalescer.permitsSpeaking }

  /// Everything registered is looked at: what happened meanwhile was not heard.
  public mutating func connected(at now: Moment) {
    isConnected = true
    tables.forAll { $0.endRest() }
    startAfresh(at: now)
  }

  public mutating func disconnected() {
    isConnected = false
    controlMessages.disconnected()
  }

  mutating func startAfresh(at now: Moment) {
    sessions.forgetFailures()
    controlMessages.connected(at: now.monotonic)
    coalescer.retryNow(at: now)
    pullEverything(at: now)
  }

  /// Something may have changed at the cloud that nobody told the device of.
  public mutating func pullEverything(at now: Moment) {
    for item in list.items { coalescer.noteChange(Key(item.table, .read), bytes: 0, at: now) }
  }

  /// The list of tables to hear of has another number.
  /// - Parameter patience: in milliseconds, for what is new in it. Rows that are not to come any more do not wait.
  public mutating func number(_ next: SubscriptionList, patience: UInt64, at now: Moment) {
    let isPressing = list.items.contains { !$0.isToldOnly && next.toldOnly.contains($0.table) }
    list = next
    controlMessages.listChanged(
      to: list.generation, by: now.monotonic + (isPressing ? 0 : patience * 1_000_000))
  }

  /// The cloud has something new, and may have sent it along. The notification is acknowledged as soon as the coalescer
  /// has taken over what it flags: should the agent die before the pull, its next hello says what it lacks.
  /// - Parameters:
  ///   - inline: tables that rows have come for.
  ///   - waited: how long, in milliseconds, what it says may have waited for others to go with it.
  public mutating func notified(
    _ number: UInt64, bitmap: [UInt8], generation: UInt64, inline: Set<TableID>, waited: UInt32 = 0, at now: Moment
  ) -> Notice {
    guard !controlMessages.notified(number) else { return .repeated }
    guard let flagged = list.tables(in: bitmap, generation: generation) else {
      controlMessages.listMistaken()
      pullEverything(at: now)
      return .otherList
    }
    var taken: [TableID] = []
    for table in flagged {
      let key = Key(table, .read)
      if inline.contains(table), !tables[table].isVoid, !sessions.isRunning(key) {
        _ = sessions.begin(key)
        taken.append(table)
      } else {
        // Of how many bytes is not known: what waits for tomorrow yields to it.
        coalescer.noteChange(key, bytes: 1, by: registrations.deadline(of: key, waited: waited, at: now), at: now)
      }
    }
    return .taken(inline: taken)
  }

  /// Rows that came with a notification did not fit: they are pulled.
  public mutating func inlineDidNotFit(_ table: TableID, at now: Moment) {
    let key = Key(table, .read)
    coalescer.retryNow(key, at: now)
    coalescer.noteChange(key, bytes: 1, at: now)
  }

  // MARK: Transfers

  private var mayTransfer: Bool { canSpeak && transfersInFlight < EngineLimits.transfersInFlight }

  /// - Returns: the transfer that is due now, which is in flight from here on; nil: nothing is due, or may go.
  public mutating func takeTransfer(at now: Moment) -> Transfer? {
    guard mayTransfer else { return nil }
    let hasRoom = sessions.count < EngineLimits.sessions
    var due = hasRoom ? coalescer.takeTransfer(at: now) : nil
    let batch = controlMessages.take(at: now.monotonic, isUnderway: due != nil)
    if due == nil, batch != nil, hasRoom { due = coalescer.takeTransfer(at: now, isUnderway: true) }
    guard due != nil || batch != nil else { return nil }
    transfersInFlight += 1
    assert(transfersInFlight <= EngineLimits.transfersInFlight, "more transfers are in flight than may be")
    return Transfer(controlMessages: batch, coalesced: due ?? Coalescer.Transfer(trigger: .control, items: []))
  }

  /// A transfer's last frame has its answer: another may begin, whatever the sessions of this one still do.
  public mutating func transferAnswered() {
    precondition(transfersInFlight > 0, "a transfer was answered that was not in flight")
    transfersInFlight -= 1
  }

  /// When `takeTransfer` is worth asking again if nothing happens until then, in monotonic nanoseconds.
  public func nextWake(after now: Moment) -> UInt64? {
    guard mayTransfer else { return nil }
    return [coalescer.nextWake(after: now), controlMessages.nextWake].compactMap(\.self).min()
  }

  // MARK: Rows that may be lost (MOB-05, MOB-06)

  /// Tables of which rows are to be given up now, because no transfer has taken them along for an interval.
  public mutating func takeDiscards(at now: Moment) -> [TableID] { coalescer.takeDiscards(at: now).map(\.table) }

  public var nextDiscard: UInt64? { coalescer.nextDiscard() }

  /// - Parameter rows: that wait still, and may not be given up.
  public mutating func gaveUp(_ table: TableID, rowsLeft rows: UInt64) {
    coalescer.spent(Key(table, .write), rows: rows)
  }

  // MARK: Epochs

  /// The cloud has rows of this device that its store does not know of, and nothing is in flight: the store is to have
  /// a new epoch, which `epochBegan` or `epochDidNotBegin` says the outcome of.
  public mutating func beginEpoch() -> Bool {
    guard tables.unexplainedCount > 0, tables.pendingCount == 0, !isBeginningEpoch else { return false }
    isBeginningEpoch = true
    return true
  }

  /// - Returns: the tables that start over, in order.
  public mutating func epochBegan() -> [TableID] {
    precondition(isBeginningEpoch, "an epoch began that nobody had asked for")
    isBeginningEpoch = false
    let unexplained = tables.tables(where: \.isUnexplained)
    for table in unexplained { tables[table].epochBegan() }
    return unexplained
  }

  public mutating func epochDidNotBegin() { isBeginningEpoch = false }
}
