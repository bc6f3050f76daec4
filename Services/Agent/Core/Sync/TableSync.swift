public import CaravanModel

/// What the sync of one table has come to between its sessions. Nothing of it must survive a crash: the store holds
/// what has to.
public struct TableSync: Sendable, Hashable {
  /// How the table's copy stands to the cloud's. Pulls bring it from one to the other.
  private enum Copy: Sendable, Hashable {
    /// It goes on from its token. Can go to `unexplained`.
    case sound
    /// It shows the store to be older than what it once sent, and waits for a new epoch. Can go to `void`.
    case unexplained
    /// It starts over with its next pull, in the epoch that has begun. Can go to `sound` and `voidAgain`.
    case void
    /// A page that was under way when the epoch began shows the same once more. Can go to `void` and `unexplained`.
    case voidAgain
  }

  /// A plan whose outcomes are not recorded, and whose session has ended.
  public var pending: PlanInFlight?
  /// The store has said, during a session of the table, that there is more to send.
  public private(set) var hasMore = false
  /// The account at the cloud is full: deletions go first, and alone.
  public private(set) var lacksRoom = false
  /// The cloud has said that the table starts over, while a push of it was in flight. No plan begins before it has, or
  /// it never would where an app writes faster than a push takes.
  public private(set) var awaitsPush = false
  private var copy = Copy.sound
  /// Until when rows that the cloud has refused are not tried again, in monotonic nanoseconds.
  public private(set) var restEnds: UInt64?
  /// The table has failed so often that its sync is going to rest.
  public private(set) var fault: CaravanError?
  /// What the device's disk has refused, until it takes it.
  private var diskRefusals: [Direction: String] = [:]
  /// Messages with chunks of rows that are still being written.
  public private(set) var earlyUploads = 0

  public init() {}

  // MARK: Pushes

  /// A push takes over the plan that the last one left.
  public mutating func takePending() -> PlanInFlight? {
    defer { pending = nil }
    return pending
  }

  /// There is more to send than the running push has seen.
  public mutating func noteMore() { hasMore = true }

  /// - Returns: whether there is more to send than the push that has ended had seen.
  public mutating func takeMore() -> Bool {
    defer { hasMore = false }
    return hasMore
  }

  /// - Parameter isDemanded: an app waits for the push.
  /// - Returns: whether a push that begins now tries rows again that the cloud has refused.
  public mutating func retriesRefused(isDemanded: Bool, at now: UInt64) -> Bool {
    guard isDemanded || now >= restEnds ?? 0 else { return false }
    restEnds = nil
    return true
  }

  public mutating func rest(from now: UInt64) {
    restEnds = now + EngineLimits.refusedRestMilliseconds * 1_000_000
  }

  /// The connection is back: what was refused before says nothing about now.
  public mutating func endRest() { restEnds = nil }

  /// A push has ended (CK-102).
  /// - Parameter failure: nil: everything has gone.
  /// - Returns: whether it is another answer than before that the account has room.
  public mutating func pushEnded(with failure: CaravanError?) -> Bool {
    let lacked = lacksRoom
    switch failure?.code {
    case nil: lacksRoom = false
    case .quotaExceeded: lacksRoom = true
    default: break
    }
    return lacked != lacksRoom
  }

  // MARK: Pulls

  public var isUnexplained: Bool { copy == .unexplained || copy == .voidAgain }
  public var isVoid: Bool { copy == .void || copy == .voidAgain }

  /// A pull begins.
  /// - Returns: whether it starts over.
  public mutating func beginPull() -> Bool {
    switch copy {
    case .sound, .unexplained: return false
    case .void: copy = .sound
    case .voidAgain: copy = .unexplained
    }
    assert(!isVoid, "a copy that has been started over is void")
    return true
  }

  /// A pull that was to start over could not begin.
  public mutating func pullDidNotStartOver() {
    switch copy {
    case .sound, .void: copy = .void
    case .unexplained, .voidAgain: copy = .voidAgain
    }
  }

  /// The cloud has rows of this device that its store does not know of.
  public mutating func foundUnexplained() {
    switch copy {
    case .sound, .unexplained: copy = .unexplained
    case .void, .voidAgain: copy = .voidAgain
    }
  }

  /// The store has an epoch of its own, in which the table starts over.
  public mutating func epochBegan() {
    precondition(isUnexplained, "a table starts over in a new epoch for no reason")
    copy = .void
  }

  public mutating func awaitPush(_ awaits: Bool) { awaitsPush = awaits }

  // MARK: Failures

  /// Trying again has not helped for long: somebody has to look (REC-27).
  public mutating func giveUp(over failure: CaravanError) { fault = failure }

  public mutating func takeFault() -> CaravanError? {
    defer { fault = nil }
    return fault
  }

  /// - Returns: whether it did not refuse before.
  public mutating func diskRefused(_ direction: Direction, _ message: String) -> Bool {
    diskRefusals.updateValue(message, forKey: direction) == nil
  }

  public mutating func diskTook(_ direction: Direction) { diskRefusals[direction] = nil }

  /// What the disk has refused of the table, for whoever asks.
  public var diskRefusal: String? { diskRefusals.values.min() }

  // MARK: Early uploads

  /// - Returns: false: as many are on their way as may be.
  public mutating func beginEarlyUpload() -> Bool {
    guard earlyUploads < EngineLimits.earlyMessages else { return false }
    earlyUploads += 1
    return true
  }

  /// - Returns: whether it was the last one that was on its way.
  public mutating func endEarlyUpload() -> Bool {
    precondition(earlyUploads > 0, "an early upload ended that had not begun")
    earlyUploads -= 1
    return earlyUploads == 0
  }

  /// Nobody syncs the table any more.
  public mutating func forget() {
    (pending, awaitsPush, diskRefusals) = (nil, false, [:])
    if copy == .unexplained { copy = .sound }
    if copy == .voidAgain { copy = .void }
  }
}

/// What the sync of each table has come to; most have come to nothing that need be known.
public struct TableSyncs: Sendable {
  private var tables: [TableID: TableSync] = [:]
  /// Tables with a plan whose outcomes are not recorded, whose session has ended.
  public private(set) var pendingCount = 0
  public private(set) var unexplainedCount = 0
  /// Tables whose sync is going to rest.
  public private(set) var faultCount = 0

  public init() {}

  public subscript(table: TableID) -> TableSync {
    get { tables[table] ?? TableSync() }
    set {
      let before = tables[table] ?? TableSync()
      pendingCount += (newValue.pending == nil ? 0 : 1) - (before.pending == nil ? 0 : 1)
      unexplainedCount += (newValue.isUnexplained ? 1 : 0) - (before.isUnexplained ? 1 : 0)
      faultCount += (newValue.fault == nil ? 0 : 1) - (before.fault == nil ? 0 : 1)
      assert(pendingCount >= 0 && unexplainedCount >= 0 && faultCount >= 0, "fewer tables than none")
      tables[table] = newValue == TableSync() ? nil : newValue
    }
  }

  /// - Returns: the tables that it says yes to, in order.
  public func tables(where isIncluded: (TableSync) -> Bool) -> [TableID] {
    tables.filter { isIncluded($0.value) }.map(\.key).sorted()
  }

  /// What the device's disk has refused of each table, until it takes it.
  public var diskRefusals: [TableID: String] { tables.compactMapValues(\.diskRefusal) }

  /// Changes every table of which anything is known.
  public mutating func forAll(_ change: (inout TableSync) -> Void) {
    for table in tables.keys.sorted() { change(&self[table]) }
  }
}
