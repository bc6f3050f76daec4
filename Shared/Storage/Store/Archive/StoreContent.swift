public import CaravanModel

/// What a store holds, in an order in which it can be put into another one, of whatever engine: each database with its
/// chunks, its zones and their records; then what belongs to no database.
public enum StoreContent: Sendable, Hashable {
  /// What follows belongs to it.
  case database(DatabaseID)
  /// Ascending by hash; staged ones too.
  case chunk(ChunkBytes)
  /// A chunk that cannot be read: records may name it.
  case damaged(DamagedChunk)
  /// The records that follow are in it.
  case zone(ZoneContent)
  /// Ascending by version.
  case record(RecordContent)
  case op(OpContent)
  /// By the key of its account.
  case quota(account: String, Quota)
  /// How far the log of a partition has come.
  case head(Partition, UInt64)
  /// Of what was restored from a backup, if ever: no zone was given a later version before that.
  case reach(Seq)
}

public struct ZoneContent: Sendable, Hashable {
  public var name: String
  public var seq: Seq
  /// In the store it comes from.
  public var incarnation: Incarnation
  /// False: kept for its seq, from which a successor goes on; it has no records.
  public var isAlive: Bool
  /// `PastIncarnation.lostThrough`.
  public var lostThrough: Seq

  public init(name: String, seq: Seq, incarnation: Incarnation, isAlive: Bool, lostThrough: Seq = 0) {
    self.name = name
    self.seq = seq
    self.incarnation = incarnation
    self.isAlive = isAlive
    self.lostThrough = lostThrough
  }

  /// Once it is over.
  public var past: PastIncarnation { PastIncarnation(seq: seq, lostThrough: lostThrough) }
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
  /// `RowSum` of what it was: what is here of it is damaged. nil: nobody knows of any damage.
  public var sum: UInt64?

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
    guard case .decided(_, _, let incarnation, _) = outcome, incarnation != 0 else { return nil }
    return incarnation
  }

  /// The outcome in a store where the zone has another life. Of a zone that is not there, the outcome stays known, and
  /// which zone it was does not.
  public func outcome(in incarnation: Incarnation?) -> OpOutcome {
    guard case .decided(let verdicts, let seq, _, let time) = outcome else { return outcome }
    return .decided(verdicts: verdicts, zoneSeq: seq, incarnation: incarnation ?? 0, time: time)
  }
}

/// A store at one moment of each of its partitions. Every call may block; it belongs to one isolation domain.
public protocol ArchiveSource {
  func export(_ take: (StoreContent) throws(CaravanError) -> Void) throws(CaravanError)
}

/// A store that may have others beside it: it knows who is in which.
public protocol HomeSource: ArchiveSource {
  /// Of one zone, ascending by version, tombstones too; none: there is no such zone.
  func records(of zone: ZoneID) throws(CaravanError) -> [RecordContent]
}

/// A new store that is being filled. Nothing of it is there before `finish`, and then all is. Every call may block; it
/// belongs to one isolation domain.
///
/// Zones get new lives: the store is older than what devices have seen, so no token of theirs fits it, and they sync
/// from the beginning, keeping what is not synced (UNI-18). Versions go on far beyond where they were, so that none is
/// given twice, and what devices hold of later ones is known to be lost here: they offer it again. Logs do the same, so
/// that whoever follows them reads the zones anew.
public protocol ArchiveSink {
  /// First of all.
  /// - Parameter made: when the backup was made that is brought back, in Unix milliseconds.
  func begin(madeAt made: Int64)
  func take(_ item: StoreContent) throws(CaravanError)
  func finish() throws(CaravanError)
}

public enum ArchiveLimits {
  /// Numbers ascend with the time of restores, in milliseconds since the beginning of 2020: so they come after all that
  /// any earlier life was given, also one that began with another restore and is not in the backup, as long as that was
  /// given fewer than 1,000 a second. There is room for them until November 2054.
  private static let beginningOfTime: Int64 = 1_577_836_800_000
  /// Where numbers had gone further than the clock: more than was given since the backup.
  public static let gap: UInt64 = LostRange.gap

  /// The last version that a zone may have been given, or the last position of a partition's log, before a restore. Of
  /// one backup, each later restore has a later one: two that had the same would give numbers twice.
  /// - Parameters:
  ///   - known: the last one in the backup.
  ///   - made: when the backup was made, in milliseconds since 1970.
  ///   - now: milliseconds since 1970.
  /// - Throws: `limitExceeded` when none are left.
  public static func reach(after known: UInt64, madeAt made: Int64, at now: Int64) throws(CaravanError) -> UInt64 {
    let written = UInt64(max(0, made - beginningOfTime))
    let ahead = known < written ? 0 : known - written + gap
    let reach = max(written, UInt64(max(0, now - beginningOfTime))) + ahead
    guard reach < StoreLimits.highestNumber - gap else {
      throw CaravanError(
        .limitExceeded,
        "no versions are left behind \(known), \(now) ms after 1970 began: set the clock of this machine")
    }
    return reach
  }

  /// The time of the restore that made it, in Unix milliseconds; later where numbers had gone further than the clock.
  static func time(ofReach reach: UInt64) -> Int64 {
    Int64(clamping: min(reach, StoreLimits.highestNumber)) + beginningOfTime
  }
}
