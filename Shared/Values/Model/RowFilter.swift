/// What a reader of a zone may want of its rows, in postfix order (UNI-15). A store need not bring the body of a row of
/// which it surely does not hold. So it only ever says less than the reader's own query does, and who reads the same
/// zone for the same query may use another filter, or none, with every page.
///
/// Fields are known by their ids, and what a field holds that is of another kind than the reader takes is null: so a
/// store need not know record types, and a row of any type is judged as the reader judges it.
public struct RowFilter: Sendable, Hashable {
  /// The field is compared as `Comparison` says; texts and data byte by byte, a real field also where it is an integer.
  public struct Test: Sendable, Hashable {
    public let field: UInt32
    public let kind: FieldKind
    public let comparison: Comparison
    public let value: Value

    public init(_ field: UInt32, _ kind: FieldKind, _ comparison: Comparison, _ value: Value) {
      self.field = field
      self.kind = kind
      self.comparison = comparison
      self.value = value
    }
  }

  public enum Term: Sendable, Hashable {
    case test(Test)
    /// All of the last `n` results hold.
    case all(UInt32)
    /// At least one of the last `n` results holds.
    case any(UInt32)
  }

  public let terms: [Term]

  /// - Throws: `invalidData` for terms that come to no single result, or a comparison that can not be made;
  ///   `limitExceeded` beyond `Limits.predicateTerms`.
  public init(_ terms: [Term]) throws(CaravanError) {
    guard terms.count <= Limits.predicateTerms else {
      throw CaravanError(
        .limitExceeded, "a filter has \(terms.count) terms: the limit is \(Limits.predicateTerms)")
    }
    var results: UInt32 = 0
    for term in terms {
      switch term {
      case .test(let test):
        try test.check()
        results += 1
      case .all(let count), .any(let count):
        guard count > 0, count <= results else {
          throw CaravanError(.invalidData, "a filter combines \(count) of \(results) results: it takes 1 to that many")
        }
        results -= count - 1
      }
    }
    guard results == 1 else {
      throw CaravanError(.invalidData, "a filter leaves \(results) results: combine them to one")
    }
    self.terms = terms
  }

  /// Whether a row of this body is surely none that the reader wants.
  /// - Parameter body: encoded `Fields`; of what is none, or of a newer release, nothing is sure.
  package func excludes(_ body: [UInt8]) -> Bool {
    guard let found = try? FoundFields(terms, in: body.span) else { return false }
    var results: [Bool] = []
    for term in terms {
      switch term {
      case .test(let test): results.append(test.mayHold(of: found[test.field], in: body))
      case .all(let count): results.combine(count) { $0.allSatisfy(\.self) }
      case .any(let count): results.combine(count) { $0.contains(true) }
      }
    }
    return results == [false]
  }
}

extension [Bool] {
  fileprivate mutating func combine(_ count: UInt32, _ combined: (ArraySlice<Bool>) -> Bool) {
    let result = combined(suffix(Int(count)))
    removeLast(Int(count))
    append(result)
  }
}

extension RowFilter.Test {
  fileprivate func check() throws(CaravanError) {
    let fits =
      switch (kind, value) {
      case (.text, .text), (.integer, .integer), (.date, .integer), (.data, .data): comparison != .prefix
      case (.real, .real(let number)): comparison != .prefix && !number.isNaN
      case (.location, _), (.reference, _): false
      case (_, .null): comparison == .equal || comparison == .notEqual
      case (.text, _), (.integer, _), (.date, _), (.real, _), (.data, _), (.object, _): false
      }
    guard field > 0, fits else {
      throw CaravanError(
        .invalidData,
        "a filter compares (\(comparison.rawValue)) field \(field), \(kind.rawValue), with \(value.kindName): it cannot"
      )
    }
  }

  fileprivate func mayHold(of content: FoundFields.Content, in body: [UInt8]) -> Bool {
    switch (kind, content, value) {
    case (_, .unknown, _): true
    case (_, .absent, .null): comparison == .equal
    case (.text, .text, .null), (.integer, .integer, .null), (.date, .integer, .null), (.data, .data, .null),
      (.object, .object, .null), (.real, .integer, .null):
      comparison == .notEqual
    case (.real, .real(let found), .null): (comparison == .equal) == found.isNaN
    case (.text, .text(let range), .text(let text)): comparison.holds(body[range], Array(text.utf8)[...])
    case (.data, .data(let range), .data(let data)): comparison.holds(body[range], data[...])
    case (.integer, .integer(let found), .integer(let number)), (.date, .integer(let found), .integer(let number)):
      comparison.holds(found < number, found == number)
    case (.real, .real(let found), .real(let number)) where !found.isNaN:
      comparison.holds(found < number, found == number)
    case (.real, .integer(let found), .real(let number)):
      comparison.holds(Double(found) < number, Double(found) == number)
    // Another kind: null.
    case (_, _, .null): comparison == .equal
    case (_, _, _): comparison == .notEqual
    }
  }
}

extension Comparison {
  fileprivate func holds(_ isLess: Bool, _ isEqual: Bool) -> Bool {
    switch self {
    case .equal: isEqual
    case .notEqual: !isEqual
    case .less: isLess
    case .lessOrEqual: isLess || isEqual
    case .greater: !isLess && !isEqual
    case .greaterOrEqual: !isLess
    case .prefix: preconditionFailure("no filter compares prefixes")
    }
  }

  fileprivate func holds(_ found: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Bool {
    holds(found.lexicographicallyPrecedes(value), found == value)
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
  }

  private var found: [(field: UInt32, content: Content)]

  init(_ terms: [RowFilter.Term], in bytes: borrowing Span<UInt8>) throws(BodyProblem) {
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
      guard terms.contains(where: { if case .test(let test) = $0 { test.field == id } else { false } }) else {
        continue
      }
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
