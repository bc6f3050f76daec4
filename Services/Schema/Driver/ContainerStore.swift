import CaravanModel
import CaravanSchemaCore
import CaravanStorageClient
import CaravanWire

/// How registrations lie in storage: records of the zone `containers` of Caravan's own public database. No name of a
/// container has an `@`.
///
/// - `@id:<id>`: a container. Field 1: an encoded `RegisteredContainer`.
/// - `<name in lower case>`: field 1: the id of the container that is called so.
/// - `@owner:<user>`: field 1: how many containers the user owns.
/// - `@count`: field 1: how many containers there are.
/// - `@found`: there since everything that a release without registrations has left was registered.
struct ContainerStore: Sendable {
  private static let count = "@count"
  private static let found = "@found"
  private static let content: UInt32 = 1

  /// What is there of one container, as of one look, and what the next change is compared with.
  struct Look {
    var container: CaravanModel.RegisteredContainer?
    /// What has the name already.
    var named: ContainerID?
    var all: UInt32 = 0
    var owned: [UserID: UInt32] = [:]
    var isMigrated = false
    fileprivate var bases: [String: Base] = [:]
  }

  let storage: StorageClient
  private let zone: ZoneID

  init(_ storage: StorageClient) throws(CaravanError) {
    self.storage = storage
    zone = try ZoneID(DatabaseID.system(nil), "containers")
  }

  private static func record(_ id: ContainerID) -> String { "@id:\(id)" }
  private static func record(_ owner: UserID) -> String { "@owner:\(owner)" }

  // MARK: Reading

  func look(_ id: ContainerID, name: String? = nil, owners: [UserID] = []) async throws(CaravanError) -> Look {
    var look = Look()
    let names = [Self.record(id), Self.found]
    let rest = name.map { [Containers.key(of: $0), Self.count] + owners.map(Self.record) } ?? []
    for entry in try await live(names + rest) {
      look.bases[entry.name] = .version(entry.version)
      switch entry.name {
      case Self.record(id): look.container = try Self.container(entry)
      case Self.found: look.isMigrated = true
      case Self.count: look.all = try Self.number(entry)
      case name.map(Containers.key): look.named = try Self.id(entry)
      default:
        for owner in owners where Self.record(owner) == entry.name { look.owned[owner] = try Self.number(entry) }
      }
    }
    return look
  }

  func id(named name: String) async throws(CaravanError) -> ContainerID? {
    guard let entry = try await live([Containers.key(of: name)]).first else { return nil }
    return try Self.id(entry)
  }

  /// Bounded by `SchemaLimits.containersPerSuite`.
  func all() async throws(CaravanError) -> [CaravanModel.RegisteredContainer] {
    var containers: [CaravanModel.RegisteredContainer] = []
    for entry in try await storage.everything(in: zone) where !entry.isDeleted && entry.name.hasPrefix("@id:") {
      containers.append(try Self.container(entry))
    }
    return containers.sorted { Containers.key(of: $0.name) < Containers.key(of: $1.name) }
  }

  // MARK: Writing

  /// - Parameter look: at this container, with its name and whose it was and will be.
  /// - Returns: false when somebody else has changed something since.
  func save(_ container: CaravanModel.RegisteredContainer, after look: Look) async throws(CaravanError) -> Bool {
    var mutations = [
      mutation(Self.record(container.id), look, .data(CaravanWire.RegisteredContainer(container).encoded()))
    ]
    if look.container == nil {
      mutations.append(mutation(Self.count, look, .integer(Int64(look.all) + 1)))
      mutations.append(mutation(Containers.key(of: container.name), look, .text(container.id.text)))
    }
    let before = look.container?.owner
    if look.container == nil || before != container.owner {
      if let before {
        mutations.append(mutation(Self.record(before), look, .integer(max(0, Int64(look.owned[before] ?? 0) - 1))))
      }
      if let owner = container.owner {
        mutations.append(mutation(Self.record(owner), look, .integer(Int64(look.owned[owner] ?? 0) + 1)))
      }
    }
    return try await commit(mutations)
  }

  /// Registers those of `ids` that are not, as left by a release without registrations.
  /// - Returns: false when somebody else has changed something since.
  func adopt(_ ids: [ContainerID]) async throws(CaravanError) -> Bool {
    let known = try await live(ids.map(Self.record) + ids.map(\.text) + [Self.count])
    var look = Look()
    for entry in known { look.bases[entry.name] = .version(entry.version) }
    if let entry = known.first(where: { $0.name == Self.count }) { look.all = try Self.number(entry) }
    let new = ids.filter { look.bases[Self.record($0)] == nil && look.bases[$0.text] == nil }
    guard !new.isEmpty else { return true }
    var mutations = [mutation(Self.count, look, .integer(Int64(look.all) + Int64(new.count)))]
    for id in new {
      mutations.append(
        mutation(Self.record(id), look, .data(CaravanWire.RegisteredContainer(Containers.found(id)).encoded())))
      mutations.append(mutation(id.text, look, .text(id.text)))
    }
    return try await commit(mutations)
  }

  func noteMigrated() async throws(CaravanError) {
    // Where another instance was first, it is noted as well.
    _ = try await commit([mutation(Self.found, Look(), .integer(1))])
  }

  private func mutation(_ name: String, _ look: Look, _ value: Value) -> CaravanModel.Mutation {
    let body = RecordFields([Self.content: value]).body
    return CaravanModel.Mutation(
      name: name, base: look.bases[name] ?? .absent, change: .save(type: 0, body: body, chunks: []))
  }

  private func commit(_ mutations: [CaravanModel.Mutation]) async throws(CaravanError) -> Bool {
    guard case .applied(let outcomes, _, _, _) = try await storage.commit(to: zone, mutations) else {
      throw CaravanError(.internalError, "storage did not apply a registration of a container")
    }
    return outcomes.allSatisfy { if case .accepted = $0 { true } else { false } }
  }

  private func live(_ names: [String]) async throws(CaravanError) -> [CaravanModel.Entry] {
    do { return try await storage.fetch(names, from: zone).filter { !$0.isDeleted } } catch {
      guard error.code == .zoneDoesNotExist else { throw error }
      return []
    }
  }

  // MARK: Records

  private static func container(_ entry: CaravanModel.Entry) throws(CaravanError) -> CaravanModel.RegisteredContainer {
    guard case .data(let bytes) = try RecordFields(body: entry.body)[content] else { throw damaged(entry) }
    return try CaravanWire.RegisteredContainer.decode(bytes).model()
  }

  private static func id(_ entry: CaravanModel.Entry) throws(CaravanError) -> ContainerID {
    guard case .text(let text) = try RecordFields(body: entry.body)[content] else { throw damaged(entry) }
    return try ContainerID(text)
  }

  private static func number(_ entry: CaravanModel.Entry) throws(CaravanError) -> UInt32 {
    guard case .integer(let number) = try RecordFields(body: entry.body)[content], let count = UInt32(exactly: number)
    else { throw damaged(entry) }
    return count
  }

  private static func damaged(_ entry: CaravanModel.Entry) -> CaravanError {
    CaravanError(.internalError, "record '\(entry.name)' of the registered containers is not as the registry writes it")
  }
}
