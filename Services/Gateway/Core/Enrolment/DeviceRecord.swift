public import Model

/// A device as the registry knows it.
public struct DeviceRecord: Sendable, Equatable {
  public var user: UserID
  public var device: DeviceID
  /// Its public nkey.
  public var key: String
  /// Unix time in milliseconds.
  public var issued: Int64
  /// Unix time in milliseconds; 0: it is not revoked.
  public var revoked: Int64

  public init(user: UserID, device: DeviceID, key: String, issued: Int64, revoked: Int64 = 0) {
    self.user = user
    self.device = device
    self.key = key
    self.issued = issued
    self.revoked = revoked
  }

  /// Whether `new` may take the place of what the registry holds under its name.
  /// - Throws: `objectExists` when another key or user holds the name and is not revoked.
  public static func check(_ new: DeviceRecord, against old: DeviceRecord?) throws(CaravanError) {
    guard let old, old.revoked == 0, old.key != new.key || old.user != new.user else { return }
    throw CaravanError(
      .objectExists, "device '\(new.device)' is enrolled already: revoke it first, or choose another name")
  }
}

extension DeviceRecord {
  private enum FieldID {
    static let user: UInt32 = 1
    static let key: UInt32 = 2
    static let issued: UInt32 = 3
    static let revoked: UInt32 = 4
  }

  public var fields: RecordFields {
    RecordFields([
      FieldID.user: .text(user.text), FieldID.key: .text(key), FieldID.issued: .integer(issued),
      FieldID.revoked: .integer(revoked),
    ])
  }

  public init(device: DeviceID, _ fields: RecordFields) throws(CaravanError) {
    guard case .text(let user) = fields[FieldID.user], case .text(let key) = fields[FieldID.key],
      case .integer(let issued) = fields[FieldID.issued], case .integer(let revoked) = fields[FieldID.revoked]
    else { throw CaravanError(.internalError, "the record of device '\(device)' lacks a field") }
    self.init(user: try UserID(user), device: device, key: key, issued: issued, revoked: revoked)
  }
}
