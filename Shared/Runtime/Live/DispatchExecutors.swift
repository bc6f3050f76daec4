internal import Dispatch

/// One serial dispatch queue per executor.
struct DispatchExecutors: ExecutorSource {
  func makeSerial(_ name: String) -> any SerialExecutor { DispatchSerialExecutor(name) }
}

final class DispatchSerialExecutor: SerialExecutor {
  private let queue: DispatchQueue

  init(_ name: String) { queue = DispatchQueue(label: name) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
