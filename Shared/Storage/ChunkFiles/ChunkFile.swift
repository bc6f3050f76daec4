public import CaravanModel
public import CaravanRuntime

/// The bytes of long chunks, one behind the other in a file beside the database, which knows where each lies. There
/// they would be written twice, into the log and out of it, and p99 would pay for it: a store writes rows with objects
/// of 1 MiB at 359 MiB/s this way, and at 158 with all chunks in the database (`caravan-store-bench chunks`).
///
/// New bytes go behind the end, or where chunks were whose going is durable and that no snapshot knows any more. So a
/// transaction that fails leaves nothing but bytes that nobody knows. What is not used again soon becomes a hole, and
/// the file system takes its space.
///
/// Whoever reads on a snapshot that its owner does not know of holds the file's shared lock meanwhile
/// (`DiskFile.share`), in whatever process: no place is used again before it is given back.
public final class ChunkFile {
  /// How things stood when the transaction that is going on began.
  public struct Mark {
    fileprivate let end: Int
    fileprivate let gaps: [Range<Int>]
    fileprivate let freed: Int
  }

  private static let blockBytes = 4_096
  private static let writingBytes = 512 << 10
  /// Of a file, what may be unused before it is given back to the file system.
  private static let looseBytes = 4 << 20
  private static let looseGaps = 1_000

  private let file: DiskFile
  private let isDurable: Bool
  private let maximumBytes: Int
  /// A multiple of a block: chunks share none, so a hole is all of a chunk's space.
  public private(set) var end = 0
  /// Something was written and not synced.
  private var isDirty = false
  /// A sync that goes on beside what has come since.
  private var syncing: Deferred<Int32>?
  /// Written last, and the disk was not asked to begin with it.
  private var waiting = 0..<0
  /// Of chunks that are gone, while a snapshot may still know them.
  private var freed: [Range<Int>] = []
  /// How many of them, from the front, a power cut does not bring back.
  private var settled = 0
  /// Places for new chunks, in whole blocks.
  private var gaps: [Range<Int>] = []
  /// Of the file; beyond `end` it holds nothing.
  private var size = 0
  /// The disk had no room for the last chunk: what others give up is not kept for more.
  private var isRefused = false

  /// - Parameters:
  ///   - isDurable: whether `sync` waits for the disk.
  ///   - maximumBytes: of the file; 0: no limit.
  public init(
    _ path: String, isDurable: Bool = true, maximumBytes: Int = 0, tap: (any DiskTap)? = nil
  ) throws(CaravanError) {
    file = try DiskFile(path, tap: tap)
    self.isDurable = isDurable
    self.maximumBytes = maximumBytes > 0 ? maximumBytes : .max
  }

  public func close() {
    _ = syncing?.wait()
    file.close()
  }

  // MARK: Bytes

  /// Puts bytes somewhere; they are not on the disk before `sync`, but on their way.
  /// - Returns: where they begin.
  public func add(_ bytes: borrowing [UInt8]) throws(CaravanError) -> Int {
    let space = Self.wholeBlocks(bytes.count)
    if let index = gaps.firstIndex(where: { $0.count >= space }) {
      let gap = gaps[index]
      try write(bytes, at: gap.lowerBound)
      if gap.count == space { gaps.remove(at: index) } else { gaps[index] = gap.lowerBound + space..<gap.upperBound }
      return gap.lowerBound
    }
    let place = end
    guard space <= maximumBytes - place else {
      throw CaravanError(.storageFull, "the store's objects have \(place) bytes of \(maximumBytes): free some space")
    }
    size = max(size, place + space)
    do { try write(bytes, at: place) } catch {
      isRefused = true
      shrink()
      throw error
    }
    isRefused = false
    end = place + space
    return place
  }

  public func write(_ bytes: borrowing [UInt8], at place: Int) throws(CaravanError) {
    isDirty = true
    try file.write(bytes, at: place)
    if isDurable { startWriting(place..<Self.wholeBlocks(place + bytes.count)) }
  }

  /// Has the disk work while more is coming. In large pieces, for each costs as much as 64 KiB of them.
  private func startWriting(_ range: Range<Int>) {
    waiting = waiting.upperBound == range.lowerBound ? waiting.lowerBound..<range.upperBound : range
    guard waiting.count >= Self.writingBytes else { return }
    file.startWriting(waiting)
    waiting = 0..<0
  }

  public func read(at place: Int, count: Int) throws(CaravanError) -> [UInt8] { try file.read(at: place, count: count) }

