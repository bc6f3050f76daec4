internal import CaravanModel

/// Reads the raw bytes of a message before it is unpacked, and refuses those that would cost more than their bytes may
/// (TRU-02): an empty element takes two bytes on the wire and hundreds in memory. The scanner itself allocates
/// nothing, whatever it reads.
///
/// It counts what protobuf-c and the copy into Swift values will allocate, and the elements of fields that have a bound
/// of their own. It does not decide whether the bytes are a message: that is protobuf-c's.
struct WireScan {
  private let table = WireTable.all
  private let most: Int
  private var memory = 0

  /// - Throws: `limitExceeded` when unpacking would cost too much or a field has too many elements; `malformed`.
  static func check(_ data: [UInt8], _ shape: Int) throws(WireError) {
    var scan = WireScan(most: Limits.unpackedBytes + Limits.unpackedBytesPerByte * data.count)
    var reader = WireReader(0..<data.count)
    try scan.message(data.span, &reader, shape)
  }

  private init(most: Int) { self.most = most }

  /// What is counted of one message, and not of those in it.
  private struct Message {
    var fields = 0
    /// Bits by the place of a field in the table: which have been here.
    var seen: UInt64 = 0
    var elements = InlineArray<4, Int>(repeating: 0)
  }

  /// Types nest at most seven deep, and none in itself, so that the stack is bounded by the table.
  private mutating func message(_ bytes: Span<UInt8>, _ reader: inout WireReader, _ shape: Int) throws(WireError) {
    let known = table.messages[shape]
    try charge(known.memory + Self.messageBytes)
    var message = Message()
    var place = known.first
    while let tag = try reader.tag(bytes) {
      message.fields += 1
      // protobuf-c notes the first fields of a message on its stack.
      if message.fields > Self.fieldsOnStack { try charge(Self.noteBytes) }
      if let index = find(tag.field, known, from: place) {
        place = index
        try field(bytes, &reader, tag, index, known, &message)
      } else {
        try charge(Self.unknownBytes + reader.skip(bytes, tag.wire).count)
      }
    }
  }

  /// Fields mostly come in the order of their numbers.
  private func find(_ number: UInt32, _ known: WireTable.Range, from place: Int) -> Int? {
    for index in place..<known.end {
      let candidate = table.fields[index].number
      if candidate == number { return index }
      if candidate > number { break }
    }
    for index in known.first..<place where table.fields[index].number == number { return index }
    return nil
  }

  private mutating func field(
    _ bytes: Span<UInt8>, _ reader: inout WireReader, _ tag: WireReader.Tag, _ index: Int, _ known: WireTable.Range,
    _ message: inout Message
  ) throws(WireError) {
    let field = table.fields[index]
    let bit = UInt64(1) << UInt64(index - known.first)
    let isFirst = message.seen & bit == 0
    message.seen |= bit
    if field.isRepeated, isFirst { try charge(2 * Self.pieceBytes) }
    let content = try reader.skip(bytes, tag.wire)
    switch field.kind {
    case .varint, .fixed64:
      guard field.isRepeated else { return }
      let isPacked = tag.wire == .bytes
      try charge(Self.numberBytes * content.count)
      if field.slot >= 0 { try count(isPacked ? elements(bytes, content, field.kind) : 1, field, index, &message) }
    case .text, .bytes:
      try charge(Self.memory(field.kind, content.count) + (field.isRepeated ? Self.elementBytes : 0))
      if field.slot >= 0 { try count(1, field, index, &message) }
    case .message:
      guard tag.wire == .bytes else { throw .malformed("not its encoding") }
      // Merging them costs as much as all of them, each time.
      guard field.isRepeated || isFirst else { throw .malformed("a message twice in a field for one") }
      if field.slot >= 0 { try count(1, field, index, &message) }
      var inner = WireReader(content)
      try self.message(bytes, &inner, Int(field.shape))
    }
  }

  private mutating func charge(_ bytes: Int) throws(WireError) {
    memory += bytes
    guard memory <= most else {
      throw .limitExceeded("its elements are too many for its bytes: send several messages")
    }
  }

  private func count(
    _ elements: Int, _ field: WireTable.Entry, _ index: Int, _ message: inout Message
  ) throws(WireError) {
    message.elements[Int(field.slot)] += elements
    guard message.elements[Int(field.slot)] <= field.most else {
      throw .limitExceeded("more than \(field.most) \(table.names[index]): send them in several messages")
    }
  }

