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

  /// How far a target has come; nil: it has not begun, or was another one then.
  func progress(of name: TargetName, _ target: StoredTarget) async throws(CaravanError) -> TargetProgress? {
    let zone = try states(of: name.log)
    guard let entry = try await storage.fetch([PushTargets.record(name.log.container, name.id)], from: zone).first,
      let stored: StoredTargetState = PushTargets.value(of: entry.body), stored.registration == target.registration
    else { return nil }
    return TargetProgress(stored)
  }

  func save(_ progress: TargetProgress, of name: TargetName, _ target: StoredTarget) async throws(CaravanError) {
    let stored = StoredTargetState(
      registration: target.registration, position: progress.position.map { CaravanWire.ChangePosition($0) },
      state: PushState(progress))
    let change = CaravanModel.Mutation(
      name: PushTargets.record(name.log.container, name.id), base: .any,
      change: .save(type: 0, body: PushTargets.body(of: stored), chunks: []))
    _ = try await storage.commit(to: try states(of: name.log), [change])
  }

  private func states(of log: LogName) throws(CaravanError) -> ZoneID {
    try ZoneID(
      DatabaseID(container: .system, environment: log.environment, owner: log.user), PushTargets.stateZone)
  }
}

extension TargetProgress {
  init(_ stored: StoredTargetState) {
    self.init(position: stored.position?.model())
    guard let state = stored.state else { return }
    (delivered, givenUp) = (state.delivered, state.givenUp)
    (status, problem, hasEnded) = (state.status, state.problem, state.ended)
    failingSince = state.failingSinceMilliseconds == 0 ? nil : Int64(clamping: state.failingSinceMilliseconds)
    last = state.last.prefix(Limits.pushDeadLetters).map {
      GivenUp(
        source: $0.source, number: $0.number, status: $0.status, problem: $0.problem,
        at: Int64(clamping: $0.atMilliseconds))
    }
  }
}

extension PushState {
  init(_ progress: TargetProgress) {
    self.init(
      delivered: progress.delivered, givenUp: progress.givenUp, status: progress.status, problem: progress.problem,
      failingSinceMilliseconds: UInt64(clamping: progress.failingSince ?? 0), ended: progress.hasEnded,
      last: progress.last.map {
        GivenUp(
          source: $0.source, number: $0.number, status: $0.status, problem: $0.problem,
          atMilliseconds: UInt64(clamping: $0.at))
      })
  }
}
