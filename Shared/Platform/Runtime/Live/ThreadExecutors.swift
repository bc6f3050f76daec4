internal import CCaravanLinux
internal import Dispatch
internal import Glibc

internal import struct Synchronization.Atomic

/// One thread per executor: a call that blocks for long holds up its own handle and nobody else's. Measured on two
/// cores, a call and its return take 5 µs when both threads are awake (a dispatch queue: 8 µs).
struct ThreadExecutors: ExecutorSource {
  func makeInline() -> any SerialExecutor { LoopExecutor(.main) }
  func makeSerial(_ name: String) -> any SerialExecutor { ThreadExecutor(name) }

  /// With one processor there is nobody to help.
  func makeHelper(_ name: String) -> any Helper {
    sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 ? HelperThread(name) : NoHelper()
  }
}

/// Runs its jobs first in, first out. Each holds the executor until it has run: the last job may well be what holds the
/// actor, and the actor what holds the executor.
final class ThreadExecutor: SerialExecutor {
  private let mailbox: Mailbox<(UnownedJob, ThreadExecutor)>

  init(_ name: String) {
    mailbox = Mailbox(name) { job, executor in unsafe job.runSynchronously(on: executor.asUnownedSerialExecutor()) }
  }

  deinit { mailbox.stop() }

  func enqueue(_ job: consuming ExecutorJob) { mailbox.put((UnownedJob(job), self)) }

  func checkIsolated() {
    precondition(mailbox.isCurrent, "this code must run on the executor's own thread")
  }

  func isIsolatingCurrentContext() -> Bool? { mailbox.isCurrent }
}

/// Does its work first in, first out, on a thread that comes with the first of it, and beside whoever asks for it: the
/// scheduler of a busy machine leaves a thread on the processor where it slept, even if that is the asker's and the
/// other one is idle (measured on two: without the move a write of 1 MiB gains nothing from being helped).
final class HelperThread: Helper {
  private typealias Job = (work: @Sendable () -> Void, asker: Int32)

  private let name: String
  private let mailbox = Mutex<Mailbox<Job>?>(nil)

  init(_ name: String) { self.name = name }

  deinit { mailbox.withLock { $0 }?.stop() }

  func run(_ work: @escaping @Sendable () -> Void) {
    let mailbox = mailbox.withLock { mailbox in
      let there =
        mailbox
        ?? Mailbox(name) { job in
          if CLinux_processor() == job.asker { Self.leaveProcessor(job.asker) }
          job.work()
        }
      mailbox = there
      return there
    }
    mailbox.put((work, CLinux_processor()))
  }

  /// Goes to another processor, and may stay on any from then on.
  private static func leaveProcessor(_ number: Int32) {
    var all = [UInt64](repeating: 0, count: 16)
    let bytes = all.count * MemoryLayout<UInt64>.size
    guard number >= 0, Int(number) / 64 < all.count, unsafe CLinux_get_affinity(0, bytes, &all) >= 0 else { return }
    var others = all
    others[Int(number) / 64] &= ~(1 << UInt64(number % 64))
    guard others.contains(where: { $0 != 0 }), unsafe CLinux_set_affinity(0, bytes, others) == 0 else { return }
    _ = unsafe CLinux_set_affinity(0, bytes, all)
  }
}

/// What waits for a thread, and the thread.
private final class Mailbox<Job: Sendable>: Sendable {
  private struct State {
    var jobs: [Job] = []
    var isAsleep = false
    var isStopped = false
  }

  private enum Turn {
    case run
    case sleep
    case stop
  }

  private let state = Mutex(State())
  private let wakeUp = DispatchSemaphore(value: 0)
  private let thread = Atomic<UInt>(0)

  init(_ name: String, _ perform: @escaping @Sendable (Job) -> Void) {
    WorkerThread.start(name) { self.work(perform) }
  }

  var isCurrent: Bool { thread.load(ordering: .relaxed) == pthread_self() }

  func put(_ job: Job) { wake { $0.jobs.append(job) } }

  /// The thread ends when all jobs have run.
  func stop() { wake { $0.isStopped = true } }

  private func wake(_ change: (inout State) -> Void) {
    let wasAsleep = state.withLock { state in
      change(&state)
      defer { state.isAsleep = false }
      return state.isAsleep
    }
    if wasAsleep { wakeUp.signal() }
  }

  private func work(_ perform: (Job) -> Void) {
    thread.store(pthread_self(), ordering: .relaxed)
    var batch: [Job] = []
    while true {
      switch takeAll(into: &batch) {
      case .run:
        for job in batch { perform(job) }
        batch.removeAll(keepingCapacity: true)
      case .sleep: wakeUp.wait()
      case .stop: return
      }
    }
  }

  private func takeAll(into batch: inout [Job]) -> Turn {
    state.withLock { state in
      if !state.jobs.isEmpty {
        swap(&state.jobs, &batch)
        return .run
      }
      if state.isStopped { return .stop }
      state.isAsleep = true
      return .sleep
    }
  }
}
