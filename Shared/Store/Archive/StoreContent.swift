public import Model

/// What a store holds, in an order in which it can be put into another one, of whatever engine: each database with its
/// chunks, its zones and their records; then what belongs to no database.
public enum StoreContent: Sendable, Hashable {
  /// What follows belongs to it.
  case database(DatabaseID)
  /// Ascending by hash; staged ones too.
  case chunk(ChunkBytes)
  /// The records that follow are in it.
  case zone(ZoneContent)
  /// Ascending by version.
  case record(RecordContent)
  case op(OpContent)
  /// By the key of its account.
  case quota(account: String, Quota)
  /// How far the log of a partition has come.
  case head(Partition, UInt64)
  /// How often what is here was restored from a backup, if ever.
  case restores(UInt64)
}

public struct ZoneContent: Sendable, Hashable {
  public var name: String
  public var seq: Seq
  /// In the store it comes from.
  public var incarnation: Incarnation
  /// False: kept for its seq, from which a successor goes on; it has no records.
  public var isAlive: Bool
  /// A life that was restored, and goes on in its successor: what it was given up to its seq is there, what came later
  /// is lost.
  public var isRestored: Bool

  public init(name: String, seq: Seq, incarnation: Incarnation, isAlive: Bool, isRestored: Bool = false) {
    self.name = name
    self.seq = seq
    self.incarnation = incarnation
    self.isAlive = isAlive
    self.isRestored = isRestored
  }
}

public struct RecordContent: Sendable, Hashable {
  public var entry: Entry
  public var flags: EntryFlags
  /// Of its writer.
  public var epoch: UInt64
  /// Each that the body names, once.
  public var chunks: [ChunkHash]
  /// Whom it refers to, by owning and validating references.
  public var links: [Link]

  public struct Link: Sendable, Hashable {
    public var target: String
    public var kinds: Referrer.Kinds

    public init(target: String, kinds: Referrer.Kinds) {
      self.target = target
      self.kinds = kinds
    }
  }

  public init(entry: Entry, flags: EntryFlags, epoch: UInt64, chunks: [ChunkHash] = [], links: [Link] = []) {
    self.entry = entry
    self.flags = flags
    self.epoch = epoch
    self.chunks = chunks
    self.links = links
  }

  /// What its account is charged for it.
  public var usage: Usage {
    guard !flags.contains(.deleted) else { return Usage() }
    return Usage(records: 1, bytes: Int64(entry.name.utf8.count + entry.body.count + entry.fields.count))
  }
}

public struct OpContent: Sendable, Hashable {
  public var op: OpID
  public var floor: UInt64
  public var outcome: OpOutcome

  public init(op: OpID, floor: UInt64, outcome: OpOutcome) {
    self.op = op
    self.floor = floor
    self.outcome = outcome
  }

  /// The life of the zone that it wrote to; nil: none.
  public var incarnation: Incarnation? {
    guard case .decided(_, _, let incarnation) = outcome, incarnation != 0 else { return nil }
    return incarnation
  }

  /// The outcome in a store where the zone has another life. Of a zone that is not there, the outcome stays known, and
  /// which zone it was does not.
  public func outcome(in incarnation: Incarnation?) -> OpOutcome {
    guard case .decided(let verdicts, let seq, _) = outcome else { return outcome }
    return .decided(verdicts: verdicts, zoneSeq: seq, incarnation: incarnation ?? 0)
  }
}

/// A store at one moment of each of its partitions. Every call may block; it belongs to one isolation domain.
public protocol ArchiveSource {
  func export(_ take: (StoreContent) throws(CaravanError) -> Void) throws(CaravanError)
}

/// A new store that is being filled. Nothing of it is there before `finish`, and then all is. Every call may block; it
/// belongs to one isolation domain.
///
/// Zones get new lives: the store is older than what devices have seen, so no token of theirs fits it, and they sync
/// from the beginning, keeping what is not synced (UNI-18). Versions go on far beyond where they were, so that none is
/// given twice, and what devices hold of later ones is known to be lost here: they offer it again. Logs do the same, so
/// that whoever follows them reads the zones anew.
public protocol ArchiveSink {
  func take(_ item: StoreContent) throws(CaravanError)
  func finish() throws(CaravanError)
}

public enum ArchiveLimits {
  /// Between the end of the old log and the beginning of the new one: more than any store has committed since a backup.
  public static let logGap: UInt64 = 1 << 32
  /// Between the last version in a backup and the first one after its restore: more than any zone is given meanwhile.
  public static let versionGap: Seq = 1 << 28
  /// How often a store can be restored: as often as there is room for the gap.
  public static let restores: UInt64 = StoreLimits.highestNumber / versionGap
}
