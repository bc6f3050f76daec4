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
    guard parts.count == 3, let enrolment = UInt32(parts[2]), enrolment > 0, String(enrolment) == parts[2] else {
      throw CaravanError(.invalidData, "'\(text.prefix(160))' does not name a user's device and its enrolment")
    }
    self.init(user: try UserID(String(parts[0])), device: try DeviceID(String(parts[1])), enrolment: enrolment)
  }

  public var description: String { text }

  public static func < (a: Self, b: Self) -> Bool {
    (a.user, a.device, a.enrolment) < (b.user, b.device, b.enrolment)
  }
}
