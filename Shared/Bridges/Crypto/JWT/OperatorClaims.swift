internal import CaravanEncoding

/// The root of trust of one NATS deployment.
public struct OperatorClaims: Hashable, Sendable {
  /// The account of `$SYS` subjects; claims updates need it.
  public var systemAccount: PublicNKey?
  /// Further operator keys whose signature counts as the operator's.
  public var signingKeys: [PublicNKey]

  public init(systemAccount: PublicNKey? = nil, signingKeys: [PublicNKey] = []) {
    self.systemAccount = systemAccount
    self.signingKeys = signingKeys
  }

  init(_ nats: ClaimReader) throws(CryptoError) {
    var signingKeys: [PublicNKey] = []
    for element in try nats.optionalArray("signing_keys") ?? [] {
      signingKeys.append(try nats.key(element, "signing_keys", kind: .operator))
    }
    self.init(systemAccount: try nats.optionalKey("system_account", kind: .account), signingKeys: signingKeys)
  }

  var json: JSON.Object {
    var object = JSON.Object()
    object["system_account"] = systemAccount?.json
    if !signingKeys.isEmpty { object["signing_keys"] = .array(signingKeys.map(\.json)) }
    return object
  }
}
