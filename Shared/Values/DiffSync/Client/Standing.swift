public import CaravanModel

/// Where a client is in its syncs: kept in the same transaction as its objects and its log.
public struct Standing: Sendable, Hashable {
  /// `last_sync_height`: everything up to here is in the objects.
  public var height: Seq = 0
  public var incarnation: Incarnation = 0
  /// Where to go on: pages up to there are in the objects, too, and those after it still begin at `height`. Empty: at
  /// `height`.
  public var cursor: [UInt8] = []
  /// All that the server had when a sync ended is here, or was once (DIF-02).
  public var isComplete = false
  /// The server did not know the height any more: all its objects come again, and those that do not are gone.
  public var isRestarting = false
  /// Of that restart: heights that a restore of the server took back. What the client has of them it gives back.
  public var lost: [LostRange] = []
  /// Number of the next SYNC_CONTINUE.
  public var nextOp: UInt64 = 1
  public var clock = StampClock()
  /// A SYNC_CONTINUE without an answer so far.
  public var attempt: Attempt?

  public init() {}
}

/// What was sent and not yet answered. Until it is, the same bytes go again: the server tells a second time what became
/// of them (UNI-07).
public struct Attempt: Sendable, Hashable {
  public var op: UInt64
  public var token: [UInt8]
  public var diffs: [Diff]
  /// So many diffs at the beginning of the log had been merged when it was made.
  public var covers: Int

  public init(op: UInt64, token: [UInt8], diffs: [Diff], covers: Int) {
    self.op = op
    self.token = token
    self.diffs = diffs
    self.covers = covers
  }
}

/// What a client asks next.
public enum Question: Sendable, Hashable {
  /// - Parameter pushes: diffs are pending, so that a SYNC_CONTINUE will follow.
  case begin(height: Seq, incarnation: Incarnation, cursor: [UInt8], pushes: Bool)
  case `continue`(Attempt)
}

/// SYNC_BEGIN_RESP.
public enum BeginAnswer: Sendable, Hashable {
  case page(Page)
  /// 1: another sync of this user runs.
  case busy
  /// 2.
  /// - Parameter lost: what a restore of the server took back since the client was there; empty: nothing.
  case invalidHeight(lost: [LostRange])

  public struct Page: Sendable, Hashable {
    public var diffs: [Diff]
    public var currentHeight: Seq
    public var incarnation: Incarnation
    public var more: Bool
    /// With `more`: where to go on, as the server understands it.
    public var cursor: [UInt8]
    /// Empty: no SYNC_CONTINUE was announced.
    public var token: [UInt8]
    /// Unix milliseconds.
    public var serverTime: Int64

    public init(
      diffs: [Diff], currentHeight: Seq, incarnation: Incarnation, more: Bool = false, cursor: [UInt8] = [],
      token: [UInt8] = [], serverTime: Int64
    ) {
      self.diffs = diffs
      self.currentHeight = currentHeight
      self.incarnation = incarnation
      self.more = more
      self.cursor = cursor
      self.token = token
      self.serverTime = serverTime
    }
  }
}

/// SYNC_CONTINUE_RESP.
public enum ContinueAnswer: Sendable, Hashable {
  /// - Parameter height: up to which the client now has everything.
  case done(height: Seq, incarnation: Incarnation)
  case refused(Refusal)
}

/// Status codes of SYNC_CONTINUE_RESP (DIF-12).
public enum ContinueStatus: UInt32, Sendable, Hashable, CaseIterable {
  case ok = 0
  case invalidData = 1
  case noSuchObject = 2
  case objectExists = 3
  case malformedUpdate = 4
  case malformedUpdateUUID = 5
  case invalidSyncToken = 6
}

/// Why a SYNC_CONTINUE was refused as a whole (DIF-13).
public struct Refusal: Error, Sendable, Hashable {
  public var status: ContinueStatus
  /// Of the object that it failed by; empty: by none.
  public var uuid: String
  public var message: String

  public init(_ status: ContinueStatus, uuid: String = "", _ message: String) {
    self.status = status
    self.uuid = uuid
    self.message = message
  }
}

/// What an answer leads to.
public enum Step: Sendable, Hashable {
  /// Ask the next question.
  case again
  /// Another client's turn: ask the same question later.
  case later
  /// Nothing is pending that could be sent.
  /// - Parameter release: the token of a turn that was taken and is not needed; empty: none was.
  case finished(release: [UInt8])
  /// The server will not have what is pending as it is.
  case failed(Refusal)
}
