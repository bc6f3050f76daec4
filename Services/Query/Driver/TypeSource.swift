import CaravanModel
import CaravanQueryCore
import CaravanRuntime
import CaravanSchemaClient

/// Record types: by id for ever, by name for a while.
final class TypeSource: Sendable {
  private struct ByID: Hashable {
    let container: ContainerID
    let environment: Environment
    let id: UInt32
  }

  private struct ByName: Hashable {
    let container: ContainerID
    let environment: Environment
    let name: String
  }

  private struct Home: Hashable {
    let container: ContainerID
    let environment: Environment
  }

  private struct Latest {
    let type: RecordType
    let until: Instant
  }

  private let schema: SchemaClient
  private let clock: any Clock
  /// Ids that no type has; ids are given before records can carry them, so they never will.
  private let unknown = Mutex(BoundedCache<ByID, Bool>(capacity: QueryLimits.cachedTypes))
  private let latest = Mutex(BoundedCache<ByName, Latest>(capacity: QueryLimits.cachedTypes))

  /// Containers of whose default zones nothing was said, until when that is believed.
  private let undivided = Mutex(BoundedCache<Home, Instant>(capacity: QueryLimits.cachedTypes))

  init(_ schema: SchemaClient, clock: any Clock) {
    self.schema = schema
    self.clock = clock
  }

  /// nil: there is no such type.
  func type(_ id: UInt32, of database: DatabaseID) async throws(CaravanError) -> RecordType? {
    let key = ByID(container: database.container, environment: database.environment, id: id)
    if unknown.withLock({ $0.value(for: key) }) != nil { return nil }
    do { return try await schema.type(id, of: database.container, in: database.environment) } catch {
      guard error.code == .tableNotFound else { throw error }
      unknown.withLock { $0.insert(true, for: key) }
      return nil
    }
  }

  /// The latest type of this name.
  /// - Parameter isFresh: ask, whatever is remembered.
  /// - Throws: `tableNotFound`.
  func type(named name: String, of database: DatabaseID, isFresh: Bool) async throws(CaravanError) -> RecordType {
    let key = ByName(container: database.container, environment: database.environment, name: name)
    if !isFresh, let known = latest.withLock({ $0.value(for: key) }), clock.now < known.until { return known.type }
    let type = try await schema.type(named: name, of: database.container, in: database.environment)
    let until = clock.now + .milliseconds(QueryLimits.latestTypeMilliseconds)
    latest.withLock { $0.insert(Latest(type: type, until: until), for: key) }
    return type
  }

  /// Which of these roles of the container's own a user has.
  func roles(of user: UserID, among roles: [String], in database: DatabaseID) async throws(CaravanError) -> Set<String>
  {
    try await schema.roles(of: user, among: Set(roles), in: database.container, database.environment)
  }

  /// The latest template of this name.
  /// - Throws: `noSuchObject`.
  func template(named name: String, of database: DatabaseID) async throws(CaravanError) -> SubscriptionTemplate {
    try await schema.template(named: name, of: database.container, in: database.environment)
  }

  /// How many shards the database's default zone has from now on, for ever.
  /// - Parameter user: who uses it.
  func settledShards(of database: DatabaseID, for user: UserID) async throws(CaravanError) -> UInt32 {
    try await schema.shards(of: database, for: user)
  }

  /// How many shards the database's default zone has; 1 while it was not used.
  /// - Parameter isFresh: ask, where it was not used as far as is remembered.
  func shards(of database: DatabaseID, isFresh: Bool) async throws(CaravanError) -> UInt32 {
    let home = Home(container: database.container, environment: database.environment)
    if !isFresh, let until = undivided.withLock({ $0.value(for: home) }), clock.now < until { return 1 }
    guard let settings = try await schema.settings(of: database.container, in: database.environment) else {
      let until = clock.now + .milliseconds(QueryLimits.latestTypeMilliseconds)
      undivided.withLock { $0.insert(until, for: home) }
      return 1
    }
    return settings.shards(of: database)
  }
}
