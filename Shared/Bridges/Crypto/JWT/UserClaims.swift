internal import CaravanEncoding

/// What a connection may do.
public struct UserClaims: Hashable, Sendable {
  public enum Authority: Hashable, Sendable {
    /// Whatever the template of the scoped signing key says: these claims carry nothing of their own.
    case scoped
    /// Exactly these.
    case explicit(Permissions)
  }

  public var authority: Authority
  /// The account, when one of its signing keys signs instead of its own.
  public var issuerAccount: PublicNKey?
  /// "key:value", in lower case: the server folds them.
  public var tags: [String]
  /// With explicit permissions; a scoped user's are the template's.
  public var limits: UserLimits

  public init(
    _ authority: Authority, issuerAccount: PublicNKey? = nil, tags: [String] = [], limits: UserLimits = UserLimits()
  ) {
    self.authority = authority
    self.limits = limits
    self.issuerAccount = issuerAccount
    self.tags = tags
  }

  /// Value of the first tag `key:value`.
  public func tag(_ key: String) -> String? {
    tags.first { $0.hasPrefix("\(key):") }.map { String($0.dropFirst(key.count + 1)) }
  }

  init(_ nats: ClaimReader) throws(CryptoError) {
    var tags: [String] = []
    for element in try nats.optionalArray("tags") ?? [] { tags.append(try nats.string(element, "tags")) }
    let permissions = try Permissions(nats)
    let subscriptions = try nats.optionalInteger("subs") ?? 0
    let isScoped = permissions == Permissions() && subscriptions == 0
    self.init(
      isScoped ? .scoped : .explicit(permissions),
      issuerAccount: try nats.optionalKey("issuer_account", kind: .account), tags: tags,
      limits: isScoped ? UserLimits() : try UserLimits(nats))
  }

  var json: JSON.Object {
    var object: JSON.Object =
      switch authority {
      case .scoped: [:]
      case .explicit(let permissions): permissions.json
      }
    // The absence of limits marks a scoped user.
    if authority != .scoped {
      for member in limits.json.members { object[member.name] = member.value }
    }
    object["issuer_account"] = issuerAccount?.json
    if !tags.isEmpty { object["tags"] = .array(tags.map { .string($0) }) }
    return object
  }
}
