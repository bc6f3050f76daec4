internal import CaravanChunkFiles
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanStore

/// What the parts of a file's writer share: its connection, the file of long chunks, the time, and where maintenance
/// goes on.
final class FileContext {
  let db: Connection
  let reads: FileReads
  /// nil: of a store in memory, which has all chunks in the database.
  let longChunks: LongChunks?
  let clock: any Clock
  let metrics: FileMetrics
  var turns = Turns()

  /// Where maintenance goes on.
  struct Turns {
    /// The zone whose tombstones are looked at next.
    var purge: Int64 = 0
    /// The zone whose snapshots were looked at last.
    var snapshots: Int64 = 0
    /// Zones up to this one have been looked at for burial.
    var burial: Int64 = 0
  }

  /// Rows that a file numbers.
  enum Numbered: String, CaseIterable { case writers, zones }

  init(db: Connection, reads: FileReads, longChunks: LongChunks?, clock: any Clock, metrics: FileMetrics) {
    self.db = db
    self.reads = reads
    self.longChunks = longChunks
    self.clock = clock
    self.metrics = metrics
  }

  /// What the metrics say of a file that is opened.
  func showNumbers() throws(CaravanError) {
    let writers = try db.first("SELECT max(id) FROM writers", read: { $0.integer(0) })
    metrics.numbered(.writers, upTo: writers ?? 0, isNew: false)
    let zones = try db.first("SELECT max(id) FROM zones", read: { $0.integer(0) })
    metrics.numbered(.zones, upTo: zones ?? 0, isNew: false)
  }

  /// - Throws: `limitExceeded`.
  func checkRoom(for id: Int64, _ rows: Numbered) throws(CaravanError) {
    metrics.numbered(rows, upTo: id)
    guard id <= FileLimits.highestOwner else {
      throw CaravanError(
        .limitExceeded, "a storage file knows at most \(FileLimits.highestOwner) \(rows.rawValue): add files")
    }
  }
}

/// A part of a file's writer: it has a state of its own, or its own view of the database.
protocol FilePart {
  var context: FileContext { get }
}

extension FilePart {
  var db: Connection { context.db }
  var reads: FileReads { context.reads }
  var now: Int64 { context.clock.wallTime.milliseconds }
  /// Until when chunks stay that nobody refers to yet.
  var keepUntil: Int64 { now + StoreLimits.stagingLease.components.seconds * 1_000 }
}

extension Dictionary {
  /// What is remembered of rows starts over when it is too much.
  mutating func remember(_ name: Key, _ value: Value) {
    if count >= FileLimits.rememberedRows, self[name] == nil { self = [:] }
    self[name] = value
  }
}
