public import CaravanModel

/// A chunk that a store knows and cannot read: its bytes are not as they were written. It is absent for whoever asks,
/// until somebody brings it again.
public struct DamagedChunk: Sendable, Hashable {
  public var database: DatabaseID
  public var hash: ChunkHash
  /// As it was written.
  public var size: Int
  /// When the damage was found, in Unix milliseconds.
  public var found: Int64
  /// A record holds it. Of the others nobody need be asked for the bytes: they go after their grace.
  public var isHeld: Bool

  public init(database: DatabaseID, hash: ChunkHash, size: Int, found: Int64, isHeld: Bool = true) {
    self.database = database
    self.hash = hash
    self.size = size
    self.found = found
    self.isHeld = isHeld
  }
}

/// A record that names damaged chunks.
public struct DamagedRecord: Sendable, Hashable {
  public var zone: ZoneID
  public var name: String
  public var chunks: [ChunkHash]

  public init(zone: ZoneID, name: String, chunks: [ChunkHash]) {
    self.zone = zone
    self.name = name
    self.chunks = chunks
  }
}

/// What one step of scrubbing has read.
public struct ScrubStep: Sendable, Hashable {
  public var chunks: Int
  public var records: Int
  public var bytes: Int
  /// Chunks and records whose damage it has found.
  public var damaged: Int
  /// It has read the last of them: the next step begins with the first.
  public var isRoundOver: Bool

  public init(chunks: Int = 0, records: Int = 0, bytes: Int = 0, damaged: Int = 0, isRoundOver: Bool = false) {
    self.chunks = chunks
    self.records = records
    self.bytes = bytes
    self.damaged = damaged
    self.isRoundOver = isRoundOver
  }

  /// The round of both is over when each has ended its own.
  public static func + (a: Self, b: Self) -> Self {
    ScrubStep(
      chunks: a.chunks + b.chunks, records: a.records + b.records, bytes: a.bytes + b.bytes,
      damaged: a.damaged + b.damaged,
      isRoundOver: a.isRoundOver && b.isRoundOver)
  }
}

extension [DamagedChunk] {
  /// Those that records hold come first: only they are asked for.
  package func heldFirst(atMost count: Int) -> [DamagedChunk] {
    Array((filter(\.isHeld) + filter { !$0.isHeld }).prefix(count))
  }
}
