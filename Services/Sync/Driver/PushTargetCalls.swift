import CaravanAccess
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanSyncCore
import CaravanWire

/// Where notifications of the user's apps are pushed to (CK-85).
struct PushTargetCalls: SessionPart {
  let session: DeviceSession

  func answer(
    _ question: AskPushTargets, _ account: ReplyAccount
  ) async throws(CaravanError) -> PushTargetsResult {
    let database = try session.database(question.container, .private)
    let request = try PushTargetsRequest.decode(question.request)
    guard request.save == nil || request.remove.isEmpty else {
      throw CaravanError(.invalidData, "a push target is saved, or one is removed: ask for one after the other")
    }
    var reply = PushTargetsReply()
    if let target = request.save {
      let saved = try await save(target, of: database)
      (reply.serverKey, reply.secret) = (saved.serverKey, saved.secret)
    } else if !request.remove.isEmpty {
      try await remove(request.remove, of: database.container)
    } else {
      reply.serverKey = try await register(nil, of: database.container).serverKey
    }
    reply.targets = try await targets(of: database.container)
    let answer = reply.encoded()
    guard account.settle(taken: 0, needed: answer.count) else { throw Refusal.replyFull }
    return PushTargetsResult(answer: answer)
  }

  private struct Saved {
    let serverKey: [UInt8]
    let secret: String
  }

  /// Whoever saves a target that is being saved, as an app does that has waited too long for an answer, goes on with
  /// what the other has saved: two registrations would have two secrets, of which the app may keep the wrong one.
  private func save(_ target: PushTarget, of database: DatabaseID) async throws(CaravanError) -> Saved {
    try Self.check(target)
    for _ in 0..<SyncLimits.pushSaves {
      if let saved = try await saveOnce(target, of: database) { return saved }
    }
    throw CaravanError(.serverBusy, "push target '\(target.id)' is saved by others at the same time: try again")
  }

  /// - Returns: nil: somebody else has saved or removed it meanwhile.
  private func saveOnce(_ target: PushTarget, of database: DatabaseID) async throws(CaravanError) -> Saved? {
    let container = database.container
    let all = try await stored()
    let known = all[container] ?? []
    let old = known.first { $0.target.target?.id == target.id }
    guard old != nil || known.count < Limits.pushTargets else {
      throw CaravanError(
        .limitExceeded, "the app has \(known.count) push targets: the limit is \(Limits.pushTargets); remove one")
    }
    guard old != nil || all.values.reduce(0, { $0 + $1.count }) < Limits.pushTargetsPerUser else {
      throw CaravanError(
        .limitExceeded, "the user has \(Limits.pushTargetsPerUser) push targets in all apps, as many as there may be")
    }
    var stored = StoredTarget(target: target)
    // One that has ended is begun anew; another one that goes on stays as it is.
    if let same = old?.target, same.target?.leads(to: target) == true,
      try await state(of: target.id, in: container, same)?.ended != true
    {
      (stored.registration, stored.from) = (same.registration, same.from)
    } else {
      stored.registration = cloud.host.random.bytes(16)
      stored.from = try await logEnd(of: database)
    }
    let reply = try await register(stored, of: container)
    stored.perMinute = reply.perMinute
    let isWritten = try await write(
      .save(type: 0, body: PushTargets.body(of: stored), chunks: []), target.id, of: container, to: PushTargets.zone,
      over: old.map { .version($0.version) } ?? .absent)
    return isWritten ? Saved(serverKey: reply.serverKey, secret: reply.secret) : nil
  }

  private static func check(_ target: PushTarget) throws(CaravanError) {
    guard (1...64).contains(target.id.utf8.count), !target.id.utf8.contains(where: { $0 < 0x20 }) else {
      throw CaravanError(
        .invalidData,
        "push target '\(target.id.prefix(40))' is no name: use 1 to 64 bytes without control characters")
    }
    guard target.subscriptions.count <= Limits.subscriptionsPerPushTarget,
      target.subscriptions.allSatisfy({ (1...64).contains($0.utf8.count) })
    else {
      throw CaravanError(
        .invalidData,
        "a push target names at most \(Limits.subscriptionsPerPushTarget) subscriptions of 1 to 64 bytes each")
    }
  }