  private func elements(_ bytes: Span<UInt8>, _ content: Range<Int>, _ kind: WireField.Kind) -> Int {
    if kind == .fixed64 { return content.count / 8 }
    var elements = 0
    for place in content where bytes[place] < 0x80 { elements += 1 }
    return elements
  }

  // MARK: What things take of memory

  /// The arena's copy, and Swift's where it does not fit into the value itself.
  private static func memory(_ kind: WireField.Kind, _ count: Int) -> Int {
    if kind == .bytes { return count == 0 ? 0 : 2 * (pieceBytes + count) }
    return textBytes + count + (count <= smallText ? 0 : pieceBytes + count)
  }

  /// protobuf-c.c: FIRST_SCANNED_MEMBER_SLAB_SIZE.
  private static let fieldsOnStack = 16
  /// Its note of a field beyond those, in slabs of which at most half is empty.
  private static let noteBytes = 80
  /// Of an unknown field it keeps a struct and a copy.
  private static let unknownBytes = 96
  /// Around a message: the arena's head and rounding, and a place in a list.
  private static let messageBytes = 32
  /// Around something allocated: an array's and malloc's own head, and rounding.
  private static let pieceBytes = 48
  /// A text in the arena: head, end and rounding.
  private static let textBytes = 32
  /// A Swift text of so many bytes needs no memory of its own.
  private static let smallText = 15
  /// An element of a list of texts or bytes: its place in C's list and in Swift's.
  private static let elementBytes = 32
  /// A number of a list, for each of its bytes: eight in C's list and eight in Swift's.
  private static let numberBytes = 16
}

/// Walks the fields of one message in its raw bytes.
struct WireReader {
  enum Wire: Sendable {
    case varint, fixed64, bytes, fixed32
  }

  struct Tag: Sendable {
    let field: UInt32
    let wire: Wire
  }

  private var place: Int
  private let end: Int

  init(_ range: Range<Int>) {
    place = range.lowerBound
    end = range.upperBound
  }

  /// Where the content of a field is, if it is among the first few.
  static func first(_ field: UInt32, of data: [UInt8]) throws(WireError) -> Range<Int>? {
    var reader = WireReader(0..<data.count)
    for _ in 0..<fieldsAhead {
      guard let tag = try reader.tag(data.span) else { return nil }
      let content = try reader.skip(data.span, tag.wire)
      if tag.field == field, tag.wire == .bytes { return content }
    }
    return nil
  }

  private static let fieldsAhead = 8

  /// - Returns: nil at the end of the message.
  mutating func tag(_ bytes: Span<UInt8>) throws(WireError) -> Tag? {
    guard place < end else { return nil }
    let value = try varint(bytes)
    let wire: Wire =
      switch value & 7 {
      case 0: .varint
      case 1: .fixed64
      case 2: .bytes
      case 5: .fixed32
      default: throw Self.broken
      }
    guard let field = UInt32(exactly: value >> 3), field > 0 else { throw Self.broken }
    return Tag(field: field, wire: wire)
  }

  /// Goes on behind the field whose tag was read.
  /// - Returns: where its content is, without its length.
  mutating func skip(_ bytes: Span<UInt8>, _ wire: Wire) throws(WireError) -> Range<Int> {
    var start = place
    switch wire {
    case .varint: _ = try varint(bytes)
    case .fixed64: try advance(8)
    case .fixed32: try advance(4)
    case .bytes:
      let length = try varint(bytes)
      start = place
      guard length <= UInt64(end - place) else { throw Self.broken }
      place += Int(length)
    }
    return start..<place
  }

  private mutating func advance(_ count: Int) throws(WireError) {
    guard count <= end - place else { throw Self.broken }
    place += count
  }

  /// Most numbers, tags and lengths are one byte.
  @inline(__always)
  private mutating func varint(_ bytes: Span<UInt8>) throws(WireError) -> UInt64 {
    guard place < end, bytes[place] < 0x80 else { return try longVarint(bytes) }
    place += 1
    return UInt64(bytes[place - 1])
  }

  @inline(never)
  private mutating func longVarint(_ bytes: Span<UInt8>) throws(WireError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while place < end, shift < 70 {
      let byte = bytes[place]
      place += 1
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    throw Self.broken
  }

  private static var broken: WireError { .malformed("not its encoding") }
}
