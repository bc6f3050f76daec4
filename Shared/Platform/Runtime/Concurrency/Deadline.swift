public import CaravanModel

extension Clock {
  /// Runs `body`, and cancels it when it takes longer than `duration`. It is waited for in either case, so it must
  /// answer to cancellation.
  /// - Throws: `timedOut` with `what` in its message; what `body` throws; `cancelled` with the calling task.
  public func withDeadline<R: Sendable>(
    _ duration: Duration, _ what: @autoclosure @Sendable () -> String,
    _ body: @escaping @Sendable () async throws(CaravanError) -> R
  ) async throws(CaravanError) -> R {
    let first: Result<R, CaravanError>? = await withTaskGroup { group in
      group.addTask { () async -> Result<R, CaravanError>? in
        do throws(CaravanError) { return .success(try await body()) } catch { return .failure(error) }
      }
      group.addTask {
        do { try await sleep(for: duration) } catch { return .failure(CaravanError(.cancelled, "cancelled")) }
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
    guard let first else {
      throw CaravanError(.timedOut, "\(what()) took longer than \(duration.wholeMilliseconds) ms")
    }
    return try first.get()
  }
}
