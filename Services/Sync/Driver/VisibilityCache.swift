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
    /// Somebody is asking since then: the others go on with what is known.
    var asked: Instant
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
    let found = look(home)
    if let found, !found.isDue { return found.known.visibility }
    let asked = clock.now
    let deadline = SyncLimits.visibilityDeadline
    let read = try? await schema.visibility(of: home.container, in: home.environment, deadline: deadline)
    let visibility = read.map { RecordVisibility(retired: $0.retired) } ?? found?.known.visibility ?? RecordVisibility()
    keep(visibility, of: home, asked)
    return visibility
  }

  private func ofPublic(
    _ home: Home, covering types: some Sequence<RecordType> & Sendable
  ) async throws(CaravanError) -> RecordVisibility {
    let found = look(home)
    let usable = found.flatMap { $0.known.visibility.covers(types) ? $0 : nil }
    let asked = clock.now
    let end = usable.map { $0.known.read + SyncLimits.grantsPatience }
    if let usable, let end, !usable.isDue, asked < end { return usable.known.visibility }
    do throws(CaravanError) {
      let visibility = try await schema.visibility(of: home.container, in: home.environment)
      keep(visibility, of: home, asked)
      return visibility
    } catch {
      guard let usable, let end, clock.now < end else { throw error }
      return usable.known.visibility
    }
  }

  /// What is known, and whether it has to be asked for again: by the first who looks, while others go on with it.
  private func look(_ home: Home) -> (known: Known, isDue: Bool)? {
    let now = clock.now
    return known.withLock { cache in
      guard var known = cache.value(for: home) else { return nil }
      guard now >= known.asked + SyncLimits.grantsFreshness else { return (known, false) }
      known.asked = now
      cache.insert(known, for: home)
      return (known, true)
    }
  }

  private func keep(_ visibility: RecordVisibility, of home: Home, _ time: Instant) {
    known.withLock { $0.insert(Known(visibility: visibility, read: time, asked: time), for: home) }
  }
}

extension RecordVisibility {
  fileprivate func covers(_ types: some Sequence<RecordType>) -> Bool {
    types.allSatisfy { type in
      type.grants ?? .standard == .standard || granted.contains { $0.versions.contains(type.id) }
    }
  }
}
