internal import AgentCore
internal import Chunking
internal import Model

/// An object while it is being written: the chunks it had, and over them what the app has put there since. `fold` turns
/// both into new chunks, cutting again only around the edits; the draft goes on from there.
struct ObjectDraft {
  private(set) var parts: [AssetManifest.Part]
  private var edits: ObjectEdits
  private var overlay: ObjectOverlay
  private let chunking: ChunkingParameters
  /// The app has written or truncated.
  private(set) var isTouched = false

  init(_ manifest: AssetManifest?, _ chunking: ChunkingParameters) {
    self.chunking = chunking
    parts = manifest?.parts ?? []
    let size = Int(manifest?.size ?? 0)
    edits = ObjectEdits(originalSize: size)
    overlay = ObjectOverlay(below: size)
  }

  var heldBytes: Int { overlay.byteCount }
  /// More edits would take too much memory: fold first.
  var isFull: Bool {
    overlay.byteCount >= StoreLimits.overlayBytes || overlay.segmentCount >= StoreLimits.overlaySegments
  }

  /// - Throws: `limitExceeded` when the object would grow beyond `StoreLimits.objectBytes`.
  mutating func write(_ bytes: [UInt8], at offset: UInt64) throws(CaravanError) {
    let start = try Self.checked(offset, adding: bytes.count)
    isTouched = true
    guard !bytes.isEmpty else { return }
    overlay.write(bytes, at: start)
    edits.overwrite(at: start, count: bytes.count)
  }

  mutating func truncate(to size: UInt64) throws(CaravanError) {
    let end = try Self.checked(size, adding: 0)
    isTouched = true
    overlay.truncate(to: end)
    edits.truncate(to: end)
  }

  private static func checked(_ offset: UInt64, adding count: Int) throws(CaravanError) -> Int {
    guard let start = Int(exactly: offset), start <= StoreLimits.objectBytes - count else {
      throw CaravanError(
        .limitExceeded, "an object would have more than \(StoreLimits.objectBytes) bytes: split it into several")
    }
    return start
  }

  /// Puts the edits into chunks of `table`, uncounted yet, reading no more of the old ones than the edits touch.
  mutating func fold(into table: ChunkTable) throws(CaravanError) -> AssetManifest {
    guard !edits.isEmpty else { return AssetManifest(parts: parts) }
    var folded: [AssetManifest.Part] = []
    var source = DraftSource(below: PartReader(parts, table.reader), overlay: overlay)
    var rechunker = try makeRechunker()
    loop: while true {
      switch rechunker.next() {
      case .keep(let index): folded.append(parts[index])
      case .read(let offset, let count): rechunker.supply(try source.read(at: offset, count: count))
      case .chunk(_, let bytes):
        let hash = ChunkHash(of: bytes)
        try table.put(bytes, hash: hash)
        folded.append(AssetManifest.Part(hash: hash, length: UInt32(bytes.count)))
      case .done: break loop
      }
    }
    guard folded.count <= Limits.chunksPerObject else {
      throw CaravanError(
        .limitExceeded,
        "an object has \(folded.count) chunks: the limit is \(Limits.chunksPerObject), use a smaller object")
    }
    let size = edits.size
    parts = folded
    edits = ObjectEdits(originalSize: size)
    overlay = ObjectOverlay(below: size)
    return AssetManifest(parts: folded)
  }

  private func makeRechunker() throws(CaravanError) -> Rechunker {
    do { return try Rechunker(oldLengths: parts.map { Int($0.length) }, edits: edits, parameters: chunking) } catch {
      throw CaravanError(.internalError, "\(error)")
    }
  }
}

/// The bytes of an object made of chunks, keeping the chunk read last: reads mostly go on where the last one ended.
struct PartReader {
  private let parts: [AssetManifest.Part]
  private let starts: [Int]
  private let chunks: ChunkReader
  private var current: (index: Int, bytes: [UInt8])?
  let size: Int

  init(_ parts: [AssetManifest.Part], _ chunks: ChunkReader) {
    self.parts = parts
    self.chunks = chunks
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
    if current?.index != index { current = (index, try chunks.required(parts[index].hash)) }
    guard let bytes = current?.bytes, bytes.count == Int(parts[index].length) else {
      throw CaravanError(.internalError, "chunk \(parts[index].hash) has another length than its object says")
    }
    let from = offset - starts[index]
    return bytes[from..<min(bytes.count, from + count)]
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
