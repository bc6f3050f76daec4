import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanSchemaCore
import CaravanStorageClient
import CaravanWire

extension CounterName {
  static let settingsDiffer = CounterName(
    "caravan_schema_settings_differ_total", "Settings of record types that devices remember and nobody registered.")
}

/// Carries the registry's decisions out, and remembers what it read.
final class Registrar: Sendable {
  private struct TypeKey: Hashable {
    let database: DatabaseID
    let id: UInt32
  }

  private struct NameKey: Hashable {
    let database: DatabaseID
    let name: String
  }

  private struct Told: Hashable {
    let name: NameKey
    let remembered: CaravanModel.TypeSettings
    let current: CaravanModel.TypeSettings
  }

  private struct Known {
    let type: CaravanModel.RecordType
    var read: Instant
  }

  private struct Caches {
    var types = BoundedCache<TypeKey, Known>(capacity: SchemaLimits.cachedTypes)
    var names = BoundedCache<NameKey, Known>(capacity: SchemaLimits.cachedNames)
    /// Settings that devices remember and that were told already.
    var told = BoundedCache<Told, Bool>(capacity: SchemaLimits.cachedNames)
  }

  let storage: StorageClient
  /// Of what is known already: answers soon or not at all.
  private let confirming: StorageClient
  private let host: Host
  private let containers: ContainerHandler
  private let caches = Mutex(Caches())
  private let reading = Limiter(permits: SchemaLimits.registriesInFlight, waiters: Registrar.waiters)
  /// Of one container: others do not wait for it.
  private let turns = Mutex(BoundedCache<DatabaseID, Limiter>(capacity: SchemaLimits.cachedNames))
  private static let waiters = SchemaLimits.requestsInFlight * SchemaMethod.allCases.count

  init(storage: StorageClient, confirming: StorageClient, containers: ContainerHandler, host: Host) {
    self.containers = containers
    self.storage = storage
    self.confirming = confirming
    self.host = host
  }

  // MARK: Methods

  /// Compares and sets, so that two who propose at once agree on one order (CK-96).
  func propose(_ request: ProposeTypeRequest) async throws(CaravanError) -> TypeReply {
    let proposal = try required(request.type, "type").model()
    if proposal.name == NotificationLog.name { return TypeReply(type: CaravanWire.RecordType(NotificationLog.type)) }
    let store = try store(request.container, request.environment)
    try request.partial ? Registry.check(onSome: proposal) : Registry.check(proposal)
    let asker = try Asker(user: request.user, isOperator: request.byOperator)
    let standing = try await containers.admit(asker, to: store.database, registers: !proposal.fields.isEmpty)
    return try await insisting(store.database) { () async throws(CaravanError) in
      let state = try await store.state(ofName: proposal.name)
      let history = state.history(of: proposal.name)
      func decide(_ numbers: TypeNumbers) throws(CaravanError) -> RegistryDecision {
        guard !request.partial else {
          return try Registry.decide(
            onSome: proposal, history: history, numbers: numbers, in: store.database.environment, by: standing)
        }
        return try Registry.decide(
          proposal, isRemembered: request.remembered, isDeclared: request.declared, history: history,
          numbers: numbers, in: store.database.environment, by: standing)
      }
      if request.remembered { tellUnknownSettings(of: proposal, history.current, in: store.database) }
      var decision = try decide(TypeNumbers(after: state.count))
      if case .add = decision, try await store.isRestored() {
        decision = try decide(TypeNumbers(afterRestore: state.count) { host.random.below($0) })
      }
      switch decision {
      case .existing(let type):
        return TypeReply(type: CaravanWire.RecordType(type))
      case .add(let type):
        let isSaid = request.byOperator || request.declared
        let change = CaravanModel.SchemaChange(
          id: state.schema + 1, parent: state.schema, milliseconds: host.wallMilliseconds,
          author: try asker.author(device: request.device), cause: isSaid ? .said : .inferred,
          differences: CaravanModel.SchemaDifference.between(history.latest, type))
        let edit = RegistryEdit(added: [type], removed: [], change: change)
        guard try await store.write(edit, after: state, by: standing) else { return nil }
        keep(latest: type, of: store.database)
        host.log.info("record type added", [.database: store.database, .table: type.name, .count: type.fields.count])
        return TypeReply(type: CaravanWire.RecordType(type))
      }
    }
  }

