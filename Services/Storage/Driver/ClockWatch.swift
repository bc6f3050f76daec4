import CaravanModel
import CaravanRuntime

extension GaugeName {
  static let clockError = GaugeName(
    "caravan_storage_clock_error_seconds",
    "How far the clock, the machine's or PostgreSQL's, is from the time that storage counts.")
  static let clockTrusted = GaugeName(
    "caravan_storage_clock_trusted", "1: the clock is believed; 0: nothing is deleted because of its age.")
}

/// Says when the machine's clock is not believed, and keeps what is for a later life of the process.
struct ClockWatch: Sendable {
  private let clock: TrustedClock?
  private let server: ServerTime?
  private let metrics: MetricsRegistry
  private let doubt: Outage
  private let unwritten: Outage

  /// - Parameters:
  ///   - clock: nil: the store has another one, which is believed.
  ///   - server: whose time `clock` shows, where that is another machine's.
  init(_ clock: TrustedClock?, server: ServerTime? = nil, _ host: Host) {
    self.clock = clock
    self.server = server
    metrics = host.metrics
    doubt = Outage(
      host, "the clock is not believed: nothing is deleted because of its age", over: "the clock is believed")
    unwritten = Outage(
      host, "what is known of the clock cannot be written", over: "what is known of the clock is written")
  }

  /// - Returns: whether the clock is believed.
  func look() async throws(CaravanError) -> Bool {
    guard let clock else { return true }
    if let server {
      // The first time it is this machine's, which the server's is held against.
      _ = clock.wallTime
      try await server.refresh()
    }
    do throws(CaravanError) {
      try clock.save()
      unwritten.ended()
    } catch {
      unwritten.lasts(error)
    }
    let problem = clock.problem
    if let problem { doubt.lasts(problem) } else { doubt.ended() }
    metrics.gauge(.clockTrusted).set(problem == nil ? 1 : 0)
    metrics.gauge(.clockError).set(clock.error?.seconds ?? 0)
    return problem == nil
  }
}
