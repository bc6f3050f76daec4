internal import CaravanCrypto
public import CaravanModel
public import CaravanStore
internal import CaravanWire

/// What a backup holds, in numbers and digests that are the same whatever engine it comes from or goes to.
public struct ArchiveSummary: Sendable, Hashable {
  public struct Zone: Sendable, Hashable {
    public var id: ZoneID
    public var seq: Seq
    /// Entries, tombstones too.
    public var records: UInt64 = 0
    public var digest: [UInt8] = Chain.start
  }

  public struct Database: Sendable, Hashable {
    public var id: DatabaseID
    public var chunks: UInt64 = 0
    public var bytes: UInt64 = 0
    public var digest: [UInt8] = Chain.start
  }

  /// Those that are alive, by name.
  public internal(set) var zones: [Zone] = []
  public internal(set) var databases: [Database] = []
  /// Chunks that could not be read.
  public internal(set) var damaged: [DamagedChunk] = []
  /// Of those, records that name one, at most `damagedRecordsListed`.
  public internal(set) var damagedRecords: [DamagedRecord] = []

  /// Records that are damaged themselves, at most `damagedRecordsListed`; and how many there are.
  public internal(set) var damagedBodies: [DamagedBody] = []
  public internal(set) var damagedBodyCount = 0

  static let damagedRecordsListed = 1_000

  public var records: UInt64 { zones.reduce(0) { $0 + $1.records } }
  public var chunks: UInt64 { databases.reduce(0) { $0 + $1.chunks } }

  /// The first thing in which another store differs; nil: it holds the same.
  public func difference(to other: ArchiveSummary) -> String? {
    let (mine, theirs) = (sorted, other.sorted)
    if let pair = zip(mine.zones, theirs.zones).first(where: { $0 != $1 }) { return "zone \(pair.0.id)" }
    if let pair = zip(mine.databases, theirs.databases).first(where: { $0 != $1 }) {
      return "the chunks of database \(pair.0.id)"
    }
    guard Set(damaged.map(\.hash)) == Set(other.damaged.map(\.hash)) else { return "the damaged chunks" }
    guard mine.zones.count == theirs.zones.count, mine.databases.count == theirs.databases.count else {
      return "the number of zones or databases"
    }
    return nil
  }

  /// Stores list databases in orders of their own.
  private var sorted: ArchiveSummary {
    var sorted = self
    // A restored zone's versions go on elsewhere.
    for index in sorted.zones.indices { sorted.zones[index].seq = 0 }
    sorted.zones.sort { $0.id.description < $1.id.description }
    sorted.databases.removeAll { $0.chunks == 0 }
    sorted.databases.sort { $0.id.description < $1.id.description }
    return sorted
  }
}

/// A digest over things one after another: SHA-256 of the digest before and the next thing's bytes.
enum Chain {
  static let start = [UInt8](repeating: 0, count: SHA256Digest.byteCount)

  static func add(_ bytes: [UInt8], to digest: inout [UInt8]) {
    var hash = SHA256()
    hash.update(digest)
    hash.update(bytes)
    digest = hash.finalize().bytes
  }
}

/// Sums up what passes.
public struct ArchiveDigester: Sendable {
  public private(set) var summary = ArchiveSummary()
  private(set) var database: DatabaseID?
  /// Of the database, those that could not be read.
  private var damaged: Set<ChunkHash> = []
  /// Where in the archive the newest item lies, for people.
  private(set) var place = "at its beginning"

  public init() {}

  /// - Throws: `invalidData` when items are not in their order, or a chunk does not have its hash.
  public mutating func add(_ item: StoreContent) throws(CaravanError) {
    switch item {
    case .database(let id):
      (database, place, damaged) = (id, "in database \(id)", [])
      summary.databases.append(ArchiveSummary.Database(id: id))
    case .chunk(let chunk):
      guard let database else { throw CaravanError(.invalidData, "a chunk is in no database") }
      place = "among the chunks of database \(database)"
      guard SHA256.hash(chunk.bytes).bytes == chunk.hash.bytes else {
        throw CaravanError(.chunkDamaged, "chunk \(chunk.hash) of database \(database) does not have its hash")
      }
      let last = summary.databases.count - 1
      summary.databases[last].chunks += 1
      summary.databases[last].bytes += UInt64(chunk.bytes.count)
      Chain.add(chunk.hash.bytes, to: &summary.databases[last].digest)
    case .damaged(let chunk):
      damaged.insert(chunk.hash)
      summary.damaged.append(chunk)
    case .zone(let zone):
      guard let database else { throw CaravanError(.invalidData, "a zone is in no database") }
      let id = try ZoneID(database, zone.name)
      place = "in zone \(id)"
      if zone.isAlive { summary.zones.append(ArchiveSummary.Zone(id: id, seq: zone.seq)) }
    case .record(let record):
      guard !summary.zones.isEmpty else { throw CaravanError(.invalidData, "a record is in no zone") }
      let last = summary.zones.count - 1
      summary.zones[last].records += 1
      if !damaged.isEmpty { note(record, in: summary.zones[last].id) }
      if record.sum != nil { note(damaged: record, in: summary.zones[last].id) }
      Chain.add(CaravanWire.ArchivedRecord(record).encoded(), to: &summary.zones[last].digest)
    case .op, .quota, .head, .reach: place = "after the zones"
    }
  }

  private mutating func note(damaged record: RecordContent, in zone: ZoneID) {
    summary.damagedBodyCount += 1
    guard summary.damagedBodies.count < ArchiveSummary.damagedRecordsListed else { return }
    let entry = record.entry
    summary.damagedBodies.append(
      DamagedBody(zone: zone, name: entry.name, version: entry.version, size: entry.body.count, found: 0))
  }

  private mutating func note(_ record: RecordContent, in zone: ZoneID) {
    let lost = record.chunks.filter(damaged.contains)
    guard !lost.isEmpty, summary.damagedRecords.count < ArchiveSummary.damagedRecordsListed else { return }
    summary.damagedRecords.append(DamagedRecord(zone: zone, name: record.entry.name, chunks: lost))
  }
}