  /// Tries until nobody else has changed the schema meanwhile: at once the first time, and then one after the other, or
  /// those that come together would keep each other from it.
  /// - Parameter attempt: nil: somebody was faster.
  /// - Throws: `serverBusy`.
  func insisting<R: Sendable>(
    _ database: DatabaseID, _ attempt: @Sendable () async throws(CaravanError) -> R?
  ) async throws(CaravanError) -> R {
    if let result = try await attempt() { return result }
    return try await turn(of: database).withPermit { () async throws(CaravanError) in
      for _ in 1..<SchemaLimits.proposalAttempts { if let result = try await attempt() { return result } }
      throw CaravanError(
        .serverBusy, "others are changing the schema of '\(database.container)': ask again", retryAfterMilliseconds: 100
      )
    }
  }

  /// Said once, however many devices remember it.
  private func tellUnknownSettings(
    of proposal: CaravanModel.RecordType, _ versions: [CaravanModel.RecordType], in database: DatabaseID
  ) {
    let changes = Registry.unknownSettings(of: proposal, among: versions)
    guard !changes.isEmpty, let remembered = proposal.settings else { return }
    let told = Told(
      name: NameKey(database: database, name: proposal.name), remembered: remembered,
      current: versions.last?.settings ?? CaravanModel.TypeSettings())
    let isNew = caches.withLock { caches in
      defer { caches.told.insert(true, for: told) }
      return caches.told.value(for: told) == nil
    }
    guard isNew else { return }
    host.metrics.counter(.settingsDiffer).add()
    host.log.warning(
      "devices remember other settings of a record type: say which shall hold with 'caravan schema set'",
      [.database: database, .table: proposal.name, .reason: changes.map(\.description).joined(separator: ", ")])
  }

  func type(_ request: TypeRequest) async throws(CaravanError) -> TypeReply {
    let store = try store(request.container, request.environment)
    if request.id == NotificationLog.type.id || request.id == 0 && request.name == NotificationLog.name {
      return TypeReply(type: CaravanWire.RecordType(NotificationLog.type))
    }
    let type =
      request.id > 0
      ? try await type(request.id, in: store) : try await type(named: request.name, in: store)
    return TypeReply(type: CaravanWire.RecordType(type))
  }

  /// - Throws: `limitExceeded` when they are more than one answer carries; `accessDenied` for a user who does not
  ///   develop the container.
  func types(_ request: ListTypesRequest) async throws(CaravanError) -> ListTypesReply {
    let store = try store(request.container, request.environment)
    if !request.user.isEmpty { try await requireDeveloper(request.user, of: store.database) }
    let schema = try await whole(store).registered
    var reply = ListTypesReply(schema: schema.id)
    var bytes = 0
    for type in schema.types {
      let wire = CaravanWire.RecordType(type)
      bytes += wire.encoded().count
      guard bytes <= SchemaLimits.listBytes else {
        throw CaravanError(
          .limitExceeded, "'\(request.container)' has too many record types to list: ask for them by name")
      }
      reply.types.append(wire)
    }
    for template in schema.templates {
      let wire = CaravanWire.SubscriptionTemplate(template)
      bytes += wire.encoded().count
      guard bytes <= SchemaLimits.listBytes else {
        throw CaravanError(
          .limitExceeded, "'\(request.container)' has too many templates to list: remove some, or ask for types by name"
        )
      }
      reply.templates.append(wire)
    }
    return reply
  }

