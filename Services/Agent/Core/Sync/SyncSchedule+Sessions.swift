public import CaravanModel

// The sessions of tables, one a table and direction at a time.
extension SyncSchedule {
  /// What a push begins with.
  public struct PushStart: Sendable, Hashable {
    /// The plan that the last push left.
    public let pending: PlanInFlight?
    /// The account at the cloud is full.
    public let lacksRoom: Bool
    /// Rows that the cloud has refused are tried again.
    public let retriesRefused: Bool
  }

  /// How a session ended, and what its engine has to do about it.
  public struct Ended: Sendable, Hashable {
    /// The session took up what one that was cut off had left.
    public let isResumed: Bool
    /// Whoever waits for the session waits for the next one instead.
    public let keepsWaiters: Bool
    /// Times in a row that the session has failed; 0: it has not, or was only put off.
    public let failures: UInt32
    /// The device's disk refuses what it took before.
    public let isNewDiskRefusal: Bool
  }

  /// Tables that are being synced.
  public var tablesAtWork: Set<TableID> { sessions.tables }
  /// What the device's disk has refused of each table, until it takes it.
  public var diskRefusals: [TableID: String] { tables.diskRefusals }
  public var hasFaults: Bool { tables.faultCount > 0 }

  public func isRunning(_ key: Key) -> Bool { sessions.isRunning(key) }

  /// - Returns: false when a session of this key runs already; another one follows it.
  public mutating func begin(_ key: Key) -> Bool { sessions.begin(key) }

  /// The key is due again, now or not before `wait` nanoseconds have passed.
  /// - Parameters:
  ///   - isAwaited: an app waits for its sync.
  ///   - yields: what is new goes first.
  public mutating func putBack(
    _ key: Key, isAwaited: Bool, afterNanoseconds wait: UInt64 = 0, yields: Bool = false, at now: Moment
  ) {
    coalescer.putBack(key, isDemanded: isAwaited, notBefore: now.monotonic + wait, yields: yields)
  }

  /// What ran of the key was no session of its table, and is over.
  public mutating func endReservation(_ key: Key, isAwaited: Bool, at now: Moment) {
    if sessions.end(key) { putBack(key, isAwaited: isAwaited, at: now) }
  }

  /// How much later what the key sends could still go, in milliseconds (MOB-08).
  public func slackMilliseconds(_ key: Key, at now: Moment) -> UInt32 {
    coalescer.slackMilliseconds(key, at: now.monotonic)
  }

  // MARK: Pushes

  /// - Parameter isDemanded: an app waits for the push.
  public mutating func beginPush(of table: TableID, isDemanded: Bool, at now: Moment) -> PushStart {
    let retries = tables[table].retriesRefused(isDemanded: isDemanded, at: now.monotonic)
    return PushStart(pending: tables[table].takePending(), lacksRoom: tables[table].lacksRoom, retriesRefused: retries)
  }

  /// A push could not begin, or has ended, and leaves a plan whose outcomes are not recorded.
  public mutating func pushLeft(_ plan: PlanInFlight?, of table: TableID) { tables[table].pending = plan }

  /// - Parameter failure: nil: everything has gone.
  /// - Returns: whether it is another answer than before that the cloud has room for what the table sends (CK-102).
  public mutating func pushEnded(_ plan: PlanInFlight?, of table: TableID, _ failure: CaravanError?) -> Bool {
    tables[table].pending = plan
    return tables[table].pushEnded(with: failure)
  }

  public func hasPlan(_ table: TableID) -> Bool { tables[table].pending != nil }

  /// False while plans of the table in flight are to end and none may follow.
  public func mayCollect(_ table: TableID) -> Bool { tables.unexplainedCount == 0 && !tables[table].awaitsPush }

  /// The cloud refused a push because it has too much to do. It cannot have been applied, so its plan is given up, and
  /// made anew without what may be lost.
  /// - Returns: the op to give up, with its table reserved until `endReservation`; nil: there is nothing to relieve the
  ///   cloud of.
  public mutating func beginShedding(of table: TableID) -> UInt64? {
    let key = Key(table, .write)
    guard let held = tables[table].pending, !held.mayHaveArrived, held.plan.toleratedRows > 0, !sessions.isRunning(key),
      sessions.begin(key)
    else { return nil }
    return held.plan.op
  }

  /// Chunks of a row that is being written go before it, where nothing is paid by the byte: elsewhere the cloud is
  /// asked first what it lacks. The table's push follows when they are there.
  public mutating func beginEarlyUpload(of table: TableID) -> Bool {
    let key = Key(table, .write)
    guard isConnected, isFree, coalescer.permits(key, isDemanded: false) else { return false }
    guard tables[table].earlyUploads > 0 || !sessions.isRunning(key) && sessions.begin(key) else { return false }
    return tables[table].beginEarlyUpload()
  }

  /// - Returns: whether none of the table is on its way any more.
  public mutating func endEarlyUpload(of table: TableID, isAwaited: Bool, at now: Moment) -> Bool {
    guard tables[table].endEarlyUpload() else { return false }
    endReservation(Key(table, .write), isAwaited: isAwaited, at: now)
    return true
  }

  // MARK: Pulls

