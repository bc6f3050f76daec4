public import Bus
public import Model
import Runtime
import Wire

/// How every service asks for record types. Definitions are immutable, so by id they are asked for once and kept.
public final class SchemaClient: Sendable {
  /// Definitions kept in memory.
  public static let cachedTypes = 4_096
  /// For one question; the registry may ask storage twice.
  public static let deadline: Duration = .seconds(5)

  private struct Key: Hashable {
    let container: ContainerID
    let environment: Model.Environment
    let id: UInt32
  }

  private let bus: any MessageBus
  private struct Home: Hashable {
    let container: ContainerID
    let environment: Model.Environment
  }

  private let containers = Mutex(BoundedCache<Home, Model.ContainerSettings>(capacity: cachedTypes))
  private let types = Mutex(BoundedCache<Key, Model.RecordType>(capacity: cachedTypes))

  public init(bus: any MessageBus) { self.bus = bus }

  /// Field ids of the proposal are ignored: the registry assigns them.
  /// - Throws: `schemaNotAdditive`, `schemaViolation`.
  public func propose(
    _ type: Model.RecordType, to container: ContainerID, in environment: Model.Environment
  ) async throws(CaravanError) -> Model.RecordType {
    let request = ProposeTypeRequest(
      container: container.text, environment: environment.rawValue, type: Wire.RecordType(type))
    return try await ask(.propose, request, container, environment)
  }

  /// - Throws: `tableNotFound`.
  public func type(
    _ id: UInt32, of container: ContainerID, in environment: Model.Environment
  ) async throws(CaravanError) -> Model.RecordType {
    let key = Key(container: container, environment: environment, id: id)
    if let known = types.withLock({ $0.value(for: key) }) { return known }
    let request = TypeRequest(container: container.text, environment: environment.rawValue, id: id)
    return try await ask(.type, request, container, environment)
  }

  /// The latest version of this name, up to a second old.
  /// - Throws: `tableNotFound`.
  public func type(
    named name: String, of container: ContainerID, in environment: Model.Environment,
    deadline: Duration = SchemaClient.deadline
  ) async throws(CaravanError) -> Model.RecordType {
    let request = TypeRequest(container: container.text, environment: environment.rawValue, name: name)
    return try await ask(.type, request, container, environment, deadline)
  }

  /// The latest version of every name, by name.
  public func types(
    of container: ContainerID, in environment: Model.Environment
  ) async throws(CaravanError) -> [Model.RecordType] {
    let request = ListTypesRequest(container: container.text, environment: environment.rawValue)
    let reply: ListTypesReply = try await bus.call(
      request, to: SchemaMethod.types.subject, deadline: Self.deadline)
    var list: [Model.RecordType] = []
    for type in reply.types { list.append(try type.model()) }
    return list
  }

  // MARK: Containers

  /// What was said of a container, which never changes. nil: nothing yet.
  /// - Parameters:
  ///   - wanted: to be said, unless something else was: then `objectExists`.
  ///   - isSettled: if nothing was said, what is usual is said now.
  public func settings(
    of container: ContainerID, in environment: Model.Environment, saying wanted: Model.ContainerSettings? = nil,
    isSettled: Bool = false
  ) async throws(CaravanError) -> Model.ContainerSettings? {
    let home = Home(container: container, environment: environment)
    if wanted == nil, let known = containers.withLock({ $0.value(for: home) }) { return known }
    let request = ContainerRequest(
      container: container.text, environment: environment.rawValue, settings: wanted.map { Wire.ContainerSettings($0) },
      settle: isSettled)
    let reply: ContainerReply = try await bus.call(
      request, to: SchemaMethod.container.subject, deadline: Self.deadline)
    guard let settings = reply.settings?.model() else { return nil }
    containers.withLock { $0.insert(settings, for: home) }
    return settings
  }

  /// How many shards the database's default zone has, from now on for ever.
  public func shards(of database: DatabaseID) async throws(CaravanError) -> UInt32 {
    let settings = try await settings(of: database.container, in: database.environment, isSettled: true)
    return settings?.shards(of: database) ?? 1
  }

  private func ask(
    _ method: SchemaMethod, _ request: some WireMessage, _ container: ContainerID, _ environment: Model.Environment,
    _ deadline: Duration = SchemaClient.deadline
  ) async throws(CaravanError) -> Model.RecordType {
    let reply: TypeReply = try await bus.call(request, to: method.subject, deadline: deadline)
    let type = try required(reply.type, "type").model()
    let key = Key(container: container, environment: environment, id: type.id)
    types.withLock { $0.insert(type, for: key) }
    return type
  }
}
