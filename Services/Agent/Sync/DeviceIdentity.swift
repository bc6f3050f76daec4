public import CaravanCrypto
public import CaravanModel

/// Who this device is, as the broker will prove to the cloud.
public struct DeviceIdentity: Sendable, Hashable {
  public let device: EnrolledDevice
  /// Digest of the token that says so: tells these credentials from others of the same device.
  public let credentials: String
  /// The credentials were signed before enrolments had numbers: the cloud speaks with the device once they are renewed.
  public let isUnnumbered: Bool

  public var user: UserID { device.user }

  public init(device: EnrolledDevice, credentials: String = "", isUnnumbered: Bool = false) {
    self.device = device
    self.credentials = credentials
    self.isUnnumbered = isUnnumbered
  }

  /// From the token of a creds file: its name is the device with its enrolment, its tag `user:` the user. A name that
  /// says no enrolment means the first, in the cloud as well.
  /// - Throws: `notAuthenticated` when it is no device's, `invalidData` for names that are not allowed.
  public init(_ credentials: Credentials) throws(CaravanError) {
    let claims = credentials.jwt.claims
    self.init(
      device: try EnrolledDevice(credentials: claims.name, user: claims.userTag), credentials: credentials.digest,
      isUnnumbered: !EnrolledDevice.isNumbered(claims.name))
  }
}
