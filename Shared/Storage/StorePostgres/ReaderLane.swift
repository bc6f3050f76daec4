internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanRuntime
internal import CaravanStore

/// One connection that reads, on a thread of its own; opened when first used.
actor ReaderLane {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private let host: Host
  private let liveness: Liveness
  private let patience: Duration
  private var session: Session

  private enum Attempt<Value: Sendable>: Sendable {
    case done(Value)
    case again(after: Duration, PostgresError)
    case failed(CaravanError)
  }

  /// - Parameter connection: nil: as the store's statements need it.
  init(
    name: String, _ options: PostgresOptions, connection: ConnectionOptions? = nil, host: Host, liveness: Liveness,
    metrics: PostgresMetrics, outage: Outage
  ) {
    executor = host.executors.makeSerial(name)
    self.host = host
    self.liveness = liveness
    patience = options.patience
    session = Session(connection ?? .store(options.address), host: host, metrics: metrics, outage: outage)
  }

  func close() { session.close() }

  /// Reads; where the connection is lost, again on another, until patience ends.
  nonisolated func read<Value: Sendable>(
    _ work: @Sendable (Connection) throws(PostgresError) -> Value
  ) async throws(CaravanError) -> Value {
    let deadline = host.clock.now + patience
    while true {
      switch await attempt(work, until: deadline) {
      case .done(let value): return value
      case .failed(let error): throw error
      case .again(let pause, let error):
        guard host.clock.now + pause < deadline else { throw error.answer }
        do { try await host.clock.sleep(for: pause) } catch {
          throw CaravanError(.cancelled, "the task was cancelled")
        }
      }
    }
  }

  private func attempt<Value: Sendable>(
    _ work: @Sendable (Connection) throws(PostgresError) -> Value, until deadline: Instant
  ) -> Attempt<Value> {
    do throws(CaravanError) { try liveness.check() } catch { return .failed(error) }
    // The calls before it have found out, which took its time.
    if let failure = session.lastFailure, host.clock.now > deadline { return .failed(failure.answer) }
    do throws(PostgresError) {
      let db = try session.open()
      do throws(PostgresError) { return .done(try work(db)) } catch {
        if error.kind == .lost { session.drop(error) }
        throw error
      }
    } catch {
      switch error.kind {
      case .lost, .refused: return .again(after: session.wait ?? .zero, error)
      case .conflict: return .again(after: PostgresLimits.conflictPause, error)
      case .duplicate, .constraint, .noSuchTable, .notPermitted, .diskRefused, .busy, .other:
        return .failed(error.answer)
      }
    }
  }
}
