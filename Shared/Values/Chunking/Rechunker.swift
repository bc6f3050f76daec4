/// Chunks an edited object again while reading only the neighbourhood of the edits.
///
/// A boundary depends on nothing but the bytes from the boundary before it on. So outside the edits everything stays as
/// it was, and behind an edit the old boundaries hold again as soon as a fresh boundary falls on one of them. The
/// result is exactly what chunking the whole new object would give, so that chunks are found again on other devices.
///
/// The machine does no I/O; its driver asks for the `next()` step and carries it out:
///
///     while true {
///       switch rechunker.next() {
///       case .keep(let index): manifest.append(old[index])
///       case .read(let offset, let count): rechunker.supply(try file.read(at: offset, count))
///       case .chunk(_, let bytes): manifest.append(try store.put(bytes))
///       case .done: return manifest
///       }
///     }
///
/// It holds less than one maximal chunk plus one read. Every byte asked for ends up in a `chunk`: nothing is read in
/// vain. An object never chunked before is one with no old chunks and all of it appended.
public struct Rechunker: Sendable {
  public enum Step: Sendable, Equatable {
    /// The old chunk of this index comes next in the new object, unchanged.
    case keep(index: Int)
    /// Supply bytes of the new object from `offset` on: at least one, at most `count`.
    case read(offset: Int, count: Int)
    /// A chunk cut anew comes next; it may happen to equal an old one.
    case chunk(offset: Int, bytes: [UInt8])
    /// The new object has no more chunks.
    case done
  }

  private let oldLengths: [Int]
  private let edits: ObjectEdits
  private let readSize: Int
  private var chunker: Chunker

  /// The first old chunk that begins at or behind the open chunk, and where it begins.
  private var oldIndex = 0
  private var oldStart = 0
  /// Bytes read and not yet emitted; those before `head` are spent. The open chunk begins at `head`.
  private var buffer: [UInt8] = []
  private var head = 0

  /// - Parameters:
  ///   - oldLengths: the lengths of the object's chunks before the edits, in order, as this chunking made them.
  ///   - readSize: the most bytes to ask for at once.
  public init(
    oldLengths: [Int], edits: ObjectEdits, parameters: ChunkingParameters = .standard, readSize: Int = 64 << 10
  ) throws(ChunkingError) {
    precondition(readSize > 0)
    try Self.check(oldLengths, edits.originalSize)
    self.oldLengths = oldLengths
    self.edits = edits
    self.readSize = readSize
    chunker = Chunker(parameters)
  }

  /// What to do now. A `read` is repeated until bytes are supplied.
  public mutating func next() -> Step {
    if chunker.length == 0, let index = keepableChunk() {
      precondition(head == buffer.count, "a read went past a boundary where old chunks hold again")
      chunker = Chunker(chunker.parameters, at: oldStart + oldLengths[index])
      skipOldChunk()
      return .keep(index: index)
    }
    let start = chunker.start
    if start == edits.size { return .done }
    if let end = nextCut() { return emit(start, to: end) }
    let read = start + chunker.length
    if read == edits.size, chunker.finish() != nil { return emit(start, to: buffer.count) }
    return .read(offset: read, count: min(readSize, readLimit(from: read) - read))
  }

  /// Hands over the bytes the last `read` asked for, or the first of them.
  public mutating func supply(_ bytes: [UInt8]) {
    precondition(!bytes.isEmpty, "a read gave no byte: the object is shorter than its edits say")
    precondition(chunker.start + chunker.length + bytes.count <= edits.size, "more bytes supplied than asked for")
    if head > 0 {
      buffer.removeFirst(head)
      head = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// Works on a copy: a span of `buffer` keeps all of `self` from changing.
  private mutating func nextCut() -> Int? {
    var chunker = chunker
    let end = chunker.nextCut(in: buffer.span, from: head + chunker.length)
    self.chunker = chunker
    return end
  }

  private mutating func emit(_ start: Int, to end: Int) -> Step {
    let bytes = Array(buffer[head..<end])
    head = end
    while oldIndex < oldLengths.count, oldStart < chunker.start { skipOldChunk() }
    return .chunk(offset: start, bytes: bytes)
  }

  private mutating func skipOldChunk() {
    oldStart += oldLengths[oldIndex]
    oldIndex += 1
  }

  /// The old chunk that begins where the open chunk does, if it is whole, unedited and would be cut at the same place.
  private func keepableChunk() -> Int? {
    guard oldStart == chunker.start, isKeepable(oldIndex, from: oldStart) else { return nil }
    return oldIndex
  }

  /// The last old chunk ended because the object did; that end is a boundary only if the object still ends there.
  private func isKeepable(_ index: Int, from start: Int) -> Bool {
    guard index < oldLengths.count else { return false }
    let end = start + oldLengths[index]
    guard index < oldLengths.count - 1 ? end <= edits.size : end == edits.size else { return false }
    return !edits.touch(start..<end)
  }

  /// The next place at which chunks may be kept again, or the end: reading past it could be in vain.
  private func readLimit(from offset: Int) -> Int {
    var (index, start) = (oldIndex, oldStart)
    while index < oldLengths.count, start < min(edits.size, offset + readSize) {
      if start > offset, isKeepable(index, from: start) { return start }
      start += oldLengths[index]
      index += 1
    }
    return edits.size
  }

  private static func check(_ lengths: [Int], _ size: Int) throws(ChunkingError) {
    var sum = 0
    for length in lengths {
      guard length > 0, length <= size - sum else { throw .manifestMismatch(size: size) }
      sum += length
    }
    guard sum == size else { throw .manifestMismatch(size: size) }
  }
}

/// Why an object cannot be chunked again from its old manifest. Chunk the whole object instead.
public enum ChunkingError: Error, Equatable, CustomStringConvertible {
  case manifestMismatch(size: Int)

  public var description: String {
    switch self {
    case .manifestMismatch(let size):
      "the manifest's chunk lengths are not positive numbers that add up to the object's \(size) bytes; chunk it whole"
    }
  }
}
