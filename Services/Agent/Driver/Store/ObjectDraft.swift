internal import AgentCore
internal import Chunking
internal import Model

/// An object while it is being written: the chunks it had, and over them what the app has put there since. `fold` turns
/// both into new chunks, cutting again only around the edits; the draft goes on from there. What is written front to
/// back is cut as it comes, so that the disk works while the app still writes.
///
/// New chunks are loose until the write is closed: the database hears of them in the transaction that names them.
struct ObjectDraft {
  private(set) var parts: [AssetManifest.Part]
  private var edits: ObjectEdits
  private var overlay: ObjectOverlay
  private let chunking: ChunkingParameters
  /// Cuts what comes at the end of an object that was written front to back; nil for any other.
  private var stream: Chunker?
  /// Of the parts, those that the database does not know.
  private(set) var loose: [ChunkHash: LooseChunk] = [:]
  /// The app has written or truncated.
  private(set) var isTouched = false

  init(_ manifest: AssetManifest?, _ chunking: ChunkingParameters) {
    self.chunking = chunking
    parts = manifest?.parts ?? []
    let size = Int(manifest?.size ?? 0)
    edits = ObjectEdits(originalSize: size)
    overlay = ObjectOverlay(below: size)
    if parts.isEmpty { stream = Chunker(chunking) }
  }

  /// More edits would take too much memory: fold first.
  var isFull: Bool {
    overlay.byteCount >= StoreLimits.overlayBytes || overlay.segmentCount >= StoreLimits.overlaySegments
  }

  // MARK: Edits

  /// - Throws: `limitExceeded` when the object would grow beyond `StoreLimits.objectBytes`; `storageFull`.
  mutating func write(_ bytes: [UInt8], at offset: UInt64, _ table: ChunkTable) throws(CaravanError) {
    let start = try Self.checked(offset, adding: bytes.count)
    isTouched = true
    guard !bytes.isEmpty else { return }
    if start != edits.size { stream = nil }
    overlay.write(bytes, at: start)
    edits.overwrite(at: start, count: bytes.count)
    guard stream != nil else { return }
    var cuts: [Range<Int>] = []
    stream?.consume(bytes.span) { cuts.append($0) }
    try cut(cuts, table)
  }

  mutating func truncate(to size: UInt64, _ table: ChunkTable) throws(CaravanError) {
    let end = try Self.checked(size, adding: 0)
    isTouched = true
    guard end > 0 else { return startOver(table) }
    if end != edits.size { stream = nil }
    overlay.truncate(to: end)
    edits.truncate(to: end)
  }

  private mutating func startOver(_ table: ChunkTable) {
    discard(table)
    parts = []
    edits = ObjectEdits(originalSize: 0)
    overlay = ObjectOverlay(below: 0)
    stream = Chunker(chunking)
  }

  private static func checked(_ offset: UInt64, adding count: Int) throws(CaravanError) -> Int {
    guard let start = Int(exactly: offset), start <= StoreLimits.objectBytes - count else {
      throw CaravanError(
        .limitExceeded, "an object would have more than \(StoreLimits.objectBytes) bytes: split it into several")
    }
    return start
  }

  // MARK: Chunks

  /// Makes parts of the front of what was appended.
  private mutating func cut(_ ranges: [Range<Int>], _ table: ChunkTable) throws(CaravanError) {
    guard let begin = ranges.first?.lowerBound, let end = ranges.last?.upperBound else { return }
    let (bytes, rest) = overlay.takeAppended(upTo: end)
    do {
      for range in ranges {
        parts.append(try add(Array(bytes[range.lowerBound - begin..<range.upperBound - begin]), table))
      }
    } catch {
      // What was cut stands; the rest is cut at the end.
      let done = parts.reduce(0) { $0 + Int($1.length) }
      (stream, overlay, edits) = (nil, ObjectOverlay(below: done), ObjectEdits(originalSize: done))
      overlay.write(Array(bytes[(done - begin)...]) + rest, at: done)
      edits.append(count: begin + bytes.count + rest.count - done)
      throw error
    }
    (overlay, edits) = (ObjectOverlay(below: end), ObjectEdits(originalSize: end))
    overlay.write(rest, at: end)
    edits.append(count: rest.count)
  }

