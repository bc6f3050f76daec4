internal import CaravanAgentCore
internal import CaravanAgentNetwork
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

extension SyncEngine {
  /// Sends what is due, each frame as soon as it is full, and sees every table's session to its end.
  func carry(_ transfer: Transfer) async {
    if transfer.isAcknowledgement, let batch = transfer.controlMessages { return await acknowledge(batch) }
    let items = await prepare(transfer)
    guard !items.isEmpty else { return transferAnswered() }
    await TransferFrames(engine: self, isUnbroken: exchanger.fragment.isUnbroken).carry(items)
  }

  private func acknowledge(_ batch: ControlMessages.Batch) async {
    do throws(CaravanError) { try await exchanger.acknowledge(batch.acks) } catch {
      controlMessages.failed(
        batch, at: host.clock.now.nanoseconds, random: host.random.next(), retryAfterMilliseconds: nil)
    }
    transferAnswered()
  }

  /// The transfer's last frame has its answer: another may begin, whatever this one's sessions still do.
  func transferAnswered() {
    transfersInFlight -= 1
    signal.raise()
  }

  // MARK: What goes along

  private func prepare(_ transfer: Transfer) async -> [FrameItem] {
    var items: [FrameItem] = []
    if let batch = transfer.controlMessages { items.append(await controlItem(batch)) }
    let pulls = transfer.items.count { $0.direction == .read }
    let room = min(EngineLimits.pulledBytes, exchanger.fragment.bytes) / max(1, min(pulls, EngineLimits.pullsPerFrame))
    for key in transfer.items where sessions.begin(key) {
      let answers = waiters.take(key)
      let linkGuard = LinkGuard(engine: self, key: key, isDemanded: !answers.isEmpty)
      let slack = answers.isEmpty ? coalescer.slackMilliseconds(key, at: host.clock.now.nanoseconds) : 0
      if let item = await begin(key, linkGuard: linkGuard, answers, room: room, slack: slack) { items.append(item) }
    }
    return items
  }

  /// - Returns: nil when the session has ended already.
  private func begin(
    _ key: Key, linkGuard: LinkGuard, _ answers: [SyncWaiters.Answer], room: Int, slack: UInt32
  ) async -> FrameItem? {
    do throws(CaravanError) {
      let state = try await store.syncState(of: key.table)
      if state.isLocalOnly {
        end(key, answers, nil)
        return nil
      }
      switch key.direction {
      case .write:
        let retriesRefused = tables[key.table].retriesRefused(
          isDemanded: !answers.isEmpty, at: host.clock.now.nanoseconds)
        var push = TablePush(
          key.table, dependencies: dependencies, linkGuard: linkGuard, pending: tables[key.table].takePending(),
          lacksRoom: tables[key.table].lacksRoom, retriesRefused: retriesRefused, slackMilliseconds: slack)
        do throws(CaravanError) {
          let operations = try await push.begin()
          if !operations.isEmpty { return FrameItem(role: .push(push), operations: operations, waiters: answers) }
        } catch {
          tables[key.table].pending = push.session.pending
          throw error
        }
      case .read:
        // The cloud would say the same again.
        if tables[key.table].awaitsPush, state.opInFlight != nil { throw .startsOver(key.table) }
        let startsOver = tables[key.table].beginPull()
        var pull = TablePull(key.table, dependencies: dependencies, linkGuard: linkGuard, startsOver: startsOver)
        let operations: [Operation.Kind]
        do throws(CaravanError) {
          operations = try await pull.begin(maximumBytes: room, slackMilliseconds: slack)
        } catch {
          if startsOver { tables[key.table].pullDidNotStartOver() }
          await noteStart(of: pull.session)
          throw error
        }
        return FrameItem(role: .pull(pull), operations: operations, waiters: answers)
      }
      end(key, answers, nil)
    } catch {
      end(key, answers, error)
    }
    return nil
  }

  private func controlItem(_ batch: ControlMessages.Batch) async -> FrameItem {
    let list = list
    var tokens: [[UInt8]] = []
    if batch.hello {
      for item in list.items { tokens.append((try? await store.syncState(of: item.table).token) ?? []) }
    }
    return FrameItem(
      role: .controlMessages(batch, generation: list.generation), operations: batch.operations(list, tokens: tokens))
  }

  // MARK: What comes of it

