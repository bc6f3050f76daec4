internal import CaravanModel

/// Runs what waits for the network on a thread of its own, one call after the other.
actor BlockingCalls {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ executor: any SerialExecutor) { self.executor = executor }

  func run<R: Sendable, E: Error>(_ body: @Sendable () throws(E) -> R) throws(E) -> R { try body() }
}
