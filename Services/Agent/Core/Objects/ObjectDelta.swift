public import CaravanModel

/// A chunk that has to be moved, and what it may be a patch of.
public struct ChunkNeed: Sendable, Hashable {
  public let hash: ChunkHash
  /// Chunks of the object's version before it that it is likely to resemble, at most `Limits.basesPerPatch`, in the
  /// order in which they follow each other.
  public let bases: [ChunkHash]
  /// Bytes of the chunk; 0: not known.
  public let length: Int

  public init(hash: ChunkHash, bases: [ChunkHash] = [], length: Int = 0) {
    precondition(bases.count <= Limits.basesPerPatch, "a patch of too many chunks")
    self.hash = hash
    self.bases = bases
    self.length = length
  }

  /// Bytes of the chunk at most.
  public var mostBytes: Int { length > 0 ? length : Limits.chunkBytes }
}

/// One version of an object, as far as its chunks are known.
public struct ObjectVersion: Sendable, Hashable {
  /// The chunk that lists the others, of a large object.
  public let list: ChunkHash?
  /// Empty while the list is not here.
  public let parts: [AssetManifest.Part]

  public init(list: ChunkHash? = nil, parts: [AssetManifest.Part]) {
    self.list = list
    self.parts = parts
  }
}

/// What an object's new version has that an older one has not, and which chunks of the older one stand where the new
/// ones do. Chunks that both have are fixed points; between two of them the old bytes are laid beside the new ones from
/// the front and from the back, so that overwriting, inserting, deleting and appending all find what they left as it
/// was.
public struct ObjectDelta {
  private let old: [AssetManifest.Part]
  /// Where each old chunk begins, and the end of the last.
  private let starts: [Int]
  /// Indices of each old chunk, ascending.
  private let places: [ChunkHash: [Int]]

  /// Every chunk that `new` names and `old` does not, each once, in the order of the object; a list first.
  public static func needs(of new: ObjectVersion, since old: ObjectVersion?) -> [ChunkNeed] {
    var needs: [ChunkNeed] = []
    if let list = new.list, list != old?.list {
      needs.append(ChunkNeed(hash: list, bases: old?.list.map { [$0] } ?? []))
    }
    return needs + ObjectDelta(old?.parts ?? []).needs(of: new.parts)
  }

  private init(_ old: [AssetManifest.Part]) {
    self.old = old
    var starts = [0]
    var places: [ChunkHash: [Int]] = [:]
    for (index, part) in old.enumerated() {
      starts.append(starts[index] + Int(part.length))
      places[part.hash, default: []].append(index)
    }
    self.starts = starts
    self.places = places
  }

  private func needs(of new: [AssetManifest.Part]) -> [ChunkNeed] {
    var needs: [ChunkNeed] = []
    var seen: Set<ChunkHash> = []
    var run: [AssetManifest.Part] = []
    var next = 0  // the first old chunk behind the last fixed point
    func close(before end: Int) {
      needs += self.needs(of: run, in: next..<max(next, end)).filter { seen.insert($0.hash).inserted }
      run = []
    }
    for part in new {
      // A chunk that occurs only further ahead in the old version was moved: no fixed point.
      guard let place = place(of: part.hash, from: next) else {
        run.append(part)
        continue
      }
      close(before: place)
      next = place + 1
    }
    close(before: old.count)
    return needs
  }

  private func place(of hash: ChunkHash, from index: Int) -> Int? { places[hash]?.first { $0 >= index } }

  /// - Parameter gap: the old chunks in whose place the run stands.
  private func needs(of run: [AssetManifest.Part], in gap: Range<Int>) -> [ChunkNeed] {
    let begin = starts[gap.lowerBound]
    let surplus = run.reduce(0) { $0 + Int($1.length) } - (starts[gap.upperBound] - begin)
    var needs: [ChunkNeed] = []
    var offset = begin
    for part in run {
      let end = offset + Int(part.length)
      if places[part.hash] == nil {
        let beside = Set(overlapping(offset..<end, in: gap)).union(
          overlapping(offset - surplus..<end - surplus, in: gap))
        needs.append(ChunkNeed(hash: part.hash, bases: bases(beside.sorted()), length: Int(part.length)))
      }
      offset = end
    }
    return needs
  }

  /// Old chunks of the gap that have bytes in a range.
  private func overlapping(_ range: Range<Int>, in gap: Range<Int>) -> Range<Int> {
    let first = index(in: gap) { starts[$0 + 1] > range.lowerBound }
    return first..<max(first, index(in: gap) { starts[$0] >= range.upperBound })
  }

  /// The first of the gap's old chunks for which `isBehind` holds, as it does for all that follow.
  private func index(in gap: Range<Int>, where isBehind: (Int) -> Bool) -> Int {
    var (low, high) = (gap.lowerBound, gap.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// Of more chunks than a patch may have, the first and the last: what is between was cut out.
  private func bases(_ indices: [Int]) -> [ChunkHash] {
    var chosen = indices
    if chosen.count > Limits.basesPerPatch {
      let half = Limits.basesPerPatch / 2
      chosen = Array(chosen.prefix(half) + chosen.suffix(Limits.basesPerPatch - half))
    }
    var seen: Set<ChunkHash> = []
    return chosen.map { old[$0].hash }.filter { seen.insert($0).inserted }
  }
}
