/// A message of `Protos/`, as a Swift value. The C structs never leave this module.
public protocol WireMessage: Sendable {
  /// The protobuf encoding.
  func encoded() -> [UInt8]

  /// Decodes one message. The caller has bounded `data` already (`Limits`).
  /// - Throws: `WireError.malformed` when the bytes are not such a message.
  init(decoding data: [UInt8]) throws(WireError)
}

/// Why bytes are not the message they should be. Whoever sent them must change; a retry of the same bytes cannot help.
public enum WireError: Error, Equatable, CustomStringConvertible {
  case malformed(String)
  case missingField(String)
  case outOfRange(String)

  public var description: String {
    switch self {
    case .malformed(let what): "malformed message: \(what)"
    case .missingField(let name): "malformed message: field \(name) is missing"
    case .outOfRange(let what): "malformed message: \(what)"
    }
  }
}
