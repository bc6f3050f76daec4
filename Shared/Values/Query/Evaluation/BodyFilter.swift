package import CaravanModel

/// A row filter as a store applies it to the bodies that it reads. It is a class since the compiler (Swift 6.3) crashes
/// at a `consuming` function of a struct that holds the tree.
package final class BodyFilter: Sendable {
  private let expression: Expression<Condition>
  private let fields: Set<UInt32>

  package init(_ filter: RowFilter) {
    expression = filter.expression
    fields = Set(expression.leaves.map(\.field))
  }

  /// Whether a row of this body is surely none that the reader wants.
  /// - Parameter body: encoded `Fields`; of what is none, or of a newer release, nothing is sure.
  package func excludes(_ body: [UInt8]) -> Bool {
    guard let found = try? FoundFields(of: fields, in: body.span) else { return false }
    // A filter has no NOT, so what may be is as good as what is.
    return expression.truth { condition in
      found[condition.field].cell(as: condition.kind, in: body).map(condition.truth) ?? .yes
    } != .yes
  }
}

extension RowFilter {
  /// The same as a tree.
  package var expression: Expression<Condition> {
    do throws(CaravanError) {
      var postfix = Postfix<Condition>("filter")
      for term in terms {
        switch term {
        case .test(let test): postfix.add(.leaf(Condition(test)))
        case .all(let count): try postfix.combineAll(count)
        case .any(let count): try postfix.combineAny(count)
        }
      }
      return try postfix.whole()
    } catch { preconditionFailure("a filter that was checked is refused: \(error)") }
  }
}

extension Condition {
  fileprivate init(_ test: RowFilter.Test) {
    guard let asked = Test(test.comparison, test.value) else {
      preconditionFailure("a filter that was checked compares (\(test.comparison)) with a list")
    }
    self.init(field: test.field, kind: test.kind, asked)
  }
}

/// What an encoded `Fields` has in the fields that a filter asks about.
private struct FoundFields {
  enum Content {
    case absent
    case text(Range<Int>)
    case integer(Int64)
    case real(Double)
    case data(Range<Int>)
    case object
    /// A place, a reference, a list.
    case other
    /// Of a newer release.
    case unknown

    /// As a field of this kind has it; nil: nobody here can tell.
    func cell(as kind: FieldKind, in body: [UInt8]) -> Cell? {
      switch (kind, self) {
      case (_, .unknown): nil
      case (.text, .text(let range)), (.data, .data(let range)): .bytes(body[range])
      case (.integer, .integer(let number)), (.date, .integer(let number)): .integer(number)
      case (.real, .integer(let number)): .real(Double(number))
      case (.real, .real(let number)): number.isNaN ? .null : .real(number)
      case (.object, .object): .present
      case (_, _): .null
      }
    }
  }

  private var found: [(field: UInt32, content: Content)]

  init(of fields: Set<UInt32>, in bytes: borrowing Span<UInt8>) throws(BodyProblem) {
    found = []
    var reader = ProtobufReader(0..<bytes.count)
    while !reader.isAtEnd {
      let (number, form) = try reader.tag(bytes)
      guard number == 1, form == .bytes else {
        try reader.skip(form, bytes)
        continue
      }
      let range = try reader.range(bytes)
      let (id, content) = try Self.field(bytes, range)
      guard fields.contains(id) else { continue }
      guard !found.contains(where: { $0.field == id }) else { throw .malformed("a field that stands twice") }
      found.append((id, content))
    }
  }

  subscript(field: UInt32) -> Content { found.first { $0.field == field }?.content ?? .absent }

  private static func field(
    _ bytes: borrowing Span<UInt8>, _ range: Range<Int>
  ) throws(BodyProblem) -> (id: UInt32, content: Content) {
    var reader = ProtobufReader(range)
    var id: UInt32 = 0
    var content = Content.absent
    while !reader.isAtEnd {
      let (number, form) = try reader.tag(bytes)
      switch (number, form) {
      case (1, .varint): id = UInt32(truncatingIfNeeded: try reader.varint(bytes))
      case (2, .bytes): content = .text(try reader.range(bytes))
      case (3, .varint):
        // ZigZag, as protobuf has its sint64.
        let number = try reader.varint(bytes)
        content = .integer(Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1))
      case (4, .fixed64): content = .real(Double(bitPattern: try reader.fixed64(bytes)))
      case (5, .bytes): content = .data(try reader.range(bytes))
      case (6, .bytes):
        try reader.skip(form, bytes)
        content = .object
      case (7...9, .bytes):
        try reader.skip(form, bytes)
        content = .other
      case (_, _):
        try reader.skip(form, bytes)
        content = .unknown
      }
    }
    return (id, content)
  }
}
