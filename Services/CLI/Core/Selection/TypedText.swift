internal import CaravanEncoding
public import CaravanModel

/// What people type, as the value a column of some kind takes.
public enum TypedText {
  /// - Parameter name: of the field or column, for the error.
  /// - Throws: `schemaViolation` naming it, what it takes and what was given.
  public static func value(_ text: String, _ name: String, _ kind: FieldKind) throws(CaravanError) -> Value {
    switch kind {
    case .text: return .text(text)
    case .reference: return text.isEmpty ? .null : .reference(Reference(to: text))
    case .integer, .date:
      if text.isEmpty { return .null }
      // A BOOLEAN is an integer, as in SQLite.
      if case .integer = kind, let truth = Bool(text.lowercased()) { return .integer(truth ? 1 : 0) }
      guard let number = Int64(text) else { throw mismatch(text, name, "a whole number") }
      return .integer(number)
    case .real:
      if text.isEmpty { return .null }
      guard let number = Double(text), number.isFinite else { throw mismatch(text, name, "a number") }
      return .real(number)
    case .data:
      if text.isEmpty { return .null }
      guard text.hasPrefix("0x"), let bytes = try? Hex.decode(String(text.dropFirst(2))) else {
        throw mismatch(text, name, "bytes: 0x and hexadecimal digits, or @FILE")
      }
      return .data(bytes)
    case .object:
      guard text.isEmpty else { throw mismatch(text, name, "an object: @FILE") }
      return .null
    case .location:
      if text.isEmpty { return .null }
      let parts = text.split(separator: ",").map { Double($0.drop { $0 == " " }) }
      guard parts.count == 2, let latitude = parts[0], let longitude = parts[1] else {
        throw mismatch(text, name, "a place: latitude,longitude in degrees")
      }
      return .location(try Location(latitude: latitude, longitude: longitude))
    }
  }

  /// Where nobody says what is expected.
  public static func guess(_ text: String) -> Value {
    if let number = Int64(text) { return .integer(number) }
    if let number = Double(text), number.isFinite { return .real(number) }
    return .text(text)
  }

  private static func mismatch(_ text: String, _ name: String, _ expected: String) -> CaravanError {
    CaravanError(.schemaViolation, "'\(name)' takes \(expected), not '\(text.prefix(80))'")
  }
}
