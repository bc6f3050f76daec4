/// One enrolment of one device of one user: the only name under which anything is kept or sent for a device. A device
/// name that is enrolled again, for whomever, has another number or another user, so nothing kept for its predecessor
/// is reached by it. It is of one environment, and what it says of that the broker proves with everything else.
public struct EnrolledDevice: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Whose device it is.
  public let user: UserID
  /// What the user calls it.
  public let device: DeviceID
  /// Counted from 1 for each device name of a user.
  public let enrolment: UInt32
  /// Whose databases the device reaches: of every container only this environment's.
  public let environment: Environment

  public init(user: UserID, device: DeviceID, enrolment: UInt32, environment: Environment) {
    precondition(enrolment > 0, "enrolments are counted from 1")
    self.environment = environment
    self.user = user
    self.device = device
    self.enrolment = enrolment
  }

  /// `<user>/<device>/<enrolment>`, in production with `/production` behind it: in stores, tickets and lists. Neither
  /// id can have a `/`. Stores from before there were devices in production have development's, so that has no more.
  public var text: String { "\(user)/\(device)/\(enrolment)" + Self.suffix(environment, after: "/") }

  /// - Throws: `invalidData` when `text` is not of the form that `text` gives.
  public init(_ text: String) throws(CaravanError) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard (3...4).contains(parts.count), let enrolment = Self.number(parts[2]),
      let environment = Self.environment(parts.dropFirst(3))
    else {
      throw CaravanError(.invalidData, "'\(text.prefix(160))' does not name a user's device and its enrolment")
    }
    self.init(
      user: try UserID(String(parts[0])), device: try DeviceID(String(parts[1])), enrolment: enrolment,
      environment: environment)
  }

  /// `<device>_<enrolment>`, in production with `_production` behind it: one token of a subject, and the name in the
  /// device's credentials, so that the broker proves enrolment and environment as well. No id can have a `_`.
  public var token: String { "\(device)_\(enrolment)" + Self.suffix(environment, after: "_") }

  /// - Throws: `invalidData` when `token` is not of the form that `token` gives.
  public init(user: UserID, token: String) throws(CaravanError) {
    let parts = token.split(separator: "_", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), let enrolment = Self.number(parts[1]),
      let environment = Self.environment(parts.dropFirst(2))
    else {
      throw CaravanError(.invalidData, "'\(token.prefix(80))' does not name a device and its enrolment")
    }
    self.init(user: user, device: try DeviceID(String(parts[0])), enrolment: enrolment, environment: environment)
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
      // All devices were development's then.
      self.init(user: owner, device: try DeviceID(name), enrolment: 1, environment: .development)
    }
  }

  /// Whether the name in a device's credentials says its enrolment: the cloud speaks with no other device.
  public static func isNumbered(_ name: String) -> Bool { name.utf8.contains(UInt8(ascii: "_")) }

  private static func suffix(_ environment: Environment, after separator: String) -> String {
    environment == .development ? "" : separator + environment.rawValue
  }

  /// - Parameter parts: what `suffix` has left behind the number, if anything.
  /// - Returns: nil: no environment is written so.
  private static func environment(_ parts: ArraySlice<Substring>) -> Environment? {
    guard let part = parts.first else { return .development }
    return Environment(rawValue: String(part)).flatMap { $0 == .development ? nil : $0 }
  }

  private static func number(_ text: Substring) -> UInt32? {
    guard let number = UInt32(text), number > 0, String(number) == text else { return nil }
    return number
  }

  /// The same as `text`.
  public var description: String { text }

  /// By user, device, enrolment and environment, for lists that people read.
  public static func < (a: Self, b: Self) -> Bool {
    (a.user, a.device, a.enrolment, a.environment.rawValue) < (b.user, b.device, b.enrolment, b.environment.rawValue)
  }
}

extension EnrolledDevice {
  /// What a device signs with its key to have credentials that are over made anew.
  /// - Parameter time: Unix seconds, so that a signature that somebody has seen is soon worth nothing.
  public func renewalStatement(at time: Int64) -> [UInt8] { Array("caravan renewal 1\n\(text)\n\(time)\n".utf8) }
}
