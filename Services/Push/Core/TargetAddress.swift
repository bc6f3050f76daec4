package import CaravanModel

/// The address of a push target: `https://host[:port][/path][?query]`, in characters that no two readers of addresses
/// understand differently.
package struct TargetAddress: Sendable, Hashable {
  package let url: String
  /// In small letters; of IPv6 without brackets.
  package let host: String
  package let port: UInt16
  package let isEncrypted: Bool

  /// - Throws: `invalidData` that says what is wrong with it; `limitExceeded` beyond `PushLimits.urlBytes`.
  package init(_ url: String) throws(CaravanError) {
    guard url.utf8.count <= PushLimits.urlBytes else {
      throw CaravanError(
        .limitExceeded, "the address of a push target has \(url.utf8.count) bytes: the limit is \(PushLimits.urlBytes)")
    }
    func refused(_ reason: String) -> CaravanError {
      CaravanError(.invalidData, "'\(url.prefix(80))' is no address of a push target: \(reason)")
    }
    let isEncrypted = url.hasPrefix("https://")
    guard isEncrypted || url.hasPrefix("http://") else { throw refused("it begins with https://") }
    let rest = url.dropFirst(isEncrypted ? 8 : 7)
    guard rest.utf8.allSatisfy(Self.isPlain) else {
      throw refused("it has characters that must be written as %XX, or a fragment")
    }
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard !authority.contains("@") else { throw refused("it names a user") }
    let (host, port) = Self.split(authority)
    guard let host, Self.isHost(host) else { throw refused("it has no host after https://") }
    guard port?.isEmpty != true, let number = port.map({ UInt16($0) }) ?? (isEncrypted ? 443 : 80), number > 0 else {
      throw refused("its port is none")
    }
    self.url = url
    self.host = host.lowercased()
    self.port = number
    self.isEncrypted = isEncrypted
  }

  /// What a proof of who sends is for (RFC 6454 §6.2).
  package var origin: String {
    let shown = host.contains(":") ? "[\(host)]" : host
    let isUsual = port == (isEncrypted ? 443 : 80)
    return (isEncrypted ? "https://" : "http://") + shown + (isUsual ? "" : ":\(port)")
  }

  private static func split(_ authority: Substring) -> (host: Substring?, port: Substring?) {
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return (nil, nil) }
      let rest = authority[authority.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { return (nil, nil) }
      return (authority[authority.index(after: authority.startIndex)..<end], rest.isEmpty ? nil : rest.dropFirst())
    }
    guard let colon = authority.firstIndex(of: ":") else { return (authority, nil) }
    return (authority[..<colon], authority[authority.index(after: colon)...])
  }

  /// Printable ASCII without what RFC 3986 allows nowhere, and without `#`.
  private static func isPlain(_ byte: UInt8) -> Bool {
    (0x21...0x7e).contains(byte) && !"\"<>\\^`{|}#".utf8.contains(byte)
  }

  private static func isHost(_ text: Substring) -> Bool {
    if text.contains(":") {
      return text.utf8.allSatisfy { isHexadecimal($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
    }
    guard (1...253).contains(text.utf8.count) else { return false }
    return text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      (1...63).contains(label.utf8.count) && label.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
    }
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool { Character(UnicodeScalar(byte)).isHexDigit }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    let character = Character(UnicodeScalar(byte))
    return character.isASCII && (character.isLetter || character.isWholeNumber)
  }
}
