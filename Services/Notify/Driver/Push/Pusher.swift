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
  }

  /// What one turn of a target came to.
  private struct Turn {
    var isBehind = false
    var count = 0
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

  /// Takes in every target of the partition.
  func load() async throws(CaravanError) {
    for found in try await store.targets(in: partition) { take(found) }
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
    targets[found.name] = Target(stored: stored, progress: isSame ? targets[found.name]?.progress : nil)
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
    let began = now
    var turn = Turn()
    do throws(CaravanError) { turn = try await push(to: name) } catch {
      // The store or the push service is away: that says nothing of the target.
      turn = Turn(isBehind: true, waitMilliseconds: NotifyLimits.pushBusyMilliseconds)
      host.log.debug("a push target waits", [.user: name.log.user.text, .error: error])
    }
    let hasEnded = targets[name]?.progress?.hasEnded ?? false
    schedule.ended(
      name, isBehind: turn.isBehind,
      notBefore: hasEnded ? nil : max(now + turn.waitMilliseconds, began + Int64(turn.count) * spacing(of: name)))
    kick.raise()
  }

  private func spacing(of name: TargetName) -> Int64 {
    guard let perMinute = targets[name]?.stored.perMinute, perMinute > 0 else {
      return NotifyLimits.pushSpacingMilliseconds
    }
    return max(NotifyLimits.pushSpacingMilliseconds, 60_000 / Int64(perMinute))
  }

  private func push(to name: TargetName) async throws(CaravanError) -> Turn {
    guard let target = targets[name]?.stored else { return Turn() }
    var progress = try await progress(of: name, target)
    guard !progress.hasEnded else { return Turn() }
    let (entries, end, hasMore) = try await page(of: name.log, after: progress.position)
    let before = progress
    var turn = Turn(isBehind: hasMore)
    for entry in entries {
      let next = CaravanModel.ChangePosition(
        incarnation: end.incarnation, seq: entry.version, settled: end.settled)
      guard !Task.isCancelled, try await carry(entry, to: name, target, &progress, next, &turn) else {
        turn.isBehind = true
        break
      }
    }
    if turn.count == entries.count || !turn.isBehind { progress.position = end }
    guard targets[name]?.stored == target else { return Turn(isBehind: true) }
    targets[name]?.progress = progress
    if progress != before { try await store.save(progress, of: name, target) }
    return turn
  }

  private func progress(of name: TargetName, _ target: StoredTarget) async throws(CaravanError) -> TargetProgress {
    if let known = targets[name]?.progress { return known }
    if let saved = try await store.progress(of: name, target) { return saved }
    return TargetProgress(position: target.from?.model())
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
    guard !entry.deleted, let past = LoggedNotification(entry), past.isWanted(by: target) else {
      progress.position = next
      turn.count += 1
      return true
    }
    let wall = host.clock.wallTime.milliseconds
    let left = past.at + NotifyLimits.pushWorthMilliseconds - wall
    guard left > 0 else {
      progress.giveUp(past.lost(progress.status, progress.problem, at: wall), next: next)
      metrics.pushesGivenUp.add()
      turn.count += 1
      return true
    }
    let request = DeliverRequest(
      target: target, id: Self.id(of: past, for: name, target), container: name.log.container.text,
      environment: name.log.environment.rawValue, notification: entry.body,
      seconds: UInt32(clamping: min(left, NotifyLimits.pushWorthMilliseconds) / 1_000), isRetry: progress.failures > 0)
    let outcome = try await outcome(of: request, past, wall)
    if case .refused = outcome { metrics.pushesGivenUp.add() }
    if case .taken = outcome { metrics.pushes.add() }
    let isPast = progress.take(outcome, next: next, now: wall)
    if case .later(_, _, let wait) = outcome {
      let pause = progress.pauseMilliseconds
      // A random part keeps targets that failed together from coming back together.
      turn.waitMilliseconds = max(wait, pause / 2 + Int64(host.random.below(UInt64(pause / 2 + 1))))
    }
    if isPast { turn.count += 1 }
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
      guard !error.isTransient else { throw error }
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

/// What of a log's record says where it goes.
private struct LoggedNotification {
  let subscription: String
  let source: UInt32
  let number: UInt64
  let at: Int64

  init?(_ entry: CaravanWire.Entry) {
    guard let fields = try? RecordFields(body: entry.body) else { return nil }
    func number(_ field: NotificationLog.Field) -> Int64 { fields[field.rawValue].integerValue ?? 0 }
    subscription = fields[NotificationLog.Field.subscription.rawValue].textValue ?? ""
    source = UInt32(clamping: number(.source))
    self.number = UInt64(clamping: number(.number))
    at = number(.at)
  }

  /// What is missing may concern every subscription.
  func isWanted(by target: StoredTarget) -> Bool {
    guard let wanted = target.target?.subscriptions, !wanted.isEmpty, !subscription.isEmpty else { return true }
    return wanted.contains(subscription)
  }

  func lost(_ status: UInt32, _ problem: String, at wall: Int64) -> TargetProgress.GivenUp {
    TargetProgress.GivenUp(source: source, number: number, status: status, problem: problem, at: wall)
  }
}