  /// The latest template of a name, read from storage each time: who subscribes gets what was promoted last.
  /// - Throws: `noSuchObject`.
  func template(_ request: TemplateRequest) async throws(CaravanError) -> TemplateReply {
    let store = try store(request.container, request.environment)
    try Registry.checkTemplateName(request.name)
    guard let template = try await store.template(named: request.name), template.name == request.name else {
      throw SchemaPlan.noTemplate(request.name, in: store.database.environment)
    }
    return TemplateReply(found: CaravanWire.SubscriptionTemplate(template))
  }

  /// Read from storage each time: what was taken away counts for whoever asks next.
  func grants(_ request: GrantsRequest) async throws(CaravanError) -> GrantsReply {
    let visibility = try await store(request.container, request.environment).visibility()
    return GrantsReply(
      types: visibility.granted.map { GrantedType($0) }, retired: visibility.retired.map { RetiredType($0) })
  }

  /// The latest change first.
  func history(_ request: SchemaHistoryRequest) async throws(CaravanError) -> SchemaHistoryReply {
    let store = try store(request.container, request.environment)
    if !request.user.isEmpty { try await requireDeveloper(request.user, of: store.database) }
    let most = SchemaLimits.changesPerPage
    let limit = request.limit == 0 ? most : min(most, Int(request.limit))
    var reply = SchemaHistoryReply()
    var bytes = 0
    for change in try await store.changes(before: request.before, limit: limit) {
      let wire = CaravanWire.SchemaChange(change)
      bytes += wire.encoded().count
      guard reply.changes.isEmpty || bytes <= SchemaLimits.listBytes else { break }
      reply.changes.append(wire)
    }
    reply.more = reply.changes.last.map { $0.id > 1 } ?? false
    return reply
  }

  /// Everything that is registered: few are read at once, for they may be large.
  func whole(_ store: SchemaStore) async throws(CaravanError) -> RegistryState {
    try await reading.withPermit { () async throws(CaravanError) in try await store.state() }
  }

  private func turn(of database: DatabaseID) -> Limiter {
    turns.withLock { turns in
      if let turn = turns.value(for: database) { return turn }
      let turn = Limiter(permits: 1, waiters: SchemaLimits.requestsInFlight)
      turns.insert(turn, for: database)
      return turn
    }
  }

  /// - Throws: `accessDenied`; whatever keeps the container from being there for the user.
  private func requireDeveloper(_ user: String, of database: DatabaseID) async throws(CaravanError) {
    let asker = Asker.user(try UserID(user))
    guard try await containers.admit(asker, to: database, registers: false) != .user else {
      throw Registry.notADeveloper(of: database.container)
    }
  }

  /// Settings are written once: whoever comes second finds what the first has said.
  func container(_ request: ContainerRequest) async throws(CaravanError) -> ContainerReply {
    let store = try store(request.container, request.environment)
    let wanted = request.settings?.model()
    try wanted?.check()
    guard store.database.container != .system else {
      throw CaravanError(.invalidData, "the container '\(ContainerID.system)' has no settings: it is Caravan's own")
    }
    let asker = try Asker(user: request.user, isOperator: request.byOperator)
    let says = wanted != nil || request.settle
    // A service that looks for itself uses nothing.
    if says || asker != .unknown {
      let standing = try await containers.admit(asker, to: store.database, registers: says)
      guard wanted == nil || standing != .user else {
        throw CaravanError(
          .accessDenied, "how '\(request.container)' is divided is said by its owner, developers and the operator")
      }
    }
    for _ in 0..<SchemaLimits.proposalAttempts {
      if let known = try await store.settings() {
        guard wanted == nil || wanted == known else {
          throw CaravanError(
            .objectExists,
            "default zones of '\(request.container)' have \(known.publicShards) shards, private ones "
              + "\(known.privateShards), since their first record: that cannot change")
        }
        return ContainerReply(settings: CaravanWire.ContainerSettings(known))
      }
      guard let settings = wanted ?? (request.settle ? CaravanModel.ContainerSettings() : nil) else {
        return ContainerReply()
      }
      if try await store.add(settings) {
        host.log.info("container set up", [.database: store.database, .count: settings.publicShards])
      }
    }
    throw CaravanError(.serverBusy, "the container is being set up: ask again", retryAfterMilliseconds: 100)
  }

