/// Text that is not what its format allows. Never retried: the same input fails the same way.
///
/// Shadows `Swift.EncodingError` (of `Codable`, which Caravan does not use) wherever this module is imported.
public struct EncodingError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Code: String, Hashable, Sendable {
    /// A character outside the format's alphabet or grammar.
    case invalidCharacter
    /// The input stops too early, is too long to be one value, or has a length the format never produces.
    case invalidLength
    /// A second spelling of a value: unused bits set, a leading zero, a repeated key.
    case notCanonical
    /// A number or code point its type cannot hold.
    case outOfRange
    /// A limit of the decoder (bytes, depth) is exceeded.
    case limitExceeded
  }

  public let code: Code
  /// The format that was being read: "base32", "JSON", ….
  public let format: String
  /// Where in the input, in UTF-8 bytes from its start.
  public let offset: Int
  /// What is wrong there, in one line.
  public let problem: String

  public init(_ code: Code, format: String, offset: Int, _ problem: String) {
    self.code = code
    self.format = format
    self.offset = offset
    self.problem = problem
  }

  public var description: String { "\(format): \(problem) at byte \(offset)" }
}
