/// One enrolment of one device of one user: the only name under which anything is kept or sent for a device. A device
/// name that is enrolled again, for whomever, has another number or another user, so nothing kept for its predecessor
/// is reached by it.
public struct EnrolledDevice: Sendable, Hashable, Comparable, CustomStringConvertible {
  public let user: UserID
  public let device: DeviceID
  /// Counted from 1 for each device name of a user.
  public let enrolment: UInt32

  public init(user: UserID, device: DeviceID, enrolment: UInt32) {
    precondition(enrolment > 0, "enrolments are counted from 1")
    self.user = user
    self.device = device
    self.enrolment = enrolment
  }

  /// `<user>/<device>/<enrolment>`: in stores, tickets and lists. Neither id can have a `/`.
  public var text: String { "\(user)/\(device)/\(enrolment)" }

  /// - Throws: `invalidData` when `text` is not of the form that `text` gives.
  public init(_ text: String) throws(CaravanError) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, let enrolment = Self.number(parts[2]) else {
      throw CaravanError(.invalidData, "'\(text.prefix(160))' does not name a user's device and its enrolment")
    }
    self.init(user: try UserID(String(parts[0])), device: try DeviceID(String(parts[1])), enrolment: enrolment)
  }

  /// `<device>_<enrolment>`: one token of a subject, and the name in the device's credentials, so that the broker
  /// proves the enrolment as well. No id can have a `_`.
  public var token: String { "\(device)_\(enrolment)" }

  /// - Throws: `invalidData` when `token` is not of the form that `token` gives.
  public init(user: UserID, token: String) throws(CaravanError) {
    let parts = token.split(separator: "_", omittingEmptySubsequences: false)
    guard parts.count == 2, let enrolment = Self.number(parts[1]) else {
      throw CaravanError(.invalidData, "'\(token.prefix(80))' does not name a device and its enrolment")
    }
    self.init(user: user, device: try DeviceID(String(parts[0])), enrolment: enrolment)
  }

  /// From the credentials of a device, as the broker reads them.
  /// - Parameters:
  ///   - name: of the credentials; from before enrolments had numbers it says none, which is the first.
  ///   - user: value of their tag `user:`; nil: they have none.
  /// - Throws: `notAuthenticated` when they are no device's.
  public init(credentials name: String, user: String?) throws(CaravanError) {
    guard let user else {
      throw CaravanError(
        .notAuthenticated,
        "the credentials of '\(name.prefix(80))' have no tag 'user:': use a device's, not a service's")
    }
    let owner = try UserID(user)
    if Self.isNumbered(name) {
      try self.init(user: owner, token: name)
    } else {
      self.init(user: owner, device: try DeviceID(name), enrolment: 1)
    }
  }

  /// Whether the name in a device's credentials says its enrolment: the cloud speaks with no other device.
  public static func isNumbered(_ name: String) -> Bool { name.utf8.contains(UInt8(ascii: "_")) }

  private static func number(_ text: Substring) -> UInt32? {
    guard let number = UInt32(text), number > 0, String(number) == text else { return nil }
    return number
  }

  public var description: String { text }

  public static func < (a: Self, b: Self) -> Bool {
    (a.user, a.device, a.enrolment) < (b.user, b.device, b.enrolment)
  }
}

extension EnrolledDevice {
  /// What a device signs with its key to have credentials that are over made anew.
  /// - Parameter time: Unix seconds, so that a signature that somebody has seen is soon worth nothing.
  public func renewalStatement(at time: Int64) -> [UInt8] { Array("caravan renewal 1\n\(text)\n\(time)\n".utf8) }
}