  func finish(_ item: FrameItem, _ answer: Swift.Result<[Result.Kind], CaravanError>) async {
    switch item.role {
    case .controlMessages(let batch, let generation): await finish(batch, generation: generation, answer)
    case .push(var push):
      var failure: CaravanError?
      do throws(CaravanError) { try await push.finish(answer) } catch {
        metrics.disrupted(push.session.disruption)
        failure = error
      }
      tables[push.table].pending = push.session.pending
      await noteRoom(of: push.table, failure)
      end(Key(push.table, .write), item.waiters, failure)
      await askAgain(push.table, after: failure)
      if failure?.isBusy == true { await shed(push.table) }
      if push.session.lacksChunks {
        if failure == nil { metrics.disrupted(push.session.disruption) }
        putBack(Key(push.table, .read))
      }
    case .pull(var pull):
      var failure: CaravanError?
      do throws(CaravanError) { try await pull.finish(answer.get()) } catch {
        metrics.disrupted(.downstream(notified: true, asked: true, pull.session.answer))
        failure = error
      }
      if pull.session.isUnexplained { tables[pull.table].foundUnexplained() }
      end(Key(pull.table, .read), item.waiters, failure)
      await askAgain(pull.table, after: failure)
      await noteStart(of: pull.session)
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
  private func noteStart(of session: PullSession) async {
    let key = Key(session.table, .read)
    let waited = tables[session.table].awaitsPush
    let isTried = waiters.isAwaited(key) || coalescer.permits(key, isDemanded: !registered.contains(key))
    guard waited != (session.awaitsPush && isTried) else { return }
    tables[session.table].awaitPush(!waited)
    await planAtOnceWhatGoesAtOnce()
    if waited { await noteRows(of: session.table) }
  }

  /// Changes that came with a notification; where they do not fit, they are pulled.
  func takeIn(_ carried: ReceivedPage) async {
    let key = Key(carried.table, .read)
    var pull = TablePull(
      carried.table, dependencies: dependencies, linkGuard: LinkGuard(engine: self, key: key, isDemanded: false),
      startsOver: false)
    var failure: CaravanError?
    do throws(CaravanError) {
      let fits = try await pull.takeIn(carried.page)
      metrics.notification(fits ? "takenIn" : "pulled")
      if !fits {
        coalescer.retryNow(key, at: moment)
        coalescer.noteChange(key, bytes: 1, at: moment)
      }
    } catch {
      metrics.disrupted(.downstream(notified: true, asked: true, pull.session.answer))
      failure = error
    }
    if pull.session.isUnexplained { tables[pull.table].foundUnexplained() }
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
      host.log.debug("the cloud did not take the device's control messages", [.error: error.description])
    }
    signal.raise()
  }

  /// The session of `key` is over.
  private func end(_ key: Key, _ answers: [SyncWaiters.Answer], _ failure: CaravanError?) {
    takeLocalChanges(at: moment)
    let facts = SessionEnd.Facts(
      key.direction, hasMore: key.direction == .write && tables[key.table].takeMore(), isDueAgain: sessions.end(key),
      hasPlan: tables[key.table].pending != nil)
    report(key, failure)
    let end = failure.map { failed(key, $0, facts) } ?? succeeded(key, facts)
    if end.keepsWaiters { waiters.putBack(answers, for: key) }
    if end.givesUp, let failure { giveUp(key.table, failure) }
    if end.beginsRest { tables[key.table].rest(from: host.clock.now.nanoseconds) }
    switch end.next {
    case .nothing: break
    case .more: coalescer.noteChange(key, bytes: 0, at: moment)
    case .after(let wait, let yields): putBack(key, afterNanoseconds: wait, yields: yields)
    case .rested:
      if let end = tables[key.table].restEnds {
        putBack(key, afterNanoseconds: end - min(end, host.clock.now.nanoseconds), yields: true)
      }
    }
    if facts.isDueAgain { putBack(key) }
    if !end.keepsWaiters {
      for answer in answers { answer.fulfil(failure.map { .failure(explained($0)) } ?? .success(())) }
    }
    signal.raise()
  }

  private func succeeded(_ key: Key, _ facts: SessionEnd.Facts) -> SessionEnd {
    sessions.succeeded(key)
    tables[key.table].diskTook(key.direction)
    coalescer.finished(key)
    metrics.session(key.direction, outcome: "done")
    if key.direction == .write, tables[key.table].awaitsPush {
      coalescer.retryNow(Key(key.table, .read), at: moment)
    }
    return .done(facts)
  }

  private func failed(_ key: Key, _ failure: CaravanError, _ facts: SessionEnd.Facts) -> SessionEnd {
    guard !failure.isDeferral else {
      metrics.session(key.direction, outcome: "deferred")
      return .deferred(failure)
    }
    if failure.code == .rateLimited, let wait = failure.retryAfterMilliseconds {
      coalescer.hold(key, until: host.clock.now.nanoseconds + UInt64(wait) * 1_000_000)
    }
    let (wait, failures) = sessions.failed(
      key, random: host.random.next(), retryAfterMilliseconds: failure.retryAfterMilliseconds)
    note(failure, of: key, failures: failures)
    metrics.session(key.direction, outcome: failure.code.rawValue)
    let canSpeak = bus != nil && coalescer.permitsSpeaking
    return .failed(failure, facts, failures: failures, wait: wait, canSpeak: canSpeak)
  }

  /// A full disk is the user's to mend: it is told of until it has taken what it refused, once.
  private func note(_ failure: CaravanError, of key: Key, failures: UInt32) {
    let fields: LogFields = [.table: key.table, .error: failure.description, .attempt: failures]
    if failure.code == .storageFull, tables[key.table].diskRefused(key.direction, failure.message) {
      host.log.warning("a table's sync failed: the device's disk refuses", fields)
    } else {
      host.log.debug("a table's sync failed", fields)
    }
  }

  /// Whether the cloud has room for what the table sends (CK-102).
  private func noteRoom(of table: TableID, _ failure: CaravanError?) async {
    if tables[table].pushEnded(with: failure) { await planAtOnceWhatGoesAtOnce() }
  }

  /// Trying again has not helped for long: somebody has to look (REC-27).
  private func giveUp(_ table: TableID, _ failure: CaravanError) {
    tables[table].giveUp(over: failure)
    signal.raise()
  }

  func noteFaults() async {
    for table in tables.tables(where: { $0.fault != nil }) {
      guard let failure = tables[table].takeFault() else { continue }
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
    guard tables.unexplainedCount > 0, tables.pendingCount == 0, !isBeginningEpoch else { return }
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
        + "an older copy: a new epoch begins, and these tables start over", [.count: tables.unexplainedCount])
    for table in tables.tables(where: \.isUnexplained) {
      putBack(Key(table, .read))
      tables[table].epochBegan()
    }
    await planAtOnceWhatGoesAtOnce()
    await noteDirtyTables()
  }
}
