public import CaravanModel

/// A commit in parts (UNI-05): they are staged under the op that commits them, where no reader looks, until one commit
/// of the usual kind takes them all. What is known of the op afterwards is the same as of any other (UNI-07).
public struct StagedGroup: Sendable, Hashable {
  /// They lie in a store's files, so their values never change.
  public enum Stage: Int64, Sendable, Hashable {
    case open = 0
    /// Visible, but for records in conflict where it was not atomic.
    case committed = 1
    /// An atomic commit that failed: nothing is visible.
    case refused = 2
    case aborted = 3
    /// Nobody went on with it.
    case expired = 4
    /// Nobody asks any more.
    case removed = 5
  }

  public var zone: ZoneID
  public var stage: Stage
  public var parts: Int
  /// Mutations in all parts.
  public var records: Int
  /// Of the parts' bodies.
  public var bytes: Int
  /// That the parts name, each part's for itself.
  public var chunks: Int
  /// Parts that are still stored.
  public var held: Int
  /// Unix milliseconds: open until then, or remembered.
  public var until: Int64

  public init(
    zone: ZoneID, stage: Stage = .open, parts: Int = 0, records: Int = 0, bytes: Int = 0, chunks: Int = 0,
    held: Int = 0, until: Int64
  ) {
    self.zone = zone
    self.stage = stage
    self.parts = parts
    self.records = records
    self.bytes = bytes
    self.chunks = chunks
    self.held = held
    self.until = until
  }

  public var isOpen: Bool {
    switch stage {
    case .open: true
    case .committed, .refused, .aborted, .expired, .removed: false
    }
  }
}

/// One part of a group, as it is staged.
public struct StagedPart: Sendable, Hashable {
  public var zone: ZoneID
  public var op: OpID
  /// Counts from 0. Parts may come in any order.
  public var number: Int
  /// Mutations in it.
  public var records: Int
  /// What its records name, each once. The part refers to them as a record does.
  public var chunks: [ChunkHash]
  /// The mutations. The store does not look into them: whoever commits the group brings them again.
  public var body: [UInt8]

  public init(zone: ZoneID, op: OpID, number: Int, records: Int, chunks: [ChunkHash], body: [UInt8]) {
    self.zone = zone
    self.op = op
    self.number = number
    self.records = records
    self.chunks = chunks
    self.body = body
  }
}

/// What became of a part.
public enum PartStaging: Sendable, Hashable {
  /// It is there, now or since an earlier call; or the group is decided, and nobody needs it any more.
  case staged(StagedGroup)
  /// Nothing was staged: these chunks first, then the same part again.
  case missing([ChunkHash])
}

/// How many groups one user has.
public struct GroupCensus: Sendable, Hashable {
  public var open: Int
  /// With those that have ended and are remembered.
  public var known: Int

  public init(open: Int = 0, known: Int = 0) {
    self.open = open
    self.known = known
  }
}
