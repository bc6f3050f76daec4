internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// One partition as a transaction sees it, while it holds the partition's row: what was read at its beginning, with
/// what the writes of the group have decided since. `PartitionState+Save` sends all of that at the end.
final class PartitionState {
  struct Counts: Hashable {
    var life: UInt64
    var head: UInt64
    var lastZone: Int64
    var zones: Int64
    var records: Int64
    var chunks: Int64
    var chunkBytes: Int64
    /// How often what is here was restored from a backup.
    var reach: Seq
  }

  /// One life of a zone.
  struct Zone {
    let name: ZoneID
    let id: Int64
    let incarnation: Incarnation
    var seq: Seq
    var records: Int64
    /// What its account is charged for them, without chunks.
    var bytes: Int64
    var stage: Int64
    /// nil: made in this transaction.
    let seqBefore: Seq?
    var isChanged = false
    /// Position of the change in the log.
    var changed: UInt64 = 0
    /// The newest snapshot that somebody may read; 0: none.
    var snapshot: Seq = 0
    /// Records of it refer to others, or once did.
    var isLinked = false
    /// `PastIncarnation.lostThrough`.
    var lostThrough: Seq = 0
    /// When it was last written to, or deleted; 0: before the store kept that.
    var time: Int64 = 0

    var isAlive: Bool { stage == ZoneStage.alive }
  }

  struct RecordKey: Hashable {
    let zone: Int64
    let name: String
  }

  struct Head {
    var head: RecordHead
    var chunks: [ChunkHash]
  }

  struct Row {
    let version: Seq
    let created: Seq
    let flags: EntryFlags
    let op: OpID
    let content: ZoneCommit.Content
    let expires: Int64
    let fields: [UInt8]
    let time: Int64
    let origin: RecordOrigin?
    let authorship: Authorship
    /// The database has no row of this record.
    let isNew: Bool
  }

  /// A row that goes, but for the snapshots that have it.
  struct Superseded {
    let zone: Int64
    let version: Seq
    let next: Seq
  }

  struct Writer: Hashable {
    let name: String
    let epoch: UInt64
  }

  struct ReadPositionKey: Hashable {
    let zone: Int64
    let writer: String
  }

  struct Op {
    let outcome: OpOutcome
    /// nil: it wrote to none.
    let zone: ZoneID?
  }

  struct Chunk {
    var size: Int64
    var refs: Int64
    /// Its bytes are known to be damaged: it is absent until they come again.
    var isDamaged = false
  }

  let partition: Partition
  /// Unix time in milliseconds.
  let now: Int64
  let countsBefore: Counts
  var counts: Counts
  var zones: [Int64: Zone] = [:]
  /// The newest life of each zone.
  var newest: [ZoneID: Int64] = [:]
  var heads: [RecordKey: Head] = [:]
  var floors: [Writer: UInt64] = [:]
  var ops: [OpID: Op] = [:]
  var chunks: [Wants.Chunk: Chunk] = [:]
  var stagers = PartitionStagers()
  var leases: [String: LeaseHolder] = [:]
  var groups: [OpID: StagedGroup] = [:]
  /// Bodies of parts that are staged.
  var parts: [Wants.Part: [UInt8]] = [:]
  var censuses: [UserID: GroupCensus] = [:]
  var accounts: PartitionAccounts
  var footprints: [ReadPositionKey: ReadPosition] = [:]
  /// Entries that commits look into, and who refers to records, as they were before the group; records that are not
  /// there, or that nobody refers to, are looked up as well.
  var looked = Looked()

  struct Looked {
    var heads: Set<RecordKey> = []
    var entries: [RecordKey: Entry?] = [:]
    var referrers: [RecordKey: [Referrer]] = [:]
    /// Bytes of chunks that list those of large objects.
    var lists: [Wants.Chunk: [UInt8]] = [:]
    /// Of zones of which something was asked that has to do with restores: all lives, as they were, by id.
    var lives: [ZoneID: [Int64: PastIncarnation?]] = [:]
    var purged: [ZoneID: Seq] = [:]
  }

  /// What is to be looked up that no commit told in advance: while the group decides, on its own connection.
  var connection: Connection?
  /// Lives that zones of a database may have had of whose names nothing is known.
  var unnamed: [DatabaseID: [PastIncarnation]] = [:]
  /// Why the group cannot go on.
  var failure: PostgresError?

