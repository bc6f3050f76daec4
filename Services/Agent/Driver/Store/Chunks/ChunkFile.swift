internal import Model
internal import Runtime

/// The bytes of long chunks, one behind the other in a file beside the database; where each lies stands in the database
/// (`ChunkTable`). There they would be written twice, into the log and out of it, and p99 would pay for it.
///
/// New bytes go behind the end: nothing that a snapshot may still read is written over, and a transaction that failed
/// leaves nothing but bytes that nobody knows. A chunk that goes leaves a hole, and the file system takes its space.
final class ChunkFile {
  /// What belongs to the transaction that is going on.
  struct Mark {
    fileprivate let end: Int
    fileprivate let freed: Int
  }

  private static let blockBytes = 4_096

  private let file: DiskFile
  private let isDurable: Bool
  private let maximumBytes: Int
  /// A multiple of a block: chunks share none, so a hole is all of a chunk's space.
  private(set) var end = 0
  /// Something was written and not synced.
  private var isDirty = false
  /// Of chunks that are gone, while a snapshot may still know them.
  private var freed: [Range<Int>] = []

  init(_ path: String, _ options: LocalStoreOptions) throws(CaravanError) {
    file = try DiskFile(path, tap: options.tap)
    isDurable = options.isDurable
    maximumBytes = options.maximumBytes > 0 ? options.maximumBytes : .max
  }

  func close() { file.close() }

  // MARK: Bytes

  /// Puts bytes behind the end; they are not on the disk before `sync`, but on their way.
  /// - Returns: where they begin.
  func append(_ bytes: borrowing [UInt8]) throws(CaravanError) -> Int {
    let place = end
    guard bytes.count <= maximumBytes - place else {
      throw CaravanError(.storageFull, "the store's objects have \(place) bytes of \(maximumBytes): free some space")
    }
    try write(bytes, at: place)
    end = Self.wholeBlocks(place + bytes.count)
    return place
  }

  func write(_ bytes: borrowing [UInt8], at place: Int) throws(CaravanError) {
    isDirty = true
    try file.write(bytes, at: place)
    if isDurable { file.startWriting(place..<place + bytes.count) }
  }

  func read(at place: Int, count: Int) throws(CaravanError) -> [UInt8] { try file.read(at: place, count: count) }

  /// What was written survives a power cut on return.
  func sync() throws(CaravanError) {
    guard isDirty else { return }
    if isDurable { try file.sync() }
    isDirty = false
  }

  // MARK: Transactions

  var mark: Mark { Mark(end: end, freed: freed.count) }

  /// The transaction that began at `mark` has come to nothing.
  func rewind(to mark: Mark) {
    end = mark.end
    freed.removeLast(freed.count - mark.freed)
  }

  /// The chunk there is gone once the transaction is durable.
  func free(_ range: Range<Int>) { freed.append(range) }

  /// Gives back the space of chunks that are gone. Nobody reads in an older snapshot, and no transaction is going on.
  func releaseFreed() {
    guard !freed.isEmpty else { return }
    let oldEnd = end
    for range in freed.sorted(by: { $0.lowerBound > $1.lowerBound }) {
      if Self.wholeBlocks(range.upperBound) == end { end = range.lowerBound } else { release(range) }
    }
    freed = []
    if end < oldEnd { shrink() }
  }

  // MARK: What a crash leaves

  /// The file from now on holds these chunks and nothing else, in ascending order.
  func keepOnly(_ chunks: [Range<Int>]) {
    end = 0
    for chunk in chunks {
      if chunk.lowerBound > end { release(end..<chunk.lowerBound) }
      end = Self.wholeBlocks(chunk.upperBound)
    }
    shrink()
  }

  /// The last chunk ends at `bound`, and all of them have `bytes` bytes.
  /// - Returns: false: the file takes so much more space that `keepOnly` is worth its while.
  func adopt(bound: Int, bytes: Int, chunks: Int) throws(CaravanError) -> Bool {
    end = Self.wholeBlocks(bound)
    let (size, allocated) = try file.usage()
    if size > end { shrink() }
    return allocated <= bytes + chunks * Self.blockBytes + StoreLimits.looseChunkBytes
  }

  /// What the file takes of the disk.
  func allocatedBytes() throws(CaravanError) -> Int { try file.usage().allocated }

  // What cannot be given back now is found again when the store is next opened.

  private func release(_ range: Range<Int>) {
    _ = try? file.release(range.lowerBound..<Self.wholeBlocks(range.upperBound))
  }

  private func shrink() { try? file.resize(to: end) }

  private static func wholeBlocks(_ bytes: Int) -> Int { (bytes + blockBytes - 1) / blockBytes * blockBytes }
}
