import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanSyncCore

/// How records of a type behave now, whichever version of the type a device knows: asked for when it matters, and
/// believed for a while.
final class TypeSettingsCache: Sendable {
  private struct Name: Hashable {
    let container: ContainerID
    let environment: Environment
    let type: String
  }

  private struct Known {
    let settings: TypeSettings
    let until: Instant
  }

  private let schema: SchemaClient
  private let clock: any Clock
  private let known = Mutex(BoundedCache<Name, Known>(capacity: SyncLimits.behavioursKnown))

  init(_ schema: SchemaClient, clock: any Clock) {
    self.schema = schema
    self.clock = clock
  }

  /// What `type` itself says, where nobody can be asked.
  func now(of type: RecordType, in database: DatabaseID) async -> TypeSettings {
    let name = Name(container: database.container, environment: database.environment, type: type.name)
    if let known = known.withLock({ $0.value(for: name) }), clock.now < known.until { return known.settings }
    let latest = try? await schema.type(
      named: type.name, of: database.container, in: database.environment, deadline: SyncLimits.behaviourDeadline)
    let settings = (latest ?? type).settings ?? TypeSettings()
    let until = clock.now + SyncLimits.behaviourFreshness
    known.withLock { $0.insert(Known(settings: settings, until: until), for: name) }
    return settings
  }
}