  /// - Parameter opInFlight: of the table, as the store has it.
  /// - Returns: whether the table starts over.
  /// - Throws: `startsOver`: the cloud has said that it does, and would say the same again while the op is in flight.
  public mutating func beginPull(of table: TableID, opInFlight: UInt64?) throws(CaravanError) -> Bool {
    if tables[table].awaitsPush, opInFlight != nil { throw .startsOver(table) }
    return tables[table].beginPull()
  }

  /// A pull that was to start over could not begin.
  public mutating func pullDidNotStartOver(_ table: TableID) { tables[table].pullDidNotStartOver() }

  /// The cloud has rows of this device that its store does not know of.
  public mutating func foundUnexplained(_ table: TableID) { tables[table].foundUnexplained() }

  /// A pull has come to know whether its table starts over, and has to wait with that. The table's rows wait as well,
  /// unless it is not going to be tried again over this link.
  /// - Returns: whether rows of the table wait now; nil: as before.
  public mutating func pullEnded(of table: TableID, awaitsPush: Bool, isAwaited: Bool) -> Bool? {
    let key = Key(table, .read)
    let isTried = isAwaited || coalescer.permits(key, isDemanded: !registrations.contains(key))
    let waits = awaitsPush && isTried
    guard waits != tables[table].awaitsPush else { return nil }
    tables[table].awaitPush(waits)
    return waits
  }

  // MARK: The end of a session

  /// The session of `key` is over, and what follows is in the schedule.
  /// - Parameters:
  ///   - failure: nil: it came to its end.
  ///   - hasWaiters: apps wait for it.
  ///   - isAwaited: apps wait for the one after it.
  ///   - random: asked once where the wait before the next try is drawn.
  public mutating func end(
    _ key: Key, _ failure: CaravanError?, hasWaiters: Bool, isAwaited: Bool, at now: Moment, random: () -> UInt64
  ) -> Ended {
    let facts = SessionEnd.Facts(
      key.direction, hasMore: key.direction == .write && tables[key.table].takeMore(), isDueAgain: sessions.end(key),
      hasPlan: tables[key.table].pending != nil)
    let isCutOff = failure.map { $0.isWorthRetrying && !$0.isDeferral } ?? false
    let isResumed = cutSessions.ended(key, isWhole: failure == nil, isCutOff: isCutOff)
    var (failures, isNewDiskRefusal) = (UInt32(0), false)
    let end: SessionEnd
    switch failure {
    case nil: end = succeeded(key, facts, at: now)
    case let failure? where failure.isDeferral: end = .deferred(failure)
    case let failure?:
      let wait: UInt64
      (wait, failures) = failed(key, failure, at: now, random: random())
      isNewDiskRefusal =
        failure.code == .storageFull && tables[key.table].diskRefused(key.direction, failure.message)
      end = .failed(failure, facts, failures: failures, wait: wait, canSpeak: canSpeak)
      if end.givesUp { tables[key.table].giveUp(over: failure) }
    }
    if end.beginsRest { tables[key.table].rest(from: now.monotonic) }
    follow(key, end.next, isDueAgain: facts.isDueAgain, isAwaited: isAwaited || end.keepsWaiters && hasWaiters, at: now)
    return Ended(
      isResumed: isResumed, keepsWaiters: end.keepsWaiters, failures: failures, isNewDiskRefusal: isNewDiskRefusal)
  }

  private mutating func succeeded(_ key: Key, _ facts: SessionEnd.Facts, at now: Moment) -> SessionEnd {
    sessions.succeeded(key)
    tables[key.table].diskTook(key.direction)
    coalescer.finished(key)
    if key.direction == .write, tables[key.table].awaitsPush { coalescer.retryNow(Key(key.table, .read), at: now) }
    return .done(facts)
  }

  private mutating func failed(
    _ key: Key, _ failure: CaravanError, at now: Moment, random: UInt64
  ) -> (wait: UInt64, failures: UInt32) {
    if failure.code == .rateLimited, let wait = failure.retryAfterMilliseconds {
      coalescer.hold(key, until: now.monotonic + UInt64(wait) * 1_000_000)
    }
    return sessions.failed(key, random: random, retryAfterMilliseconds: failure.retryAfterMilliseconds)
  }

  private mutating func follow(
    _ key: Key, _ next: SessionEnd.Next, isDueAgain: Bool, isAwaited: Bool, at now: Moment
  ) {
    switch next {
    case .nothing: break
    case .more: coalescer.noteChange(key, bytes: 0, at: now)
    case .after(let wait, let yields):
      putBack(key, isAwaited: isAwaited, afterNanoseconds: wait, yields: yields, at: now)
    case .rested:
      if let end = tables[key.table].restEnds {
        let wait = end - min(end, now.monotonic)
        putBack(key, isAwaited: isAwaited, afterNanoseconds: wait, yields: true, at: now)
      }
    }
    if isDueAgain { putBack(key, isAwaited: isAwaited, at: now) }
  }

  /// - Returns: tables whose sync is going to rest, in order, each with what it failed by for so long (REC-27).
  public mutating func takeFaults() -> [(table: TableID, failure: CaravanError)] {
    tables.tables { $0.fault != nil }.compactMap { table in
      tables[table].takeFault().map { (table, $0) }
    }
  }
}
