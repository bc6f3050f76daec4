public import CaravanCrypto
public import CaravanModel

/// The scoped key that signs devices: whatever it signs may publish and subscribe what the account's template says, and
/// nothing else.
public struct DeviceAuthority: Sendable {
  private let signingKey: NKey
  private let account: PublicNKey
  private let lifetime: Int64

  /// - Parameter lifetime: how long what it signs is good; seconds, at most `Limits.deviceCredentialSeconds`.
  /// - Throws: `invalidData` when the keys are not an account's.
  public init(
    signingKey: NKey, account: PublicNKey, lifetime: Int64 = Limits.deviceCredentialSeconds
  ) throws(CaravanError) {
    guard signingKey.kind == .account, account.kind == .account else {
      throw CaravanError(.invalidData, "devices are signed by a signing key of an account")
    }
    self.signingKey = signingKey
    self.account = account
    self.lifetime = min(max(1, lifetime), Limits.deviceCredentialSeconds)
  }

  /// Name and tag are pasted into the template's subjects by the broker; typed ids have no character that means more
  /// there, and `JWTClaims` refuses such tokens whoever made them.
  package func sign(_ key: PublicNKey, device: EnrolledDevice, at seconds: Int64) throws(CaravanError) -> JWT {
    let claims = JWTClaims(
      subject: key, name: device.token, issuedAt: seconds, expires: seconds + lifetime,
      .user(UserClaims(.scoped, issuerAccount: account, tags: ["user:\(device.user)"])))
    do { return try claims.sign(with: signingKey) } catch { throw CaravanError(.internalError, "\(error)") }
  }
}