  private func register(
    _ target: StoredTarget?, of container: ContainerID
  ) async throws(CaravanError) -> RegisterTargetReply {
    do throws(CaravanError) {
      return try await cloud.bus.call(
        RegisterTargetRequest(target: target, container: container.text), to: .service(.push, method: "register"),
        deadline: SyncLimits.pushDeadline)
    } catch  where error == .nobodyServes(Subject.service(.push, method: "register").text) {
      throw CaravanError(.unavailable, "the suite pushes nothing now: have its operator start caravan-push")
    }
  }

  private func remove(_ id: String, of container: ContainerID) async throws(CaravanError) {
    try RecordName.check(id)
    for zone in [PushTargets.zone, PushTargets.stateZone] {
      _ = try await write(.delete, id, of: container, to: zone, over: .any)
    }
  }

  // MARK: What is kept

  /// Of the system container, where no device comes.
  private func hidden(_ name: String) throws(CaravanError) -> ZoneID {
    try ZoneID(DatabaseID(container: .system, environment: device.environment, owner: device.user), name)
  }

  /// - Returns: whether the record was what the change is based on.
  private func write(
    _ change: CaravanModel.Mutation.Change, _ id: String, of container: ContainerID, to zone: String, over base: Base
  ) async throws(CaravanError) -> Bool {
    let mutation = CaravanModel.Mutation(name: PushTargets.record(container, id), base: base, change: change)
    guard case .applied(let outcomes, _, _, _) = try await cloud.storage.commit(to: try hidden(zone), [mutation]),
      case .accepted = outcomes.first
    else { return false }
    return true
  }

  private struct Found {
    let target: StoredTarget
    let version: Seq
  }

  /// All of the user's, in the order of their names.
  private func stored() async throws(CaravanError) -> [ContainerID: [Found]] {
    var found: [ContainerID: [Found]] = [:]
    var request = ReadChangesRequest(
      zone: ZoneRef(try hidden(PushTargets.zone)), maxRecords: UInt32(Limits.recordsPerCommit),
      maxBytes: UInt32(Limits.pageBytes))
    while true {
      let reply = try await cloud.storage.changes(of: try hidden(PushTargets.zone), request)
      for entry in try EntryPage.decode(reply.page).entries where !entry.deleted {
        guard let container = PushTargets.place(entry.name)?.container,
          let target: StoredTarget = PushTargets.value(of: entry.body)
        else { continue }
        found[container, default: []].append(Found(target: target, version: entry.version))
      }
      guard reply.more, let next = reply.next else { break }
      request.from = next
    }
    return found.mapValues { $0.sorted { ($0.target.target?.id ?? "") < ($1.target.target?.id ?? "") } }
  }

  private func state(
    of id: String, in container: ContainerID, _ target: StoredTarget
  ) async throws(CaravanError) -> PushState? {
    let entry = try await cloud.storage.fetch(
      [PushTargets.record(container, id)], from: try hidden(PushTargets.stateZone)
    ).first
    guard let entry, let stored: StoredTargetState = PushTargets.value(of: entry.body),
      stored.registration == target.registration
    else { return nil }
    return stored.state
  }

  private func targets(of container: ContainerID) async throws(CaravanError) -> [PushTargetStatus] {
    let stored = (try await stored()[container] ?? []).map(\.target)
    let ids = stored.compactMap { $0.target?.id }
    var states: [String: StoredTargetState] = [:]
    if !ids.isEmpty {
      let names = ids.map { PushTargets.record(container, $0) }
      for entry in try await cloud.storage.fetch(names, from: try hidden(PushTargets.stateZone)) {
        guard let place = PushTargets.place(entry.name) else { continue }
        states[place.id] = PushTargets.value(of: entry.body)
      }
    }
    return stored.compactMap { stored in
      guard var target = stored.target else { return nil }
      // Whoever has it could send in the suite's place.
      target.webPush?.secret = []
      let state = states[target.id]
      return PushTargetStatus(
        target: target, state: state?.registration == stored.registration ? state?.state : nil)
    }
  }

  /// Behind the notifications that there are: what came before a target was there is not for it.
  private func logEnd(of database: DatabaseID) async throws(CaravanError) -> CaravanWire.ChangePosition? {
    for head in try await cloud.storage.zones(of: database) where head.zone?.zone == NotificationLog.name {
      return CaravanWire.ChangePosition(incarnation: head.incarnation, seq: head.seq)
    }
    return nil
  }
}

extension PushTarget {
  /// Whether both send to one place, with the same keys.
  fileprivate func leads(to other: PushTarget) -> Bool { webPush == other.webPush && webhook == other.webhook }
}
