public import CaravanCrypto
internal import CaravanEncoding
public import CaravanModel
public import CaravanRuntime

extension Flag where Value == String {
  /// The secrets that sync and storage share.
  public static var ticketKey: Flag<String> {
    Flag(
      "ticket-key", "FILE", "the keys of chunk tickets, read again when the file changes",
      environment: "CARAVAN_TICKET_KEY")
  }
}

extension Flag where Value == String? {
  /// The secrets that sync and notify share.
  public static var tokenKey: Flag<String?> {
    Flag(
      "token-key", "FILE",
      "the keys of change tokens, read again when the file changes (default: token.key beside the ticket key, or that)",
      environment: "CARAVAN_TOKEN_KEY")
  }

  /// Notify's, from when one ring was for everything.
  public static var oldTicketKey: Flag<String?> {
    Flag("ticket-key", "FILE", "as --token-key, from releases of before", environment: "CARAVAN_TICKET_KEY")
  }

  /// Sync's alone.
  public static var aliasKey: Flag<String?> {
    Flag(
      "alias-key", "FILE",
      "the key of users' aliases (default: alias.key beside the ticket key, or the ticket key that was there first)",
      environment: "CARAVAN_ALIAS_KEY")
  }
}

extension Options {
  /// The file of the change tokens' ring; in deployments of before one ring was for everything.
  /// - Parameter old: that of the tickets; nil: nobody named it.
  /// - Throws: `invalidData` when nobody named either.
  public func tokenKeyFile(_ old: String?) throws(CaravanError) -> String {
    if let path = self[Flag<String?>.tokenKey] { return path }
    guard let old else { throw CaravanError(.invalidData, "give --token-key FILE: the keys of change tokens") }
    let path = Self.beside(old, RingPurpose.tokens.file)
    return DiskFile.exists(path) ? path : old
  }

  private static func beside(_ path: String, _ name: String) -> String {
    "\(path.lastIndex(of: "/").map { path[...$0] } ?? "")\(name)"
  }

  /// The key of users' aliases; nil: there is no file of it, as in deployments of before, whose aliases came from the
  /// ticket key.
  /// - Throws: `invalidData` naming the file.
  public func aliasKey() throws(CaravanError) -> TicketKey? {
    if let path = self[Flag<String?>.aliasKey] { return try TicketKey.reading(path) }
    let path = Self.beside(self[Flag<String>.ticketKey], TicketKey.aliasFile)
    return DiskFile.exists(path) ? try TicketKey.reading(path) : nil
  }
}

extension Flag where Value == String {
  /// For tests of what a service does when it fails (REC-29).
  public static var faults: Flag<String> {
    Flag(
      "faults", "POINT[:after][=N],…", "for debugging: fail at these points, so many times",
      environment: "CARAVAN_FAULTS", default: "")
  }
}

extension TicketKey {
  /// What the key of users' aliases is called in a directory of keys.
  public static let aliasFile = "alias.key"

  /// As the file holds it: hexadecimal digits and a line's end.
  public var fileText: String { Hex.encode(bytes) + "\n" }

  /// - Throws: `invalidData` naming the file.
  public static func reading(_ path: String) throws(CaravanError) -> TicketKey {
    let text = try TextFile.read(path)
    let line = text.prefix { !$0.isNewline }
    guard let bytes = try? Hex.decode(String(line)), let key = try? TicketKey(bytes) else {
      throw CaravanError(
        .invalidData, "'\(path)' is no key: it holds \(2 * TicketKey.byteCount) hexadecimal digits")
    }
    return key
  }
}
