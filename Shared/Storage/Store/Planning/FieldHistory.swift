public import CaravanModel

/// When and by whom each field of a record was last written (UNI-01). Kept beside the records of types whose conflict
/// policy needs it; fields that were removed stay in here, so that an older write does not bring them back.
public struct FieldHistory: Sendable, Hashable {
  public struct Item: Sendable, Hashable {
    /// The zone's seq at the field's last write.
    public var seq: Seq
    public var stamp: HybridStamp
    public var writer: String

    public init(seq: Seq, stamp: HybridStamp, writer: String) {
      self.seq = seq
      self.stamp = stamp
      self.writer = writer
    }
  }

  /// In the place of a field id: the record as a whole.
  public static let wholeRecord: UInt32 = 0

  public var items: [UInt32: Item]

  public init(_ items: [UInt32: Item] = [:]) { self.items = items }

  /// An encoded `FieldVersions` (model.proto).
  /// - Parameter writer: of the entry it belongs to, who wrote the fields that name nobody. nil: none can be read.
  public init?(encoded: [UInt8], writer: String) {
    items = [:]
    let bytes = encoded.span
    var reader = ProtobufReader(0..<bytes.count)
    do throws(BodyProblem) {
      while !reader.isAtEnd {
        let (number, form) = try reader.tag(bytes)
        guard number == 1, form == .bytes else {
          try reader.skip(form, bytes)
          continue
        }
        let (id, item) = try Self.item(bytes, try reader.range(bytes), writer)
        items[id] = item
      }
    } catch {
      return nil
    }
  }

  private static func item(
    _ bytes: borrowing Span<UInt8>, _ range: Range<Int>, _ writer: String
  ) throws(BodyProblem) -> (UInt32, Item) {
    var reader = ProtobufReader(range)
    var id: UInt32 = 0
    var item = Item(seq: 0, stamp: HybridStamp(rawValue: 0), writer: writer)
    while !reader.isAtEnd {
      let (number, form) = try reader.tag(bytes)
      switch (number, form) {
      case (1, .varint): id = UInt32(truncatingIfNeeded: try reader.varint(bytes))
      case (2, .varint): item.seq = try reader.varint(bytes)
      case (3, .varint): item.stamp = HybridStamp(rawValue: try reader.varint(bytes))
      case (4, .bytes): item.writer = String(decoding: try reader.range(bytes).map { bytes[$0] }, as: UTF8.self)
      case (_, _): try reader.skip(form, bytes)
      }
    }
    return (id, item)
  }

  /// - Parameter writer: of the entry it goes to: fields of the same writer name nobody.
  public func encoded(writer: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for (id, item) in items.sorted(by: { $0.key < $1.key }) {
      var one: [UInt8] = []
      // The fields' tags: number << 3 | wire type (https://protobuf.dev/programming-guides/encoding/).
      for (tag, value) in [(0x08, UInt64(id)), (0x10, item.seq), (0x18, item.stamp.rawValue)] where value > 0 {
        one.append(UInt8(tag))
        one.append(varint: value)
      }
      if item.writer != writer {
        one.append(0x22)
        one.append(varint: UInt64(item.writer.utf8.count))
        one += item.writer.utf8
      }
      bytes.append(0x0a)
      bytes.append(varint: UInt64(one.count))
      bytes += one
    }
    return bytes
  }
}
