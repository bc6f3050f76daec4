internal import CaravanAgentCore
internal import CaravanAgentNetwork
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

extension SyncEngine {
  /// Sends what is due, each frame as soon as it is full, and sees every table's session to its end.
  func carry(_ transfer: SyncSchedule.Transfer) async {
    if transfer.isAcknowledgement, let batch = transfer.controlMessages { return await acknowledge(batch) }
    let items = await prepare(transfer)
    guard !items.isEmpty else { return transferAnswered() }
    await TransferFrames(engine: self, isUnbroken: exchanger.fragment.isUnbroken).carry(items)
  }

  private func acknowledge(_ batch: ControlMessages.Batch) async {
    do throws(CaravanError) { try await exchanger.acknowledge(batch.acks) } catch {
      schedule.controlMessages.failed(
        batch, at: host.clock.now.nanoseconds, random: host.random.next(), retryAfterMilliseconds: nil)
    }
    transferAnswered()
  }

  /// The transfer's last frame has its answer: another may begin, whatever this one's sessions still do.
  func transferAnswered() {
    schedule.transferAnswered()
    signal.raise()
  }

  // MARK: What goes along

  private func prepare(_ transfer: SyncSchedule.Transfer) async -> [FrameItem] {
    var items: [FrameItem] = []
    if let batch = transfer.controlMessages { items.append(await FrameItem(batch, schedule.list, store)) }
    let keys = transfer.coalesced.items
    let pulls = keys.count { $0.direction == .read }
    let room = min(EngineLimits.pulledBytes, exchanger.fragment.bytes) / max(1, min(pulls, EngineLimits.pullsPerFrame))
    for key in keys where schedule.begin(key) {
      let answers = waiters.take(key)
      let linkGuard = LinkGuard(engine: self, key: key, isDemanded: !answers.isEmpty)
      let slack = answers.isEmpty ? schedule.slackMilliseconds(key, at: moment) : 0
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
        let start = schedule.beginPush(of: key.table, isDemanded: !answers.isEmpty, at: moment)
        var push = TablePush(
          key.table, dependencies: dependencies, linkGuard: linkGuard, pending: start.pending,
          lacksRoom: start.lacksRoom, retriesRefused: start.retriesRefused, slackMilliseconds: slack)
        do throws(CaravanError) {
          let operations = try await push.begin()
          if !operations.isEmpty { return FrameItem(role: .push(push), operations: operations, waiters: answers) }
        } catch {
          schedule.pushLeft(push.session.pending, of: key.table)
          throw error
        }
      case .read:
        let startsOver = try schedule.beginPull(of: key.table, opInFlight: state.opInFlight)
        var pull = TablePull(key.table, dependencies: dependencies, linkGuard: linkGuard, startsOver: startsOver)
        let operations: [Operation.Kind]
        do throws(CaravanError) {
          operations = try await pull.begin(maximumBytes: room, slackMilliseconds: slack)
        } catch {
          if startsOver { schedule.pullDidNotStartOver(key.table) }
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
      if schedule.pushEnded(push.session.pending, of: push.table, failure) { await planAtOnceWhatGoesAtOnce() }
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
      if pull.session.isUnexplained { schedule.foundUnexplained(pull.table) }
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

  /// What a session has come to know of its table's start over.
  private func noteStart(of session: PullSession) async {
    let (table, isAwaited) = (session.table, waiters.isAwaited(Key(session.table, .read)))
    guard let rowsWait = schedule.pullEnded(of: table, awaitsPush: session.awaitsPush, isAwaited: isAwaited) else {
      return
    }
    await planAtOnceWhatGoesAtOnce()
    if !rowsWait { await noteRows(of: table) }
  }

  /// Changes that came with a notification; where they do not fit, they are pulled.
  func takeIn(_ inline: ReceivedPage) async {
    let key = Key(inline.table, .read)
    var pull = TablePull(
      inline.table, dependencies: dependencies, linkGuard: LinkGuard(engine: self, key: key, isDemanded: false),
      startsOver: false)
    var failure: CaravanError?
    do throws(CaravanError) {
      let fits = try await pull.takeIn(inline.page)
      metrics.notification(fits ? "takenIn" : "pulled")
      if !fits { schedule.inlineDidNotFit(key.table, at: moment) }
    } catch {
      metrics.disrupted(.downstream(notified: true, asked: true, pull.session.answer))
      failure = error
    }
    if pull.session.isUnexplained { schedule.foundUnexplained(pull.table) }
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
        wanted.ask(for: reply.wanted)
        for some in reply.wantedRecords { try await note(wanted: some) }
        schedule.controlMessages.helloAnswered(generation: generation, resubscribe: reply.resubscribe, at: now)
      }
      if batch.subscribe, let result = results.popFirst() {
        guard case .done = result else { throw .unexpected(result, to: "a list of subscriptions") }
        schedule.controlMessages.subscribed(generation: generation)
        // What changed between a pull and the subscription was told to nobody.
        pullEverything()
      }
      for result in results { if case .failure(let failure) = result { throw failure.model() } }
    } catch {
      schedule.controlMessages.failed(
        batch, at: now, random: host.random.next(), retryAfterMilliseconds: error.retryAfterMilliseconds)
      host.log.debug("the cloud did not take the device's control messages", [.error: error.description])
    }
    signal.raise()
  }

  /// The session of `key` is over.
  private func end(_ key: Key, _ answers: [SyncWaiters.Answer], _ failure: CaravanError?) {
    takeLocalChanges(at: moment)
    let ended = schedule.end(
      key, failure, hasWaiters: !answers.isEmpty, isAwaited: waiters.isAwaited(key), at: moment,
      random: host.random.next)
    report(key, failure, isResumed: ended.isResumed)
    note(failure, of: key, ended)
    if ended.keepsWaiters {
      waiters.putBack(answers, for: key)
    } else {
      for answer in answers { answer.fulfil(failure.map { .failure(explained($0)) } ?? .success(())) }
    }
    signal.raise()
  }

  /// A full disk is the user's to mend: it is told of until it has taken what it refused, once.
  private func note(_ failure: CaravanError?, of key: Key, _ ended: SyncSchedule.Ended) {
    guard let failure else { return metrics.session(key.direction, outcome: "done") }
    guard ended.failures > 0 else { return metrics.session(key.direction, outcome: "deferred") }
    metrics.session(key.direction, outcome: failure.code.rawValue)
    let fields: LogFields = [.table: key.table, .error: failure.description, .attempt: ended.failures]
    if ended.isNewDiskRefusal {
      host.log.warning("a table's sync failed: the device's disk refuses", fields)
    } else {
      host.log.debug("a table's sync failed", fields)
    }
  }

  func noteFaults() async {
    for (table, failure) in schedule.takeFaults() {
      try? await store.note(refusal: failure.message, fault: .internal, of: table)
    }
  }

  /// What an app is told when the connection went meanwhile.
  private func explained(_ failure: CaravanError) -> CaravanError {
    !schedule.isConnected && failure.isTransient ? .notConnected : failure
  }

  /// The cloud has rows of this device that its store does not know of. Of a table that was dropped and made again that
  /// is no wonder; but the store may have been put back to an older state as well, and op numbers it will give again be
  /// known at the cloud. Nothing here tells the one from the other. Once nothing is in flight it gets an epoch of its
  /// own, and the tables start over with their unsynced rows kept.
  private func beginEpochIfNeeded() async {
    guard schedule.beginEpoch() else { return }
    do throws(CaravanError) {
      try await store.planAtOnce([])
      try await store.beginEpoch()
      await exchanger.use(epoch: store.epoch)
      try await loadRegistrations()
    } catch {
      schedule.epochDidNotBegin()
      // A push is on its way: its end brings us here again.
      host.log.debug("a new epoch has to wait", [.error: error.description])
      return
    }
    let tables = schedule.epochBegan()
    host.log.warning(
      "the cloud has rows of this device that its store does not know of, as when a table was dropped or the store is "
        + "an older copy: a new epoch begins, and these tables start over", [.count: tables.count])
    for table in tables { putBack(Key(table, .read)) }
    await planAtOnceWhatGoesAtOnce()
    await noteDirtyTables()
  }
}
