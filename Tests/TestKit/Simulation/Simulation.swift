public import CaravanRuntime
internal import Glibc

internal import struct Synchronization.Atomic

/// A simulated cluster on one thread under one seed: whatever runs in it, on hosts made by it, happens in the same
/// order whenever the seed is the same. Which job runs next is the seed's choice; time stands still while anything can
/// run, and then jumps to the next sleeper.
///
///     let simulation = Simulation(seed: 7)
///     try simulation.run { let host = simulation.host("storage"); … }
///     simulation.traceHash
///
/// Order in dictionaries and sets is fixed only in a process started with `SWIFT_DETERMINISTIC_HASHING=1`
/// (`isHashingDeterministic`). Bare `Task {}`, `Task.sleep` and threads escape from the simulation; a job that comes
/// back from another thread ends the process with a message.
public final class Simulation: TaskExecutor {
  public struct Settings: Sendable {
    /// Where the wall clocks begin.
    public var epoch = WallTime(milliseconds: 1_700_000_000_000)
    /// Jobs of one `run`, after which it counts as going round in circles.
    public var stepLimit: UInt64 = 50_000_000
    /// Least level that `log` keeps.
    public var logLevel = LogLevel.warning
    /// For simulations that are compared with one another: what one part of a simulation does more at some moment
    /// changes nothing for others. Jobs run in the order in which they came, chances are by the moment, and `path` is
    /// kept.
    public var isComparable = false

    public init() {}
  }

  public let seed: UInt64
  public let settings: Settings
  /// The lines of all hosts.
  public let log = MemoryLogSink()

  private let cluster: Mutex<SimulationState>
  let unended = Mutex(UnendedTasks())
  /// The thread that drives; 0: nobody does.
  private let driver = Atomic<UInt>(0)

  public init(seed: UInt64, settings: Settings = Settings()) {
    self.seed = seed
    self.settings = settings
    cluster = Mutex(SimulationState(seed: seed, isComparable: settings.isComparable))
  }

  /// Whether dictionaries and sets have the same order every time in this process.
  public static var isHashingDeterministic: Bool {
    unsafe getenv("SWIFT_DETERMINISTIC_HASHING").map { unsafe strcmp($0, "1") == 0 } ?? false
  }

  /// Virtual time since the beginning.
  public var now: Instant { cluster.withLock { $0.now } }

  /// Jobs that have run.
  public var steps: UInt64 { cluster.withLock { $0.steps } }

  /// Of every choice, every jump of time and every traced event so far.
  public var traceHash: UInt64 { cluster.withLock { $0.hash.value } }

  /// Of each job when it ran and how many could: two simulations have gone the same way as far as these are the same,
  /// whatever was traced. Empty in simulations that are not compared.
  public var path: [UInt64] { cluster.withLock { $0.path } }

  /// Makes an event part of the trace.
  public func trace(_ event: String) { cluster.withLock { $0.trace(event) } }

  // MARK: Jobs

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    checkThread()
    cluster.withLock { $0.enqueue(job) }
  }

  func enqueue(_ job: UnownedJob, on executor: SimulatedExecutor) {
    checkThread()
    cluster.withLock { $0.enqueue(job, on: executor) }
  }

  /// Whether the calling thread is driving the simulation now.
  var isDriving: Bool { driver.load(ordering: .relaxed) == pthread_self() }

  private func checkThread() {
    let driver = driver.load(ordering: .relaxed)
    precondition(
      driver == 0 || driver == pthread_self(),
      "a job came from another thread: something in the simulation sleeps, reads or runs outside its Host")
  }

  // MARK: Driving

  /// How `drive` ended.
  enum Stop {
    case wanted, quiet, circles
  }

  /// Runs jobs until `isDone`, which is asked before each.
  func drive(until horizon: Instant, _ isDone: () -> Bool) -> Stop {
    precondition(
      driver.exchange(UInt(pthread_self()), ordering: .relaxed) == 0, "the simulation is driven from inside itself")
    defer { driver.store(0, ordering: .relaxed) }
    let limit = steps + settings.stepLimit
    while !isDone() {
      switch cluster.withLock({ (cluster) in cluster.steps < limit ? cluster.pick(until: horizon) : nil }) {
      case .job(let job): unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      case .serialJob(let job, let executor):
        unsafe job.runSynchronously(
          isolatedTo: executor.asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
      case .wake(let sleepers): for sleeper in sleepers { sleeper.wake() }
      case .nothing: return .quiet
      case nil: return .circles
      }
    }
    return .wanted
  }

  var hasSleepers: Bool { cluster.withLock { $0.hasSleepers } }

  func advance(to instant: Instant) { cluster.withLock { $0.advance(to: instant) } }

  // MARK: Sleeping

  func sleep(until instant: Instant) async throws {
    let id = cluster.withLock { $0.newTimer() }
    try await withTaskCancellationHandler {
      try await withThrowingTaskContinuation { continuation in
        if let early = beginSleep(id, until: instant, continuation) { continuation.resume(with: early) }
      }
    } onCancel: {
      cluster.withLock { $0.removeTimer(id) }?.cancel()
    }
  }

  /// - Returns: how the sleep ended, if at once.
  private func beginSleep(
    _ id: TimerID, until instant: Instant, _ continuation: TaskContinuation<Void, any Error>
  ) -> Result<Void, any Error>? {
    cluster.withLock { cluster in
      if Task.isCancelled { return .failure(CancellationError()) }
      if instant <= cluster.now { return .success(()) }
      cluster.addTimer(.task(continuation), id: id, due: instant)
      return nil
    }
  }

  func call(at instant: Instant, _ body: @escaping @Sendable () -> Void) {
    checkThread()
    cluster.withLock { $0.addTimer(.call(body), id: $0.newTimer(), due: instant) }
  }
}
