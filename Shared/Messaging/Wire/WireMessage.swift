/// A message of `Protos/`, as a Swift value. The C structs never leave this module.
public protocol WireMessage: Sendable {
  /// The protobuf encoding.
  func encoded() -> [UInt8]

  /// Decodes one message, whoever sent it: what it may cost of memory is counted first (`WireScan`), and is bounded by
  /// how many bytes it has. The caller has bounded those (`Limits`).
  /// - Throws: `WireError.malformed` when the bytes are not such a message; `WireError.limitExceeded`.
  init(decoding data: [UInt8]) throws(WireError)
}

/// Why bytes are not the message they should be. Whoever sent them must change; a retry of the same bytes cannot help.
public enum WireError: Error, Equatable, CustomStringConvertible {
  case malformed(String)
  case missingField(String)
  case outOfRange(String)
  case limitExceeded(String)

  public var description: String {
    switch self {
    case .limitExceeded(let what): what
    case .malformed(let what): "malformed message: \(what)"
    case .missingField(let name): "malformed message: field \(name) is missing"
    case .outOfRange(let what): "malformed message: \(what)"
    }
  }
}