  /// What was written survives a power cut on return.
  public func sync() throws(CaravanError) {
    try finishSync()
    guard isDirty else { return }
    if isDurable { try file.sync() }
    isDirty = false
  }

  /// Has the helper begin with what the next `sync` is to wait for.
  public func beginSync(by helper: any Helper) throws(CaravanError) {
    try finishSync()
    guard isDirty, isDurable else { return }
    syncing = try file.beginSync(by: helper)
    isDirty = false
  }

  private func finishSync() throws(CaravanError) {
    guard let sync = syncing.take() else { return }
    do { try file.finish(sync) } catch {
      isDirty = true
      throw error
    }
  }

  // MARK: Transactions

  public var mark: Mark { Mark(end: end, gaps: gaps, freed: freed.count) }

  /// The transaction that began at `mark` has come to nothing.
  public func rewind(to mark: Mark) {
    end = mark.end
    gaps = mark.gaps
    freed.removeLast(freed.count - mark.freed)
    if size > end { shrink() }
  }

  /// All transactions so far are durable.
  public func settleFreed() { settled = freed.count }

  /// The chunk there is gone once the transaction is durable.
  public func free(_ range: Range<Int>) { freed.append(range.lowerBound..<Self.wholeBlocks(range.upperBound)) }

  /// The chunk there is gone, and no transaction has ever named it. Not within one, which may come to nothing.
  public func discard(_ range: Range<Int>) { reuse([range.lowerBound..<Self.wholeBlocks(range.upperBound)]) }

  /// Has the places of chunks that are gone used again, or gives them back; later, while somebody has the file's shared
  /// lock. Its owner reads in no older snapshot, and no transaction is going on.
  public func releaseFreed() {
    guard settled > 0, file.tryLock() else { return }
    defer { file.unlock() }
    reuse(freed.prefix(settled))
    freed.removeFirst(settled)
    settled = 0
    guard gaps.count > Self.looseGaps || gaps.reduce(0, { $0 + $1.count }) > Self.looseBytes else {
      return
    }
    releaseGaps()
  }

  private func reuse(_ places: some Sequence<Range<Int>>) {
    gaps = Self.joined(gaps + places)
    if let last = gaps.last, last.upperBound == end {
      end = last.lowerBound
      gaps.removeLast()
    }
    if size - end > (isRefused ? 0 : Self.looseBytes) { shrink() }
  }

  /// Has the file system take all space that is not used, and leaves nothing for chunks to come. As `releaseFreed`.
  public func giveBack() {
    releaseFreed()
    releaseGaps()
    shrink()
  }

  private func releaseGaps() {
    for gap in gaps { release(gap) }
    gaps = []
  }

  private static func joined(_ ranges: [Range<Int>]) -> [Range<Int>] {
    var joined: [Range<Int>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = joined.last, last.upperBound == range.lowerBound {
        joined[joined.count - 1] = last.lowerBound..<range.upperBound
      } else {
        joined.append(range)
      }
    }
    return joined
  }

  // MARK: What a crash leaves

  /// The file from now on holds these chunks and nothing else, in ascending order.
  public func keepOnly(_ chunks: [Range<Int>]) {
    (end, gaps) = (0, [])
    for chunk in chunks {
      if chunk.lowerBound > end { release(end..<chunk.lowerBound) }
      end = Self.wholeBlocks(chunk.upperBound)
    }
    shrink()
  }

  /// The last chunk ends at `bound`, and all of them have `bytes` bytes.
  /// - Returns: false: the file takes so much more space that `keepOnly` is worth its while.
  public func adopt(bound: Int, bytes: Int, chunks: Int) throws(CaravanError) -> Bool {
    end = Self.wholeBlocks(bound)
    let (size, allocated) = try file.usage()
    self.size = size
    if size > end { shrink() }
    return allocated <= bytes + chunks * Self.blockBytes + Self.looseBytes
  }

  /// What chunks take of the file, those of open writes among them.
  public var usedBytes: Int { end - (gaps + freed).reduce(0) { $0 + $1.count } }

  /// What the file takes of the disk.
  public func allocatedBytes() throws(CaravanError) -> Int { try file.usage().allocated }

  // What cannot be given back now is found again when the store is next opened.

  private func release(_ range: Range<Int>) { _ = try? file.release(range) }

  private func shrink() {
    size = end
    try? file.resize(to: end)
  }

  private static func wholeBlocks(_ bytes: Int) -> Int { (bytes + blockBytes - 1) / blockBytes * blockBytes }
}
