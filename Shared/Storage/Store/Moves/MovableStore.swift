public import CaravanModel

/// All that a store holds of one owner, but for records and chunks: what has to be the same in another store, so that
/// no device can tell the two apart (CK-100).
public struct OwnerContent: Sendable, Hashable {
  public struct Zone: Sendable, Hashable {
    public var id: ZoneID
    /// Its newest life. The incarnation is the one that devices know, wherever the zone is.
    public var content: ZoneContent
    /// The version with which the life before ended, `PastIncarnation.end`; 0: there was none.
    public var ended: Seq
    /// Its lives before that were restored from backups, in their order.
    public var restored: [PastIncarnation] = []
    /// No tombstone above this version was purged.
    public var purged: Seq
    /// By writer.
    public var footprints: [String: ReadPosition]
    public var sightings: [Sighting]

    public init(
      id: ZoneID, content: ZoneContent, ended: Seq = 0, purged: Seq = 0, footprints: [String: ReadPosition] = [:],
      sightings: [Sighting] = []
    ) {
      self.id = id
      self.content = content
      self.ended = ended
      self.purged = purged
      self.footprints = footprints
      self.sightings = sightings
    }
  }

  public struct Group: Sendable, Hashable {
    public var op: OpID
    public var group: StagedGroup

    public init(op: OpID, group: StagedGroup) {
      self.op = op
      self.group = group
    }
  }

  public var zones: [Zone] = []
  /// Those that wrote to the zones, those of writers to the zones, and all that wrote to no zone, whosever they are:
  /// which of the three a late message means, nobody can tell.
  public var ops: [OpContent] = []
  /// Open ones, and those that are remembered.
  public var groups: [Group] = []
  /// By name.
  public var locks: [String: LeaseHolder] = [:]
  /// `StoreContent.reach` of the store that it comes from: zones that this has never heard of may have been lost.
  public var reach: Seq = 0

  public init() {}

  /// Whether a group waits for its next part.
  public var hasOpenGroups: Bool { groups.contains { $0.group.isOpen } }

  /// Of databases with zones.
  public var databases: [DatabaseID] {
    var seen: Set<DatabaseID> = []
    return zones.map(\.id.database).filter { seen.insert($0).inserted }
  }
}

/// A store between which and others the private databases of users are moved. Whoever moves them keeps their writers
/// away: nothing of the owner changes while it is copied, and nobody reads what is not all there.
public protocol MovableStore: Store {
  func content(of owner: UserID) async throws(CaravanError) -> OwnerContent

  /// The next records of a zone, ascending by version, tombstones too; none: that was the last.
  func records(of zone: ZoneID, after version: Seq) async throws(CaravanError) -> [RecordContent]

  /// The next chunks that records of a database hold, ascending; none: that was the last.
  func chunkHashes(of database: DatabaseID, after hash: ChunkHash?) async throws(CaravanError) -> [ChunkHash]

  /// Notes chunks that the store they come from cannot read, so that records may name them here; those that are here
  /// stay as they are.
  func adopt(damaged chunks: [DamagedChunk]) async throws(CaravanError)

  /// Makes the owner's zones, without records, with what is known of ops, groups and locks. Nobody hears of it.
  func adopt(_ content: OwnerContent, of owner: UserID) async throws(CaravanError)

  /// Adds records to a zone that was adopted, whose chunks have been staged.
  func adopt(_ records: [RecordContent], in zone: ZoneID) async throws(CaravanError)

  /// Puts all that there is of an owner out of sight; it goes in steps of `collect`. No incarnation of it comes again,
  /// unless it is adopted anew. Outcomes of ops stay until their writers' low watermarks pass them.
  func discard(_ owner: UserID) async throws(CaravanError)
}

/// The store that has the one log of each partition, into which commits of other stores are entered.
public protocol HomeStore: MovableStore {
  /// How far the log of another store has been entered.
  func entered(from store: String, in partition: Partition) async throws(CaravanError) -> UInt64

  /// Enters commits of another store's log, in its order; those that were entered before are left out.
  /// - Parameter position: how far the other log is entered with them.
  func enter(
    _ commits: [LoggedCommit], from store: String, upTo position: UInt64, in partition: Partition
  ) async throws(CaravanError)
}

/// Bounds of moving an owner.
public enum MoveLimits {
  /// Records, and about so many bytes of them, that are copied at once.
  public static let recordsPerStep = 256
  public static let bytesPerStep = 1 << 20
  /// Chunks that are looked at together, and bytes of them that are copied at once.
  public static let chunksPerStep = 512
  public static let chunkBytesPerStep = 4 << 20
}