  /// Puts the edits into loose chunks, reading no more of the old ones than the edits touch.
  mutating func fold(_ table: ChunkTable) throws(CaravanError) -> AssetManifest {
    guard !edits.isEmpty else { return AssetManifest(parts: parts) }
    if var chunker = stream, let last = chunker.finish() {
      try cut([last], table)
      stream = nil
    } else {
      parts = try cutAgain(table)
      let size = edits.size
      edits = ObjectEdits(originalSize: size)
      overlay = ObjectOverlay(below: size)
    }
    guard parts.count <= Limits.chunksPerObject else {
      throw CaravanError(
        .limitExceeded,
        "an object has \(parts.count) chunks: the limit is \(Limits.chunksPerObject), use a smaller object")
    }
    return AssetManifest(parts: parts)
  }

  private mutating func cutAgain(_ table: ChunkTable) throws(CaravanError) -> [AssetManifest.Part] {
    var folded: [AssetManifest.Part] = []
    var source = DraftSource(below: PartReader(parts, table.reader, loose), overlay: overlay)
    var rechunker = try makeRechunker()
    loop: while true {
      switch rechunker.next() {
      case .keep(let index): folded.append(parts[index])
      case .read(let offset, let count): rechunker.supply(try source.read(at: offset, count: count))
      case .chunk(_, let bytes): folded.append(try add(bytes, table))
      case .done: break loop
      }
    }
    let kept = Set(folded.map(\.hash))
    for (hash, chunk) in loose where !kept.contains(hash) {
      table.discard(chunk)
      loose[hash] = nil
    }
    return folded
  }

  private mutating func add(_ bytes: [UInt8], _ table: ChunkTable) throws(CaravanError) -> AssetManifest.Part {
    let hash = ChunkHash(of: bytes)
    if loose[hash] == nil, try !table.reader.isPresent(hash) { loose[hash] = try table.loose(bytes) }
    return AssetManifest.Part(hash: hash, length: UInt32(bytes.count))
  }

  private func makeRechunker() throws(CaravanError) -> Rechunker {
    do { return try Rechunker(oldLengths: parts.map { Int($0.length) }, edits: edits, parameters: chunking) } catch {
      throw CaravanError(.internalError, "\(error)")
    }
  }

  // MARK: The end

  /// Tells the database of the loose chunks.
  mutating func settle(_ table: ChunkTable) throws(CaravanError) {
    for (hash, chunk) in loose.sorted(by: { $0.key < $1.key }) { try table.put(chunk, hash: hash) }
    loose = [:]
  }

  /// Nobody will hear of the loose chunks.
  mutating func discard(_ table: ChunkTable) {
    for chunk in loose.values { table.discard(chunk) }
    loose = [:]
  }
}

/// The bytes of an object made of chunks, keeping the chunk read last: reads mostly go on where the last one ended.
struct PartReader {
  private let parts: [AssetManifest.Part]
  private let starts: [Int]
  private let chunks: ChunkReader
  private let loose: [ChunkHash: LooseChunk]
  private var current: (index: Int, bytes: [UInt8])?
  let size: Int

  init(_ parts: [AssetManifest.Part], _ chunks: ChunkReader, _ loose: [ChunkHash: LooseChunk] = [:]) {
    self.parts = parts
    self.chunks = chunks
    self.loose = loose
    var starts: [Int] = []
    var end = 0
    for part in parts {
      starts.append(end)
      end += Int(part.length)
    }
    self.starts = starts
    size = end
  }

  /// At least one byte from `offset`, at most `count` and no further than its chunk.
  mutating func read(at offset: Int, count: Int) throws(CaravanError) -> ArraySlice<UInt8> {
    precondition(offset >= 0 && offset < size && count > 0, "a read outside of an object")
    let index = part(at: offset)
    if current?.index != index { current = (index, try bytes(of: parts[index].hash)) }
    guard let bytes = current?.bytes, bytes.count == Int(parts[index].length) else {
      throw CaravanError(.internalError, "chunk \(parts[index].hash) has another length than its object says")
    }
    let from = offset - starts[index]
    return bytes[from..<min(bytes.count, from + count)]
  }

  private func bytes(of hash: ChunkHash) throws(CaravanError) -> [UInt8] {
    if let chunk = loose[hash] { return try chunks.bytes(chunk) }
    return try chunks.required(hash)
  }

  private func part(at offset: Int) -> Int {
    var (low, high) = (0, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= offset { low = middle } else { high = middle }
    }
    return low
  }
}

/// A draft as one sequence of bytes.
private struct DraftSource {
  var below: PartReader
  let overlay: ObjectOverlay

  mutating func read(at offset: Int, count: Int) throws(CaravanError) -> [UInt8] {
    switch overlay.source(at: offset, count: count) {
    case .written(let bytes): bytes
    case .zeros(let zeros): [UInt8](repeating: 0, count: zeros)
    case .below(let limit): Array(try below.read(at: offset, count: limit))
    }
  }
}
