internal import CaravanAgentCore
internal import CaravanChunkFiles
internal import CaravanChunking
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// An object while it is being written: the chunks it had, and over them what the app has put there since. `fold` turns
/// both into new chunks, cutting again only around the edits; the draft goes on from there. What is written front to
/// back is cut as it comes, so that the disk works while the app still writes.
///
/// New chunks are loose until the write is closed: the database hears of them in the transaction that names them.
///
/// In place, the bytes of chunks that may be claimed are overwritten where they lie. Such a chunk keeps its length, and
/// so its object its cuts; it becomes a loose chunk when it is known what it holds, and the place is that one's then.
struct ObjectDraft {
  /// Asks whether a chunk may be overwritten where it lies.
  /// - Returns: where that is; nil: it must stay as it is.
  typealias Claim = (ChunkHash) throws(CaravanError) -> Int?

  /// Without what is still unnamed.
  private(set) var parts: [AssetManifest.Part]
  /// Of the parts that there were before anything was appended.
  private var map: PartMap
  private var dirty = DirtyChunks()
  /// Chunks that were overwritten, and where; until the write is closed the database believes that they are there.
  private var forsaken: [ChunkHash: Range<Int>] = [:]
  private var edits: ObjectEdits
  private var overlay: ObjectOverlay
  private let chunking: ChunkingParameters
  /// Cuts what comes at the end of an object that was written front to back; nil for any other.
  private var stream: Chunker?
  /// Chunks cut from what was written front to back whose names are being computed; they follow the parts.
  private var unnamed: [UnnamedChunk] = []
  /// Of the parts, those that the database does not know.
  private(set) var loose: [ChunkHash: LooseChunk] = [:]
  /// Of them, those that nobody has taken to send them ahead, and their bytes.
  private var cut: (hashes: [ChunkHash], bytes: Int) = ([], 0)
  /// The app has written or truncated.
  private(set) var isTouched = false

  init(_ manifest: AssetManifest?, _ chunking: ChunkingParameters) {
    self.chunking = chunking
    parts = manifest?.parts ?? []
    map = PartMap(parts)
    let size = Int(manifest?.size ?? 0)
    edits = ObjectEdits(originalSize: size)
    overlay = ObjectOverlay(below: size)
    if parts.isEmpty { stream = Chunker(chunking) }
  }

  /// More edits would take too much memory: fold first.
  var isFull: Bool {
    overlay.byteCount >= StoreLimits.overlayBytes || overlay.segmentCount >= StoreLimits.overlaySegments
  }

  /// Of the object's bytes, those that wait in memory to become chunks.
  var waitingBytes: Int { unnamed.reduce(overlay.byteCount) { $0 + $1.bytes.count } }

  // MARK: Edits

  /// - Parameter claim: nil: nothing is overwritten.
  /// - Throws: `limitExceeded` when the object would grow beyond `StoreLimits.objectBytes`; `storageFull`.
  mutating func write(
    _ bytes: [UInt8], at offset: UInt64, _ table: ChunkTable, claim: Claim? = nil
  ) throws(CaravanError) {
    let start = try checked(offset, adding: bytes.count)
    isTouched = true
    guard !bytes.isEmpty else { return }
    guard let claim, !parts.isEmpty else { return try lay(bytes, at: start, table) }
    var done = 0
    while done < bytes.count {
      let at = start + done
      let index = map.part(at: at)
      let end = at < map.size ? min(map.end(of: index), start + bytes.count) : start + bytes.count
      let piece = Array(bytes[done..<end - start])
      if at < map.size, let place = try place(of: index, claim) {
        try table.file.write(piece, at: place + at - map.start(of: index))
      } else {
        try lay(piece, at: at, table)
      }
      done = end - start
    }
  }

  /// Sticks to what it said first, so that no chunk is changed both where it lies and beside that.
  private mutating func place(of index: Int, _ claim: Claim) throws(CaravanError) -> Int? {
    guard map.end(of: index) <= overlay.belowLimit else { return nil }
    if let known = dirty.place(of: index) { return known }
    let hash = parts[index].hash
    let isAlone = loose[hash] == nil && parts.count { $0.hash == hash } == 1
    let place = isAlone ? try claim(hash) : nil
    dirty.note(index, at: place)
    return place
  }

  /// Puts bytes over the object, in memory.
  private mutating func lay(_ bytes: [UInt8], at start: Int, _ table: ChunkTable) throws(CaravanError) {
    guard stream != nil, start == edits.size else {
      stream = nil
      overlay.write(bytes, at: start)
      return edits.overwrite(at: start, count: bytes.count)
    }
    // What cannot be kept is refused before it is cut.
    try takeNames(table, waitingFor: unnamed.count - StoreLimits.unnamedChunks)
    var cuts: [Range<Int>] = []
    stream?.consume(bytes.span) { cuts.append($0) }
    append(bytes, cutInto: cuts, by: table.helper)
  }

