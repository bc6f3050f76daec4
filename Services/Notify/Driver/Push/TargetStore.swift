import CaravanModel
import CaravanNotifyCore
import CaravanStorageClient
import CaravanWire

/// Push targets as records: `<container>/<id>` in the zone `push` of their user's private database of the system
/// container, in the app's environment, where sync keeps them; and how far each has come, under the same name in the
/// zone `pushed`, where notify does.
struct TargetStore: Sendable {
  /// A record of the zone of targets.
  struct Found: Sendable {
    let name: TargetName
    let target: StoredTarget
  }

  let storage: StorageClient

  /// Whose targets a zone has; nil: it is no such zone.
  func user(of zone: ZoneID) -> UserID? {
    zone.name == PushTargets.zone && zone.database.container == .system ? zone.database.owner : nil
  }

  /// Every target of a partition.
  func targets(in partition: Partition) async throws(CaravanError) -> [Found] {
    var all: [Found] = []
    for head in try await storage.zones(named: PushTargets.zone, in: partition) {
      let zone = try required(head.zone, "zone").model()
      if user(of: zone) != nil { all += try await targets(in: zone) }
    }
    return all
  }

  /// Every target of a user in an environment.
  func targets(in zone: ZoneID) async throws(CaravanError) -> [Found] {
    guard let user = user(of: zone) else { return [] }
    var found: [Found] = []
    var request = ReadChangesRequest(
      zone: ZoneRef(zone), maxRecords: UInt32(Limits.recordsPerCommit), maxBytes: UInt32(Limits.pageBytes))
    while true {
      let reply = try await storage.changes(of: zone, request)
      for entry in try EntryPage.decode(reply.page).entries {
        guard !entry.deleted, let place = PushTargets.place(entry.name),
          let target: StoredTarget = PushTargets.value(of: entry.body)
        else { continue }
        let log = LogName(user: user, container: place.container, environment: zone.database.environment)
        found.append(Found(name: TargetName(log: log, id: place.id), target: target))
      }
      guard reply.more, let next = reply.next else { return found }
      request.from = next
    }
  }

  // MARK: Progress

  /// What a record of the zone of states says.
  struct Saved {
    /// How far the target has come; nil: it has not begun, or was another one then.
    let progress: TargetProgress?
    /// nil: there is no such record.
    let version: Seq?
  }

  func progress(of name: TargetName, _ target: StoredTarget) async throws(CaravanError) -> Saved {
    let zone = try states(of: name.log)
    guard let entry = try await storage.fetch([PushTargets.record(name.log.container, name.id)], from: zone).first,
      !entry.isDeleted
    else { return Saved(progress: nil, version: nil) }
    guard let stored: StoredTargetState = PushTargets.value(of: entry.body), stored.registration == target.registration
    else { return Saved(progress: nil, version: entry.version) }
    return Saved(progress: TargetProgress(stored), version: entry.version)
  }

  /// - Parameter version: that the record has as far as the caller knows.
  /// - Returns: the version that it has now; nil: somebody else has written it.
  func save(
    _ progress: TargetProgress, of name: TargetName, _ target: StoredTarget, over version: Seq?
  ) async throws(CaravanError) -> Seq? {
    let change = CaravanModel.Mutation(
      name: PushTargets.record(name.log.container, name.id), base: version.map { .version($0) } ?? .absent,
      change: .save(
        type: 0, body: PushTargets.body(of: StoredTargetState(progress, registration: target.registration)),
        chunks: []))
    guard case .applied(let outcomes, _, _, _) = try await storage.commit(to: try states(of: name.log), [change]),
      case .accepted(let written) = outcomes.first
    else { return nil }
    return written
  }

  private func states(of log: LogName) throws(CaravanError) -> ZoneID {
    try ZoneID(
      DatabaseID(container: .system, environment: log.environment, owner: log.user), PushTargets.stateZone)
  }
}
