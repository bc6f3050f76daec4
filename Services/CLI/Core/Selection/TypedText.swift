internal import CaravanEncoding
public import CaravanModel

/// What people type, as the value a column of some kind takes.
public enum TypedText {
  /// What a help text says of values that are not plain texts and numbers.
  public static let help = """
    A DATE is 2026-11-27, 2026-11-27T10:00:00Z or Unix milliseconds. A LOCATION is latitude,longitude in degrees.
    A REFERENCE is the id of a row of the same table: owning:ID where this row is to go when that one is deleted,
    validating:ID where that one cannot be deleted as long as this row refers to it. A LIST is in brackets, its values
    in quotes unless they are numbers: '["a","b"]', '[1,2]', '["owning:ID"]'. A BLOB is 0x and hexadecimal digits, or
    @FILE. With nothing behind the =, the column is null; a VARCHAR is then empty.
    """

  /// - Parameters:
  ///   - name: of the field or column, for the error.
  ///   - isList: the value is a list of that kind, which is typed in JSON, and its texts as the values by themselves.
  /// - Throws: `schemaViolation` naming it, what it takes and what was given.
  public static func value(
    _ text: String, _ name: String, _ kind: FieldKind, isList: Bool = false
  ) throws(CaravanError) -> Value {
    if text.isEmpty, isList || kind != .text { return .null }
    if isList { return try list(text, name, kind) }
    switch kind {
    case .text: return .text(text)
    case .reference: return .reference(ReferenceText.reference(text))
    case .date:
      guard let milliseconds = DateText.milliseconds(text) else {
        throw mismatch(text, name, "a date: 2026-11-27, 2026-11-27T10:00:00Z or Unix milliseconds")
      }
      return .integer(milliseconds)
    case .integer:
      // A BOOLEAN is an integer, as in SQLite.
      if let truth = Bool(text.lowercased()) { return .integer(truth ? 1 : 0) }
      guard let number = Int64(text) else { throw mismatch(text, name, "a whole number") }
      return .integer(number)
    case .real:
      guard let number = Double(text), number.isFinite else { throw mismatch(text, name, "a number") }
      return .real(number)
    case .data:
      guard text.hasPrefix("0x"), let bytes = try? Hex.decode(String(text.dropFirst(2))) else {
        throw mismatch(text, name, "bytes: 0x and hexadecimal digits, or @FILE")
      }
      return .data(bytes)
    case .object: throw mismatch(text, name, "an object: @FILE")
    case .location:
      let parts = text.split(separator: ",").map { Double($0.drop { $0 == " " }) }
      guard parts.count == 2, let latitude = parts[0], let longitude = parts[1] else {
        throw mismatch(text, name, "a place: latitude,longitude in degrees")
      }
      return .location(try Location(latitude: latitude, longitude: longitude))
    }
  }

  private static func list(_ text: String, _ name: String, _ kind: FieldKind) throws(CaravanError) -> Value {
    guard let items = (try? JSON.parse(text))?.arrayValue else {
      throw mismatch(text, name, "a list: [\"a\",\"b\"] or [1,2]")
    }
    var values: [Value] = []
    for item in items {
      switch item {
      // An empty text is one here: in a list there is no null.
      case .string(let text) where kind == .text || !text.isEmpty: values.append(try value(text, name, kind))
      // A number is neither a text nor a name.
      case .int where kind != .text && kind != .reference, .double where kind != .text && kind != .reference:
        values.append(try value(item.encoded(), name, kind))
      case .string, .int, .double, .bool, .null, .array, .object:
        throw mismatch(item.encoded(), name, "a list of \(kind.rawValue), each as it is typed by itself, in quotes")
      }
    }
    return .list(values)
  }

  /// Where nobody says what is expected.
  public static func guess(_ text: String) -> Value {
    if let number = Int64(text) { return .integer(number) }
    if let number = Double(text), number.isFinite { return .real(number) }
    return .text(text)
  }

  /// The same, where a text may be in single quotes, so that digits can be one.
  public static func parameter(_ text: String) -> Value {
    guard text.count > 1, text.hasPrefix("'"), text.hasSuffix("'") else { return guess(text) }
    return .text(String(text.dropFirst().dropLast()))
  }

  private static func mismatch(_ text: String, _ name: String, _ expected: String) -> CaravanError {
    CaravanError(.schemaViolation, "'\(name)' takes \(expected), not '\(text.prefix(80))'")
  }
}

/// `ROW`, `owning:ROW`, `validating:ROW`: a reference as people type and read it.
public enum ReferenceText {
  private static let words: [(word: String, kind: Reference.Kind)] = [
    ("owning", .owning), ("validating", .validating), ("plain", .plain),
  ]

  /// A name that begins with one of the words is typed behind `plain:`.
  public static func reference(_ text: String) -> Reference {
    for (word, kind) in words where text.hasPrefix("\(word):") {
      return Reference(to: String(text.dropFirst(word.count + 1)), kind)
    }
    return Reference(to: text)
  }

  /// What reads as the same reference.
  public static func text(_ reference: Reference) -> String {
    let isClear = reference.kind == .plain && !words.contains { reference.target.hasPrefix("\($0.word):") }
    return isClear ? reference.target : "\(reference.kind.word):\(reference.target)"
  }
}
