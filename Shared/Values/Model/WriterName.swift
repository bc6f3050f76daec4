/// The names that stores keep of those who write. A device has its enrolment's, `<user>/<device>/<enrolment>`, and in
/// public databases `<user's alias>/<device's alias>`; a service of the cloud has `@<service>`, and so has a backend.
public enum WriterName {
  /// Before the name of the device for which sync settles a conflict. No device can be called so.
  private static let settlement = "@sync/"

  /// The name under which sync settles what a device has pushed.
  public static func settling(for device: String) -> String { settlement + device }

  /// Whether a service or a backend writes in its own name, and not for a device.
  public static func isService(_ writer: String) -> Bool {
    writer.utf8.first == UInt8(ascii: "@") && !writer.hasPrefix(settlement)
  }

  /// The user for whom a writer writes, or the service that does: all devices of a user are one. nil: the name says
  /// neither, as those of public databases did before they had the user in them.
  public static func author(_ writer: String) -> Substring? {
    let name = writer.hasPrefix(settlement) ? writer.dropFirst(settlement.count) : writer[...]
    if let slash = name.utf8.firstIndex(of: UInt8(ascii: "/")) { return name[..<slash] }
    return isService(writer) ? name : nil
  }
}
