internal import CaravanAgentCore
internal import CaravanAgentNetwork
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// A table's part, or the device's own, in a frame.
private struct FrameItem: Sendable {
  enum Role: Sendable {
    case controlMessages(ControlMessages.Batch, generation: UInt64)
    case up(Upstream)
    case down(Downstream)
  }

  var role: Role
  let operations: [Operation.Kind]
  /// Whom the end of the session answers.
  var waiters: [SyncWaiters.Answer] = []

  var transport: FragmentTransport? {
    switch role {
    case .controlMessages: nil
    case .up(let session): session.transport
    case .down(let session): session.transport
    }
  }
}

extension SyncEngine {
  /// Sends what is due, each frame as soon as it is full, and sees every table's session to its end.
  func carry(_ transfer: Transfer) async {
    if transfer.isAcknowledgement, let batch = transfer.controlMessages { return await acknowledge(batch) }
    let riders = await prepare(transfer)
    let loads = riders.map { rider in
      let loads = rider.operations.map { FramePacking.Load($0) }
      return FramePacking.Load(bytes: loads.reduce(0) { $0 + $1.bytes }, isPull: loads.contains(where: \.isPull))
    }
    // What breaks takes no other's answer with it.
    let frames =
      exchanger.fragment.isUnbroken ? FramePacking.frames(loads).map { Array(riders[$0]) } : riders.map { [$0] }
    guard !frames.isEmpty else { return answered() }
    await withDiscardingTaskGroup { group in
      for (index, frame) in frames.enumerated() {
        group.addTask { await self.carry(frame, isLast: index == frames.count - 1) }
      }
    }
  }

  private func acknowledge(_ batch: ControlMessages.Batch) async {
    do throws(CaravanError) { try await exchanger.acknowledge(batch.acks) } catch {
      controlMessages.failed(
        batch, at: host.clock.now.nanoseconds, random: host.random.next(), retryAfterMilliseconds: nil)
    }
    answered()
  }

  /// The transfer's last frame has its answer: another may begin, whatever this one's sessions still do.
  private func answered() {
    transfersInFlight -= 1
    signal.raise()
  }

  private func carry(_ frame: [FrameItem], isLast: Bool) async {
    let answer: Swift.Result<[Result.Kind], CaravanError>
    do throws(CaravanError) {
      answer = .success(
        try await exchanger.exchange(
          frame.flatMap(\.operations), through: frame.compactMap { $0.transport?.gate },
          by: frame.lazy.compactMap(\.transport).first))
    } catch {
      answer = .failure(error)
    }
    if isLast { answered() }
    // What is too much for a budget together may not be alone, and a link too expensive for one table only.
    if case .failure(let error) = answer, error.code == .networkNotPermitted, frame.count > 1 {
      return await withDiscardingTaskGroup { group in
        for rider in frame { group.addTask { await self.carry([rider], isLast: false) } }
      }
    }
    await withDiscardingTaskGroup { group in
      var first = 0
      for rider in frame {
        let range = first..<(first + rider.operations.count)
        first = range.upperBound
        group.addTask { await self.finish(rider, answer.map { Array($0[range]) }) }
      }
    }
  }

  // MARK: What rides

  private func prepare(_ transfer: Transfer) async -> [FrameItem] {
    var riders: [FrameItem] = []
    if let batch = transfer.controlMessages { riders.append(await controlItem(batch)) }
    let pulls = transfer.items.count { $0.direction == .read }
    let room = min(EngineLimits.pulledBytes, exchanger.fragment.bytes) / max(1, min(pulls, EngineLimits.pullsPerFrame))
    for key in transfer.items where board.begin(key) {
      let answers = waiters.take(key)
      let gate = LinkGuard(engine: self, key: key, isDemanded: !answers.isEmpty)
      let slack = answers.isEmpty ? coalescer.slackMilliseconds(key, at: host.clock.now.nanoseconds) : 0
      if let rider = await begin(key, gate: gate, answers, room: room, slack: slack) { riders.append(rider) }
    }
    return riders
  }

