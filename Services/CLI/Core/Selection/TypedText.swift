internal import Encoding
public import Model

/// What people type, as the value a column of some kind takes.
public enum TypedText {
  /// - Parameter name: of the field or column, for the error.
  /// - Throws: `schemaViolation` naming it, what it takes and what was given.
  public static func value(_ text: String, _ name: String, _ kind: FieldKind) throws(CaravanError) -> Value {
    switch kind {
    case .text: return .text(text)
    case .integer:
      if text.isEmpty { return .null }
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