  mutating func truncate(to size: UInt64, _ table: ChunkTable) throws(CaravanError) {
    let end = try checked(size, adding: 0)
    isTouched = true
    guard end > 0 else { return startOver(table) }
    if end != edits.size { stream = nil }
    overlay.truncate(to: end)
    edits.truncate(to: end)
  }

  private mutating func startOver(_ table: ChunkTable) {
    discard(table)
    take([])
    edits = ObjectEdits(originalSize: 0)
    overlay = ObjectOverlay(below: 0)
    stream = Chunker(chunking)
  }

  private func checked(_ offset: UInt64, adding count: Int) throws(CaravanError) -> Int {
    let most = StoreLimits.objectBytes(chunking)
    guard let start = Int(exactly: offset), start <= most - count else {
      throw CaravanError(
        .limitExceeded, "an object would have more than \(most) bytes: split it, or have its type use longer chunks")
    }
    return start
  }

  // MARK: Chunks

  /// Takes what comes at the end, and cuts off the chunks that end in it. The first may have begun before; what is of
  /// none yet waits in memory.
  private mutating func append(_ new: [UInt8], cutInto chunks: [Range<Int>], by helper: any Helper) {
    let begin = edits.size
    var done = 0
    for chunk in chunks {
      let end = chunk.upperBound - begin
      let bytes = overlay.byteCount == 0 ? Array(new[done..<end]) : overlay.takeAppended() + new[done..<end]
      unnamed.append(UnnamedChunk(bytes, by: helper))
      wait(at: chunk.upperBound)
      done = end
    }
    overlay.write(done == 0 ? new : Array(new[done...]), at: begin + done)
    edits.append(count: new.count - done)
  }

  private mutating func wait(at start: Int) {
    (overlay, edits) = (ObjectOverlay(below: start), ObjectEdits(originalSize: start))
  }

  /// Makes parts of the chunks whose names are known.
  /// - Parameter count: so many are waited for.
  private mutating func takeNames(_ table: ChunkTable, waitingFor count: Int) throws(CaravanError) {
    var awaited = count
    while let first = unnamed.first, awaited > 0 || first.isNamed {
      parts.append(try add(first, table))
      unnamed.removeFirst()
      awaited -= 1
    }
  }

  /// The helper begins with the first of them, this thread with the last.
  private mutating func takeAllNames(_ table: ChunkTable) throws(CaravanError) {
    for chunk in unnamed.reversed() { chunk.nameUnlessBegun() }
    try takeNames(table, waitingFor: unnamed.count)
  }

  /// Puts the edits into loose chunks, reading no more of the old ones than the edits touch.
  mutating func fold(_ table: ChunkTable) throws(CaravanError) -> AssetManifest {
    try name(table)
    if var chunker = stream, let last = chunker.finish() {
      append([], cutInto: [last], by: table.helper)
      stream = nil
    }
    try takeAllNames(table)
    if !edits.isEmpty {
      take(try cutAgain(table))
      let size = edits.size
      (edits, overlay) = (ObjectEdits(originalSize: size), ObjectOverlay(below: size))
    }
    guard parts.count <= Limits.chunksPerObject else {
      throw CaravanError(
        .limitExceeded,
        "an object has \(parts.count) chunks: the limit is \(Limits.chunksPerObject), use a smaller object")
    }
    return AssetManifest(parts: parts)
  }

  private mutating func take(_ parts: [AssetManifest.Part]) {
    self.parts = parts
    map = PartMap(parts)
    dirty = DirtyChunks()
  }

  /// Chunks that were overwritten get the names of what they hold now.
  private mutating func name(_ table: ChunkTable) throws(CaravanError) {
    for index in dirty.indices {
      guard case .some(.some(let place)) = dirty.place(of: index) else { continue }
      let bytes = try table.file.read(at: place, count: Int(parts[index].length))
      let hash = ChunkHash(of: bytes)
      forsaken[parts[index].hash] = place..<place + bytes.count
      parts[index] = AssetManifest.Part(hash: hash, length: parts[index].length)
      if loose[hash] == nil {
        loose[hash] = LooseChunk(content: .file(place), length: bytes.count, sum: XXHash64.hash(bytes))
      }
    }
    dirty = DirtyChunks()
  }

  private mutating func cutAgain(_ table: ChunkTable) throws(CaravanError) -> [AssetManifest.Part] {
    var folded: [AssetManifest.Part] = []
    var source = DraftSource(below: PartReader(parts, table.reader, loose), overlay: overlay)
    var rechunker = try makeRechunker()
    loop: while true {
      switch rechunker.next() {
      case .keep(let index): folded.append(parts[index])
      case .read(let offset, let count): rechunker.supply(try source.read(at: offset, count: count))
      case .chunk(_, let bytes): folded.append(try add(UnnamedChunk(bytes, by: NoHelper()), table))
      case .done: break loop
      }
    }
    let kept = Set(folded.map(\.hash))
    for (hash, chunk) in loose where !kept.contains(hash) {
      drop(chunk, table)
      loose[hash] = nil
    }
    return folded
  }