  /// - Returns: nil when the session has ended already.
  private func begin(
    _ key: Key, gate: LinkGuard, _ answers: [SyncWaiters.Answer], room: Int, slack: UInt32
  ) async -> FrameItem? {
    do throws(CaravanError) {
      let state = try await store.syncState(of: key.table)
      if state.isLocalOnly {
        end(key, answers, nil)
        return nil
      }
      switch key.direction {
      case .write:
        let retriesRefused = !answers.isEmpty || host.clock.now.nanoseconds >= resting[key.table] ?? 0
        if retriesRefused { resting[key.table] = nil }
        var session = Upstream(
          key.table, dependencies: dependencies, gate: gate, pending: pending.removeValue(forKey: key.table),
          lacksRoom: lackRoom.contains(key.table), retriesRefused: retriesRefused, slackMilliseconds: slack)
        do throws(CaravanError) {
          let operations = try await session.begin()
          if !operations.isEmpty { return FrameItem(role: .up(session), operations: operations, waiters: answers) }
        } catch {
          pending[key.table] = session.pending
          throw error
        }
      case .read:
        // The cloud would say the same again.
        if awaitingPush.contains(key.table), state.opInFlight != nil { throw .startsOver(key.table) }
        let startsOver = voided.remove(key.table) != nil
        var session = Downstream(key.table, dependencies: dependencies, gate: gate, startsOver: startsOver)
        let operations: [Operation.Kind]
        do throws(CaravanError) {
          operations = try await session.begin(maximumBytes: room, slackMilliseconds: slack)
        } catch {
          if startsOver { voided.insert(key.table) }
          await noteStart(of: session)
          throw error
        }
        return FrameItem(role: .down(session), operations: operations, waiters: answers)
      }
      end(key, answers, nil)
    } catch {
      end(key, answers, error)
    }
    return nil
  }

  private func controlItem(_ batch: ControlMessages.Batch) async -> FrameItem {
    let list = list
    var operations: [Operation.Kind] = []
    if batch.hello {
      var tokens: [[UInt8]] = []
      for item in list.items { tokens.append((try? await store.syncState(of: item.table).token) ?? []) }
      let software = "caravan-agent/\(Release.version)"
      operations.append(.hello(Hello(software: software, generation: list.generation, tokens: tokens)))
    }
    if batch.subscribe {
      let items = list.items.map {
        ZoneSubscription(
          container: $0.table.app.text, zone: $0.table.name, periodMilliseconds: $0.periodMilliseconds,
          toldOnly: $0.isToldOnly)
      }
      operations.append(.subscribe(Subscribe(generation: list.generation, subscriptions: items)))
    }
    operations += batch.acks.map { .ack(AckNotification(number: $0)) }
    return FrameItem(role: .controlMessages(batch, generation: list.generation), operations: operations)
  }

  // MARK: What comes of it

  private func finish(_ rider: FrameItem, _ answer: Swift.Result<[Result.Kind], CaravanError>) async {
    switch rider.role {
    case .controlMessages(let batch, let generation): await finish(batch, generation: generation, answer)
    case .up(var session):
      var failure: CaravanError?
      do throws(CaravanError) { try await session.finish(answer) } catch {
        metrics.disrupted(session.disruption)
        failure = error
      }
      pending[session.table] = session.pending
      await noteRoom(of: session.table, failure)
      end(Key(session.table, .write), rider.waiters, failure)
      await askAgain(session.table, after: failure)
      if failure?.isBusy == true { await shed(session.table) }
      if session.lacksChunks {
        if failure == nil { metrics.disrupted(session.disruption) }
        putBack(Key(session.table, .read))
      }
    case .down(var session):
      var failure: CaravanError?
      do throws(CaravanError) { try await session.finish(answer.get()) } catch {
        metrics.disrupted(.downstream(notified: true, asked: true, session.answer))
        failure = error
      }
      if session.isUnexplained { unexplained.insert(session.table) }
      end(Key(session.table, .read), rider.waiters, failure)
      await askAgain(session.table, after: failure)
      await noteStart(of: session)
    }
    await beginEpochIfNeeded()
  }

  /// Whether a zone is gone for good shows when the cloud says so once more, much later.
  private func askAgain(_ table: TableID, after failure: CaravanError?) async {
    guard failure?.code == .zoneDoesNotExist, (try? await store.syncState(of: table).zoneIsGone) == true else { return }
    putBack(Key(table, .read), afterNanoseconds: ZoneAbsence.retryMilliseconds * 1_000_000)
    await planAtOnceWhatGoesAtOnce()
  }