  // What the group has decided.
  var rows: [RecordKey: Row] = [:]
  /// References of the records that have other ones now, or had.
  var links: [RecordKey: [Reference]] = [:]
  var superseded: [Superseded] = []
  var log: [LoggedCommit] = []
  /// Ids of the zones in `log`.
  var loggedZones: [Int64] = []
  var newOps: [(op: OpID, zone: Int64, outcome: OpOutcome)] = []
  var newFloors: [Writer: UInt64] = [:]
  var newFootprints: [ReadPositionKey: ReadPosition] = [:]
  var staged: [Wants.Chunk: [UInt8]] = [:]
  /// New bytes of chunks that were damaged.
  var healed: [Wants.Chunk: [UInt8]] = [:]
  /// Changes of reference counts.
  var references: [Wants.Chunk: Int64] = [:]
  /// Chunks that stay for a while from now on, referred to or not.
  var kept: Set<Wants.Chunk> = []
  var newLeases: Set<String> = []
  var knownLeases: Set<String> = []
  var cursors: [Cursor: UInt64] = [:]
  var changedGroups: Set<OpID> = []
  var newParts: [StagedPart] = []
  /// Records with objects, and the groups that wrote them.
  var objects: [RecordKey: (version: Seq, group: OpID?)] = [:]
  /// Records whose entries answers show.
  var shown: Set<Wants.Record> = []
  var entries: [Wants.Record: Entry] = [:]
  /// What the observer hears.
  var changes: [CommittedChange] = []

  struct Cursor: Hashable {
    let consumer: String
    let followed: UInt32
  }

  init(_ partition: Partition, counts: Counts, now: Int64, quotas: DefaultQuotas, spread: SpreadAccounts) {
    self.partition = partition
    accounts = PartitionAccounts(partition, quotas: quotas, spread: spread)
    self.now = now
    self.counts = counts
    countsBefore = counts
  }

  var keepUntil: Int64 { now + StoreLimits.stagingLease.components.seconds * 1_000 }

  // MARK: Zones

  /// The zone of this name, if it is alive.
  func zone(_ name: ZoneID) -> Zone? {
    guard let zone = newest[name].flatMap({ zones[$0] }), zone.isAlive else { return nil }
    return zone
  }

  func save(_ zone: Zone) {
    var zone = zone
    zone.isChanged = true
    if zones[zone.id] == nil {
      counts.lastZone = zone.id
      counts.zones += 1
    }
    counts.records += zone.records - (zones[zone.id]?.records ?? 0)
    zones[zone.id] = zone
    newest[zone.name] = zone.id
  }

  func createZone(_ name: ZoneID, writer: String) throws(CaravanError) -> ZonePosition {
    if let zone = zone(name) {
      return ZonePosition(zone: name, seq: zone.seq, incarnation: zone.incarnation)
    }
    let zone = try beginZone(name)
    save(zone)
    append(zone, low: zone.seq, writer: writer, entries: [])
    return ZonePosition(zone: name, seq: zone.seq, incarnation: zone.incarnation)
  }

  /// - Returns: whether there was such a zone.
  func deleteZone(_ name: ZoneID, incarnation: Incarnation?, writer: String) -> Bool {
    guard var zone = zone(name), incarnation ?? zone.incarnation == zone.incarnation else {
      return false
    }
    (zone.stage, zone.time) = (ZoneStage.purging, now)
    accounts.grow(name.database, by: Usage(records: -zone.records, bytes: -zone.bytes))
    (zone.records, zone.bytes) = (0, 0)
    save(zone)
    counts.zones -= 1
    append(zone, low: zone.seq, writer: writer, isDeletion: true, entries: [])
    return true
  }

  /// Part of every answer to a commit.
  func keepReadPosition(of writer: String, in zone: Zone) {
    let key = ReadPositionKey(zone: zone.id, writer: writer)
    guard let moved = ReadPosition.moved(footprints[key], to: zone.seq, isExact: zone.snapshot > 0) else { return }
    footprints[key] = moved
    newFootprints[key] = moved
  }

  // MARK: The log

  /// Appends the zone's newest writes, and notes what the observer hears.
  func append(_ zone: Zone, low: Seq, writer: String, isDeletion: Bool = false, entries: [Entry]) {
    counts.head += 1
    zones[zone.id]?.changed = counts.head
    let commit = LoggedCommit(
      position: counts.head, zone: zone.name, low: low, high: zone.seq, incarnation: zone.incarnation,
      writer: writer, isDeletion: isDeletion)
    log.append(commit)
    loggedZones.append(zone.id)
    changes.append(CommittedChange(partition: partition, log: commit, entries: entries))
  }

  // MARK: Ownership

  func lease(_ names: [String], holder: String, ttl: Duration) -> [Lease] {
    names.map { name in
      let decision = LeaseHolder.decide(name, known(name), holder: holder, ttl: ttl, now: now)
      if let next = decision.next {
        leases[name] = next
        newLeases.insert(name)
      }
      return decision.answer
    }
  }

  func lock(_ name: String, _ wish: LockWish, holder: String) throws(CaravanError) -> Lease {
    let decision = try LeaseHolder.decide(name, known(name), holder: holder, wish, now: now)
    if let next = decision.next {
      leases[name] = next
      newLeases.insert(name)
    }
    return decision.answer
  }

  private func known(_ name: String) -> LeaseHolder? { leases[name] ?? leases[LeaseHolder.forgotten] }

  func moveCursor(_ cursor: Cursor, to position: UInt64, proof: LeaseProof) throws(CaravanError) {
    try proof.check(leases[proof.lease], now: now, for: cursor.consumer)
    cursors[cursor] = position
  }
}
