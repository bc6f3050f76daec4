/// Content-defined chunking of a stream of bytes: FastCDC (Xia et al., USENIX ATC 2016) with normalised chunking.
///
/// The chunker holds no bytes, only the rolling hash and the length of the open chunk: its state is the same however
/// the stream is split into reads. It decides on bytes it has seen, never on what follows, so a cut is final. It does
/// not hash chunks; whoever stores them does.
///
///     var chunker = Chunker()
///     while let bytes = try file.read() { chunker.consume(bytes.span) { ranges.append($0) } }
///     if let last = chunker.finish() { ranges.append(last) }
public struct Chunker: Sendable {
  public let parameters: ChunkingParameters
  /// Where the open chunk begins in the stream.
  public private(set) var start = 0
  /// Bytes of the open chunk seen so far.
  public private(set) var length = 0
  private var hash: UInt64 = 0

  /// - Parameter offset: where in the object the stream begins; ranges count from the object's begin.
  public init(_ parameters: ChunkingParameters = .standard, at offset: Int = 0) {
    precondition(offset >= 0)
    self.parameters = parameters
    self.start = offset
  }

  /// Takes the next bytes of the stream and reports every chunk that ends in them.
  public mutating func consume(_ bytes: Span<UInt8>, _ emit: (Range<Int>) throws -> Void) rethrows {
    var taken = 0
    var begin = start
    while let end = nextCut(in: bytes, from: taken) {
      try emit(begin..<start)
      (taken, begin) = (end, start)
    }
  }

  /// The stream has ended: the range of the open chunk, nil if the last cut was the end.
  public mutating func finish() -> Range<Int>? {
    guard length > 0 else { return nil }
    let range = start..<start + length
    close()
    return range
  }

  /// Takes bytes from `from` on, up to and with the end of the open chunk, and returns the index just past it in
  /// `bytes`; nil if the chunk stays open and all bytes are taken.
  mutating func nextCut(in bytes: Span<UInt8>, from: Int) -> Int? {
    let open = from - length  // where the open chunk begins in `bytes`; negative if it began before them
    var index = max(from, min(open + parameters.minimum, bytes.count))
    if scan(bytes, &index, to: min(open + parameters.average, bytes.count), limit: parameters.strictLimit)
      || scan(bytes, &index, to: min(open + parameters.maximum, bytes.count), limit: parameters.relaxedLimit)
      || index - open == parameters.maximum
    {
      length = index - open
      close()
      return index
    }
    length = index - open
    return nil
  }

  /// Where the first chunk of `bytes` ends, given that they begin a chunk and that no more bytes follow.
  public static func cut(in bytes: Span<UInt8>, _ parameters: ChunkingParameters = .standard) -> Int {
    var chunker = Chunker(parameters)
    return chunker.nextCut(in: bytes, from: 0) ?? bytes.count
  }

  /// The lengths of all chunks of one object in memory.
  public static func lengths(of bytes: Span<UInt8>, _ parameters: ChunkingParameters = .standard) -> [Int] {
    var chunker = Chunker(parameters)
    var lengths: [Int] = []
    chunker.consume(bytes) { lengths.append($0.count) }
    if let last = chunker.finish() { lengths.append(last.count) }
    return lengths
  }

  private mutating func close() {
    start += length
    length = 0
    hash = 0
  }

  /// Rolls the hash over `bytes[index..<end]`; true, and `index` just past the byte, where it falls under `limit`.
  private mutating func scan(_ bytes: Span<UInt8>, _ index: inout Int, to end: Int, limit: UInt64) -> Bool {
    guard index < end else { return false }
    precondition(index >= 0 && end <= bytes.count)
    var found = false
    // The one loop of chunking. Safe: indices stay in `index..<end`, checked above, and a byte is below the table's
    // 256.
    unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe Gear.table.span.withUnsafeBufferPointer { gear in
        (index, found) = unsafe Self.roll(&hash, bytes.baseAddress!, gear.baseAddress!, index, end, limit)
      }
    }
    return found
  }

  /// Two bytes a turn, so that the dependency from turn to turn is one shift and one addition.
  private static func roll(
    _ state: inout UInt64, _ bytes: UnsafePointer<UInt8>, _ gear: UnsafePointer<UInt64>, _ start: Int, _ end: Int,
    _ limit: UInt64
  ) -> (index: Int, found: Bool) {
    var hash = state
    var index = start
    while index &+ 1 < end {
      let first = unsafe gear[Int(bytes[index])]
      let both = unsafe (first &<< 1) &+ gear[Int(bytes[index &+ 1])]
      if (hash &<< 1) &+ first < limit { return (index &+ 1, true) }
      hash = (hash &<< 2) &+ both
      if hash < limit { return (index &+ 2, true) }
      index &+= 2
    }
    if index < end {
      hash = unsafe (hash &<< 1) &+ gear[Int(bytes[index])]
      index &+= 1
      if hash < limit { return (index, true) }
    }
    state = hash
    return (index, false)
  }
}
