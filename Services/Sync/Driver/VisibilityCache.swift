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
  /// - Parameter types: that they are wanted for. One that has grants and is not known to have may be a new version, or
  ///   an old one of a type whose grants are the standard ones by now: the registry is asked.
  /// - Throws: whatever keeps the registry from answering, once what is known of it is too old to let anybody in.
  func of(
    _ database: DatabaseID, covering types: some Sequence<RecordType> & Sendable = []
  ) async throws(CaravanError) -> [GrantedType] {
    guard database.isPublic else { return [] }
    func lacks(_ granted: [GrantedType]) -> Bool {
      types.contains { type in
        type.grants ?? .standard != .standard && !granted.contains { $0.versions.contains(type.id) }
      }
    }
    let home = Home(container: database.container, environment: database.environment)
    let found = known.withLock { $0.value(for: home) }
    let usable = found.flatMap { lacks($0.types) ? nil : $0 }
    if let usable, clock.now < usable.read + SyncLimits.grantsFreshness { return usable.types }
    let asked = clock.now
    do throws(CaravanError) {
      let types = try await schema.grantedTypes(of: home.container, in: home.environment)
      known.withLock { $0.insert(Known(types: types, read: asked), for: home) }
      return types
    } catch {
      guard let usable, clock.now < usable.read + SyncLimits.grantsPatience else { throw error }
      return usable.types
    }
  }
}
