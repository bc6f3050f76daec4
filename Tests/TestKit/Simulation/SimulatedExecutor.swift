internal import CaravanRuntime

struct SimulatedExecutors: ExecutorSource {
  let simulation: Simulation
  func makeInline() -> any SerialExecutor { SimulatedExecutor(simulation) }
  func makeSerial(_ name: String) -> any SerialExecutor { SimulatedExecutor(simulation) }
  func makeHelper(_ name: String) -> any Helper { NoHelper() }
}

/// Stands for a thread of its own: its jobs run first in, first out. While it has any, the simulation holds it.
final class SimulatedExecutor: SerialExecutor {
  private struct Queue {
    var jobs: [UnownedJob] = []
    var head = 0
  }

  private let simulation: Simulation
  private let queue = Mutex(Queue())

  init(_ simulation: Simulation) { self.simulation = simulation }

  func enqueue(_ job: consuming ExecutorJob) { simulation.enqueue(UnownedJob(job), on: self) }

  /// All executors share the one thread, so nothing finer can be told.
  func checkIsolated() { precondition(simulation.isDriving, "this code must run inside the simulation") }

  /// - Returns: how many jobs wait now.
  func append(_ job: UnownedJob) -> Int {
    queue.withLock { queue in
      queue.jobs.append(job)
      return queue.jobs.count - queue.head
    }
  }

  /// There is one.
  func removeFirst() -> (UnownedJob, left: Int) {
    queue.withLock { queue in
      let job = queue.jobs[queue.head]
      queue.head += 1
      let left = queue.jobs.count - queue.head
      if left == 0 {
        queue.jobs.removeAll(keepingCapacity: true)
        queue.head = 0
      }
      return (job, left)
    }
  }
}
