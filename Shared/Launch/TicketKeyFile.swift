public import Crypto
internal import Encoding
public import Model
public import Runtime

extension Flag where Value == String {
  /// The secret that sync, notify and storage share.
  public static var ticketKey: Flag<String> {
    Flag(
      "ticket-key", "FILE", "the key of change tokens and chunk tickets: 64 hexadecimal digits",
      environment: "CARAVAN_TICKET_KEY")
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
  /// As the file holds it: hexadecimal digits and a line's end.
  public var fileText: String { Hex.encode(bytes) + "\n" }

  /// - Throws: `invalidData` naming the file.
  public static func reading(_ path: String) throws(CaravanError) -> TicketKey {
    let text = try TextFile.read(path)
    let line = text.prefix { !$0.isNewline }
    guard let bytes = try? Hex.decode(String(line)), let key = try? TicketKey(bytes) else {
      throw CaravanError(
        .invalidData, "'\(path)' is no ticket key: it holds \(2 * TicketKey.byteCount) hexadecimal digits")
    }
    return key
  }
}
