package import Model
package import Runtime

/// Who waits for which answer. An answer may come before its caller waits, after it gave up, or twice.
package final class ReplyTable: Sendable {
  package typealias Answer = Result<Message, CaravanError>

  private enum Entry {
    /// Sent; the caller is about to wait. Then `waiting`, or `answered` when the answer is quicker.
    case reserved
    case answered(Answer)
    case waiting(CheckedContinuation<Answer, Never>)
    /// Wants every answer until it leaves.
    case gathering(Mailbox<Message>)
  }

  private struct State {
    var entries: [UInt64: Entry] = [:]
    var last: UInt64 = 0
    var idleWaiters: [CheckedContinuation<Void, Never>] = []

    mutating func takeIdleWaiters(evenIfBusy: Bool = false) -> [CheckedContinuation<Void, Never>] {
      guard evenIfBusy || entries.isEmpty else { return [] }
      defer { idleWaiters = [] }
      return idleWaiters
    }
  }

  private let capacity: Int
  private let state = Mutex(State())

  package init(capacity: Int = BusLimits.requestsWaiting) { self.capacity = capacity }

  /// Reserves an id, sends, and waits.
  package func request(
    deadline: Duration, clock: any Clock, send: (UInt64) throws(CaravanError) -> Void
  ) async throws(CaravanError) -> Message {
    let id = try reserve(.reserved)
    do { try send(id) } catch {
      remove(id)
      throw error
    }
    let expiry = clock.now + deadline
    let answer = await withTaskGroup(of: Void.self) { group in
      group.addTask {
        guard (try? await clock.sleep(until: expiry)) != nil else { return }
        self.resolve(id, .failure(.noAnswer(within: deadline)))
      }
      defer { group.cancelAll() }
      return await wait(for: id)
    }
    return try answer.get()
  }

  /// Reserves an id, sends, and collects what comes within the time.
  package func gather(
    within duration: Duration, limit: Int, clock: any Clock, send: (UInt64) throws(CaravanError) -> Void
  ) async throws(CaravanError) -> [Message] {
    let mailbox = Mailbox<Message>(capacity: BusLimits.answersGathered)
    let id = try reserve(.gathering(mailbox))
    defer { remove(id) }
    try send(id)
    let expiry = clock.now + duration
    return await withTaskGroup(of: Void.self) { group in
      group.addTask {
        try? await clock.sleep(until: expiry)
        mailbox.finish()
      }
      defer { group.cancelAll() }
      var answers: [Message] = []
      while answers.count < limit, let item = await mailbox.next() {
        if case .element(let message) = item { answers.append(message) }
      }
      return answers
    }
  }

  /// An answer for `id`. Those that nobody waits for are dropped.
  package func resolve(_ id: UInt64, _ answer: Answer) {
    let (entry, idle) = state.withLock { state -> (Entry?, [CheckedContinuation<Void, Never>]) in
      let entry = state.entries[id]
      switch entry {
      case .reserved: state.entries[id] = .answered(answer)
      case .waiting: state.entries[id] = nil
      case .gathering, .answered, nil: break
      }
      return (entry, state.takeIdleWaiters())
    }
    switch (entry, answer) {
    case (.waiting(let continuation), _): continuation.resume(returning: answer)
    case (.gathering(let mailbox), .success(let message)): mailbox.push(message)
    case (.gathering(let mailbox), .failure): mailbox.finish()
    case (.reserved, _), (.answered, _), (nil, _): break
    }
    for waiter in idle { waiter.resume() }
  }

  /// Ends every wait.
  package func failAll(_ error: CaravanError) {
    for id in state.withLock({ $0.entries.keys.sorted() }) { resolve(id, .failure(error)) }
  }

  package var isIdle: Bool { state.withLock { $0.entries.isEmpty } }

  /// Returns when nobody waits any more, or at `expiry`.
  package func waitUntilIdle(before expiry: Instant, clock: any Clock) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        try? await clock.sleep(until: expiry)
        for waiter in self.state.withLock({ $0.takeIdleWaiters(evenIfBusy: true) }) { waiter.resume() }
      }
      await withCheckedContinuation { continuation in
        let isIdle = state.withLock { state in
          if !state.entries.isEmpty && clock.now < expiry { state.idleWaiters.append(continuation) }
          return state.entries.isEmpty || clock.now >= expiry
        }
        if isIdle { continuation.resume() }
      }
      group.cancelAll()
    }
  }

  private func wait(for id: UInt64) async -> Answer {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let early = state.withLock { state -> Answer? in
          if case .answered(let answer) = state.entries[id] { return answer }
          if Task.isCancelled { return .failure(.cancelledWait) }
          state.entries[id] = .waiting(continuation)
          return nil
        }
        guard let early else { return }
        remove(id)
        continuation.resume(returning: early)
      }
    } onCancel: {
      resolve(id, .failure(.cancelledWait))
    }
  }

  private func reserve(_ entry: Entry) throws(CaravanError) -> UInt64 {
    let id = state.withLock { state -> UInt64? in
      guard state.entries.count < capacity else { return nil }
      state.last += 1
      state.entries[state.last] = entry
      return state.last
    }
    guard let id else {
      throw CaravanError(.unavailable, "\(capacity) requests wait for answers already: retry later")
    }
    return id
  }

  private func remove(_ id: UInt64) {
    let idle = state.withLock { state in
      state.entries[id] = nil
      return state.takeIdleWaiters()
    }
    for waiter in idle { waiter.resume() }
  }
}

extension CaravanError {
  fileprivate static let cancelledWait = CaravanError(.cancelled, "the caller stopped waiting for the answer")

  fileprivate static func noAnswer(within deadline: Duration) -> CaravanError {
    CaravanError(
      .timedOut, "no answer within \(deadline.wholeMilliseconds) ms: it may or may not have happened, ask again")
  }

  /// What a request gets that waited when the connection went.
  package static let connectionLost = CaravanError(
    .timedOut, "the connection was lost before the answer: it may or may not have happened, ask again")

  package static let busClosed = CaravanError(.unavailable, "the bus is closed")
}
