import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanTestKit
import CaravanWire

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Apps of several users that share one container, with the real services behind them.
struct RecordApps: Sendable {
  static let container = ContainerID(unchecked: "wall")
  let suite: SuiteCluster
  private let schema: SchemaClient
  let clock: any Clock

  static func run(
    seed: UInt64, policy: (any FaultPolicy)? = nil, _ body: @escaping @Sendable (RecordApps) async throws -> Void
  ) throws {
    let suite = try SuiteCluster(seed: seed, policy: policy)
    try suite.cluster.run(deadline: .seconds(3_600)) { try await body(RecordApps(suite)) }
  }

  private init(_ suite: SuiteCluster) {
    self.suite = suite
    schema = SchemaClient(bus: suite.hub.connect(as: "operator"))
    clock = suite.cluster.host("operator").host.clock
  }

  func app(
    _ name: String, of user: String, in environment: CaravanModel.Environment = .development
  ) async throws -> RecordApp {
    var options = LocalStoreOptions()
    options.isDurable = false
    let device = try await suite.start(
      name, in: "\(suite.directory.path)/\(user).\(name)", options, device: EnrolledDevice(user, name, in: environment))
    let session = AppSession(app: Self.container, owner: 1, store: device.store, sync: device.agent.engine)
    return RecordApp(name: name, device: device, session: session)
  }

  /// A name that no record has, in the shard of another.
  func free(like id: String) -> String {
    let shards = CaravanModel.ContainerSettings().publicShards
    let shard = DefaultZone.shard(of: id, among: shards)
    return (0..<1_000).map { "free\($0)" }.first { DefaultZone.shard(of: $0, among: shards) == shard } ?? ""
  }

  // MARK: What developers say

  private func latest() async throws -> CaravanModel.RecordType {
    try await schema.type(named: "notes", of: Self.container, in: .development)
  }

  private func say(_ type: CaravanModel.RecordType) async throws {
    _ = try await schema.propose(type, to: Self.container, in: .development, by: nil)
    try await clock.sleep(for: .seconds(2))
  }

  func grant(_ rights: [(CaravanModel.TypeGrants.Role, CaravanModel.TypeGrants.Rights)]) async throws {
    var type = try await latest()
    var grants = CaravanModel.TypeGrants.standard
    for (role, granted) in rights { try grants.grant(granted, to: role) }
    type.grants = grants
    try await say(type)
  }

  func hideExpired() async throws {
    var type = try await latest()
    type.settings = CaravanModel.TypeSettings()
    type.settings?.hidesExpired = true
    try await say(type)
  }

  func removeType() async throws {
    let request = ChangeSchemaRequest(
      container: Self.container.text, environment: "development", byOperator: true,
      change: .remove(RemoveType(type: "notes")))
    _ = try await schema.perform(SchemaCall(call: .change(request)))
    try await clock.sleep(for: .seconds(2))
  }

  func register(
    _ fields: [(String, CaravanModel.FieldKind)], in environment: CaravanModel.Environment
  ) async throws {
    let type = CaravanModel.RecordType(
      id: 0, definition: 0, name: "notes",
      fields: fields.map { CaravanModel.FieldDefinition(id: 0, name: $0.0, kind: $0.1) })
    while (try? await schema.createContainer(Self.container.text, owner: UserID("ann"), isForMembers: false)) == nil {
      try await clock.sleep(for: .milliseconds(50))
    }
    _ = try await schema.propose(type, to: Self.container, in: environment, by: nil)
  }
}

/// An app on a device, by the messages that its client sends.
struct RecordApp: Sendable {
  let name: String
  let device: RunningDevice
  let session: AppSession

  private func answer(_ request: AppRequest.Kind) async throws -> AppReply.Kind {
    while true {
      let reply = await session.answer(request)
      guard case .failure(let failure) = reply else { return reply }
      // The services may not have begun yet.
      guard failure.code == ErrorCode.unavailable.rawValue || failure.code == ErrorCode.networkNotConnected.rawValue
      else { throw failure.model() }
      try await device.clock.sleep(for: .milliseconds(50))
    }
  }

  // MARK: Reading

  func found(_ ids: [String], columns: [String] = [], table: String = "notes") async throws -> [FoundRecord] {
    let request = FetchRecords(table: table, publicDatabase: true, ids: ids, columns: columns)
    guard case .foundRecords(let found) = try await answer(.fetchRecords(request)) else {
      throw NotYet(what: "records")
    }
    return found.records
  }

  func row(_ id: String) async throws -> CaravanWire.Row? {
    let found = try await found([id])[0]
    if let failure = found.failure { throw failure.model() }
    return found.row
  }

  // MARK: Changing

  func reserve(_ count: Int) async throws -> ReservedNumbers {
    let request = ReserveNumbers(count: UInt32(count))
    guard case .reservedNumbers(let numbers) = try await answer(.reserveNumbers(request)) else {
      throw NotYet(what: "numbers")
    }
    return numbers
  }

  func send(
    _ changes: [RecordChange], of epoch: UInt64, table: String = "notes", isPublic: Bool = true
  ) async throws -> [CaravanWire.RecordOutcome] {
    let request = ChangeRecords(table: table, publicDatabase: isPublic, epoch: epoch, changes: changes)
    guard case .changedRecords(let changed) = try await answer(.changeRecords(request)) else {
      throw NotYet(what: "outcomes")
    }
    return changed.outcomes
  }

  /// With numbers of their own.
  func changeAll(
    _ changes: [RecordChange], table: String = "notes", isPublic: Bool = true
  ) async throws -> [CaravanWire.RecordOutcome] {
    let numbers = try await reserve(min(max(1, changes.count), Limits.recordsPerCommit))
    var changes = changes
    for index in changes.indices { changes[index].number = numbers.first + UInt64(index) }
    return try await send(changes, of: numbers.epoch, table: table, isPublic: isPublic)
  }

  func change(_ change: RecordChange) async throws -> CaravanWire.RecordOutcome { try await changeAll([change])[0] }

  /// - Parameter base: 0: it must not be there; nil: whatever is there.
  func save(
    _ id: String, _ columns: [String: CaravanModel.Value], basedOn base: UInt64? = 0, ttl: UInt64 = 0
  ) async throws -> CaravanWire.RecordOutcome {
    let cells = columns.sorted { $0.key < $1.key }.map { Cell(column: $0.key, $0.value) }
    return try await change(RecordChange(id: id, basedOn: base, cells: cells, ttlMilliseconds: ttl))
  }
}

extension CaravanWire.Cell {
  static func text(_ column: String, _ text: String) -> Cell { Cell(column: column, value: .text(text)) }
  static func integer(_ column: String, _ number: Int64) -> Cell { Cell(column: column, value: .integer(number)) }
}

extension CaravanWire.Row {
  /// nil: it has none.
  func value(_ column: String) -> CaravanModel.Value? {
    cells.first { $0.column == column }.flatMap { try? $0.model() }
  }
}

/// Answers of the cloud to a device get lost, and nothing else does.
final class LostAnswers: FaultPolicy {
  private let victim = Mutex<String?>(nil)

  func loses(to device: String) { victim.withLock { $0 = device } }
  func losesNothing() { victim.withLock { $0 = nil } }

  func copies(of passage: Passage, random: any RandomSource) -> [Duration] {
    passage.isReply && victim.withLock { $0 == passage.receiver } ? [] : [.zero]
  }
}
