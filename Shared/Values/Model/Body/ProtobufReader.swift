/// How a field's value stands on the wire (protobuf encoding, "Message Structure").
package enum WireForm: UInt64 {
  case varint = 0
  case fixed64 = 1
  case bytes = 2
  case fixed32 = 5
}

/// Reads protobuf's wire form where it lies. Every position lies within the bytes, and every read moves on.
package struct ProtobufReader {
  package private(set) var position: Int
  package let end: Int

  package init(_ range: Range<Int>) {
    position = range.lowerBound
    end = range.upperBound
  }

  package var isAtEnd: Bool { position == end }

  package mutating func varint(_ bytes: borrowing Span<UInt8>) throws(BodyProblem) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while position < end {
      let byte = bytes[position]
      position += 1
      guard shift < 63 || byte <= 1 else { throw BodyProblem.malformed("a number of more than 64 bits") }
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    throw BodyProblem.malformed("a number cut short")
  }

  package mutating func tag(_ bytes: borrowing Span<UInt8>) throws(BodyProblem) -> (number: UInt64, form: WireForm) {
    let key = try varint(bytes)
    guard let form = WireForm(rawValue: key & 7), (1...UInt64(UInt32.max >> 3)).contains(key >> 3) else {
      throw BodyProblem.malformed("a tag that no field has")
    }
    return (key >> 3, form)
  }

  /// The range of a length-delimited value.
  package mutating func range(_ bytes: borrowing Span<UInt8>) throws(BodyProblem) -> Range<Int> {
    let length = try varint(bytes)
    guard length <= UInt64(end - position) else { throw BodyProblem.malformed("a value cut short") }
    defer { position += Int(length) }
    return position..<(position + Int(length))
  }

  package mutating func skip(_ form: WireForm, _ bytes: borrowing Span<UInt8>) throws(BodyProblem) {
    switch form {
    case .varint: _ = try varint(bytes)
    case .bytes: _ = try range(bytes)
    case .fixed64: try advance(8)
    case .fixed32: try advance(4)
    }
  }

  package mutating func fixed64(_ bytes: borrowing Span<UInt8>) throws(BodyProblem) -> UInt64 {
    let start = position
    try advance(8)
    var value: UInt64 = 0
    for offset in 0..<8 { value |= UInt64(bytes[start + offset]) << UInt64(8 * offset) }
    return value
  }

  private mutating func advance(_ count: Int) throws(BodyProblem) {
    guard count <= end - position else { throw BodyProblem.malformed("a value cut short") }
    position += count
  }
}
