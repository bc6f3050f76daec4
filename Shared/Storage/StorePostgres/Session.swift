internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanRuntime

extension PostgresError {
  /// For whoever asked the store, who may be anybody: where its server is and what libpq says stays in the log.
  var answer: CaravanError {
    switch kind {
    case .lost, .refused:
      CaravanError(.unavailable, "storage's PostgreSQL cannot be reached: try again later (storage's log says more)")
    case .conflict, .duplicate, .constraint, .noSuchTable, .notPermitted, .diskRefused, .busy, .other: caravanError
    }
  }
}

/// One connection that is opened when it is needed, and again after it was lost, with longer and longer waits while
/// that fails. Owned by one lane.
struct Session {
  private let options: ConnectionOptions
  private let host: Host
  private let metrics: PostgresMetrics
  /// Of all the store's connections together.
  private let outage: Outage
  private var db: Connection?
  /// In a row.
  private var failures = 0
  private var notBefore = Instant(nanoseconds: 0)
  private(set) var lastFailure: PostgresError?

  init(_ options: ConnectionOptions, host: Host, metrics: PostgresMetrics, outage: Outage) {
    self.options = options
    self.host = host
    self.metrics = metrics
    self.outage = outage
  }

  /// - Throws: `.lost` or `.refused`; when `wait` says so without having tried.
  mutating func open() throws(PostgresError) -> Connection {
    if let db { return db }
    if let lastFailure, wait != nil { throw lastFailure }
    do throws(PostgresError) {
      let opened = try Connection(options)
      outage.ended()
      failures = 0
      lastFailure = nil
      db = opened
      return opened
    } catch {
      failed(error)
      throw error
    }
  }

  /// How long nobody should try; nil: try now.
  var wait: Duration? {
    let now = host.clock.now
    return now < notBefore ? notBefore - now : nil
  }

  /// Gives the connection up after it was lost in use: the next one is tried at once.
  mutating func drop(_ error: PostgresError) {
    // Where the server is gone, that was said.
    if outage.current == nil { host.log.warning("a connection to PostgreSQL is lost", [.error: error.description]) }
    metrics.lost.add()
    close()
    lastFailure = error
  }

  mutating func close() {
    db?.close()
    db = nil
  }

  private mutating func failed(_ error: PostgresError) {
    lastFailure = error
    failures += 1
    let whole = min(PostgresLimits.firstRetry * (1 << min(failures - 1, 16)), PostgresLimits.lastRetry)
    // The second half is random, so that the connections of many processes do not come back in step.
    let half = whole.wholeNanoseconds / 2
    notBefore = host.clock.now + .nanoseconds(half + Int64(host.random.below(UInt64(half) + 1)))
    switch error.kind {
    case .lost, .refused: outage.lasts(error.description)
    case .conflict, .duplicate, .constraint, .noSuchTable, .notPermitted, .diskRefused, .busy, .other:
      if failures == 1 {
        host.log.warning("PostgreSQL does not take another connection", [.error: error.description])
      }
    }
  }
}
