import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanSyncCore

/// The grants of each container's types, as they were within the last second.
final class GrantsCache: Sendable {
  private struct Home: Hashable {
    let container: ContainerID
    let environment: Environment
  }

  private struct Known {
    let types: [GrantedType]
    let read: Instant
  }

  private let schema: SchemaClient
  private let clock: any Clock
  private let known = Mutex(BoundedCache<Home, Known>(capacity: SyncLimits.containersGranted))

  init(_ schema: SchemaClient, clock: any Clock) {
    self.schema = schema
    self.clock = clock
  }

  /// Types whose grants are not the standard ones; in a private database, where everything is its user's, none.
  /// - Throws: whatever keeps the registry from answering, once what is known of it is too old to let anybody in.
  func of(_ database: DatabaseID) async throws(CaravanError) -> [GrantedType] {
    guard database.isPublic else { return [] }
    let home = Home(container: database.container, environment: database.environment)
    let found = known.withLock { $0.value(for: home) }
    if let found, clock.now < found.read + SyncLimits.grantsFreshness { return found.types }
    let asked = clock.now
    do throws(CaravanError) {
      let types = try await schema.grantedTypes(of: database.container, in: database.environment)
      known.withLock { $0.insert(Known(types: types, read: asked), for: home) }
      return types
    } catch {
      guard let found, clock.now < found.read + SyncLimits.grantsPatience else { throw error }
      return found.types
    }
  }
}
