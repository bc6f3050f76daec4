internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanRuntime
internal import CaravanStore

/// The one writer of some partitions in this process, on a thread and a connection of its own. Group commit: whoever
/// wants to write puts its work into the queue and asks for a flush; a flush takes all that waits into one transaction,
/// so the asks behind it mostly find their work done.
///
/// A transaction is two round trips. The first takes hold of the partitions' rows, which keeps writers of other
/// processes out, and reads what the writes must see; then they decide, in memory; the second sends what they decided,
/// and commits. When the connection is lost in between, or the answer to the commit is, the group begins anew: outcomes
/// of ops that were committed are among what it reads then, so nothing happens twice (UNI-07).
actor WriterLane {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private let queue = Mutex(WriteQueue<any PendingWrite>(for: "PostgreSQL", PostgresLimits.queue) { $0.byteCount })
  private let liveness: Liveness
  private let observer: (any CommitObserver)?
  private let host: Host
  private let metrics: PostgresMetrics
  private let disk: Outage
  private let storeClock: (any Clock)?
  private let quotas: DefaultQuotas
  private let spread: SpreadAccounts
  private let queuesObjects: Bool
  private var session: Session
  private var conflicts = 0
  private var held = HeldPartitions()
  /// A group was sent and never heard of: if it was committed, nobody was told.
  private var isInDoubt = false
  /// Why `perform` failed last.
  private(set) var lastFailure: PostgresError?

  init(
    name: String, _ options: PostgresOptions, host: Host, liveness: Liveness, observer: (any CommitObserver)?,
    metrics: PostgresMetrics, outage: Outage, disk: Outage, spread: SpreadAccounts
  ) {
    executor = host.executors.makeSerial(name)
    self.host = host
    self.liveness = liveness
    self.observer = observer
    self.metrics = metrics
    self.disk = disk
    storeClock = options.clock
    quotas = options.quotas
    self.spread = spread
    queuesObjects = options.queuesObjects
    session = Session(.writer(options.address), host: host, metrics: metrics, outage: outage)
  }

  func close() { session.close() }

  /// Puts the write into the queue and returns when it is durable, or refused.
  nonisolated func write<Value: Sendable>(_ write: Write<Value>) async throws(CaravanError) -> Value {
    try queue.withLock { (queue) throws(CaravanError) in try queue.append(write) }
    while let pause = await flush(until: write) {
      // It is told when its own time is over, whenever the next attempt is due.
      let left = write.deadline + .milliseconds(1) - host.clock.now
      do { try await host.clock.sleep(for: min(pause, left)) } catch {
        if queue.withLock({ $0.withdraw { $0 === write } }) {
          write.finish(.failure(CaravanError(.cancelled, "the task was cancelled")))
        }
      }
    }
    return try write.value()
  }

  /// - Returns: nil when the write is finished; else how long to wait before the next try.
  private func flush(until write: any PendingWrite) -> Duration? {
    while !write.isDone {
      let group = queue.withLock { $0.takeGroup() }
      precondition(!group.isEmpty, "a write is neither done nor waiting")
      if let pause = run(group) { return write.isDone ? nil : pause }
    }
    return nil
  }

  /// Tries a group. What cannot be finished now waits in the queue again.
  private func run(_ group: [any PendingWrite]) -> Duration? {
    do throws(CaravanError) { try liveness.check() } catch {
      finish(group, error)
      return nil
    }
    // They wait for their turn here to hear of it, and an attempt to connect may take long: it comes after them.
    let rest = tellLate(group)
    guard rest.count == group.count else {
      queue.withLock { $0.putBack(rest) }
      return rest.isEmpty ? nil : .zero
    }
    let free = turnAway(group)
    guard !free.isEmpty else { return nil }
    guard !held.keepApart(free.map(\.partition)) else { return runApart(free) }
    do throws(PostgresError) {
      try transact(free)
      conflicts = 0
      held.took(free.map(\.partition))
      return nil
    } catch {
      return take(error, of: free)
    }
  }

  /// Nobody waits for partitions that somebody has just been found to hold.
  /// - Returns: writes to the others.
  private func turnAway(_ group: [any PendingWrite]) -> [any PendingWrite] {
    guard !held.isEmpty else { return group }
    let now = host.clock.now
    for write in group {
      if let left = held.wait(for: write.partition, at: now) { finish([write], HeldPartitions.refusal(left)) }
    }
    return group.filter { !$0.isDone }
  }

  /// Each partition by itself, so that nobody waits for another's.
  private func runApart(_ group: [any PendingWrite]) -> Duration? {
    let parts = Dictionary(grouping: group, by: \.partition).sorted { $0.key < $1.key }.map(\.value)
    for (index, part) in parts.enumerated() {
      guard let pause = run(part) else { continue }
      queue.withLock { $0.putBack(parts[(index + 1)...].flatMap(\.self)) }
      return pause
    }
    return nil
  }

  private func take(_ error: PostgresError, of group: [any PendingWrite]) -> Duration? {
    switch error.kind {
    case .lost, .refused:
      let rest = tellLate(group)
      queue.withLock { $0.putBack(rest) }
      return session.wait ?? .zero
    case .conflict, .duplicate, .constraint:
      // Undone, because another process was quicker.
      metrics.conflicts.add()
      conflicts += 1
      guard conflicts < PostgresLimits.conflictsInARow else {
        conflicts = 0
        finish(group, error.answer)
        return nil
      }
      queue.withLock { $0.putBack(group) }
      return PostgresLimits.conflictPause * conflicts
    case .busy where error.isOfLock:
      guard held.met(group.map(\.partition), at: host.clock.now) else { return runApart(group) }
      finish(group, error.answer)
      return nil
    case .busy, .diskRefused, .notPermitted, .noSuchTable:
      finish(group, error.answer)
      return nil
    case .other:
      // One write may have spoiled it for all.
      guard group.count > 1 else {
        finish(group, error.answer)
        return nil
      }
      return runSingly(group)
    }
  }

  /// Writes that have waited for as long as they may hear why.
  /// - Returns: the others.
  private func tellLate(_ group: [any PendingWrite]) -> [any PendingWrite] {
    guard let failure = session.lastFailure else { return group }
    let now = host.clock.now
    let late = group.filter { $0.deadline < now }
    if !late.isEmpty { finish(late, failure.answer) }
    return group.filter { !$0.isDone }
  }

  private func runSingly(_ group: [any PendingWrite]) -> Duration? {
    for (index, write) in group.enumerated() {
      guard let pause = run([write]) else { continue }
      queue.withLock { $0.putBack(Array(group[(index + 1)...])) }
      return pause
    }
    return nil
  }

  private func finish(_ group: [any PendingWrite], _ error: CaravanError) {
    metrics.failed(writes: group.count)
    if error.code == .storageFull { disk.lasts(error) }
    for write in group { write.finish(.failure(error)) }
  }

  // MARK: One transaction

  private func transact(_ group: [any PendingWrite]) throws(PostgresError) {
    let start = host.clock.now
    let states = try onSession { (db) throws(PostgresError) in
      let states = try self.load(group).run(on: db)
      for state in states { state.connection = db }
      let byPartition = Dictionary(uniqueKeysWithValues: states.map { ($0.partition.number, $0) })
      for write in group { if let state = byPartition[write.partition] { write.decide(state) } }
      for state in states {
        state.connection = nil
        if let failure = state.failure { throw failure }
      }
      return states
    }
    let byPartition = Dictionary(uniqueKeysWithValues: states.map { ($0.partition.number, $0) })
    do throws(PostgresError) {
      try onSession { (db) throws(PostgresError) in try GroupSave(states, queuesObjects: queuesObjects).run(on: db) }
    } catch {
      if error.kind == .lost {
        isInDoubt = true
        for write in group { write.leaveInDoubt() }
      }
      throw error
    }
    if isInDoubt {
      isInDoubt = false
      observer?.missed()
    }
    disk.ended()
    metrics.committed(writes: group.count, in: host.clock.now - start)
    let changes = states.flatMap(\.changes)
    if !changes.isEmpty { observer?.committed(changes) }
    for write in group { if let state = byPartition[write.partition] { write.finish(.success(state)) } }
  }

  private func load(_ group: [any PendingWrite]) -> GroupLoad {
    var wants: [UInt32: Wants] = [:]
    for write in group { write.want(&wants[write.partition, default: Wants()]) }
    let ordered = Partition.all.compactMap { partition in wants[partition.number].map { (partition, $0) } }
    let isDoubtful = ordered.contains { held.isKnown($0.0.number) }
    return GroupLoad(
      ordered, clock: storeClock?.wallTime.milliseconds, quotas: quotas, spread: spread, isBrief: isDoubtful)
  }

  /// Work on the connection; one that is lost is given up.
  private func onSession<Value>(
    _ work: (Connection) throws(PostgresError) -> Value
  ) throws(PostgresError) -> Value {
    let db = try session.open()
    do throws(PostgresError) { return try work(db) } catch {
      if error.kind == .lost { session.drop(error) }
      throw error
    }
  }

  // MARK: Other work on this connection

  /// For the making of the tables and for maintenance, which are not tried again here.
  func perform<Value: Sendable>(
    _ work: @Sendable (Connection) throws(PostgresError) -> Value
  ) throws(CaravanError) -> Value {
    try liveness.check()
    do throws(PostgresError) { return try onSession(work) } catch {
      lastFailure = error
      throw error.answer
    }
  }
}
