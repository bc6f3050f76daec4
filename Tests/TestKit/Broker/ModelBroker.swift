public import CaravanBus
public import CaravanCrypto
public import CaravanModel
public import CaravanRuntime

/// A broker in memory that asks everybody for credentials, as nats-server 2.9 does in operator mode: it holds what an
/// account's token says against what a user's says, and makes of both what a connection may do. Where an account's new
/// token revokes a user, the connections of that user end.
///
/// What it leaves out: the end of a connection whose credentials are over meanwhile, limits of connections,
/// subscriptions and bytes, imports and exports, and that an account's signing key is taken back.
public final class ModelBroker: Sendable {
  private let hub: InProcessHub
  private let clock: any Clock
  private let operatorKey: PublicNKey
  private let accounts = Mutex<[PublicNKey: AccountClaims]>([:])

  /// - Parameter operatorKey: signs accounts.
  public init(_ hub: InProcessHub, clock: any Clock, operatorKey: PublicNKey) {
    self.hub = hub
    self.clock = clock
    self.operatorKey = operatorKey
  }

  /// What `$SYS.REQ.CLAIMS.UPDATE` carries, and what it begins with.
  /// - Throws: `notAuthenticated` when the operator did not sign it.
  public func take(_ token: JWT) throws(CaravanError) {
    guard token.isIssued(by: [operatorKey]), case .account(let account) = token.claims.body else {
      throw CaravanError(.notAuthenticated, "this is no account's token, or another operator's")
    }
    let key = token.claims.subject
    accounts.withLock { $0[key] = account }
    let revoked = Dictionary(uniqueKeysWithValues: account.revocations.map { ($0.key.text, $0.value) })
    hub.expel("User Authentication Revoked") { admission in
      admission.account == key.text
        && [account.allUsersRevokedUntil, revoked[admission.key]].contains {
          $0.map { admission.issuedAt <= $0 } ?? false
        }
    }
  }

  /// - Parameter name: on the hub.
  /// - Throws: `notAuthenticated`, as `MessageBus` does where a broker refuses credentials.
  public func connect(_ token: JWT, as name: String) throws(CaravanError) -> InProcessBus {
    hub.connect(as: name, try admission(of: token))
  }

  /// - Throws: `notAuthenticated`: it would not be let in.
  public func admission(of token: JWT) throws(CaravanError) -> BrokerAdmission {
    do throws(CryptoError) { try token.requireCurrent(at: clock.wallTime.milliseconds / 1_000) } catch {
      throw Self.refusal("its credentials are over")
    }
    guard case .user(let user) = token.claims.body else { throw Self.refusal("it shows no user's token") }
    let issuer = user.issuerAccount ?? token.issuer
    guard let account = accounts.withLock({ $0[issuer] }) else { throw Self.refusal("nobody knows its account") }
    if account.isRevoked(token.claims) { throw Self.refusal("it is revoked") }
    let scope = try Self.scope(of: token, signedFor: issuer, account)
    let permissions: Permissions
    if let scope {
      // What such a key signs may say nothing of its own.
      guard user.authority == .scoped else { throw Self.refusal("a scoped key signed permissions") }
      permissions = try scope.permissions.filled(for: token.claims, user)
    } else if case .explicit(let own) = user.authority, own != Permissions() {
      permissions = own
    } else {
      permissions = account.defaultPermissions
    }
    return BrokerAdmission(
      account: issuer.text, key: token.claims.subject.text, issuedAt: token.claims.issuedAt,
      inbox: Self.inbox(of: token.claims, user), rights: BrokerRights(permissions))
  }

  /// - Returns: nil: the account's own key signed it, or one without a scope.
  private static func scope(
    of token: JWT, signedFor issuer: PublicNKey, _ account: AccountClaims
  ) throws(CaravanError) -> UserScope? {
    if token.issuer == issuer { return nil }
    guard let signer = account.signingKeys.first(where: { $0.key == token.issuer }) else {
      throw refusal("its account does not know who signed it")
    }
    return if case .scoped(let scope) = signer { scope } else { nil }
  }

  /// Where clients ask for their answers (`NATSOptions`).
  private static func inbox(of claims: JWTClaims, _ user: UserClaims) -> String {
    guard user.authority == .scoped, let owner = user.tag("user"), EnrolledDevice.isNumbered(claims.name) else {
      return "inbox.\(claims.name)"
    }
    return "inbox.\(owner).\(claims.name)"
  }

  fileprivate static func refusal(_ reason: String) -> CaravanError {
    CaravanError(.notAuthenticated, "the broker refuses the connection: \(reason)")
  }
}

extension AccountClaims {
  fileprivate func isRevoked(_ claims: JWTClaims) -> Bool {
    [allUsersRevokedUntil, revocations[claims.subject]].contains { time in time.map { claims.issuedAt <= $0 } ?? false }
  }
}

extension BrokerRights {
  /// - Parameter permissions: without templates.
  public init(_ permissions: Permissions) {
    let answers = permissions.responses.map {
      Answers(
        count: $0.count < 0 ? nil : Int(clamping: $0.count == 0 ? 1 : $0.count),
        lifetime: $0.lifetime < 0 ? nil : $0.lifetime == 0 ? .seconds(120) : .nanoseconds($0.lifetime))
    }
    self.init(
      publish: Rules(allow: permissions.publish.allow, deny: permissions.publish.deny),
      subscribe: Rules(allow: permissions.subscribe.allow, deny: permissions.subscribe.deny), answers: answers)
  }
}

extension Permissions {
  /// The template of a scope for one user.
  /// - Throws: `notAuthenticated` where a denial names a tag that the user does not have.
  fileprivate func filled(for claims: JWTClaims, _ user: UserClaims) throws(CaravanError) -> Permissions {
    var filled = self
    filled.publish = try publish.filled(for: claims, user)
    filled.subscribe = try subscribe.filled(for: claims, user)
    return filled
  }
}

extension Permissions.Rules {
  /// What is allowed by a tag that the user does not have is not allowed; where nothing is left, nothing is.
  fileprivate func filled(for claims: JWTClaims, _ user: UserClaims) throws(CaravanError) -> Permissions.Rules {
    func fill(_ template: String) -> String? {
      let tokens = template.split(separator: ".", omittingEmptySubsequences: false)
      let values = tokens.compactMap { Self.fill(String($0), claims, user) }
      return values.count == tokens.count ? values.joined(separator: ".") : nil
    }
    let (allowed, denied) = (allow.compactMap(fill), deny.compactMap(fill))
    guard denied.count == deny.count else { throw ModelBroker.refusal("a denial names a tag that it does not have") }
    return Permissions.Rules(allow: allowed, deny: denied + (allowed.isEmpty && !allow.isEmpty ? [">"] : []))
  }

  /// - Returns: nil: the user has no such tag.
  private static func fill(_ token: String, _ claims: JWTClaims, _ user: UserClaims) -> String? {
    guard token.hasPrefix("{{"), token.hasSuffix("}}") else { return token }
    let operation = token.dropFirst(2).dropLast(2)
    switch operation {
    case "name()": return claims.name
    case "subject()": return claims.subject.text
    default: break
    }
    precondition(operation.hasPrefix("tag(") && operation.hasSuffix(")"), "'\(token)' is not modelled")
    return user.tag(String(operation.dropFirst(4).dropLast()))
  }
}
