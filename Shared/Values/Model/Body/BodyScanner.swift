/// Walks an encoded `Fields` (model.proto) once, without building it. Bodies pass through the cloud untouched: all that
/// is asked is whether every reader will be able to decode them, whether they fit their record type, and what they
/// refer to.
package struct BodyScanner {
  /// Hashes that the objects name, concatenated as they stand.
  package private(set) var hashes: [UInt8] = []
  /// Those of the hashes that are lists.
  package internal(set) var lists: [List] = []
  /// Owning and validating references, each once.
  package private(set) var references: [Reference] = []

  /// The chunk that lists those of an object of `size` bytes.
  package struct List: Sendable, Hashable {
    package var hash: ChunkHash
    package var size: UInt64

    package init(hash: ChunkHash, size: UInt64) {
      self.hash = hash
      self.size = size
    }
  }

  /// What a `Field` holds, by its place in the oneof.
  enum Content {
    case null
    case one(Shape)
    /// A list of values of one shape; nil: an empty list.
    case list(Shape?)
    /// Of a newer release.
    case unknown
  }

  enum Shape: String {
    case text
    case integer
    case real
    case data
    case object
    case location
    case reference
  }

  package init() {}

  /// - Parameter type: fields that it does not know pass, they are a newer client's (CK-26). nil: any field passes.
  package mutating func scan(_ bytes: borrowing Span<UInt8>, against type: RecordType?) throws(BodyProblem) {
    var reader = ProtobufReader(0..<bytes.count)
    var last: UInt32 = 0
    while !reader.isAtEnd {
      let (number, form) = try reader.tag(bytes)
      guard number == 1 else {
        try reader.skip(form, bytes)
        continue
      }
      guard form == .bytes else { throw .malformed("a field that is no message") }
      let (id, content) = try field(bytes, try reader.range(bytes))
      guard id > last else { throw .malformed("field ids that do not ascend, each once, from 1") }
      last = id
      try type?.check(content, ofField: id)
    }
  }

  private mutating func field(
    _ bytes: borrowing Span<UInt8>, _ range: Range<Int>
  ) throws(BodyProblem) -> (id: UInt32, content: Content) {
    var reader = ProtobufReader(range)
    var id: UInt32 = 0
    var content = Content.null
    while !reader.isAtEnd {
      let (number, form) = try reader.tag(bytes)
      if number == 1 {
        guard form == .varint, id == 0 else { throw .malformed("a field with more than one id") }
        guard let given = UInt32(exactly: try reader.varint(bytes)) else {
          throw .malformed("a field id beyond 32 bits")
        }
        id = given
      } else {
        guard case .null = content else { throw .malformed("a field with more than one value") }
        content = try value(bytes, number, form, &reader)
      }
    }
    return (id, content)
  }

  private mutating func value(
    _ bytes: borrowing Span<UInt8>, _ number: UInt64, _ form: WireForm, _ reader: inout ProtobufReader
  ) throws(BodyProblem) -> Content {
    switch (number, form) {
    case (2, .bytes):
      try Self.checkText(bytes, try reader.range(bytes))
      return .one(.text)
    case (3, .varint):
      _ = try reader.varint(bytes)
      return .one(.integer)
    case (4, .fixed64):
      try reader.skip(.fixed64, bytes)
      return .one(.real)
    case (5, .bytes):
      _ = try reader.range(bytes)
      return .one(.data)
    case (6, .bytes):
      try object(bytes, try reader.range(bytes))
      return .one(.object)
    case (7, .bytes):
      try Self.checkLocation(bytes, try reader.range(bytes))
      return .one(.location)
    case (8, .bytes):
      try reference(bytes, try reader.range(bytes))
      return .one(.reference)
    case (9, .bytes): return .list(try list(bytes, try reader.range(bytes)))
    case (2...9, _): throw .malformed("a value in another form than its kind has")
    case (_, _):
      try reader.skip(form, bytes)
      return .unknown
    }
  }

  mutating func append(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) {
    hashes.reserveCapacity(hashes.count + range.count)
    for position in range { hashes.append(bytes[position]) }
  }

  mutating func append(_ reference: Reference) throws(BodyProblem) {
    guard reference.kind != .plain, !references.contains(reference) else { return }
    references.append(reference)
    guard references.count <= Limits.referencesPerRecord else { throw .tooManyReferences(references.count) }
  }

  /// UTF-8 without NUL, at which C readers would end the text. Looked at by words: byte by byte 250 bytes took 3,200
  /// instructions.
  static func checkText(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) throws(BodyProblem) {
    let (ones, tops): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
    let raw = unsafe bytes.bytes
    var all: UInt64 = 0
    var position = range.lowerBound
    while position <= range.upperBound - 8 {
      let word = unsafe raw.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self)
      // Not zero if one of the bytes is (https://graphics.stanford.edu/~seander/bithacks.html#ZeroInWord).
      guard (word &- ones) & ~word & tops == 0 else { throw .malformed("text with a NUL byte") }
      all |= word
      position += 8
    }
    while position < range.upperBound {
      guard bytes[position] != 0 else { throw .malformed("text with a NUL byte") }
      all |= UInt64(bytes[position])
      position += 1
    }
    guard all & tops != 0 else { return }
    guard (try? UTF8Span(validating: bytes.extracting(range))) != nil else {
      throw .malformed("text that is not UTF-8")
    }
  }
}

extension RecordType {
  fileprivate func check(_ content: BodyScanner.Content, ofField id: UInt32) throws(BodyProblem) {
    // Ids ascend from 1 without gaps as long as no field was removed, so the first look nearly always finds it.
    let guess = Int(id) - 1
    let known = guess < fields.count && fields[guess].id == id ? fields[guess] : field(id: id)
    guard let field = known, !field.accepts(content) else { return }
    throw .violation(field, actual: content.name)
  }
}

extension FieldDefinition {
  fileprivate func accepts(_ content: BodyScanner.Content) -> Bool {
    switch content {
    case .null, .unknown: true
    case .one(let shape): isEncrypted ? shape == .data : !isList && kind.accepts(shape)
    case .list(let shape): !isEncrypted && isList && (shape.map { kind.accepts($0) } ?? true)
    }
  }
}

extension FieldKind {
  fileprivate func accepts(_ shape: BodyScanner.Shape) -> Bool {
    switch (self, shape) {
    case (.text, .text), (.integer, .integer), (.real, .real), (.real, .integer), (.data, .data), (.object, .object),
      (.date, .integer), (.location, .location), (.reference, .reference):
      true
    case (.text, _), (.integer, _), (.real, _), (.data, _), (.object, _), (.date, _), (.location, _), (.reference, _):
      false
    }
  }
}

extension BodyScanner.Content {
  fileprivate var name: String {
    switch self {
    case .null: "null"
    case .one(let shape): shape.rawValue
    case .list(let shape): shape.map { "list of \($0.rawValue)" } ?? "list"
    case .unknown: "of a kind of its own"
    }
  }
}
