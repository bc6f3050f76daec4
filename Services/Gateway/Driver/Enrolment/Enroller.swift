internal import Crypto
internal import Encoding
internal import GatewayCore
internal import Model
internal import Runtime
internal import StorageClient
internal import Wire

/// Signs devices into the application account (architecture §4). Stateless: tokens and devices are records of the
/// system container's public database.
struct Enroller: Sendable {
  let storage: StorageClient
  let authority: DeviceAuthority
  let host: Host

  private static let tokenBytes = 20
  private static let attempts = 4

  private static func zone(_ name: String) throws(CaravanError) -> ZoneID {
    try ZoneID(DatabaseID(container: .system, owner: nil), name)
  }

  struct Minted: Sendable {
    let token: String
    let expires: WallTime
  }

  /// - Throws: `objectExists` when the device is enrolled already; `invalidData` for a lifetime out of range.
  func mint(user: UserID, device: DeviceID, lifetimeSeconds: Int64) async throws(CaravanError) -> Minted {
    guard EnrolmentToken.lifetimeSeconds.contains(lifetimeSeconds) else {
      let range = EnrolmentToken.lifetimeSeconds
      throw CaravanError(.invalidData, "ttl_seconds must be \(range.lowerBound) to \(range.upperBound)")
    }
    let known = try await registered(device)
    let wanted = DeviceRecord(user: user, device: device, key: "", issued: 0)
    try DeviceRecord.check(wanted, against: known?.record)
    let token = Base32.encode(try secret()).lowercased()
    let expires = host.clock.wallTime.milliseconds + lifetimeSeconds * 1000
    let record = EnrolmentToken(user: user, device: device, expires: expires)
    try await save(record.fields, as: Self.name(of: token), in: "enrolment", base: .absent)
    return Minted(token: token, expires: WallTime(milliseconds: expires))
  }

  /// The device's token for the bus.
  /// - Throws: `notAuthenticated` when the enrolment token does not allow it; `invalidData` when `key` is no user nkey.
  func enrol(token: String, key: String) async throws(CaravanError) -> JWT {
    guard let publicKey = try? PublicNKey(key, kind: .user) else {
      throw CaravanError(.invalidData, "public_key is not a user nkey: it begins with U and has 56 characters")
    }
    for _ in 0..<Self.attempts {
      guard let (entry, kept) = try await find(token) else { throw EnrolmentToken.unknown }
      let record = try EnrolmentToken(kept)
      let now = host.clock.wallTime.milliseconds
      if case .take(let taken) = try record.claim(by: publicKey.text, at: now) {
        let isOurs = try await trySave(taken.fields, as: entry.name, in: "enrolment", base: .version(entry.version))
        // Somebody was quicker with the same token: look again who.
        guard isOurs else { continue }
      }
      try await register(DeviceRecord(user: record.user, device: record.device, key: publicKey.text, issued: now))
      return try authority.sign(publicKey, user: record.user, device: record.device, at: now / 1000)
    }
    throw CaravanError(.serverBusy, "the enrolment token is being claimed by others: ask again")
  }

  // MARK: Records

  private func find(_ token: String) async throws(CaravanError) -> (Model.Entry, RecordFields)? {
    try await fetch(Self.name(of: token), from: "enrolment")
  }

  private func registered(
    _ device: DeviceID
  ) async throws(CaravanError) -> (version: Seq, record: DeviceRecord)? {
    guard let (entry, fields) = try await fetch(device.text, from: "devices") else { return nil }
    return (entry.version, try DeviceRecord(device: device, fields))
  }

  private func register(_ new: DeviceRecord) async throws(CaravanError) {
    for _ in 0..<Self.attempts {
      let old = try await registered(new.device)
      try DeviceRecord.check(new, against: old?.record)
      if let old, old.record.key == new.key, old.record.revoked == 0 { return }
      let base = old.map { Base.version($0.version) } ?? .absent
      if try await trySave(new.fields, as: new.device.text, in: "devices", base: base) { return }
    }
    throw CaravanError(.serverBusy, "device '\(new.device)' is being enrolled by others: ask again")
  }

  private func fetch(
    _ name: String, from zone: String
  ) async throws(CaravanError) -> (Model.Entry, RecordFields)? {
    let entries: [Model.Entry]
    do { entries = try await storage.fetch([name], from: Self.zone(zone)) } catch {
      // Before the first record the zone is not there.
      guard error.code == .zoneDoesNotExist else { throw error }
      return nil
    }
    guard let entry = entries.first, !entry.isDeleted else { return nil }
    return (entry, try RecordFields(body: entry.body))
  }

  private func save(_ fields: RecordFields, as name: String, in zone: String, base: Base) async throws(CaravanError) {
    guard try await trySave(fields, as: name, in: zone, base: base) else {
      throw CaravanError(.serverRecordChanged, "record '\(name)' changed meanwhile: ask again")
    }
  }

  private func trySave(
    _ fields: RecordFields, as name: String, in zone: String, base: Base
  ) async throws(CaravanError) -> Bool {
    let mutation = Model.Mutation(name: name, base: base, change: .save(type: 0, body: fields.body, chunks: []))
    guard case .applied(let outcomes, _, _) = try await storage.commit(to: Self.zone(zone), [mutation]) else {
      throw CaravanError(.internalError, "storage did not apply a record of the gateway")
    }
    if case .accepted = outcomes.first { return true }
    return false
  }

  /// The store never sees a token that could be used.
  private static func name(of token: String) -> String { SHA256.hash(Array(token.utf8)).description }

  private func secret() throws(CaravanError) -> [UInt8] {
    do { return try SecureRandom.bytes(Self.tokenBytes) } catch { throw CaravanError(.internalError, "\(error)") }
  }
}