  // MARK: Look-ups

  func store(_ container: String, _ environment: String) throws(CaravanError) -> SchemaStore {
    let database = try DatabaseRef(container: container, environment: environment).model()
    return try SchemaStore(storage: storage, container: database.container, environment: database.environment)
  }

  private func type(_ id: UInt32, in store: SchemaStore) async throws(CaravanError) -> CaravanModel.RecordType {
    let key = TypeKey(database: store.database, id: id)
    let found = find(key)
    if let found, !found.isDue { return found.type }
    let type: CaravanModel.RecordType?
    do { type = try await store.asking(by: found == nil ? storage : confirming).types([id]).first } catch {
      // Where storage does not answer, what is known counts for another while.
      guard let found else { throw error }
      return found.type
    }
    guard let type else {
      caches.withLock { $0.types.remove(key) }
      throw CaravanError(.tableNotFound, "'\(store.database.container)' has no record type \(id): propose it first")
    }
    let now = host.clock.now
    caches.withLock { $0.types.insert(Known(type: type, read: now), for: key) }
    return type
  }

  /// A definition that is remembered, and whether it has to be read again, for a restored store may lack it: by the
  /// first who asks, while others go on with it.
  private func find(_ key: TypeKey) -> (type: CaravanModel.RecordType, isDue: Bool)? {
    let now = host.clock.now
    return caches.withLock { caches in
      guard var known = caches.types.value(for: key) else { return nil }
      guard now - known.read >= SchemaLimits.freshness else { return (known.type, false) }
      known.read = now
      caches.types.insert(known, for: key)
      return (known.type, true)
    }
  }

  private func type(named name: String, in store: SchemaStore) async throws(CaravanError) -> CaravanModel.RecordType {
    try Registry.checkTypeName(name)
    let key = NameKey(database: store.database, name: name)
    if let known = caches.withLock({ $0.names.value(for: key) }), isFresh(known) { return known.type }
    guard let type = try await store.state(ofName: name).history(of: name).latest, type.name == name else {
      throw CaravanError(
        .tableNotFound, "'\(store.database.container)' has no record type '\(name)': create the table first")
    }
    keep(latest: type, of: store.database)
    return type
  }

  /// Names may mean something else now.
  func forget(_ names: [String], in database: DatabaseID) {
    caches.withLock { caches in
      for name in names { caches.names.remove(NameKey(database: database, name: name)) }
    }
  }

  private func isFresh(_ named: Known) -> Bool { host.clock.now - named.read < SchemaLimits.freshness }

  private func keep(latest type: CaravanModel.RecordType, of database: DatabaseID) {
    let now = host.clock.now
    caches.withLock {
      $0.types.insert(Known(type: type, read: now), for: TypeKey(database: database, id: type.id))
      $0.names.insert(Known(type: type, read: now), for: NameKey(database: database, name: type.name))
    }
  }
}

extension Asker {
  init(user: String, isOperator: Bool) throws(CaravanError) {
    self = isOperator ? .operator : user.isEmpty ? .unknown : .user(try UserID(user))
  }

  /// - Throws: `invalidData` for a device's name that is longer than any.
  func author(device: String) throws(CaravanError) -> CaravanModel.SchemaChange.Author {
    guard device.utf8.count <= SchemaLimits.deviceNameBytes else {
      throw CaravanError(.invalidData, "a device's name has \(device.utf8.count) bytes: no device is called so")
    }
    return switch self {
    case .user(let user): CaravanModel.SchemaChange.Author(user: user, device: device)
    case .operator, .unknown: CaravanModel.SchemaChange.Author(user: nil)
    }
  }
}

extension Host {
  var wallMilliseconds: UInt64 { UInt64(max(0, clock.wallTime.milliseconds)) }
}
