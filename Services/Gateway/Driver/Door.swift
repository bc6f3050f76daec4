internal import CaravanCrypto
internal import CaravanGatewayCore
internal import CaravanHTTPServer
internal import CaravanModel
internal import CaravanRuntime

/// Who may ask for what, and how often.
final class Door: Sendable {
  private let administrator: [UInt8]
  private let watcher: [UInt8]?
  private let enrolment: Mutex<EnrolmentRate>
  private let clock: any Clock

  init(_ settings: GatewaySettings, clock: any Clock) {
    administrator = Array(settings.adminToken.utf8)
    watcher = settings.metricsToken.map { Array($0.utf8) }
    enrolment = Mutex(settings.enrolment)
    self.clock = clock
  }

  /// - Throws: `notAuthenticated`.
  func requireAdministrator(_ request: HTTPRequest) throws(CaravanError) {
    guard Self.shows(administrator, request) else {
      throw CaravanError(.notAuthenticated, "present the admin token: Authorization: Bearer …")
    }
  }

  /// Whether figures of the suite are for whoever asks: a process of this machine, or who knows a token.
  func mayWatch(_ request: HTTPRequest) -> Bool {
    request.isLocal || Self.shows(administrator, request) || watcher.map { Self.shows($0, request) } == true
  }

  /// - Throws: `notAuthenticated`.
  func requireWatcher(_ request: HTTPRequest) throws(CaravanError) {
    guard mayWatch(request) else {
      throw CaravanError(
        .notAuthenticated,
        "from another machine, present the metrics token or the admin token: Authorization: Bearer …")
    }
  }

  /// Lets somebody try to enrol.
  /// - Throws: `rateLimited` with the time after which to try again.
  func enter(_ request: HTTPRequest) throws(CaravanError) {
    let address = request.client?.block.description ?? ""
    let now = clock.now.nanoseconds
    guard let wait = enrolment.withLock({ $0.take(from: address, at: now) }) else { return }
    let milliseconds = UInt32(clamping: (wait + 999_999) / 1_000_000)
    throw CaravanError(
      .rateLimited, "too many try to enrol: come again in \(milliseconds) ms", retryAfterMilliseconds: milliseconds)
  }

  private static func shows(_ token: [UInt8], _ request: HTTPRequest) -> Bool {
    let given = request.headers["authorization"] ?? ""
    return given.hasPrefix("Bearer ") && constantTimeEqual(Array(given.dropFirst(7).utf8), token)
  }
}
