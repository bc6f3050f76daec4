package import CaravanModel
package import CaravanRuntime

/// Who waits for which answer, and until when. An answer may come before its caller waits, after it gave up, or twice.
///
/// One call of the clock, at the earliest expiry, stands for all: most requests are long answered by then, and cost it
/// nothing.
package final class ReplyTable: Sendable {
  package typealias Answer = Result<Message, CaravanError>

  private struct Entry {
    var stage: Stage
    let expiry: Instant
    let patience: Duration
  }

  private enum Stage {
    /// Sent; the caller is about to wait. Then `waiting`, or `answered` when the answer is quicker.
    case reserved
    case answered(Answer)
    case waiting(TaskContinuation<Answer, Never>)
    /// Wants every answer until it leaves.
    case gathering(Mailbox<Message>)
  }

  private struct State {
    var entries: [UInt64: Entry] = [:]
    var last: UInt64 = 0
    /// When the clock calls next; calls for other times, set before, find nothing to do.
    var alarm: Instant?
    var idleWaiters: [TaskContinuation<Void, Never>] = []

    mutating func takeIdleWaiters(evenIfBusy: Bool = false) -> [TaskContinuation<Void, Never>] {
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
    let id = try reserve(.reserved, for: deadline, clock)
    do { try send(id) } catch {
      remove(id)
      throw error
    }
    return try await wait(for: id).get()
  }

  /// Reserves an id, sends, and collects what comes within the time.
  package func gather(
    within duration: Duration, limit: Int, clock: any Clock, send: (UInt64) throws(CaravanError) -> Void
  ) async throws(CaravanError) -> [Message] {
    let mailbox = Mailbox<Message>(capacity: BusLimits.answersGathered)
    let id = try reserve(.gathering(mailbox), for: duration, clock)
    defer { remove(id) }
    try send(id)
    var answers: [Message] = []
    while answers.count < limit, let item = await mailbox.next() {
      if case .element(let message) = item { answers.append(message) }
    }
    return answers
  }

  /// An answer for `id`. Those that nobody waits for are dropped.
  package func resolve(_ id: UInt64, _ answer: Answer) {
    let (stage, idle) = state.withLock { state -> (Stage?, [TaskContinuation<Void, Never>]) in
      let stage = state.entries[id]?.stage
      switch stage {
      case .reserved: state.entries[id]?.stage = .answered(answer)
      case .waiting: state.entries[id] = nil
      case .gathering, .answered, nil: break
      }
      return (stage, state.takeIdleWaiters())
    }
    switch (stage, answer) {
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
      await withTaskContinuation { continuation in
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
      await withTaskContinuation { continuation in
        let early = state.withLock { state -> Answer? in
          if case .answered(let answer) = state.entries[id]?.stage { return answer }
          if Task.isCancelled { return .failure(.cancelledWait) }
          state.entries[id]?.stage = .waiting(continuation)
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

  private func reserve(
    _ stage: Stage, for patience: Duration, _ clock: any Clock
  ) throws(CaravanError) -> UInt64 {
    let entry = Entry(stage: stage, expiry: clock.now + patience, patience: patience)
    let (id, isFirst) = state.withLock { state -> (UInt64?, Bool) in
      guard state.entries.count < capacity else { return (nil, false) }
      state.last += 1
      state.entries[state.last] = entry
      if let alarm = state.alarm, alarm <= entry.expiry { return (state.last, false) }
      state.alarm = entry.expiry
      return (state.last, true)
    }
    guard let id else {
      throw CaravanError(.unavailable, "\(capacity) requests wait for answers already: retry later")
    }
    if isFirst { callSweep(at: entry.expiry, clock) }
    return id
  }

  private func callSweep(at expiry: Instant, _ clock: any Clock) {
    clock.call(at: expiry) { [weak self] in self?.sweep(at: expiry, clock) }
  }

  /// Ends the waits whose time is over.
  private func sweep(at alarm: Instant, _ clock: any Clock) {
    let now = clock.now
    let (late, next) = state.withLock { state -> ([(key: UInt64, value: Entry)], Instant?) in
      guard state.alarm == alarm else { return ([], nil) }
      state.alarm = state.entries.values.lazy.map(\.expiry).filter { $0 > now }.min()
      return (state.entries.filter { $0.value.expiry <= now }.sorted { $0.key < $1.key }, state.alarm)
    }
    for (id, entry) in late { resolve(id, .failure(.noAnswer(within: entry.patience))) }
    if let next { callSweep(at: next, clock) }
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
    CaravanError(.timedOut, "no answer within \(deadline.wholeMilliseconds) ms: ask again")
  }

  /// What a request gets that waited when the connection went.
  package static let connectionLost = CaravanError(
    .timedOut, "the connection was lost before the answer: ask again")

  package static let busClosed = CaravanError(.unavailable, "the bus is closed")
}
