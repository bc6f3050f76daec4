internal import CaravanEncoding

/// One tenant of the broker: its limits, who may sign its users, and whose credentials are void.
public struct AccountClaims: Hashable, Sendable {
  public var limits: AccountLimits
  public var signingKeys: [AccountSigningKey]
  /// A user's tokens issued at or before that time (Unix seconds) are refused.
  public var revocations: [PublicNKey: Int64]
  /// The same for every user at once; nil: nobody.
  public var allUsersRevokedUntil: Int64?
  /// For users whose own claims set nothing.
  public var defaultPermissions: Permissions

  public init(
    limits: AccountLimits = AccountLimits(), signingKeys: [AccountSigningKey] = [],
    revocations: [PublicNKey: Int64] = [:], allUsersRevokedUntil: Int64? = nil,
    defaultPermissions: Permissions = Permissions()
  ) {
    self.limits = limits
    self.signingKeys = signingKeys
    self.revocations = revocations
    self.allUsersRevokedUntil = allUsersRevokedUntil
    self.defaultPermissions = defaultPermissions
  }

  private static let everybody = "*"

  init(_ nats: ClaimReader) throws(CryptoError) {
    self.init(limits: try AccountLimits(nats.object("limits")))
    for element in try nats.optionalArray("signing_keys") ?? [] {
      signingKeys.append(try AccountSigningKey(element, in: nats))
    }
    if let revoked = try nats.optionalObject("revocations") {
      for (name, value) in revoked.entries {
        let time = try revoked.integer(value, name)
        if name == Self.everybody {
          allUsersRevokedUntil = time
        } else {
          revocations[try revoked.key(.string(name), name, kind: .user)] = time
        }
      }
    }
    if let permissions = try nats.optionalObject("default_permissions") {
      defaultPermissions = try Permissions(permissions)
    }
  }

  var json: JSON.Object {
    var object: JSON.Object = [
      "limits": .object(limits.json), "default_permissions": .object(defaultPermissions.json),
    ]
    if !signingKeys.isEmpty { object["signing_keys"] = .array(signingKeys.map(\.json)) }
    var revoked: [String: JSON] = [:]
    for (key, time) in revocations { revoked[key.text] = .int(time) }
    revoked[Self.everybody] = allUsersRevokedUntil.map { .int($0) }
    if !revoked.isEmpty { object["revocations"] = .object(JSON.Object(sorting: revoked)) }
    return object
  }
}

/// -1 is "no limit". Core NATS only: an account has no JetStream.
public struct AccountLimits: Hashable, Sendable {
  public var connections: Int64
  public var subscriptions: Int64
  /// Bytes of one message.
  public var payload: Int64

  public init(connections: Int64 = -1, subscriptions: Int64 = -1, payload: Int64 = -1) {
    self.connections = connections
    self.subscriptions = subscriptions
    self.payload = payload
  }

  init(_ limits: ClaimReader) throws(CryptoError) {
    self.init(
      connections: try limits.optionalInteger("conn") ?? 0, subscriptions: try limits.optionalInteger("subs") ?? 0,
      payload: try limits.optionalInteger("payload") ?? 0)
  }

  var json: JSON.Object {
    [
      "subs": .int(subscriptions), "data": -1, "payload": .int(payload), "imports": -1, "exports": -1,
      "wildcards": true, "conn": .int(connections), "leaf": -1,
    ]
  }
}

/// A key beside the account's own whose signature makes users.
public enum AccountSigningKey: Hashable, Sendable {
  /// Its users carry their own permissions.
  case plain(PublicNKey)
  /// Its users get the scope's permissions and may carry none.
  case scoped(UserScope)

  public var key: PublicNKey {
    switch self {
    case .plain(let key): key
    case .scoped(let scope): scope.key
    }
  }

  init(_ json: JSON, in nats: ClaimReader) throws(CryptoError) {
    if case .string = json {
      self = .plain(try nats.key(json, "signing_keys", kind: .account))
    } else {
      self = .scoped(try UserScope(ClaimReader(json, path: "\(nats.path).signing_keys")))
    }
  }

  var json: JSON {
    switch self {
    case .plain(let key): key.json
    case .scoped(let scope): .object(scope.json)
    }
  }
}

/// A template of permissions. `{{name()}}` and `{{tag(x)}}` in its subjects stand for the user's name and tag `x:…`.
public struct UserScope: Hashable, Sendable {
  public var key: PublicNKey
  public var role: String
  public var permissions: Permissions
  public var limits: UserLimits

  public init(key: PublicNKey, role: String, permissions: Permissions, limits: UserLimits = UserLimits()) {
    self.key = key
    self.role = role
    self.permissions = permissions
    self.limits = limits
  }

  init(_ scope: ClaimReader) throws(CryptoError) {
    guard try scope.string("kind") == "user_scope" else {
      throw CryptoError(.invalidToken, "\(scope.path).kind: 'user_scope' expected")
    }
    let template = try scope.object("template")
    self.init(
      key: try scope.key("key", kind: .account), role: try scope.optionalString("role") ?? "",
      permissions: try Permissions(template), limits: try UserLimits(template))
  }

  var json: JSON.Object {
    var template = permissions.json
    for member in limits.json.members { template[member.name] = member.value }
    return [
      "kind": "user_scope", "key": key.json, "role": .string(role), "template": .object(template),
    ]
  }
}

/// Of one connection of a user; -1 is "no limit".
public struct UserLimits: Hashable, Sendable {
  public var subscriptions: Int64
  /// Bytes of one message.
  public var payload: Int64
  /// Bytes of all messages. It is part of the token, and nats-server (2.9 at least) keeps nobody to it.
  public var data: Int64

  public init(subscriptions: Int64 = -1, payload: Int64 = -1, data: Int64 = -1) {
    self.subscriptions = subscriptions
    self.payload = payload
    self.data = data
  }

  init(_ reader: ClaimReader) throws(CryptoError) {
    self.init(
      subscriptions: try reader.optionalInteger("subs") ?? 0, payload: try reader.optionalInteger("payload") ?? 0,
      data: try reader.optionalInteger("data") ?? 0)
  }

  var json: JSON.Object { ["subs": .int(subscriptions), "data": .int(data), "payload": .int(payload)] }
}
