public import CaravanModel

/// A part of an object, and the chunks that it lies in.
public struct ObjectWindow: Sendable, Hashable {
  /// In order; none: there is nothing to read.
  public let parts: [AssetManifest.Part]
  /// Bytes before it in the first of them.
  public let skipped: Int
  /// Bytes of it: fewer than asked for at the object's end.
  public let count: Int

  /// - Parameters:
  ///   - offset: where it begins in the object.
  ///   - length: bytes that are wanted.
  public init(of manifest: AssetManifest, at offset: UInt64, length: Int) {
    let end = offset.addingReportingOverflow(UInt64(max(0, length)))
    let limit = min(end.overflow ? .max : end.partialValue, manifest.size)
    guard offset < limit else {
      (parts, skipped, count) = ([], 0, 0)
      return
    }
    var (start, first): (UInt64, UInt64?) = (0, nil)
    var parts: [AssetManifest.Part] = []
    for part in manifest.parts {
      let next = start + UInt64(part.length)
      if next > offset, start < limit {
        first = first ?? start
        parts.append(part)
      }
      start = next
    }
    precondition(first.map { $0 <= offset } ?? false, "a part of an object lies in none of its chunks")
    self.parts = parts
    skipped = Int(offset - (first ?? offset))
    count = Int(limit - offset)
    assert(parts.reduce(0) { $0 + Int($1.length) } >= skipped + count, "chunks of an object end before its part")
  }

  /// - Parameter chunks: the bytes of its parts, in order.
  public func bytes(of chunks: [[UInt8]]) -> [UInt8] {
    precondition(chunks.count == parts.count, "a part of an object is made of other chunks than it lies in")
    var bytes: [UInt8] = []
    bytes.reserveCapacity(skipped + count)
    for chunk in chunks { bytes += chunk }
    return Array(bytes[skipped..<skipped + count])
  }
}