  private mutating func add(_ chunk: UnnamedChunk, _ table: ChunkTable) throws(CaravanError) -> AssetManifest.Part {
    let (hash, sum) = chunk.names
    if loose[hash] == nil, try !table.reader.isPresent(hash) {
      loose[hash] = try table.loose(chunk.bytes, sum: sum)
      cut.hashes.append(hash)
      cut.bytes += chunk.bytes.count
    }
    return AssetManifest.Part(hash: hash, length: UInt32(chunk.bytes.count))
  }

  private func makeRechunker() throws(CaravanError) -> Rechunker {
    do { return try Rechunker(oldLengths: parts.map { Int($0.length) }, edits: edits, parameters: chunking) } catch {
      throw CaravanError(.internalError, "\(error)")
    }
  }

  /// New chunks that are loose, each once; none as long as they have fewer bytes.
  mutating func takeCut(ofBytes least: Int, _ table: ChunkTable) throws(CaravanError) -> [ChunkHash] {
    guard unnamed.reduce(cut.bytes, { $0 + $1.bytes.count }) >= least else { return [] }
    try takeAllNames(table)
    guard cut.bytes >= least else { return [] }
    defer { cut = ([], 0) }
    return cut.hashes
  }

  // MARK: The end

  /// Tells the database of the loose chunks.
  /// - Parameter spare: chunks that their only holder is going to name no more, and whose places in the database new
  ///   ones may take.
  /// - Returns: new chunks that have taken such a place, with the one whose it was.
  mutating func settle(
    _ table: ChunkTable, over spare: inout [ChunkHash]
  ) throws(CaravanError) -> [(new: ChunkHash, old: ChunkHash)] {
    let taken = Set(loose.values.compactMap(\.place))
    for (hash, place) in forsaken {
      try table.forsake(hash, at: place.lowerBound)
      if !taken.contains(place.lowerBound) { table.file.free(place) }
    }
    var replaced: [(new: ChunkHash, old: ChunkHash)] = []
    next: for (hash, chunk) in loose.sorted(by: { $0.key < $1.key }) {
      while let old = spare.popLast() {
        guard try table.put(chunk, hash: hash, inPlaceOf: old) else { continue }
        replaced.append((hash, old))
        continue next
      }
      try table.put(chunk, hash: hash)
    }
    (loose, forsaken) = ([:], [:])
    return replaced
  }

  /// Nobody will hear of the loose chunks. Those that were overwritten stay where they are, for somebody to look at.
  mutating func discard(_ table: ChunkTable) {
    for chunk in loose.values { drop(chunk, table) }
    (loose, unnamed) = ([:], [])
  }

  private func drop(_ chunk: LooseChunk, _ table: ChunkTable) {
    if !forsaken.values.contains(where: { $0.lowerBound == chunk.place }) { table.discard(chunk) }
  }
}

/// Where in an object each of its chunks lies.
struct PartMap {
  private let starts: [Int]
  let size: Int

  init(_ parts: [AssetManifest.Part]) {
    var starts: [Int] = []
    var end = 0
    for part in parts {
      starts.append(end)
      end += Int(part.length)
    }
    self.starts = starts
    size = end
  }

  func start(of index: Int) -> Int { starts[index] }
  func end(of index: Int) -> Int { index + 1 < starts.count ? starts[index + 1] : size }

  func part(at offset: Int) -> Int {
    var (low, high) = (0, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= offset { low = middle } else { high = middle }
    }
    return low
  }
}

/// The bytes of an object made of chunks, keeping the chunk read last: reads mostly go on where the last one ended.
struct PartReader {
  typealias Current = (hash: ChunkHash, bytes: [UInt8])

  private let parts: [AssetManifest.Part]
  private let map: PartMap
  private let chunks: ChunkReader
  private let loose: [ChunkHash: LooseChunk]
  private(set) var current: Current?
  var size: Int { map.size }

  init(
    _ parts: [AssetManifest.Part], _ chunks: ChunkReader, _ loose: [ChunkHash: LooseChunk] = [:],
    current: Current? = nil
  ) {
    self.parts = parts
    map = PartMap(parts)
    self.chunks = chunks
    self.loose = loose
    self.current = current
  }

  /// At least one byte from `offset`, at most `count` and no further than its chunk.
  mutating func read(at offset: Int, count: Int) throws(CaravanError) -> ArraySlice<UInt8> {
    precondition(offset >= 0 && offset < size && count > 0, "a read outside of an object")
    let index = map.part(at: offset)
    let hash = parts[index].hash
    if current?.hash != hash { current = (hash, try bytes(of: hash)) }
    guard let bytes = current?.bytes, bytes.count == Int(parts[index].length) else {
      throw CaravanError(.internalError, "chunk \(hash) has another length than its object says")
    }
    let from = offset - map.start(of: index)
    return bytes[from..<min(bytes.count, from + count)]
  }

  private func bytes(of hash: ChunkHash) throws(CaravanError) -> [UInt8] {
    if let chunk = loose[hash] { return try chunks.bytes(chunk) }
    return try chunks.required(hash)
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