  /// What a session has come to know: whether its table starts over, and has to wait with that. Its rows wait as well,
  /// unless it is not going to be tried again over this link.
  private func noteStart(of session: Downstream) async {
    let key = Key(session.table, .read)
    let waited = awaitingPush.contains(session.table)
    let isTried = waiters.isAwaited(key) || coalescer.permits(key, isDemanded: registered[key] == nil)
    guard waited != (session.awaitsPush && isTried) else { return }
    if waited { awaitingPush.remove(session.table) } else { awaitingPush.insert(session.table) }
    await planAtOnceWhatGoesAtOnce()
    if waited { await noteRows(of: session.table) }
  }

  /// Changes that came with a notification; where they do not fit, they are pulled.
  func takeIn(_ carried: ReceivedPage) async {
    let key = Key(carried.table, .read)
    var session = Downstream(
      carried.table, dependencies: dependencies, gate: LinkGuard(engine: self, key: key, isDemanded: false),
      startsOver: false)
    var failure: CaravanError?
    do throws(CaravanError) {
      let fits = try await session.takeIn(carried.page)
      metrics.notification(fits ? "takenIn" : "pulled")
      if !fits {
        coalescer.retryNow(key, at: moment)
        coalescer.noteChange(key, bytes: 1, at: moment)
      }
    } catch {
      metrics.disrupted(.downstream(notified: true, asked: true, session.answer))
      failure = error
    }
    if session.isUnexplained { unexplained.insert(session.table) }
    end(key, [], failure)
    await beginEpochIfNeeded()
  }

  private func finish(
    _ batch: ControlMessages.Batch, generation: UInt64, _ answer: Swift.Result<[Result.Kind], CaravanError>
  ) async {
    let now = host.clock.now.nanoseconds
    do throws(CaravanError) {
      var results = try answer.get()[...]
      if batch.hello, let result = results.popFirst() {
        guard case .hello(let reply) = result else { throw .unexpected(result, to: "a hello") }
        await dependencies.mover.cloudTime(is: reply.serverTimeMilliseconds)
        note(wanted: reply.wanted)
        for some in reply.wantedRecords { try await note(wanted: some) }
        controlMessages.helloAnswered(generation: generation, resubscribe: reply.resubscribe, at: now)
      }
      if batch.subscribe, let result = results.popFirst() {
        guard case .done = result else { throw .unexpected(result, to: "a list of subscriptions") }
        controlMessages.subscribed(generation: generation)
        // What changed between a pull and the subscription was told to nobody.
        pullEverything()
      }
      for result in results { if case .failure(let failure) = result { throw failure.model() } }
    } catch {
      controlMessages.failed(
        batch, at: now, random: host.random.next(), retryAfterMilliseconds: error.retryAfterMilliseconds)
      host.log.debug("the cloud did not take the device's errands", [.error: error.description])
    }
    signal.raise()
  }

  /// The session of `key` is over.
  private func end(_ key: Key, _ answers: [SyncWaiters.Answer], _ failure: CaravanError?) {
    takeLocalChanges(at: moment)
    let hasMore = key.direction == .write && leftOver.remove(key.table) != nil
    let isDueAgain = board.end(key)
    report(key, failure)
    var answers = answers
    if let failure, failure.isDeferral {
      metrics.session(key.direction, outcome: "deferred")
      waiters.putBack(answers, for: key)
      answers = []
      putBack(key, afterNanoseconds: UInt64(failure.retryAfterMilliseconds ?? 0) * 1_000_000)
    } else if let failure {
      if failure.code == .rateLimited, let wait = failure.retryAfterMilliseconds {
        coalescer.hold(key, until: host.clock.now.nanoseconds + UInt64(wait) * 1_000_000)
      }
      let (wait, failures) = board.failed(
        key, random: host.random.next(), retryAfterMilliseconds: failure.retryAfterMilliseconds)
      note(failure, of: key, failures: failures)
      metrics.session(key.direction, outcome: failure.code.rawValue)
      if failure.code == .internalError, failures == EngineLimits.attemptsBeforeFault { giveUp(key.table, failure) }
      if failure.isWorthRetrying || pending[key.table] != nil && key.direction == .write {
        let isSoon = failures < EngineLimits.attemptsBeforeAnswer && !failure.isForTomorrow
        if isSoon, bus != nil, coalescer.permitsSpeaking {
          waiters.putBack(answers, for: key)
          answers = []
        }
        // What came meanwhile does not wait for tomorrow.
        if !failure.isForTomorrow || !isDueAgain {
          putBack(key, afterNanoseconds: wait, yields: failure.isForTomorrow)
        }
      } else if key.direction == .write {
        resting[key.table] = host.clock.now.nanoseconds + EngineLimits.refusedRestMilliseconds * 1_000_000
        if hasMore { putBack(key, afterNanoseconds: wait) } else if !isDueAgain { rest(key) }
      }
    } else {
      board.succeeded(key)
      refusedByDisk[key] = nil
      coalescer.finished(key)
      metrics.session(key.direction, outcome: "done")
      if key.direction == .write, awaitingPush.contains(key.table) {
        coalescer.retryNow(Key(key.table, .read), at: moment)
      }
      if hasMore { coalescer.noteChange(key, bytes: 0, at: moment) } else if !isDueAgain { rest(key) }
    }
    if isDueAgain { putBack(key) }
    for answer in answers { answer.fulfil(failure.map { .failure(explained($0)) } ?? .success(())) }
    signal.raise()
  }

