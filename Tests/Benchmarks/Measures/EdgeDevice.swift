internal import CaravanBus
internal import CaravanBusNATS
internal import CaravanCrypto
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSyncClient
internal import CaravanWire

/// A device that speaks the edge protocol by itself, without an agent: what a load of many devices is made of.
struct EdgeDevice: Sendable {
  let bus: NATSBus
  let device: EnrolledDevice
  var user: UserID { device.user }
  private let host: Host
  private let sync: SyncClient
  private static let attempts = 20

  init(_ credentials: Credentials, urls: [String], host: Host) async throws {
    let claims = credentials.jwt.claims
    self.host = host
    device = try EnrolledDevice(credentials: claims.name, user: claims.userTag)
    bus = try await NATSBus.connect(NATSOptions(urls: urls, credentials: credentials, name: claims.name), host: host)
    sync = SyncClient(bus: bus, device: device, epoch: host.random.next() >> 1)
    try await bus.waitUntilConnected(deadline: .seconds(10))
  }

  /// One operation in one frame; comes again where the cloud is busy, as agents do.
  /// - Throws: what the cloud refused.
  func ask(_ kind: Operation.Kind) async throws(CaravanError) -> CaravanWire.Result.Kind {
    var attempt = 1
    while true {
      do { return try await sync.ask(kind) } catch {
        guard error.code == .serverBusy, attempt < Self.attempts else { throw error }
        let wait = UInt64(error.retryAfterMilliseconds ?? 0) + host.random.below(100 << UInt64(min(attempt, 5)))
        try? await host.clock.sleep(for: .milliseconds(Int64(wait)))
      }
      attempt += 1
    }
  }

  /// The id of a record type with one text field.
  func makeType(_ name: String, in container: String) async throws(CaravanError) -> UInt32 {
    let type = CaravanWire.RecordType(
      name: name, fields: [CaravanWire.FieldDefinition(id: 0, name: "text", kind: .text)])
    guard case .type(let agreed) = try await ask(.propose(ProposeTable(container: container, type: type))) else {
      throw CaravanError(.internalError, "a proposal was answered with something else")
    }
    return agreed.id
  }

  /// Saves records under one op: new ones, or whatever is there.
  func save(
    _ bodies: [[UInt8]], names: [String], type: UInt32, op: UInt64, to zone: String, in container: String,
    _ database: DatabaseScope = .private, isNew: Bool = true
  ) async throws(CaravanError) {
    let mutations = zip(names, bodies).map {
      CaravanWire.Mutation(name: $0, kind: .save, basedOn: isNew ? 0 : nil, type: type, body: $1)
    }
    let reply = try await push(mutations, op: op, to: zone, in: container, database)
    guard reply.outcomes.count == mutations.count, reply.outcomes.allSatisfy({ $0.verdict == .accepted }) else {
      throw CaravanError(.internalError, "a push was not accepted")
    }
  }

  func push(
    _ mutations: [CaravanWire.Mutation], op: UInt64, to zone: String, in container: String,
    _ database: DatabaseScope = .private
  ) async throws(CaravanError) -> CommitReply {
    let push = Push(
      container: container, zone: zone, op: op, opFloor: op, mutations: mutations, database: database)
    guard case .commit(let reply) = try await ask(.push(push)) else {
      throw CaravanError(.internalError, "a push was answered with something else")
    }
    return reply
  }
}

/// Rows as the measurements use them: half random text, about `bytes` bytes each.
struct SampleRows: Sendable {
  let host: Host
  let bytes: Int

  func body() -> [UInt8] {
    let entropy = host.random.bytes(bytes * 3 / 8).map { String($0, radix: 16) }.joined()
    let text = String((entropy + String(repeating: "caravan ", count: bytes / 8)).prefix(bytes))
    return RecordFields([1: .text(text)]).body
  }

  /// Time-ordered, as agents name their rows.
  func name(_ number: UInt64) -> String {
    let digits = String(host.clock.wallTime.milliseconds, radix: 32) + "-" + String(number, radix: 32)
    return String(repeating: "0", count: max(0, 26 - digits.count)) + digits
  }
}
