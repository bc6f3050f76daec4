public import CaravanRuntime
public import CaravanSQLite
public import CaravanStore

public struct StoreOptions: Sendable {
  public enum Location: Sendable, Hashable {
    /// A directory that one process owns; made when absent.
    case directory(String)
    /// Gone with the store; for tests that reopen nothing.
    case memory
  }

  public var location: Location
  /// Files the partitions are spread over, partition % files; a directory keeps the number it was made with. One
  /// writing thread each: as many as there are cores to write with. Measured on two cores, 64 clients, single saves and
  /// batches of 100: 2 files 22,000/s and 168,000 rows/s, 4 files 20,000/s and 125,000 rows/s, 1 file half of that.
  public var files = 2
  /// Connections that read beside the writer; 0: the writer reads too (the only way in memory).
  public var readersPerFile = 2
  public var durability = ConnectionOptions.Durability.full
  public var quotas = DefaultQuotas.unlimited
  /// Asked before the files change, and before every step of a statement: for tests that let them fail.
  public var tap: (any DiskTap)?
  public var statements: (any StatementTap)?
  /// Whether records with objects are noted for the object store.
  public var queuesObjects = false
  public var tombstones = TombstoneRule()
  /// Shorter chunks lie in the database itself. Longer ones are worth a second sync (measured on ext4: 16 KiB).
  public var inlineBytes = 16 << 10

  public init(_ location: Location) {
    self.location = location
    if location == .memory { readersPerFile = 0 }
  }

  /// The quickest to open and write, for simulations: one file, one connection, no waiting for the disk.
  public static func simulation(_ location: Location) -> StoreOptions {
    var options = StoreOptions(location)
    options.files = 1
    options.readersPerFile = 0
    options.durability = .none
    // Simulated objects are small, and shall lie where real ones do.
    options.inlineBytes = 256
    return options
  }
}

/// Bounds of this store.
enum FileLimits {
  static let queue = WriteQueueLimits(
    waitingWrites: 4_096, waitingBytes: 64 << 20, groupWrites: 512, groupBytes: 8 << 20)
  /// Rows remembered by the writer; one more and all are forgotten.
  static let rememberedRows = 8_192
  /// Rows one step of maintenance removes.
  static let collectedRows = 512
  static let collectedChunks = 64
  /// Zones that one step of maintenance looks at, whether they were deleted long ago.
  static let zonesPerBurial = 64
  /// Milliseconds that the time may step back in daily use.
  static let clockStep: Int64 = 60_000
  static let collectedGroups = 64
  /// Bytes of chunks that a write reads to see whether they are whole; more of them a reader reads before it, in
  /// portions of so many chunks.
  static let checkedBytes = 1 << 20
  static let readTogether = 64
  /// Chunks that one step of scrubbing looks at.
  static let scrubbedChunks = 256
  /// And records.
  static let scrubbedEntries = 4_096
  /// Entries removed before it is asked whether they are a large enough part of all for a pass to move the others
  /// together: one in so many.
  static let removalsWorthCompacting: Int64 = 1_024
  static let removedShare: Int64 = 4
  /// Entries, or bytes of them, that one step moves.
  static let movedRows = 256
  static let movedBytes: Int64 = 1 << 20
  /// Unused pages that a file keeps at least, or one in so many of all.
  static let sparePages: Int64 = 16
  static let spareShare: Int64 = 16
  /// Zones and writers of one file: their ids share an INTEGER PRIMARY KEY with 40 bits of seq.
  static let highestOwner: Int64 = (1 << 23) - 1
  /// The number with which a file warns that its zones or writers run out: four in five.
  static let fewNumbersLeft = highestOwner / 5 * 4
  static let writerCacheBytes = 4 << 20
  static let readerCacheBytes = 1 << 20
  /// Write-ahead log pages at which a commit also writes back. With 4,000 instead, throughput is the same and the
  /// slowest commits take twice as long.
  static let checkpointPages = 1_000
}
