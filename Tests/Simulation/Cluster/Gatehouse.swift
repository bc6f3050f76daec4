internal import CaravanBus
internal import CaravanCLIDriver
internal import CaravanCrypto
internal import CaravanGatewayDriver
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit

/// Who connects, and so what the broker lets them do.
enum Bearer: Sendable {
  case holder(Holder)
  /// One that nobody revokes.
  case device(EnrolledDevice)
  /// What the gateway has signed.
  case token(JWT)
}

/// The broker of a cluster. Everybody shows it the credentials that the product's own signers make, so that a subject
/// that the product uses without having a permission for it is refused here as well.
final class Gatehouse: Sendable {
  /// A deployment's keys: the same in all clusters of a process, for making them costs.
  private struct Keys: Sendable {
    let root, account, signer, device: NKey
    let holders: [Holder: JWT]
    /// Sync's, without what it says to notify.
    let narrowed: JWT

    init() throws {
      func key(_ kind: NKeyKind, _ number: UInt8) throws -> NKey {
        NKey(kind, try Ed25519PrivateKey(seed: Array(repeating: number, count: 32)))
      }
      let (account, service) = (try key(.account, 2), try key(.user, 5))
      (root, self.account, signer, device) = (
        try key(.operator, 1), account, try key(.account, 3), try key(.user, 4)
      )
      func token(_ holder: Holder, _ permissions: Permissions) throws -> JWT {
        try JWTClaims(
          subject: service.publicKey, name: holder.userName, issuedAt: 1, .user(UserClaims(.explicit(permissions)))
        ).sign(with: account)
      }
      holders = try Dictionary(uniqueKeysWithValues: Holder.allCases.map { ($0, try token($0, $0.permissions)) })
      var narrow = Holder.sync.permissions
      narrow.publish.allow.removeAll { $0.hasPrefix("svc.notify.") }
      narrowed = try token(.sync, narrow)
    }
  }

  private static let keys = Swift.Result { try Keys() }

  /// Those who try what they may not have names that begin so: what they are refused is no fault of the product.
  static let trying = "try-"

  private struct State {
    var revocations: [PublicNKey: Int64] = [:]
    var refusals: Set<BrokerRefusal> = []
  }

  private let broker: ModelBroker
  private let keys: Keys
  private let clock: any Clock
  private let breakage: Breakage?
  private let state = Mutex(State())

  init(_ hub: InProcessHub, clock: any Clock, _ breakage: Breakage?) throws {
    keys = try Self.keys.get()
    self.clock = clock
    self.breakage = breakage
    broker = ModelBroker(hub, clock: clock, operatorKey: keys.root.publicKey)
    try tell()
  }

  var authority: DeviceAuthority {
    get throws { try DeviceAuthority(signingKey: keys.signer, account: keys.account.publicKey) }
  }

  /// - Throws: `notAuthenticated`: the broker does not let it in.
  func connect(_ name: String, as bearer: Bearer) throws(CaravanError) -> InProcessBus {
    try broker.connect(token(of: bearer), as: name)
  }

  private func token(of bearer: Bearer) throws(CaravanError) -> JWT {
    switch bearer {
    case .token(let token): return token
    case .holder(.sync) where breakage == .narrowSync: return keys.narrowed
    case .holder(let holder):
      guard let token = keys.holders[holder] else { preconditionFailure("every holder has a token") }
      return token
    case .device(let device):
      // Always a fresh one: clusters that live for weeks renew none.
      return try DeviceAuthority(signingKey: keys.signer, account: keys.account.publicKey)
        .sign(keys.device.publicKey, device: device, at: clock.wallTime.milliseconds / 1_000)
    }
  }

  /// What was signed for the key until now is void.
  func revoke(_ key: PublicNKey) throws {
    state.withLock { $0.revocations[key] = clock.wallTime.milliseconds / 1_000 }
    if breakage != .revocationUntold { try tell() }
  }

  /// Hands the broker the account's token, as the command line makes it.
  private func tell() throws {
    var scope = UserScope.devices(signedBy: keys.signer.publicKey)
    breakage?.widen(&scope.permissions)
    let claims = AccountClaims(signingKeys: [.scoped(scope)], revocations: state.withLock { $0.revocations })
    let token = JWTClaims(
      subject: keys.account.publicKey, name: "caravan", issuedAt: clock.wallTime.milliseconds / 1_000,
      .account(claims))
    try broker.take(token.sign(with: keys.root))
  }

  // MARK: Refusals

  func refused(_ refusal: BrokerRefusal) { state.withLock { _ = $0.refusals.insert(refusal) } }

  func hasRefused(_ refusal: BrokerRefusal) -> Bool { state.withLock { $0.refusals.contains(refusal) } }
}
