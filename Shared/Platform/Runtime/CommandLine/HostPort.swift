/// A numeric address or a name, and a TCP port: `127.0.0.1:8080`, `[::1]:8080`.
public struct HostPort: FlagValue, Hashable, CustomStringConvertible {
  /// Without brackets.
  public var host: String
  public var port: UInt16

  public init(_ host: String, _ port: UInt16) {
    self.host = host
    self.port = port
  }

  public init?(flagText: String) {
    guard let colon = flagText.lastIndex(of: ":"), let port = UInt16(flagText[flagText.index(after: colon)...]) else {
      return nil
    }
    var host = flagText[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty else { return nil }
    self.init(String(host), port)
  }

  /// Of a broker: `nats://HOST:PORT` or `tls://HOST:PORT`, where scheme and port (4222) may be left out, and a name
  /// with a password may stand before the host.
  /// - Returns: nil when nothing can be reached by it.
  public init?(brokerURL url: String) {
    let scheme = ["nats://", "tls://"].first(where: url.hasPrefix) ?? ""
    let rest = url.dropFirst(scheme.count).split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    guard !rest.hasSuffix(":"), !rest.contains(where: { $0 == "/" || $0.isWhitespace }),
      let address = HostPort(flagText: String(rest)) ?? HostPort(flagText: "\(rest):4222"), address.port > 0
    else { return nil }
    self = address
  }

  public static var flagKind: String { "an address and a port, such as 127.0.0.1:8080" }

  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Whether only this machine reaches it. A name that begins like an address (`127.example.org`) is none.
  public var isLoopback: Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    return host == "localhost" || host == "::1" || (parts.count == 4 && parts[0] == 127 && !parts.contains(nil))
  }

  /// Where this machine itself reaches it.
  public var reachable: HostPort {
    switch host {
    case "0.0.0.0": HostPort("127.0.0.1", port)
    case "::": HostPort("::1", port)
    default: self
    }
  }
}
