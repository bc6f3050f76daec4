internal import Model
internal import Store

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

  private(set) var zones: Set<ZoneID> = []
  private(set) var records: Set<Record> = []
  private(set) var ops: Set<OpID> = []
  private(set) var chunks: Set<Chunk> = []
  private(set) var leases: Set<String> = []

  mutating func add(_ commit: Commit) {
    zones.insert(commit.zone)
    ops.insert(commit.op)
    for mutation in commit.mutations {
      records.insert(Record(zone: commit.zone, name: mutation.name))
      add(mutation.chunks, in: commit.zone.database)
    }
  }

  mutating func add(_ op: OpID, in zone: ZoneID) {
    ops.insert(op)
    zones.insert(zone)
  }

  mutating func add(_ zone: ZoneID) { zones.insert(zone) }

  mutating func add(_ hashes: [ChunkHash], in database: DatabaseID) {
    for hash in hashes { chunks.insert(Chunk(database: database, hash: hash)) }
  }

  mutating func add(leases names: [String]) { leases.formUnion(names) }
}
