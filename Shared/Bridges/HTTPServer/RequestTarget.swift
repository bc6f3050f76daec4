/// The target of a request line, decoded strictly: every "%" is followed by two hex digits, the result is UTF-8 without
/// NUL.
package struct RequestTarget: Equatable {
  package let path: String
  package let segments: [String]
  package let query: [HTTPRequest.QueryItem]

  /// Nil if the bytes are no request target in origin, absolute or asterisk form (RFC 9112, 3.2).
  package init?(_ bytes: [UInt8]) {
    guard let origin = Self.originForm(bytes[...]) else { return nil }
    let parts = origin.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    guard let path = Self.decode(parts[0], plusIsSpace: false) else { return nil }
    var segments: [String] = []
    for part in parts[0].split(separator: UInt8(ascii: "/")) {
      guard let segment = Self.decode(part, plusIsSpace: false) else { return nil }
      segments.append(segment)
    }
    var query: [HTTPRequest.QueryItem] = []
    for item in parts.count > 1 ? parts[1].split(separator: UInt8(ascii: "&")) : [] {
      let pair = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decode(pair[0], plusIsSpace: true),
        let value = Self.decode(pair.count > 1 ? pair[1] : [], plusIsSpace: true)
      else { return nil }
      query.append(HTTPRequest.QueryItem(name: name, value: value))
    }
    (self.path, self.segments, self.query) = (path, segments, query)
  }

  private static func originForm(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    if bytes.first == UInt8(ascii: "/") || bytes.elementsEqual("*".utf8) { return bytes }
    for scheme in ["http://", "https://"] where bytes.starts(with: scheme.utf8) {
      let rest = bytes.dropFirst(scheme.utf8.count)
      guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return "/".utf8 + [] }
      return rest[slash...]
    }
    return nil
  }

  private static func decode(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) -> String? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      switch bytes[index] {
      case UInt8(ascii: "%"):
        guard index + 2 < bytes.endIndex, let high = hexDigit(bytes[index + 1]), let low = hexDigit(bytes[index + 2])
        else { return nil }
        decoded.append(high << 4 | low)
        index += 2
      case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
      case let byte: decoded.append(byte)
      }
      index += 1
    }
    return decoded.contains(0) ? nil : String(validating: decoded, as: UTF8.self)
  }

  private static func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
