public import CaravanBus
public import CaravanModel
public import CaravanRuntime
import CaravanWire

extension CounterName {
  public static let typeReads = CounterName(
    "caravan_schema_type_reads_total",
    "Record types that were looked for by id, by where they were: in the request, in memory, or at the registry."
  )
}

/// How every service asks for record types. Definitions never change, but a restored store may lack one: what is kept
/// is confirmed each second in which it is used, and goes on to count where nobody can be asked.
public final class SchemaClient: Sendable {
  /// Definitions kept in memory.
  public static let cachedTypes = 4_096
  /// For one question; the registry may ask storage twice.
  public static let deadline: Duration = .seconds(5)
  /// What was kept for so long is confirmed, and nobody waits longer for that. The registry does likewise, so that
  /// within two seconds everybody knows what a restored store has.
  public static let freshness: Duration = .seconds(1)
  static let confirmingDeadline: Duration = .milliseconds(500)

  private struct Key: Hashable {
    let container: ContainerID
    let environment: CaravanModel.Environment
    let id: UInt32
  }

  struct Kept<Value: Sendable>: Sendable {
    let value: Value
    var confirmed: Instant
  }

  let bus: any MessageBus
  private let clock: (any Clock)?
  private struct Home: Hashable {
    let container: ContainerID
    let environment: CaravanModel.Environment
  }

  struct Use: Hashable {
    let user: UserID
    let container: ContainerID
    let environment: CaravanModel.Environment
  }

  /// Who was let in.
  let uses = Mutex(BoundedCache<Use, Kept<Void>>(capacity: cachedTypes))
  let userRoles = Mutex(BoundedCache<RoleQuestion, Kept<KnownRoles>>(capacity: cachedTypes))
  private let containers = Mutex(BoundedCache<Home, Kept<CaravanModel.ContainerSettings>>(capacity: cachedTypes))
  private let types = Mutex(BoundedCache<Key, Kept<CaravanModel.RecordType>>(capacity: cachedTypes))

  private let found: Counter?
  private let asked: Counter?

  /// - Parameters:
  ///   - clock: nil: for a program that lives no longer than what it keeps may count.
  ///   - metrics: where it is counted how types are found; nil: nowhere.
  public init(bus: any MessageBus, clock: (any Clock)? = nil, metrics: MetricsRegistry? = nil) {
    self.bus = bus
    self.clock = clock
    found = metrics?.counter(.typeReads, [.outcome: "memory"])
    asked = metrics?.counter(.typeReads, [.outcome: "registry"])
  }

  var now: Instant { clock?.now ?? Instant(nanoseconds: 0) }

  /// What is kept, and whether it has to be confirmed first: by the first who asks, while others go on with it.
  func find<Name: Hashable & Sendable, Value: Sendable>(
    _ name: Name, in cache: borrowing Mutex<BoundedCache<Name, Kept<Value>>>, freshFor age: Duration = freshness
  ) -> (value: Value, isDue: Bool)? {
    let now = now
    return cache.withLock { cache in
      guard var known = cache.value(for: name) else { return nil }
      guard now - known.confirmed >= age else { return (known.value, false) }
      known.confirmed = now
      cache.insert(known, for: name)
      return (known.value, true)
    }
  }

  /// Field ids of the proposal are ignored: the registry assigns them. In an open suite whose device uses a container
  /// first gets it with that.
  /// - Parameters:
  ///   - user: whose device proposes, as the broker proves it; nil: the operator does.
  ///   - device: of that user, for the history.
  ///   - isRemembered: settings in it are what the device has agreed on before, and no wish.
  ///   - isDeclared: somebody says so by hand: in production the container's developers may.
  ///   - isPartial: the type may have other fields, and keeps them; without fields it is only looked for.
  /// - Throws: `schemaNotAdditive`, `schemaViolation`; `accessDenied` for settings that the user may not say;
  ///   `zoneDoesNotExist` where the container is not there for them.
  public func propose(
    _ type: CaravanModel.RecordType, to container: ContainerID, in environment: CaravanModel.Environment,
    by user: UserID?, on device: String = "", isRemembered: Bool = false, isDeclared: Bool = false,
    isPartial: Bool = false
  ) async throws(CaravanError) -> CaravanModel.RecordType {
    let request = ProposeTypeRequest(
      container: container.text, environment: environment.rawValue, type: CaravanWire.RecordType(type),
      remembered: isRemembered, user: user?.text ?? "", byOperator: user == nil, declared: isDeclared, device: device,
      partial: isPartial)
    let agreed = try await ask(.propose, request, container, environment)
    if let user { noteUse(Use(user: user, container: container, environment: environment)) }
    return agreed
  }

