public import CaravanModel

/// The cells of an encoded `Fields` (model.proto), read where they lie: to ask a few things of a row costs no decoding
/// of the others.
public struct BodyCells: Sendable {
  private enum Content {
    case text(Range<Int>)
    case integer(Int64)
    case real(Double)
    case data(Range<Int>)
    case object
    case place(Range<Int>)
    case reference(Range<Int>)
    case list(Range<Int>)
    /// Of a newer release.
    case unknown
  }

  private let body: [UInt8]
  private var found: [(field: UInt32, content: Content)] = []

  /// - Parameter fields: those that will be asked for; nil: any.
  /// - Throws: `invalidData` for bytes that are no `Fields`, and for a field that stands twice.
  public init(_ body: [UInt8], fields: Set<UInt32>? = nil) throws(CaravanError) {
    do throws(BodyProblem) { try self.init(scanning: body, fields: fields) } catch {
      throw CaravanError(.invalidData, "a record's body is malformed: encode its fields anew")
    }
  }

  init(scanning body: [UInt8], fields: Set<UInt32>?) throws(BodyProblem) {
    self.body = body
    let bytes = body.span
    var reader = ProtobufReader(0..<bytes.count)
    while !reader.isAtEnd {
      let (number, form) = try reader.tag(bytes)
      guard number == 1, form == .bytes else {
        try reader.skip(form, bytes)
        continue
      }
      let (id, content) = try Self.field(bytes, try reader.range(bytes))
      guard let content, fields?.contains(id) ?? true else { continue }
      guard !found.contains(where: { $0.field == id }) else { throw .malformed("a field that stands twice") }
      found.append((id, content))
    }
  }

  /// Without any field.
  public init() { body = [] }

  private static func field(
    _ bytes: borrowing Span<UInt8>, _ range: Range<Int>
  ) throws(BodyProblem) -> (id: UInt32, content: Content?) {
    var reader = ProtobufReader(range)
    var id: UInt32 = 0
    var content: Content?
    while !reader.isAtEnd {
      let (number, form) = try reader.tag(bytes)
      switch (number, form) {
      case (1, .varint): id = UInt32(truncatingIfNeeded: try reader.varint(bytes))
      case (2, .bytes): content = .text(try reader.range(bytes))
      case (3, .varint): content = .integer(zigZag(try reader.varint(bytes)))
      case (4, .fixed64): content = .real(Double(bitPattern: try reader.fixed64(bytes)))
      case (5, .bytes): content = .data(try reader.range(bytes))
      case (6, .bytes):
        try reader.skip(form, bytes)
        content = .object
      case (7, .bytes): content = .place(try reader.range(bytes))
      case (8, .bytes): content = .reference(try reader.range(bytes))
      case (9, .bytes): content = .list(try reader.range(bytes))
      case (_, _):
        try reader.skip(form, bytes)
        content = .unknown
      }
    }
    return (id, content)
  }

  /// As protobuf has its sint64.
  private static func zigZag(_ number: UInt64) -> Int64 {
    Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }

  /// As a field of this kind has it: null where there is nothing, and where it is of another kind.
  public subscript(field: UInt32, kind: FieldKind, isList isList: Bool) -> Cell {
    known(field, kind, isList: isList) ?? .null
  }

  /// - Returns: nil: a newer release wrote what nobody here can tell.
  func known(_ field: UInt32, _ kind: FieldKind, isList: Bool = false) -> Cell? {
    guard let content = found.first(where: { $0.field == field })?.content else { return .null }
    switch (kind, content) {
    case (_, .unknown): return nil
    case (_, .list(let range)) where isList: return (try? items(range, kind)).map { .list($0) } ?? .null
    case (_, _) where isList: return .null
    case (.text, .text(let range)), (.data, .data(let range)): return .bytes(body[range])
    case (.integer, .integer(let number)), (.date, .integer(let number)): return .integer(number)
    case (.real, .integer(let number)): return .real(Double(number))
    case (.real, .real(let number)): return Self.real(number)
    case (.object, .object): return .present
    case (.location, .place(let range)): return (try? place(range)) ?? .null
    case (.reference, .reference(let range)): return (try? target(range)) ?? .null
    case (_, _): return .null
    }
  }

  private static func real(_ number: Double) -> Cell { number.isNaN ? .null : .real(number) }

  // MARK: What is made of several parts

  private func place(_ range: Range<Int>) throws(BodyProblem) -> Cell {
    let bytes = body.span
    var reader = ProtobufReader(range)
    var (latitude, longitude) = (0.0, 0.0)
    while !reader.isAtEnd {
      let (number, form) = try reader.tag(bytes)
      switch (number, form) {
      case (1, .fixed64): latitude = Double(bitPattern: try reader.fixed64(bytes))
      case (2, .fixed64): longitude = Double(bitPattern: try reader.fixed64(bytes))
      case (_, _): try reader.skip(form, bytes)
      }
    }
    return (try? Location(latitude: latitude, longitude: longitude)).map { .place($0) } ?? .null
  }

  private func target(_ range: Range<Int>) throws(BodyProblem) -> Cell {
    let bytes = body.span
    var reader = ProtobufReader(range)
    var target = 0..<0
    while !reader.isAtEnd {
      let (number, form) = try reader.tag(bytes)
      if number == 1, form == .bytes { target = try reader.range(bytes) } else { try reader.skip(form, bytes) }
    }
    return .bytes(body[target])
  }

  /// Those of another kind are none.
  private func items(_ range: Range<Int>, _ kind: FieldKind) throws(BodyProblem) -> [Cell] {
    let bytes = body.span
    var reader = ProtobufReader(range)
    var cells: [Cell] = []
    while !reader.isAtEnd {
      let (number, form) = try reader.tag(bytes)
      switch (number, form, kind) {
      case (1, .bytes, .text), (4, .bytes, .data): cells.append(.bytes(body[try reader.range(bytes)]))
      case (2, .varint, _): cells += Self.number(Self.zigZag(try reader.varint(bytes)), kind)
      case (2, .bytes, _):
        var packed = ProtobufReader(try reader.range(bytes))
        while !packed.isAtEnd { cells += Self.number(Self.zigZag(try packed.varint(bytes)), kind) }
      case (3, .fixed64, .real): cells.append(Self.real(Double(bitPattern: try reader.fixed64(bytes))))
      case (3, .bytes, .real):
        var packed = ProtobufReader(try reader.range(bytes))
        while !packed.isAtEnd { cells.append(Self.real(Double(bitPattern: try packed.fixed64(bytes)))) }
      case (5, .bytes, .object):
        try reader.skip(form, bytes)
        cells.append(.present)
      case (6, .bytes, .location): cells.append(try place(try reader.range(bytes)))
      case (7, .bytes, .reference): cells.append(try target(try reader.range(bytes)))
      case (_, _, _): try reader.skip(form, bytes)
      }
    }
    return cells
  }

  private static func number(_ number: Int64, _ kind: FieldKind) -> [Cell] {
    switch kind {
    case .integer, .date: [.integer(number)]
    case .real: [.real(Double(number))]
    case .text, .data, .object, .location, .reference: []
    }
  }
}
