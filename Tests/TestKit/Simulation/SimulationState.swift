internal import CaravanRuntime

/// Everything of a simulation that changes. Lives inside a lock and decides; `Simulation` acts.
struct SimulationState {
  enum Pick {
    case job(UnownedJob)
    case serialJob(UnownedJob, SimulatedExecutor)
    /// Nothing can run now; these are woken, and time has moved on to theirs.
    case wake([Sleeper])
    /// Nothing can run, nobody sleeps: only the process outside can go on.
    case nothing
  }

  private enum Runnable {
    case job(UnownedJob)
    /// The executor has jobs. Stands here once, so that its jobs run in their order.
    case executor(SimulatedExecutor)
    /// One job of an executor.
    case serialJob(UnownedJob, SimulatedExecutor)
  }

  private(set) var now = Instant(nanoseconds: 0)
  private(set) var steps: UInt64 = 0
  private(set) var hash = FNV1a()
  private(set) var path: [UInt64] = []
  private let isComparable: Bool
  private var scheduling: SplitMix64
  private var runnable: [Runnable] = []
  /// What comes before it has run.
  private var head = 0
  private var timers = TimerHeap<Sleeper>()
  private var lastTimer: TimerID = 0

  init(seed: UInt64, isComparable: Bool = false) {
    self.isComparable = isComparable
    scheduling = SplitMix64(seed: seed)
  }

  // MARK: Jobs

  mutating func enqueue(_ job: UnownedJob) { runnable.append(.job(job)) }

  mutating func enqueue(_ job: UnownedJob, on executor: SimulatedExecutor) {
    if isComparable { return runnable.append(.serialJob(job, executor)) }
    if executor.append(job) == 1 { runnable.append(.executor(executor)) }
  }

  /// The next thing to do, chosen by the seed.
  mutating func pick(until horizon: Instant) -> Pick {
    guard head < runnable.count else {
      guard let due = timers.next, due <= horizon else { return .nothing }
      now = max(now, due)
      hash.add(now.nanoseconds)
      return .wake(timers.popDue(now))
    }
    steps += 1
    if isComparable { return pickFirst() }
    let index = Int(scheduling.next(upperBound: UInt64(runnable.count)))
    hash.add(UInt64(runnable.count) << 32 | UInt64(index))
    let chosen = runnable[index]
    switch chosen {
    case .job(let job):
      removeRunnable(index)
      return .job(job)
    case .executor(let executor):
      let (job, left) = executor.removeFirst()
      if left == 0 { removeRunnable(index) }
      return .serialJob(job, executor)
    case .serialJob(let job, let executor):
      removeRunnable(index)
      return .serialJob(job, executor)
    }
  }

  private mutating func pickFirst() -> Pick {
    let count = runnable.count - head
    hash.add(UInt64(count))
    path.append(now.nanoseconds ^ UInt64(count) << 48)
    let first = runnable[head]
    head += 1
    if count == 1 {
      runnable.removeAll(keepingCapacity: true)
      head = 0
    }
    switch first {
    case .job(let job): return .job(job)
    case .serialJob(let job, let executor): return .serialJob(job, executor)
    case .executor: preconditionFailure("in a simulation that is compared jobs stand for themselves")
    }
  }

  private mutating func removeRunnable(_ index: Int) {
    runnable.swapAt(index, runnable.count - 1)
    runnable.removeLast()
  }

  // MARK: Time

  mutating func newTimer() -> TimerID {
    lastTimer += 1
    return lastTimer
  }

  mutating func addTimer(_ sleeper: Sleeper, id: TimerID, due: Instant) {
    timers.add(sleeper, id: id, due: due)
  }

  mutating func removeTimer(_ id: TimerID) -> Sleeper? { timers.remove(id) }

  var hasSleepers: Bool { timers.count > 0 }

  /// Moves time on to `instant` when nothing happens before.
  mutating func advance(to instant: Instant) { now = max(now, instant) }

  // MARK: Trace

  mutating func trace(_ event: String) {
    hash.add(now.nanoseconds)
    hash.add(event)
  }
}

/// 64-bit FNV-1a; a number is taken in one step, with its upper half folded down.
struct FNV1a {
  private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func add(_ word: UInt64) {
    value = (value ^ word) &* 0x100_0000_01b3
    value ^= value >> 32
  }

  mutating func add(_ text: String) { for byte in text.utf8 { add(byte) } }

  private mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
}
