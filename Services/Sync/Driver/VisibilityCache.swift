import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanSyncCore

/// What of each container's records is not everybody's to see, as it was within the last second.
final class VisibilityCache: Sendable {
  private struct Home: Hashable {
    let container: ContainerID
    let environment: Environment
    let isPublic: Bool
  }

  private struct Known {
    let visibility: RecordVisibility
    let read: Instant
  }

  private let schema: SchemaClient
  private let clock: any Clock
  private let known = Mutex(BoundedCache<Home, Known>(capacity: SyncLimits.containersGranted))

  init(_ schema: SchemaClient, clock: any Clock) {
    self.schema = schema
    self.clock = clock
  }

  /// Of a private database only what was removed: everything in it is its user's. Types of production are never
  /// removed.
  /// - Parameter types: that it is wanted for. One that has grants and is not known to have may be a new version, or
  ///   an old one of a type whose grants are the standard ones by now: the registry is asked.
  /// - Throws: whatever keeps the registry from answering, once what is known of it is too old to let anybody in.
  func of(
    _ database: DatabaseID, covering types: some Sequence<RecordType> & Sendable = []
  ) async throws(CaravanError) -> RecordVisibility {
    let home = Home(container: database.container, environment: database.environment, isPublic: database.isPublic)
    guard !database.isPublic else { return try await ofPublic(home, covering: types) }
    return home.environment == .production ? RecordVisibility() : await ofPrivate(home)
  }

  /// Whoever cannot be asked keeps nobody from their own records: they are as they were known last.
  private func ofPrivate(_ home: Home) async -> RecordVisibility {
    let found = known.withLock { $0.value(for: home) }
    let asked = clock.now
    if let found, asked < found.read + SyncLimits.grantsFreshness { return found.visibility }
    let deadline = SyncLimits.visibilityDeadline
    let read = try? await schema.visibility(of: home.container, in: home.environment, deadline: deadline)
    let visibility = read.map { RecordVisibility(retired: $0.retired) } ?? found?.visibility ?? RecordVisibility()
    known.withLock { $0.insert(Known(visibility: visibility, read: asked), for: home) }
    return visibility
  }

  private func ofPublic(
    _ home: Home, covering types: some Sequence<RecordType> & Sendable
  ) async throws(CaravanError) -> RecordVisibility {
    let found = known.withLock { $0.value(for: home) }
    let usable = found.flatMap { $0.visibility.covers(types) ? $0 : nil }
    if let usable, clock.now < usable.read + SyncLimits.grantsFreshness { return usable.visibility }
    let asked = clock.now
    do throws(CaravanError) {
      let visibility = try await schema.visibility(of: home.container, in: home.environment)
      known.withLock { $0.insert(Known(visibility: visibility, read: asked), for: home) }
      return visibility
    } catch {
      guard let usable, clock.now < usable.read + SyncLimits.grantsPatience else { throw error }
      return usable.visibility
    }
  }
}

extension RecordVisibility {
  fileprivate func covers(_ types: some Sequence<RecordType>) -> Bool {
    types.allSatisfy { type in
      type.grants ?? .standard == .standard || granted.contains { $0.versions.contains(type.id) }
    }
  }
}
