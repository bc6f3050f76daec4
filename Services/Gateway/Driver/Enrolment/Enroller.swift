package import CaravanCrypto
internal import CaravanEncoding
package import CaravanGatewayCore
package import CaravanModel
package import CaravanRuntime
package import CaravanStorageClient
internal import CaravanWire

/// Signs devices into the application account (architecture §4). Stateless: tokens and devices are records of the
/// system container's public database.
package struct Enroller: Sendable {
  private let records: SystemRecords
  private let registry: DeviceRegistry
  private let traces: DeviceTraces
  private let authority: DeviceAuthority
  private let host: Host

  private static let tokenBytes = 20
  private static let attempts = 4
  private static let tokens = "enrolment"

  package init(storage: StorageClient, authority: DeviceAuthority, host: Host) {
    records = SystemRecords(storage: storage)
    registry = DeviceRegistry(records: records)
    traces = DeviceTraces(records: records)
    self.authority = authority
    self.host = host
  }

  package struct Minted: Sendable {
    package let token: String
    package let expires: WallTime
  }

  /// - Parameter isServerApp: whether a server app is meant: whoever lets people choose the ids of users makes none.
  /// - Throws: `objectExists` when the device is enrolled already; `invalidData` for a lifetime out of range, and for a
  ///   user who is not what is meant.
  package func mint(
    user: UserID, device: DeviceID, environment: CaravanModel.Environment, lifetimeSeconds: Int64,
    isServerApp: Bool = false
  ) async throws(CaravanError) -> Minted {
    guard (ServerApp(user) != nil) == isServerApp else {
      throw CaravanError(
        .invalidData,
        isServerApp
          ? "user '\(user)' is no server app"
          : "user '\(user)' would be a server app, not a person: choose another id, or say caravan server-app add")
    }
    guard EnrolmentToken.lifetimeSeconds.contains(lifetimeSeconds) else {
      let range = EnrolmentToken.lifetimeSeconds
      throw CaravanError(.invalidData, "ttl_seconds must be \(range.lowerBound) to \(range.upperBound)")
    }
    try DeviceRecord.check("", against: try await registry.find(user, device)?.record)
    let token = Base32.encode(try secret()).lowercased()
    let expires = host.clock.wallTime.milliseconds + lifetimeSeconds * 1000
    let record = EnrolmentToken(user: user, device: device, environment: environment, expires: expires)
    let kept = (lifetimeSeconds + GatewayLimits.usedTokensKept) * 1000
    guard
      try await records.save(
        record.fields, as: Self.name(of: token), in: Self.tokens, base: .absent, lifetime: kept)
    else {
      throw CaravanError(.serverRecordChanged, "the token was made by somebody else meanwhile: ask again")
    }
    return Minted(token: token, expires: WallTime(milliseconds: expires))
  }

  /// The device's token for the bus.
  /// - Throws: `notAuthenticated` when the enrolment token does not allow it; `invalidData` when `key` is no user nkey.
  package func enrol(token: String, key: String) async throws(CaravanError) -> JWT {
    guard let publicKey = try? PublicNKey(key, kind: .user) else {
      throw CaravanError(.invalidData, "public_key is not a user nkey: it begins with U and has 56 characters")
    }
    for _ in 0..<Self.attempts {
      guard let kept = try await records.fetch([Self.name(of: token)], from: Self.tokens).first else {
        throw EnrolmentToken.unknown
      }
      let record = try EnrolmentToken(kept.fields)
      let now = host.clock.wallTime.milliseconds
      let claim = try record.claim(by: publicKey.text, at: now)
      if case .take(let taken) = claim {
        let isOurs = try await records.save(
          taken.fields, as: kept.name, in: Self.tokens, base: .version(kept.version),
          lifetime: GatewayLimits.usedTokensKept * 1000)
        // Somebody was quicker with the same token: look again who.
        guard isOurs else { continue }
      }
      let device = try await register(record, publicKey, at: now, isRepeat: claim == .repeatAnswer)
      return try authority.sign(publicKey, device: device.device, at: device.issued / 1000)
    }
    throw CaravanError(.serverBusy, "the enrolment token is being claimed by others: ask again")
  }

  // MARK: Devices

  /// - Throws: `invalidSyncToken` for a start that is none.
  func devices(from start: CaravanWire.ChangePosition?) async throws(CaravanError) -> DeviceRegistry.Page {
    try await registry.page(from: start, limit: GatewayLimits.devicesPerPage)
  }

  /// - Throws: `noSuchObject`.
  func device(_ name: DeviceID, of user: UserID) async throws(CaravanError) -> DeviceRecord {
    guard let known = try await registry.find(user, name) else { throw Self.unknown(name, of: user) }
    return known.record
  }

  /// Writes down that the device is out, and removes what the cloud keeps to reach it; the broker is told by whoever
  /// holds the operator's key. Its name is free for another enrolment from then on. Again is no error, and removes
  /// what an attempt that was cut off left.
  package func revoke(_ name: DeviceID, of user: UserID) async throws(CaravanError) -> DeviceRecord {
    for _ in 0..<Self.attempts {
      guard let known = try await registry.find(user, name) else { throw Self.unknown(name, of: user) }
      var record = known.record
      if record.revoked == 0 {
        record.revoked = host.clock.wallTime.milliseconds
        guard try await registry.save(record, over: known) else { continue }
      }
      try await traces.remove(record.device)
      return record
    }
    throw CaravanError(.serverBusy, "device '\(name)' is being changed by others: ask again")
  }

  /// Credentials for the key that is enrolled. Nobody else can use them, so whoever asks need not prove that it is his.
  /// - Parameters:
  ///   - device: as the broker has proven, or its key.
  ///   - holder: who has proven to hold this key; nil: the broker has proven the device.
  /// - Throws: `notAuthenticated` when that enrolment is revoked, is of the other environment, or another has followed.
  func renew(_ device: EnrolledDevice, by holder: PublicNKey? = nil) async throws(CaravanError) -> JWT {
    guard let record = try await registry.find(device.user, device.device)?.record, record.revoked == 0,
      record.device == device, holder.map({ $0.text == record.key }) ?? true
    else {
      throw CaravanError(
        .notAuthenticated, "device '\(device.device)' is not enrolled under these credentials: enrol it again")
    }
    let key: PublicNKey
    do { key = try PublicNKey(record.key, kind: .user) } catch { throw CaravanError(.internalError, "\(error)") }
    return try authority.sign(key, device: record.device, at: host.clock.wallTime.milliseconds / 1000)
  }

  /// Credentials for whoever was away for so long that theirs are over, and cannot ask over the bus.
  /// - Throws: `notAuthenticated` when the request is not signed by the key that is enrolled; as `renew` does.
  func renew(_ request: RenewalRequest) async throws(CaravanError) -> JWT {
    try request.check(at: host.clock.wallTime.milliseconds / 1000)
    return try await renew(request.device, by: request.key)
  }

  private static func unknown(_ name: DeviceID, of user: UserID) -> CaravanError {
    CaravanError(.noSuchObject, "user '\(user)' has no device '\(name)': `caravan device list` shows them")
  }

  /// What the registry holds then.
  ///
  /// The same token asked with the same key again gets the same answer, but not once the device has been revoked: that
  /// would give it a token younger than its revocation.
  private func register(
    _ token: EnrolmentToken, _ key: PublicNKey, at now: Int64, isRepeat: Bool
  ) async throws(CaravanError) -> DeviceRecord {
    for _ in 0..<Self.attempts {
      let known = try await registry.find(token.user, token.device)
      try DeviceRecord.check(key.text, against: known?.record)
      if let record = known?.record, record.key == key.text {
        if record.revoked == 0 { return record }
        if isRepeat { throw EnrolmentToken.unknown }
      }
      let device = EnrolledDevice(
        user: token.user, device: token.device, enrolment: try DeviceRecord.enrolment(after: known?.record),
        environment: token.environment)
      // Besides what is signed here a server app has credentials that do not end (`caravan server-app add`).
      let record = DeviceRecord(device: device, key: key.text, issued: now, ends: ServerApp(device.user) == nil)
      if try await registry.save(record, over: known) { return record }
    }
    throw CaravanError(.serverBusy, "device '\(token.device)' is being enrolled by others: ask again")
  }

  /// The store never sees a token that could be used.
  private static func name(of token: String) -> String { SHA256.hash(Array(token.utf8)).description }

  private func secret() throws(CaravanError) -> [UInt8] {
    do { return try SecureRandom.bytes(Self.tokenBytes) } catch { throw CaravanError(.internalError, "\(error)") }
  }
}
