extension BodyScanner {
  /// A `ListValue`: items of one kind.
  mutating func list(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) throws(BodyProblem) -> Shape? {
    var reader = ProtobufReader(range)
    var shape: Shape?
    var count = 0
    while !reader.isAtEnd {
      let (number, form) = try reader.tag(bytes)
      guard let (found, items) = try items(bytes, number, form, &reader) else { continue }
      guard shape == nil || shape == found else { throw .malformed("a list of more than one kind") }
      shape = found
      count += items
      guard count <= Limits.listItems else { throw .tooManyItems(count) }
    }
    return shape
  }

  /// One item, or a packed run of them; nil: of a newer release.
  private mutating func items(
    _ bytes: borrowing Span<UInt8>, _ number: UInt64, _ form: WireForm, _ reader: inout ProtobufReader
  ) throws(BodyProblem) -> (Shape, Int)? {
    switch (number, form) {
    case (1, .bytes):
      try Self.checkText(bytes, try reader.range(bytes))
      return (.text, 1)
    case (2, .bytes):
      var packed = ProtobufReader(try reader.range(bytes))
      var count = 0
      while !packed.isAtEnd {
        _ = try packed.varint(bytes)
        count += 1
      }
      return (.integer, count)
    case (2, .varint):
      _ = try reader.varint(bytes)
      return (.integer, 1)
    case (3, .bytes):
      let size = try reader.range(bytes).count
      guard size.isMultiple(of: 8) else { throw .malformed("a list of reals cut short") }
      return (.real, size / 8)
    case (3, .fixed64):
      try reader.skip(.fixed64, bytes)
      return (.real, 1)
    case (4, .bytes):
      _ = try reader.range(bytes)
      return (.data, 1)
    case (5, .bytes):
      try object(bytes, try reader.range(bytes))
      return (.object, 1)
    case (6, .bytes):
      try Self.checkLocation(bytes, try reader.range(bytes))
      return (.location, 1)
    case (7, .bytes):
      try reference(bytes, try reader.range(bytes))
      return (.reference, 1)
    case (1...7, _): throw .malformed("a list in another form than it has")
    case (_, _):
      try reader.skip(form, bytes)
      return nil
    }
  }

  /// A `Location` that is a place on earth.
  static func checkLocation(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) throws(BodyProblem) {
    var reader = ProtobufReader(range)
    var (latitude, longitude) = (0.0, 0.0)
    while !reader.isAtEnd {
      let (number, form) = try reader.tag(bytes)
      switch (number, form) {
      case (1, .fixed64): latitude = Double(bitPattern: try reader.fixed64(bytes))
      case (2, .fixed64): longitude = Double(bitPattern: try reader.fixed64(bytes))
      case (1...2, _): throw .malformed("a location in another form than it has")
      case (_, _): try reader.skip(form, bytes)
      }
    }
    guard Location.exists(latitude: latitude, longitude: longitude) else {
      throw .malformed("a location that is no place on earth")
    }
  }

  /// A `Reference` to a name that a record can have.
  mutating func reference(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) throws(BodyProblem) {
    var reader = ProtobufReader(range)
    var target: Range<Int>?
    var kind = Reference.Kind.plain
    while !reader.isAtEnd {
      let (number, form) = try reader.tag(bytes)
      switch (number, form) {
      case (1, .bytes): target = try reader.range(bytes)
      case (2, .varint):
        switch try reader.varint(bytes) {
        case 1: kind = .owning
        case 2: kind = .validating
        default: kind = .plain
        }
      case (1...2, _): throw .malformed("a reference in another form than it has")
      case (_, _): try reader.skip(form, bytes)
      }
    }
    guard let target else { throw .malformed("a reference to nothing") }
    try Self.checkText(bytes, target)
    let name = String(decoding: target.map { bytes[$0] }, as: UTF8.self)
    guard (try? RecordName.check(name)) != nil else { throw .malformed("a reference to a name that no record has") }
    try append(Reference(to: name, kind))
  }
}
