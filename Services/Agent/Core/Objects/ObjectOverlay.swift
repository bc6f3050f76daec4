/// The bytes an open write has put over an object, wherever they are; the object below is read where there are none.
/// Segments are kept apart and in order, so an edit in the middle of a huge object costs what it writes.
public struct ObjectOverlay: Sendable, Equatable {
  struct Segment: Sendable, Equatable {
    var start: Int
    var bytes: [UInt8]
    var end: Int { start + bytes.count }
  }

  /// Where the next byte of a read comes from.
  public enum Source: Sendable, Equatable {
    case written([UInt8])
    /// From the object below, at the same offset.
    case below(Int)
    /// Never written: zeros.
    case zeros(Int)
  }

  private(set) var segments: [Segment] = []
  /// Bytes held.
  public private(set) var byteCount = 0
  /// Bytes of the object below that still count: a truncation cuts them off for good, even if the object grows again.
  public private(set) var belowLimit: Int
  public var segmentCount: Int { segments.count }

  /// - Parameter below: bytes of the object below.
  public init(below: Int) {
    precondition(below >= 0, "an object has a negative size")
    belowLimit = below
  }

  public mutating func write(_ bytes: [UInt8], at offset: Int) {
    precondition(offset >= 0, "a write at a negative offset")
    guard !bytes.isEmpty else { return }
    if let last = segments.indices.last, segments[last].end == offset {
      segments[last].bytes.append(contentsOf: bytes)
      byteCount += bytes.count
      return
    }
    let end = offset + bytes.count
    let first = index(endingAfter: offset)
    var past = first
    while past < segments.count, segments[past].start < end { past += 1 }
    var merged = Segment(start: offset, bytes: bytes)
    if first < past { merge(segments[first], segments[past - 1], around: &merged) }
    byteCount += merged.bytes.count - segments[first..<past].reduce(0) { $0 + $1.bytes.count }
    segments.replaceSubrange(first..<past, with: [merged])
  }

  /// Puts what the first sticks out before and the last after the new bytes to them.
  private func merge(_ first: Segment, _ last: Segment, around new: inout Segment) {
    let end = new.end
    if last.end > end { new.bytes.append(contentsOf: last.bytes[(end - last.start)...]) }
    if first.start < new.start {
      new.bytes.insert(contentsOf: first.bytes[..<(new.start - first.start)], at: 0)
      new.start = first.start
    }
  }

  /// The object ends at `size` now.
  public mutating func truncate(to size: Int) {
    precondition(size >= 0, "a truncation to a negative size")
    belowLimit = min(belowLimit, size)
    while let last = segments.last, last.end > size {
      segments.removeLast()
      byteCount -= last.bytes.count
      guard last.start < size else { continue }
      segments.append(Segment(start: last.start, bytes: Array(last.bytes[..<(size - last.start)])))
      byteCount += size - last.start
    }
  }

  /// Takes away what was written behind the object below, front to back and without a gap.
  public mutating func takeAppended() -> [UInt8] {
    guard let appended = segments.first else { return [] }
    precondition(segments.count == 1 && appended.start == belowLimit, "what was appended has gaps")
    (segments, byteCount) = ([], 0)
    return appended.bytes
  }

  /// What stands at `offset`, for at most `count` bytes, which lie within the object.
  public func source(at offset: Int, count: Int) -> Source {
    precondition(offset >= 0 && count > 0, "a read of nothing")
    let index = index(endingAfter: offset)
    if index < segments.count, segments[index].start <= offset {
      let from = offset - segments[index].start
      return .written(Array(segments[index].bytes[from..<min(segments[index].bytes.count, from + count)]))
    }
    let end = index < segments.count ? min(offset + count, segments[index].start) : offset + count
    return offset < belowLimit ? .below(min(end, belowLimit) - offset) : .zeros(end - offset)
  }

  private func index(endingAfter offset: Int) -> Int {
    var (low, high) = (0, segments.count)
    while low < high {
      let middle = (low + high) / 2
      if segments[middle].end > offset { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
