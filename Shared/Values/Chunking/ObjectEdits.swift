/// What has changed in an object since it was last chunked: its size then and now, and the ranges written since.
public struct ObjectEdits: Sendable, Equatable {
  /// More ranges than this are not told apart: the two nearest become one. That costs reading the bytes between them.
  public static let maximumRanges = 1024

  /// Bytes of the object when it was chunked.
  public let originalSize: Int
  /// Bytes of the object now.
  public private(set) var size: Int
  /// The ranges of the object as it is now whose bytes may differ: ascending, not touching, within `0..<size`.
  public private(set) var changed: [Range<Int>] = []

  public init(originalSize: Int) {
    precondition(originalSize >= 0)
    self.originalSize = originalSize
    self.size = originalSize
  }

  public var isEmpty: Bool { changed.isEmpty && size == originalSize }

  /// Bytes were written at `offset`. Writing past the end grows the object; a gap before `offset` counts as written.
  public mutating func overwrite(at offset: Int, count: Int) {
    precondition(offset >= 0 && count >= 0 && offset <= Int.max - count, "a write must lie within 0 ... Int.max")
    guard count > 0 else { return }
    let end = offset + count
    mark(min(offset, size)..<end)
    size = max(size, end)
  }

  /// Bytes were written at the end.
  public mutating func append(count: Int) { overwrite(at: size, count: count) }

  /// The object was cut or, with zeros, grown to `newSize`.
  public mutating func truncate(to newSize: Int) {
    precondition(newSize >= 0)
    if newSize > size { return append(count: newSize - size) }
    size = newSize
    while let last = changed.last, last.upperBound > newSize {
      changed.removeLast()
      if last.lowerBound < newSize { changed.append(last.lowerBound..<newSize) }
    }
  }

  /// Whether any byte of `range` may have changed.
  func touch(_ range: Range<Int>) -> Bool {
    let index = firstIndex(endingAfter: range.lowerBound)
    return index < changed.count && changed[index].lowerBound < range.upperBound
  }

  private mutating func mark(_ range: Range<Int>) {
    let first = firstIndex(endingAfter: range.lowerBound - 1)  // a range that only touches is joined, too
    var (end, merged) = (first, range)
    while end < changed.count, changed[end].lowerBound <= range.upperBound {
      merged = min(merged.lowerBound, changed[end].lowerBound)..<max(merged.upperBound, changed[end].upperBound)
      end += 1
    }
    changed.replaceSubrange(first..<end, with: [merged])
    if changed.count > Self.maximumRanges { mergeNearest() }
  }

  private mutating func mergeNearest() {
    func gap(_ index: Int) -> Int { changed[index + 1].lowerBound - changed[index].upperBound }
    var nearest = 0
    for index in 1..<changed.count - 1 where gap(index) < gap(nearest) { nearest = index }
    changed[nearest] = changed[nearest].lowerBound..<changed[nearest + 1].upperBound
    changed.remove(at: nearest + 1)
  }

  private func firstIndex(endingAfter offset: Int) -> Int {
    var (low, high) = (0, changed.count)
    while low < high {
      let middle = (low + high) / 2
      if changed[middle].upperBound > offset { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
