public import Crypto
public import Model

/// Who this device is, as the broker will prove to the cloud.
public struct DeviceIdentity: Sendable, Hashable {
  public let user: UserID
  public let device: DeviceID
  /// Digest of the token that says so: tells these credentials from others of the same device.
  public let credentials: String

  public init(user: UserID, device: DeviceID, credentials: String = "") {
    self.user = user
    self.device = device
    self.credentials = credentials
  }

  /// From the token of a creds file: its name is the device, its tag `user:` the user.
  /// - Throws: `notAuthenticated` when it is no device's, `invalidData` for names that are not allowed.
  public init(_ credentials: Credentials) throws(CaravanError) {
    let claims = credentials.jwt.claims
    guard case .user(let user) = claims.body, let name = user.tag("user") else {
      throw CaravanError(
        .notAuthenticated, "the credentials of '\(claims.name)' have no tag 'user:': use a device's, not a service's")
    }
    self.init(
      user: try UserID(name), device: try DeviceID(claims.name), credentials: credentials.digest)
  }
}
