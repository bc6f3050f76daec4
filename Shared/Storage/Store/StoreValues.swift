public import CaravanModel

/// What the store's calls take and give, where `Model` has no word for it.

public enum ZoneFilter: Sendable, Hashable {
  case everything
  case database(DatabaseID)
  /// Private databases of this user, and those of their shards that lie in the partition.
  case owner(UserID)
  case named(String)
}

public struct ZonePosition: Sendable, Hashable {
  public var zone: ZoneID
  public var seq: Seq
  public var incarnation: Incarnation

  public init(zone: ZoneID, seq: Seq, incarnation: Incarnation) {
    self.zone = zone
    self.seq = seq
    self.incarnation = incarnation
  }
}

/// A record that may be deleted, unless it has changed.
public struct ExpiredRecord: Sendable, Hashable {
  public var zone: ZoneID
  public var name: String
  public var version: Seq
  /// Unix milliseconds.
  public var expires: Int64

  public init(zone: ZoneID, name: String, version: Seq, expires: Int64) {
    self.zone = zone
    self.name = name
    self.version = version
    self.expires = expires
  }

  /// The order in which stores find them.
  public static func comesFirst(_ one: ExpiredRecord, _ other: ExpiredRecord) -> Bool {
    one.expires == other.expires
      ? one.name.utf8.lexicographicallyPrecedes(other.name.utf8) : one.expires < other.expires
  }
}

public struct ChunkBytes: Sendable, Hashable {
  public var hash: ChunkHash
  public var bytes: [UInt8]

  public init(hash: ChunkHash, bytes: [UInt8]) {
    self.hash = hash
    self.bytes = bytes
  }
}

public struct FoundChunk: Sendable, Hashable {
  public var hash: ChunkHash
  /// nil: the database does not have it, or has it damaged.
  public var bytes: [UInt8]?
  public var isDamaged: Bool

  public init(hash: ChunkHash, bytes: [UInt8]?, isDamaged: Bool = false) {
    self.hash = hash
    self.bytes = bytes
    self.isDamaged = isDamaged
  }
}

/// One entry of a partition's log: the zone, and the versions written, (low, high].
public struct LoggedCommit: Sendable, Hashable {
  /// Counts from 1 within the partition, without holes.
  public var position: UInt64
  public var zone: ZoneID
  public var low: Seq
  public var high: Seq
  public var incarnation: Incarnation
  public var writer: String
  public var isDeletion: Bool

  public init(
    position: UInt64, zone: ZoneID, low: Seq, high: Seq, incarnation: Incarnation, writer: String,
    isDeletion: Bool = false
  ) {
    self.position = position
    self.zone = zone
    self.low = low
    self.high = high
    self.incarnation = incarnation
    self.writer = writer
    self.isDeletion = isDeletion
  }
}

public struct LogPage: Sendable, Hashable {
  public var entries: [LoggedCommit]
  /// Position of the newest entry.
  public var head: UInt64
  /// The log no longer holds everything after the position asked for: rebuild from the zones, then go on at `head`.
  public var isTrimmed: Bool

  public init(entries: [LoggedCommit] = [], head: UInt64 = 0, isTrimmed: Bool = false) {
    self.entries = entries
    self.head = head
    self.isTrimmed = isTrimmed
  }
}

public struct Lease: Sendable, Hashable {
  public var name: String
  /// Whether the asker holds it now. In a list: always true, `holder` holds it.
  public var isGranted: Bool
  /// Fencing: grows with every change of holder.
  public var token: UInt64
  /// Who holds it; empty after a release.
  public var holder: String
  public var remaining: Duration

  public init(name: String, isGranted: Bool, token: UInt64, holder: String, remaining: Duration) {
    self.name = name
    self.isGranted = isGranted
    self.token = token
    self.holder = holder
    self.remaining = remaining
  }
}

public struct StoreStatus: Sendable, Hashable {
  public var zones: UInt64
  /// Live records, without tombstones.
  public var records: UInt64
  public var chunks: UInt64
  public var chunkBytes: UInt64
  /// About so many bytes are stored of records.
  public var recordBytes: UInt64
  /// Chunks that were found damaged and have not come again since.
  public var damagedChunks: UInt64
  /// Records that were found damaged and have not been written since.
  public var damagedRecords: UInt64

  public init(
    zones: UInt64 = 0, records: UInt64 = 0, chunks: UInt64 = 0, chunkBytes: UInt64 = 0, recordBytes: UInt64 = 0,
    damagedChunks: UInt64 = 0, damagedRecords: UInt64 = 0
  ) {
    self.recordBytes = recordBytes
    self.damagedRecords = damagedRecords
    self.zones = zones
    self.records = records
    self.chunks = chunks
    self.chunkBytes = chunkBytes
    self.damagedChunks = damagedChunks
  }

  public static func + (a: Self, b: Self) -> Self {
    StoreStatus(
      zones: a.zones + b.zones, records: a.records + b.records, chunks: a.chunks + b.chunks,
      chunkBytes: a.chunkBytes + b.chunkBytes, recordBytes: a.recordBytes + b.recordBytes,
      damagedChunks: a.damagedChunks + b.damagedChunks,
      damagedRecords: a.damagedRecords + b.damagedRecords)
  }
}
