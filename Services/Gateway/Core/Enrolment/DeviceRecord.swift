public import CaravanModel

/// A device as the registry knows it: its latest enrolment.
public struct DeviceRecord: Sendable, Equatable {
  public var device: EnrolledDevice
  /// Its public nkey.
  public var key: String
  /// Unix time in milliseconds.
  public var issued: Int64
  /// Unix time in milliseconds; 0: it is not revoked.
  public var revoked: Int64
  /// Whether all credentials that were ever signed for this key end by themselves; those of earlier releases do not.
  public var ends: Bool

  public init(device: EnrolledDevice, key: String, issued: Int64, revoked: Int64 = 0, ends: Bool = true) {
    self.ends = ends
    self.device = device
    self.key = key
    self.issued = issued
    self.revoked = revoked
  }

  /// Whether somebody may enrol with `key` where the registry holds `old`, or nothing.
  /// - Throws: `objectExists` when another key holds the name and is not revoked.
  public static func check(_ key: String, against old: DeviceRecord?) throws(CaravanError) {
    guard let old, old.revoked == 0, old.key != key else { return }
    throw CaravanError(
      .objectExists,
      "user '\(old.device.user)' has a device '\(old.device.device)' already: revoke it first, or choose another name")
  }

  /// The number of the enrolment that follows `old`.
  /// - Throws: `limitExceeded` when the name has been enrolled as often as numbers go.
  public static func enrolment(after old: DeviceRecord?) throws(CaravanError) -> UInt32 {
    guard let old else { return 1 }
    guard old.device.enrolment < .max else {
      throw CaravanError(.limitExceeded, "'\(old.device.device)' cannot be enrolled again: choose another name")
    }
    return old.device.enrolment + 1
  }
}

extension DeviceRecord {
  private enum FieldID {
    static let user: UInt32 = 1
    static let key: UInt32 = 2
    static let issued: UInt32 = 3
    static let revoked: UInt32 = 4
    /// Absent in records from before enrolments had numbers: the first.
    static let enrolment: UInt32 = 5
    /// Absent in records from before credentials ended.
    static let ends: UInt32 = 6
    /// Absent in records from before there were devices in production.
    static let environment: UInt32 = 7
  }

  /// What the record is called.
  public static func name(of user: UserID, _ device: DeviceID) -> String { "\(user)/\(device)" }

  public var fields: RecordFields {
    RecordFields([
      FieldID.user: .text(device.user.text), FieldID.key: .text(key), FieldID.issued: .integer(issued),
      FieldID.revoked: .integer(revoked), FieldID.enrolment: .integer(Int64(device.enrolment)),
      FieldID.ends: .integer(ends ? 1 : 0), FieldID.environment: .text(device.environment.rawValue),
    ])
  }

  /// - Parameter name: `<user>/<device>`; of a record from before enrolments had numbers, the device alone.
  public init(name: String, _ fields: RecordFields) throws(CaravanError) {
    guard case .text(let user) = fields[FieldID.user], case .text(let key) = fields[FieldID.key],
      case .integer(let issued) = fields[FieldID.issued], case .integer(let revoked) = fields[FieldID.revoked]
    else { throw CaravanError(.internalError, "the record of device '\(name)' lacks a field") }
    var enrolment: UInt32 = 1
    if case .integer(let number) = fields[FieldID.enrolment] { enrolment = UInt32(clamping: max(1, number)) }
    var ends = false
    if case .integer(let flag) = fields[FieldID.ends] { ends = flag != 0 }
    let device = name.split(separator: "/").last.map(String.init) ?? name
    let enrolled = EnrolledDevice(
      user: try UserID(user), device: try DeviceID(device), enrolment: enrolment,
      environment: try Environment(enrolment: fields[FieldID.environment]))
    self.init(device: enrolled, key: key, issued: issued, revoked: revoked, ends: ends)
  }
}