  /// - Throws: `tableNotFound`.
  public func type(
    _ id: UInt32, of container: ContainerID, in environment: CaravanModel.Environment
  ) async throws(CaravanError) -> CaravanModel.RecordType {
    let key = Key(container: container, environment: environment, id: id)
    let request = TypeRequest(container: container.text, environment: environment.rawValue, id: id)
    guard let (known, isDue) = find(key, in: types) else {
      asked?.add()
      return try await ask(.type, request, container, environment)
    }
    guard isDue else {
      found?.add()
      return known
    }
    asked?.add()
    do { return try await ask(.type, request, container, environment, Self.confirmingDeadline) } catch {
      guard error.code == .tableNotFound else { return known }
      types.withLock { $0.remove(key) }
      throw error
    }
  }

  /// The latest version of this name, up to a second old.
  /// - Throws: `tableNotFound`.
  public func type(
    named name: String, of container: ContainerID, in environment: CaravanModel.Environment,
    deadline: Duration = SchemaClient.deadline
  ) async throws(CaravanError) -> CaravanModel.RecordType {
    let request = TypeRequest(container: container.text, environment: environment.rawValue, name: name)
    return try await ask(.type, request, container, environment, deadline)
  }

  // MARK: Containers

  /// What was said of a container, which changes with a restore only. nil: nothing yet.
  /// - Parameters:
  ///   - wanted: to be said, unless something else was: then `objectExists`.
  ///   - user: for whom what is usual is said now, if nothing was.
  public func settings(
    of container: ContainerID, in environment: CaravanModel.Environment,
    saying wanted: CaravanModel.ContainerSettings? = nil,
    settlingFor user: UserID? = nil
  ) async throws(CaravanError) -> CaravanModel.ContainerSettings? {
    let home = Home(container: container, environment: environment)
    var request = ContainerRequest(
      container: container.text, environment: environment.rawValue, settle: user != nil, user: user?.text ?? "",
      byOperator: wanted != nil)
    guard wanted == nil, let (known, isDue) = find(home, in: containers) else {
      request.settings = wanted.map { CaravanWire.ContainerSettings($0) }
      return try await ask(request, home, Self.deadline)
    }
    guard isDue else { return known }
    do { return try await ask(request, home, Self.confirmingDeadline) } catch { return known }
  }

  private func ask(
    _ request: ContainerRequest, _ home: Home, _ deadline: Duration
  ) async throws(CaravanError) -> CaravanModel.ContainerSettings? {
    let reply: ContainerReply = try await bus.call(request, to: SchemaMethod.container.subject, deadline: deadline)
    let settings = reply.settings?.model()
    let now = now
    containers.withLock { cache in
      if let settings { cache.insert(Kept(value: settings, confirmed: now), for: home) } else { cache.remove(home) }
    }
    return settings
  }

  /// How many shards the database's default zone has, from now on for ever.
  /// - Parameter user: who uses it.
  public func shards(of database: DatabaseID, for user: UserID) async throws(CaravanError) -> UInt32 {
    let settings = try await settings(of: database.container, in: database.environment, settlingFor: user)
    return settings?.shards(of: database) ?? 1
  }

  /// As many as were said, which a look does not say: before the first record nothing is in any shard.
  public func shardsSaid(of database: DatabaseID) async throws(CaravanError) -> UInt32 {
    try await settings(of: database.container, in: database.environment)?.shards(of: database) ?? 1
  }

  private func ask(
    _ method: SchemaMethod, _ request: some WireMessage, _ container: ContainerID,
    _ environment: CaravanModel.Environment,
    _ deadline: Duration = SchemaClient.deadline
  ) async throws(CaravanError) -> CaravanModel.RecordType {
    let reply: TypeReply = try await bus.call(request, to: method.subject, deadline: deadline)
    let type = try required(reply.type, "type").model()
    let key = Key(container: container, environment: environment, id: type.id)
    let now = now
    types.withLock { $0.insert(Kept(value: type, confirmed: now), for: key) }
    return type
  }
}
