/// Who waits for a time to come.
package enum Sleeper: Sendable {
  case task(TaskContinuation<Void, any Error>)
  case call(@Sendable () -> Void)

  package func wake() {
    switch self {
    case .task(let continuation): continuation.resume()
    case .call(let body): body()
    }
  }

  /// Of a task that was cancelled.
  package func cancel() {
    if case .task(let continuation) = self { continuation.resume(throwing: CancellationError()) }
  }
}