  /// What the cloud has refused is tried again when its rest is over, or behind the next change.
  private func rest(_ key: Key) {
    guard key.direction == .write, let end = resting[key.table] else { return }
    putBack(key, afterNanoseconds: end - min(end, host.clock.now.nanoseconds), yields: true)
  }

  /// A full disk is the user's to mend: it is told of until it has taken what it refused, once.
  private func note(_ failure: CaravanError, of key: Key, failures: UInt32) {
    let fields: LogFields = [.table: key.table, .error: failure.description, .attempt: failures]
    if failure.code == .storageFull, refusedByDisk.updateValue(failure.message, forKey: key) == nil {
      host.log.warning("a table's sync failed: the device's disk refuses", fields)
    } else {
      host.log.debug("a table's sync failed", fields)
    }
  }

  /// Whether the cloud has room for what the table sends (CK-102).
  private func noteRoom(of table: TableID, _ failure: CaravanError?) async {
    let lacked = lackRoom.contains(table)
    switch failure?.code {
    case nil: lackRoom.remove(table)
    case .quotaExceeded: lackRoom.insert(table)
    default: return
    }
    if lacked != lackRoom.contains(table) { await planAtOnceWhatGoesAtOnce() }
  }

  /// Trying again has not helped for long: somebody has to look (REC-27).
  private func giveUp(_ table: TableID, _ failure: CaravanError) {
    faults[table] = failure
    signal.raise()
  }

  func noteFaults() async {
    for (table, failure) in faults.sorted(by: { $0.key < $1.key }) {
      faults[table] = nil
      try? await store.note(refusal: failure.message, fault: .internal, of: table)
    }
  }

  /// What an app is told when the connection went meanwhile.
  private func explained(_ failure: CaravanError) -> CaravanError {
    bus == nil && failure.isTransient ? .notConnected : failure
  }

  /// The cloud has rows of this device that its store does not know of. Of a table that was dropped and made again that
  /// is no wonder; but the store may have been put back to an older state as well, and op numbers it will give again be
  /// known at the cloud. Nothing here tells the one from the other. Once nothing is in flight it gets an epoch of its
  /// own, and the tables start over with their unsynced rows kept.
  private func beginEpochIfNeeded() async {
    guard !unexplained.isEmpty, pending.isEmpty, !isBeginningEpoch else { return }
    isBeginningEpoch = true
    defer { isBeginningEpoch = false }
    do throws(CaravanError) {
      try await store.planAtOnce([])
      try await store.beginEpoch()
      await exchanger.use(epoch: store.epoch)
      try await loadRegistrations()
    } catch {
      // A push is on its way: its end brings us here again.
      host.log.debug("a new epoch has to wait", [.error: error.description])
      return
    }
    host.log.warning(
      "the cloud has rows of this device that its store does not know of, as when a table was dropped or the store is "
        + "an older copy: a new epoch begins, and these tables start over", [.count: unexplained.count])
    for table in unexplained.sorted() { putBack(Key(table, .read)) }
    voided.formUnion(unexplained)
    unexplained = []
    await planAtOnceWhatGoesAtOnce()
    await noteDirtyTables()
  }
}
