import CaravanBus
import CaravanChangeStream
import CaravanCrypto
import CaravanEncoding
import CaravanModel
import CaravanNotifyCore
import CaravanRuntime
import CaravanStorageClient
import CaravanWire

/// Has the notifications of one partition's users pushed to their targets. A target reads its user's log as a device
/// would, from where it stands; nothing else is kept, so what is in the log is delivered or visibly given up, whoever
/// dies meanwhile.
actor Pusher {
  private struct Target {
    let stored: StoredTarget
    /// nil: it has not been read yet.
    var progress: TargetProgress?
    /// What the store has of it; nil: that is to be read.
    var saved: TargetStore.Saved?

    /// Its user can see that it has ended.
    var hasVisiblyEnded: Bool { progress?.hasEnded == true && saved?.progress == progress }
  }

  /// What one turn of a target came to.
  private struct Turn {
    let began: Int64
    var isBehind = false
    /// Its server was called so often, the last time then.
    var calls = 0
    var lastCall: Int64 = 0
    var waitMilliseconds: Int64 = 0
  }

  private let partition: Partition
  private let bus: any MessageBus
  private let storage: StorageClient
  private let store: TargetStore
  private let host: Host
  private let metrics: NotifyMetrics
  private var schedule = PushSchedule()
  private var targets: [TargetName: Target] = [:]
  private let kick = Signal()
  /// Nobody carries anything: until when nothing is tried.
  private var restsUntil: Int64 = 0

  init(_ partition: Partition, bus: any MessageBus, storage: StorageClient, host: Host, metrics: NotifyMetrics) {
    self.partition = partition
    self.bus = bus
    self.storage = storage
    store = TargetStore(storage: storage)
    self.host = host
    self.metrics = metrics
  }

  private var now: Int64 { Int64(host.clock.now.nanoseconds / 1_000_000) }

  // MARK: What there is

  /// Takes in every target of the partition. What their logs got meanwhile nobody may have said.
  func load() async throws(CaravanError) {
    let found = try await store.targets(in: partition)
    for name in Set(targets.keys).subtracting(found.map(\.name)) { drop(name) }
    for one in found {
      take(one)
      schedule.changed(one.name.log)
    }
    kick.raise()
  }

  /// What a commit did to targets, or to a log.
  func take(_ change: Change) async throws(CaravanError) {
    if let user = store.user(of: change.zone) {
      let found = change.isZoneDeletion ? [] : try await store.targets(in: change.zone)
      for one in found { take(one) }
      let environment = change.zone.database.environment
      let (there, own) = (Set(found.map(\.name)), targets.keys.filter { $0.log.user == user })
      for name in own where name.log.environment == environment && !there.contains(name) { drop(name) }
      kick.raise()
    } else if change.zone.name == NotificationLog.name, let user = change.zone.database.owner {
      let database = change.zone.database
      schedule.changed(LogName(user: user, container: database.container, environment: database.environment))
      kick.raise()
    }
  }

  private func take(_ found: TargetStore.Found) {
    let stored = found.target
    if let known = targets[found.name], known.stored == stored { return }
    guard targets[found.name] != nil || targets.count < NotifyLimits.targetsPerPartition else {
      host.log.error("a partition has too many push targets: one is not served", [.partition: partition.number])
      return
    }
    let isSame = targets[found.name]?.stored.registration == stored.registration
    let known = isSame ? targets[found.name] : nil
    targets[found.name] = Target(stored: stored, progress: known?.progress, saved: known?.saved)
    schedule.put(found.name)
  }

  private func drop(_ name: TargetName) {
    targets[name] = nil
    schedule.remove(name)
  }

  // MARK: Turns

  /// Pushes until it is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled {
        if restsUntil <= now {
          for name in schedule.start(now) { group.addTask { await self.turn(of: name) } }
        }
        if let wake = schedule.nextWake.map({ max($0, restsUntil) }) {
          await kick.wait(atMost: .milliseconds(max(1, wake - now)), clock: host.clock)
        } else {
          await kick.wait()
        }
      }
    }
  }

  private func turn(of name: TargetName) async {
    var turn = Turn(began: now)
    do throws(CaravanError) { try await push(to: name, &turn) } catch {
      // The store or the push service is away: that says nothing of the target.
      turn.isBehind = true
      turn.waitMilliseconds = max(turn.waitMilliseconds, NotifyLimits.pushBusyMilliseconds)
      host.log.debug("a push target waits", [.user: name.log.user.text, .error: error])
    }
    let target = targets[name]
    let pace = PushPace(perMinute: target?.stored.perMinute ?? 0)
    schedule.ended(
      name, isBehind: turn.isBehind,
      notBefore: target?.hasVisiblyEnded == true
        ? nil
        : max(
          now + turn.waitMilliseconds, pace.next(afterTurnAt: turn.began, calls: turn.calls, lastAt: turn.lastCall)))
    kick.raise()
  }

  private func push(to name: TargetName, _ turn: inout Turn) async throws(CaravanError) {
    guard let target = targets[name]?.stored else { return }
    var progress = try await progress(of: name, target)
    var failure: CaravanError?
    do throws(CaravanError) { try await pushSome(to: name, target, &progress, &turn) } catch { failure = error }
    // What was delivered or given up before something failed is so all the same.
    try await keep(progress, of: name, target, &turn)
    if let failure { throw failure }
  }

  private func pushSome(
    to name: TargetName, _ target: StoredTarget, _ progress: inout TargetProgress, _ turn: inout Turn
  ) async throws(CaravanError) {
    guard !progress.hasEnded else { return }
    let (entries, end, hasMore) = try await page(of: name.log, after: progress.position)
    let most = PushPace(perMinute: target.perMinute).callsPerTurn
    turn.isBehind = true
    for entry in entries {
      let next = CaravanModel.ChangePosition(
        incarnation: end.incarnation, seq: entry.version, settled: end.settled)
      guard turn.calls < most, !Task.isCancelled,
        try await carry(entry, to: name, target, &progress, next, &turn)
      else { return }
    }
    turn.isBehind = hasMore
    progress.position = end
  }

  /// What a target has come to is its user's to see, also where the store could not be told at first.
  private func keep(
    _ progress: TargetProgress, of name: TargetName, _ target: StoredTarget, _ turn: inout Turn
  ) async throws(CaravanError) {
    // One that wants others by now is still the same target, and has come so far.
    guard isStill(target, name) else { return }
    targets[name]?.progress = progress
    guard let saved = targets[name]?.saved, saved.progress ?? Self.start(of: target) != progress else { return }
    let version = try await store.save(progress, of: name, target, over: saved.version)
    guard isStill(target, name) else { return }
    guard let version else {
      // Somebody else acts for the partition, or did: what they have come to counts.
      targets[name]?.progress = nil
      targets[name]?.saved = nil
      turn.isBehind = true
      return
    }
    targets[name]?.saved = TargetStore.Saved(progress: progress, version: version)
  }

  private func progress(of name: TargetName, _ target: StoredTarget) async throws(CaravanError) -> TargetProgress {
    if let known = targets[name]?.progress { return known }
    let saved = try await store.progress(of: name, target)
    if isStill(target, name) { targets[name]?.saved = saved }
    return saved.progress ?? Self.start(of: target)
  }

  private func isStill(_ target: StoredTarget, _ name: TargetName) -> Bool {
    targets[name]?.stored.registration == target.registration
  }

  private static func start(of target: StoredTarget) -> TargetProgress {
    TargetProgress(position: target.from?.model())
  }

  /// The next entries of a log; of one that does not know the position any more, from its beginning.
  private func page(
    of log: LogName, after position: CaravanModel.ChangePosition?
  ) async throws(CaravanError) -> (entries: [CaravanWire.Entry], end: CaravanModel.ChangePosition, hasMore: Bool) {
    let database = DatabaseID(container: log.container, environment: log.environment, owner: log.user)
    let zone = try ZoneID(database, NotificationLog.name)
    var request = ReadChangesRequest(
      zone: ZoneRef(zone), maxRecords: UInt32(NotifyLimits.pushesPerTurn), maxBytes: UInt32(Limits.pageBytes),
      from: position.map { CaravanWire.ChangePosition($0) })
    while true {
      let reply = try await storage.changes(of: zone, request)
      if reply.resetRequired, request.from != nil {
        request.from = nil
        continue
      }
      guard let end = reply.next else {
        return ([], position ?? CaravanModel.ChangePosition(incarnation: 0, seq: 0), false)
      }
      return (try EntryPage.decode(reply.page).entries, end.model(), reply.more)
    }
  }

  /// - Returns: whether the target has come behind the entry.
  private func carry(
    _ entry: CaravanWire.Entry, to name: TargetName, _ target: StoredTarget, _ progress: inout TargetProgress,
    _ next: CaravanModel.ChangePosition, _ turn: inout Turn
  ) async throws(CaravanError) -> Bool {
    guard !entry.deleted, let past = LoggedNotification(entry) else {
      progress.position = next
      return true
    }
    let wall = host.clock.wallTime.milliseconds
    metrics.pushesGivenUp.add(Int(clamping: progress.meet(past.number, of: past.source, since: past.since, at: wall)))
    guard past.isWanted(by: target) else {
      progress.pass(past.number, of: past.source, next: next)
      return true
    }
    let left = past.at + NotifyLimits.pushWorthMilliseconds - wall
    guard left > 0 else {
      progress.giveUp(past.lost(progress.status, progress.problem, at: wall), next: next)
      metrics.pushesGivenUp.add()
      return true
    }
    let request = DeliverRequest(
      target: target, id: Self.id(of: past, for: name, target), container: name.log.container.text,
      environment: name.log.environment.rawValue, notification: entry.body,
      seconds: UInt32(clamping: min(left, NotifyLimits.pushWorthMilliseconds) / 1_000), isRetry: progress.failures > 0)
    (turn.calls, turn.lastCall) = (turn.calls + 1, now)
    let outcome = try await outcome(of: request, past, wall)
    if case .refused = outcome { metrics.pushesGivenUp.add() }
    if case .taken = outcome { metrics.pushes.add() }
    let isPast = progress.take(outcome, next: next, now: wall)
    if isPast { progress.pass(past.number, of: past.source, next: next) }
    if case .later(_, _, let wait) = outcome {
      let pause = progress.pauseMilliseconds
      // A random part keeps targets that failed together from coming back together.
      turn.waitMilliseconds = max(wait, pause / 2 + Int64(host.random.below(UInt64(pause / 2 + 1))))
    }
    return isPast
  }

  /// - Throws: what is not the target's doing.
  private func outcome(
    of request: DeliverRequest, _ past: LoggedNotification, _ wall: Int64
  ) async throws(CaravanError) -> TargetProgress.Outcome {
    let reply: DeliverReply
    do throws(CaravanError) {
      reply = try await bus.call(
        request, to: .service(.push, method: "deliver"), deadline: NotifyLimits.pushDeadline)
    } catch {
      if error.code == .unavailable { restsUntil = now + NotifyLimits.pushBusyMilliseconds }
      // Only what is wrong with the request itself is so each time.
      guard error.code == .invalidData || error.code == .limitExceeded else { throw error }
      return .refused(past.lost(0, error.message, at: wall))
    }
    switch reply.outcome {
    case .taken: return .taken
    case .refused: return .refused(past.lost(reply.status, reply.problem, at: wall))
    case .gone: return .gone(status: reply.status, problem: reply.problem)
    case .later, .unspecified:
      return .later(
        status: reply.status, problem: reply.problem, waitMilliseconds: Int64(reply.waitSeconds) * 1_000)
    }
  }

  /// The same at each try, and another one for each target.
  private static func id(of past: LoggedNotification, for name: TargetName, _ target: StoredTarget) -> String {
    let text = "\(past.source)/\(past.number)/\(past.at)/\(name.id)"
    let digest = SHA256.hash(target.registration + Array(text.utf8))
    return "n_" + Base32.encode(Array(digest.bytes.prefix(20))).lowercased()
  }
}
