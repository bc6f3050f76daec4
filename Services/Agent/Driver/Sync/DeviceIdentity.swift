public import Crypto
public import Model

/// Who this device is, as the broker will prove to the cloud.
public struct DeviceIdentity: Sendable, Hashable {
  public let user: UserID
  public let device: DeviceID

  public init(user: UserID, device: DeviceID) {
    self.user = user
    self.device = device
  }

  /// From the token of a creds file: its name is the device, its tag `user:` the user.
  /// - Throws: `notAuthenticated` when it is no device's, `invalidData` for names that are not allowed.
  public init(_ credentials: Credentials) throws(CaravanError) {
    let claims = credentials.jwt.claims
    guard case .user(let user) = claims.body, let name = user.tag("user") else {
      throw CaravanError(
        .notAuthenticated, "the credentials of '\(claims.name)' have no tag 'user:': use a device's, not a service's")
    }
    self.init(user: try UserID(name), device: try DeviceID(claims.name))
  }
}
