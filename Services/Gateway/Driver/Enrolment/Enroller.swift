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
      let claim = try record.claim(by: publicKey.text, at: now)
      if case .take(let taken) = claim {
        let isOurs = try await trySave(taken.fields, as: entry.name, in: "enrolment", base: .version(entry.version))
        // Somebody was quicker with the same token: look again who.
        guard isOurs else { continue }
      }
      let wanted = DeviceRecord(user: record.user, device: record.device, key: publicKey.text, issued: now)
      let device = try await register(wanted, isRepeat: claim == .repeatAnswer)
      return try authority.sign(publicKey, user: device.user, device: device.device, at: device.issued / 1000)
    }
    throw CaravanError(.serverBusy, "the enrolment token is being claimed by others: ask again")
  }

  // MARK: Devices

  /// Every device ever enrolled, by name.
  func devices() async throws(CaravanError) -> [DeviceRecord] {
    var records: [DeviceRecord] = []
    let zone = try Self.zone("devices")
    var request = ReadChangesRequest(
      zone: ZoneRef(zone), maxRecords: UInt32(Limits.recordsPerCommit), maxBytes: UInt32(Limits.pageBytes))
    while records.count < GatewayLimits.devicesListed {
      let reply: ReadChangesReply
      do { reply = try await storage.changes(of: zone, request) } catch {
        guard error.code == .zoneDoesNotExist else { throw error }
        return []
      }
      for entry in try EntryPage.decode(reply.page).entries where !entry.deleted {
        records.append(try DeviceRecord(device: DeviceID(entry.name), RecordFields(body: entry.body)))
      }
      guard reply.more else { break }
      request.from = reply.next
    }
    return records.sorted { $0.device < $1.device }
  }

  /// - Throws: `noSuchObject`.
  func device(_ name: DeviceID) async throws(CaravanError) -> DeviceRecord {
    guard let (_, record) = try await registered(name) else { throw Self.unknown(name) }
    return record
  }

  /// Writes down that the device is out; the broker is told by whoever holds the operator's key. Its name is free for
  /// another key from then on. Again is no error.
  func revoke(_ name: DeviceID) async throws(CaravanError) -> DeviceRecord {
    for _ in 0..<Self.attempts {
      guard let (version, known) = try await registered(name) else { throw Self.unknown(name) }
      guard known.revoked == 0 else { return known }
      var record = known
      record.revoked = host.clock.wallTime.milliseconds
      if try await trySave(record.fields, as: name.text, in: "devices", base: .version(version)) { return record }
    }
    throw CaravanError(.serverBusy, "device '\(name)' is being changed by others: ask again")
  }

  private static func unknown(_ name: DeviceID) -> CaravanError {
    CaravanError(.noSuchObject, "there is no device '\(name)': `caravan device list` shows them")
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

  /// What the registry holds then.
  ///
  /// The same token asked with the same key again gets the same answer, but not once the device has been revoked: that
  /// would give it a token younger than its revocation.
  private func register(_ new: DeviceRecord, isRepeat: Bool) async throws(CaravanError) -> DeviceRecord {
    for _ in 0..<Self.attempts {
      let old = try await registered(new.device)
      try DeviceRecord.check(new, against: old?.record)
      if let old, old.record.key == new.key {
        if old.record.revoked == 0 { return old.record }
        if isRepeat { throw EnrolmentToken.unknown }
      }
      let base = old.map { Base.version($0.version) } ?? .absent
      if try await trySave(new.fields, as: new.device.text, in: "devices", base: base) { return new }
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
