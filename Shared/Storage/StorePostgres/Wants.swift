internal import CaravanModel
internal import CaravanStore

/// What the writes of one group must see of a partition before they decide. It is all read in one round trip.
struct Wants {
  struct Record: Hashable {
    let zone: ZoneID
    let name: String
  }

  struct Chunk: Hashable {
    let database: DatabaseID
    let hash: ChunkHash
  }

  /// Who has staged a chunk in a public database.
  struct Stager: Hashable {
    let database: DatabaseID
    let author: String
    let hash: ChunkHash
  }

  struct Part: Hashable {
    let op: OpID
    let number: Int
  }

  private(set) var zones: Set<ZoneID> = []
  private(set) var records: Set<Record> = []
  private(set) var ops: Set<OpID> = []
  private(set) var chunks: Set<Chunk> = []
  private(set) var stagers: Set<Stager> = []
  private(set) var leases: Set<String> = []
  /// Whose entries commits look into.
  private(set) var entries: Set<Record> = []
  /// To whom others may refer.
  private(set) var referrers: Set<Record> = []
  private(set) var lists: Set<Chunk> = []
  private(set) var accounts: Set<Account> = []

  private(set) var groups: Set<OpID> = []
  private(set) var parts: Set<Part> = []
  /// Whose groups are counted.
  private(set) var owners: Set<UserID> = []
  private(set) var footprints: Set<ReadPosition> = []
  /// Zones of which all lives are wanted.
  private(set) var pasts: Set<ZoneID> = []

  struct ReadPosition: Hashable {
    let zone: ZoneID
    let writer: String
  }

  /// Nothing that a look-up while a group decides may bring.
  var isEmpty: Bool {
    records.isEmpty && entries.isEmpty && referrers.isEmpty && lists.isEmpty && pasts.isEmpty
  }

  /// Everything that the commit is certain to ask about, and most of what it may.
  mutating func add(_ commit: Commit) {
    zones.insert(commit.zone)
    ops.insert(commit.op)
    footprints.insert(ReadPosition(zone: commit.zone, writer: commit.op.writer))
    let questions = ZoneInquiry.likely(commit)
    add(records: questions.heads, entries: questions.entries, referrers: questions.referrers, of: commit.zone)
    add(questions.chunks, in: commit.zone.database, as: commit.view)
    add(chargedFor: commit.zone.database)
    if commit.parts != nil { groups.insert(commit.op) }
    if let fence = commit.fence { leases.insert(fence.lease) }
    if let roles = try? commit.roleZone {
      zones.insert(roles)
      add(records: commit.roles, entries: [], referrers: [], of: roles)
    }
  }

  mutating func add(group op: OpID, in zone: ZoneID) {
    add(op, in: zone)
    groups.insert(op)
  }

  mutating func add(_ part: StagedPart) {
    add(group: part.op, in: part.zone)
    parts.insert(Part(op: part.op, number: part.number))
    add(part.chunks, in: part.zone.database)
  }

  mutating func add(groupsOf owner: UserID) { owners.insert(owner) }

  /// Whoever is charged for the database.
  mutating func add(chargedFor database: DatabaseID) {
    if let account = Account(of: database) { accounts.insert(account) }
  }

  mutating func add(_ account: Account) { accounts.insert(account) }

  mutating func add(records: [String], entries: [String], referrers: [String], of zone: ZoneID) {
    for name in records { self.records.insert(Record(zone: zone, name: name)) }
    for name in entries { self.entries.insert(Record(zone: zone, name: name)) }
    for name in referrers { self.referrers.insert(Record(zone: zone, name: name)) }
  }

  mutating func add(pastOf zone: ZoneID) { pasts.insert(zone) }

  mutating func add(lists chunks: [Chunk]) { lists.formUnion(chunks) }

  mutating func add(_ op: OpID, in zone: ZoneID) {
    ops.insert(op)
    zones.insert(zone)
    footprints.insert(ReadPosition(zone: zone, writer: op.writer))
  }

  mutating func add(_ zone: ZoneID) { zones.insert(zone) }

  mutating func add(_ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView = .all) {
    for hash in hashes { chunks.insert(Chunk(database: database, hash: hash)) }
    guard let author = view.stager else { return }
    for hash in hashes { stagers.insert(Stager(database: database, author: author, hash: hash)) }
  }

  mutating func add(leases names: [String]) { leases.formUnion(names) }
}
