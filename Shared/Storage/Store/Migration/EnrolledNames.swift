public import CaravanModel

/// Layout 4 names a device's writes by the device alone; from layout 5 on a device is named with its user and its
/// enrolment (`EnrolledDevice`). This says what becomes of a name, alike in every store and in archives.
public struct EnrolledNames: Sendable {
  /// Whose each device is, by the registry of devices.
  private var users: [String: String] = [:]
  /// Devices that neither the registry nor a database's owner speaks for.
  public private(set) var unknown: Set<String> = []

  public init() {}

  /// Where the registry of devices is: a record for each device, under its name.
  public static let registry = (database: DatabaseID.system(nil), zone: "devices")
  /// The id of the field that has the user.
  private static let userField: UInt32 = 1

  /// One record of the registry.
  public mutating func learn(device: String, body: [UInt8]) {
    // What is in the field is its tag, `text` of `Field` (model.proto), and a length before the text: ids are short.
    guard let field = (try? EncodedFields(body))?[Self.userField], field.count > 2, field[0] == 0x12,
      Int(field[1]) == field.count - 2
    else { return }
    users[device] = String(decoding: field.dropFirst(2), as: UTF8.self)
  }

  /// What a writer, a reader or a holder of a lock is called now. Whatever has its new name already keeps it.
  /// - Parameter owner: of the private database that it was found in; nil: it was found elsewhere.
  public mutating func name(_ old: String, in owner: UserID?) -> String {
    guard !old.isEmpty else { return old }
    // Sync settles conflicts under a name that is derived from the device's.
    if old.hasPrefix(Self.settling) {
      return Self.settling + name(String(old.dropFirst(Self.settling.count)), in: owner)
    }
    // Services have an @ in front.
    guard old.utf8.first != UInt8(ascii: "@"), !old.utf8.contains(UInt8(ascii: "/")) else { return old }
    if let user = owner?.text ?? users[old] { return "\(user)/\(old)/1" }
    guard !Self.isAlias(old) else { return old }
    unknown.insert(old)
    // No user has this name, so no device is reached by it.
    return "?/\(old)/1"
  }

  private static let settling = "@sync/"

  /// Whether it is what layout 4 shows of a device in public databases: 16 bytes in Base32.
  private static func isAlias(_ name: String) -> Bool {
    name.utf8.count == 26
      && name.utf8.allSatisfy {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains($0)
      }
  }

  /// Who wrote a record's fields.
  /// - Parameters:
  ///   - fields: encoded `FieldVersions`, or none.
  ///   - writer: of the entry, before.
  /// - Returns: nil: they stay as they are.
  public mutating func fields(_ fields: [UInt8], writer: String, in owner: UserID?) -> [UInt8]? {
    guard !fields.isEmpty, var history = FieldHistory(encoded: fields, writer: writer) else { return nil }
    for id in history.items.keys {
      if let old = history.items[id]?.writer { history.items[id]?.writer = name(old, in: owner) }
    }
    let renamed = history.encoded(writer: name(writer, in: owner))
    return renamed == fields ? nil : renamed
  }

  /// For the log; nil: every device was found.
  public var complaint: String? {
    guard !unknown.isEmpty else { return nil }
    let some = unknown.sorted().prefix(10).joined(separator: ", ")
    return "\(unknown.count) devices of before are in no registry, and nobody can be them any more: \(some)"
  }
}
