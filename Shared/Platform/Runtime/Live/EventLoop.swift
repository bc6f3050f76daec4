internal import CaravanModel
internal import Glibc

internal import struct Synchronization.Atomic

/// The one thread on which this process's tasks run, its sleepers wait and its sockets are watched. On few cores most
/// of a short request's time goes into waking threads (measured on two cores: half of all switches went away with the
/// concurrency library's pool). What blocks for long has a thread of its own (`ExecutorSource.makeSerial`); a service
/// that needs more than one core runs as more processes.
///
/// A turn runs the work that waits, then what was put off to its end, then looks at timers and descriptors.
public final class EventLoop: TaskExecutor {
  /// The process's. Its thread starts with its first use and stays.
  public static let main = EventLoop()

  private enum Work {
    case job(UnownedJob)
    case serialJob(UnownedJob, LoopExecutor)
    case call(@Sendable () -> Void)
  }

  private struct State {
    var work: [Work] = []
    /// Put off to the end of the turn.
    var endings: [@Sendable () -> Void] = []
    var timers = TimerHeap<Sleeper>()
    var lastTimer: TimerID = 0
    var isAsleep = false

    mutating func newTimer() -> TimerID {
      lastTimer += 1
      return lastTimer
    }
  }

  /// How often the work that work has made is run before the loop looks around.
  private static let roundsPerTurn = 16

  let poller = Poller()
  private let state = Mutex(State())
  private let thread = Atomic<UInt>(0)

  private init() { WorkerThread.start("loop") { self.turnForEver() } }

  /// Whether the calling thread is the loop's.
  public var isCurrent: Bool { thread.load(ordering: .relaxed) == pthread_self() }

  // MARK: Work

  public func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

  func enqueue(_ job: UnownedJob, on executor: LoopExecutor) { add(.serialJob(job, executor)) }

  /// Calls `body` on the loop's thread, soon. It must not block.
  public func call(_ body: @escaping @Sendable () -> Void) { add(.call(body)) }

  /// Calls `body` on the loop's thread and waits for it.
  public func run<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
    await withTaskContinuation { continuation in call { continuation.resume(returning: body()) } }
  }

  /// Calls `body` on the loop's thread after a while.
  public func call(after wait: Duration, _ body: @escaping @Sendable () -> Void) {
    call(at: SystemClock.now + wait, body)
  }

  func call(at instant: Instant, _ body: @escaping @Sendable () -> Void) {
    wake { $0.timers.add(.call(body), id: $0.newTimer(), due: instant) }
  }

  /// Calls `body` on the loop's thread when the work that waits there now has run: what many jobs of one turn prepare
  /// is done once for all of them.
  public func callAtEndOfTurn(_ body: @escaping @Sendable () -> Void) {
    wake { $0.endings.append(body) }
  }

  private func add(_ work: Work) { wake { $0.work.append(work) } }

  private func wake(_ change: (inout State) -> Void) {
    let wasAsleep = state.withLock { state in
      change(&state)
      defer { state.isAsleep = false }
      return state.isAsleep
    }
    // The loop's own thread is not asleep while it tells others that their descriptors are ready.
    if wasAsleep, !isCurrent { poller.interrupt() }
  }

  // MARK: Turns

  private func turnForEver() {
    thread.store(pthread_self(), ordering: .relaxed)
    var batch: [Work] = []
    while true {
      for _ in 0..<Self.roundsPerTurn where takeWork(into: &batch) {
        for work in batch { run(work) }
        batch.removeAll(keepingCapacity: true)
      }
      for ending in state.withLock({ $0.endings.takeAll() }) { ending() }
      poller.poll(atMost: patience())
      for sleeper in takeDueSleepers() { sleeper.wake() }
    }
  }

  private func run(_ work: Work) {
    switch work {
    case .job(let job): unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    case .serialJob(let job, let executor):
      unsafe job.runSynchronously(
        isolatedTo: executor.asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    case .call(let body): body()
    }
  }

  private func takeWork(into batch: inout [Work]) -> Bool {
    state.withLock { state in
      swap(&state.work, &batch)
      return !batch.isEmpty
    }
  }

  /// How long nothing is to be done; nil: until somebody wakes the loop.
  private func patience() -> Duration? {
    state.withLock { state in
      guard state.work.isEmpty, state.endings.isEmpty else { return .zero }
      let patience = state.timers.next.map { max(.zero, $0 - SystemClock.now) }
      state.isAsleep = patience != .zero
      return patience
    }
  }

  private func takeDueSleepers() -> [Sleeper] {
    state.withLock { state in
      state.isAsleep = false
      return state.timers.next == nil ? [] : state.timers.popDue(SystemClock.now)
    }
  }

  // MARK: Sleeping

  /// - Throws: `CancellationError` as soon as the task is cancelled.
  func sleep(until instant: Instant) async throws {
    let id = state.withLock { $0.newTimer() }
    try await withTaskCancellationHandler {
      try await withThrowingTaskContinuation { continuation in
        if let early = beginSleep(id, until: instant, continuation) { continuation.resume(with: early) }
      }
    } onCancel: {
      state.withLock { $0.timers.remove(id) }?.cancel()
    }
  }

  /// - Returns: how the sleep ended, if at once.
  private func beginSleep(
    _ id: TimerID, until instant: Instant, _ continuation: TaskContinuation<Void, any Error>
  ) -> Result<Void, any Error>? {
    var early: Result<Void, any Error>?
    wake { state in
      if Task.isCancelled {
        early = .failure(CancellationError())
      } else if instant <= SystemClock.now {
        early = .success(())
      } else {
        state.timers.add(.task(continuation), id: id, due: instant)
      }
    }
    return early
  }
}

/// Runs an actor's jobs on the loop, first in, first out.
final class LoopExecutor: SerialExecutor {
  private let loop: EventLoop

  init(_ loop: EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) { loop.enqueue(UnownedJob(job), on: self) }

  /// All actors of the loop share its thread, so nothing finer can be told.
  func checkIsolated() { precondition(loop.isCurrent, "this code must run on the loop's thread") }
  func isIsolatingCurrentContext() -> Bool? { loop.isCurrent }
}

extension Array {
  fileprivate mutating func takeAll() -> Self {
    defer { self = [] }
    return self
  }
}
