/// An encoded `Fields` (model.proto) cut into its fields, to compare and merge records without decoding them. What is
/// in a field stays the bytes that arrived, also where this release does not understand them (CK-26).
package struct EncodedFields: Sendable {
  private struct Slice {
    let id: UInt32
    /// The field with its tag and length.
    let whole: Range<Int>
    /// What it has beside its id: nothing, for a null.
    let content: [Range<Int>]
  }

  private let bytes: [UInt8]
  /// Ascending by id.
  private var slices: [Slice] = []
  /// What is no field: private extensions, and what a newer release put there.
  private var extensions: [(number: UInt64, range: Range<Int>)] = []

  package init(_ bytes: [UInt8]) throws(BodyProblem) {
    self.bytes = bytes
    let span = bytes.span
    var reader = ProtobufReader(0..<span.count)
    while !reader.isAtEnd {
      let start = reader.position
      let (number, form) = try reader.tag(span)
      if number == 1, form == .bytes {
        let slice = try Self.slice(span, from: start, try reader.range(span))
        guard slice.id > slices.last?.id ?? 0 else {
          throw .malformed("field ids that do not ascend, each once, from 1")
        }
        slices.append(slice)
      } else {
        try reader.skip(form, span)
        extensions.append((number, start..<reader.position))
      }
    }
  }

  private static func slice(
    _ bytes: borrowing Span<UInt8>, from start: Int, _ range: Range<Int>
  ) throws(BodyProblem) -> Slice {
    var reader = ProtobufReader(range)
    var id: UInt32 = 0
    var content: [Range<Int>] = []
    while !reader.isAtEnd {
      let part = reader.position
      let (number, form) = try reader.tag(bytes)
      if number == 1, form == .varint {
        id = UInt32(truncatingIfNeeded: try reader.varint(bytes))
      } else {
        try reader.skip(form, bytes)
        content.append(part..<reader.position)
      }
    }
    return Slice(id: id, whole: start..<range.upperBound, content: content)
  }

  /// Ids of the fields in here, also of those without a value.
  package var ids: [UInt32] { slices.map(\.id) }

  /// Ids of the fields that differ, also of those that only one of the two has.
  package func changes(from old: EncodedFields) -> [UInt32] {
    Set(ids + old.ids).filter { self[$0] != old[$0] }.sorted()
  }

  /// A field's content without its id, as it stands; empty: it is null, or not in here.
  package subscript(id: UInt32) -> [UInt8] {
    slices.first { $0.id == id }.map { $0.content.flatMap { bytes[$0] } } ?? []
  }

  /// Whether every field in here is in `other` with the same content, nulls being absent there.
  package func hold(in other: EncodedFields) -> Bool { ids.allSatisfy { self[$0] == other[$0] } }

  /// Without the other fields.
  package func restricted(to ids: Set<UInt32>) -> EncodedFields {
    var fields = self
    fields.slices.removeAll { !ids.contains($0.id) }
    return fields
  }

  // MARK: New bodies

  /// Only these fields.
  package func selecting(_ ids: Set<UInt32>) -> [UInt8] {
    Array(slices.lazy.filter { ids.contains($0.id) }.map { bytes[$0.whole] }.joined())
  }

  /// This record with the fields of `patch` in place of its own. A field that is null in the patch goes; so do the
  /// fields that `isDropped` names and the patch does not have.
  package func merging(_ patch: EncodedFields, dropping isDropped: (UInt32) -> Bool = { _ in false }) -> [UInt8] {
    var merged: [UInt8] = []
    merged.reserveCapacity(bytes.count + patch.bytes.count)
    var kept = slices[...]
    func keep(_ slice: Slice) {
      if !isDropped(slice.id) { merged += bytes[slice.whole] }
    }
    for slice in patch.slices {
      while let own = kept.first, own.id < slice.id { keep(kept.removeFirst()) }
      if kept.first?.id == slice.id { kept.removeFirst() }
      if !slice.content.isEmpty { merged += patch.bytes[slice.whole] }
    }
    for slice in kept { keep(slice) }
    let replaced = Set(patch.extensions.map(\.number))
    for (number, range) in extensions where !replaced.contains(number) { merged += bytes[range] }
    for (_, range) in patch.extensions { merged += patch.bytes[range] }
    return merged
  }
}

extension Entry {
  /// Leaves only these fields in the body (CK-24).
  /// - Throws: `invalidData` when the body is no encoded `Fields`.
  public mutating func select(_ fields: Set<UInt32>) throws(CaravanError) {
    do throws(BodyProblem) { body = try EncodedFields(body).selecting(fields) } catch {
      throw error.refusal(of: name, type: "type \(type)")
    }
  }
}
