internal import CaravanCrypto
internal import CaravanEncoding
internal import CaravanGatewayCore
internal import CaravanHTTPServer
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// Which request is answered by what.
struct Routes: Sendable {
  let monitor: SuiteMonitor
  let enroller: Enroller
  let door: Door
  let log: Log

  func answer(_ request: HTTPRequest) async -> HTTPResponse {
    do throws(CaravanError) {
      if request.segments.starts(with: ["v1", "devices"]) { return try await devices(request) }
      // The server leaves the body out of what it answers to HEAD.
      switch (request.method == "HEAD" ? "GET" : request.method, request.path) {
      case ("GET", "/healthz"): return .text(status: 200, "ok")
      case ("GET", "/readyz"): return try await readiness(request)
      case ("GET", "/metrics"): return try await metrics(request)
      case ("GET", "/"): return StatusPage.response
      case ("GET", "/v1/status"): return try await status(request)
      case ("POST", "/v1/enrolment-tokens"): return try await mint(request)
      case ("POST", "/v1/enrol"): return try await enrol(request)
      case ("POST", "/v1/renewals"): return try await renew(request)
      case (_, "/healthz"), (_, "/readyz"), (_, "/metrics"), (_, "/"), (_, "/v1/status"):
        return .notAllowed(request, "GET, HEAD")
      case (_, "/v1/enrolment-tokens"), (_, "/v1/enrol"), (_, "/v1/renewals"): return .notAllowed(request, "POST")
      default: return .text(status: 404, "there is nothing at this path: try /")
      }
    } catch {
      log.debug("a request was refused", [.path: request.path, .code: error.code.rawValue, .error: error.message])
      return HTTPResponse(refusal: error)
    }
  }

  /// Anybody may know whether the suite is ready; what keeps it from that names machines and services.
  private func readiness(_ request: HTTPRequest) async throws(CaravanError) -> HTTPResponse {
    let obstacles = try await monitor.obstacles(to: GatewayService.required)
    if obstacles.isEmpty { return .text(status: 200, "ready") }
    let details = door.mayWatch(request) ? ", \(obstacles.joined(separator: "; "))" : ""
    return .text(status: 503, "not ready\(details)")
  }

  private func metrics(_ request: HTTPRequest) async throws(CaravanError) -> HTTPResponse {
    try door.requireWatcher(request)
    let text = try await monitor.metrics().prometheusText
    return HTTPResponse(
      status: 200, headers: ["content-type": "text/plain; version=0.0.4; charset=utf-8"], body: Array(text.utf8))
  }

  private func status(_ request: HTTPRequest) async throws(CaravanError) -> HTTPResponse {
    try door.requireWatcher(request)
    let (latest, earlier) = try await monitor.report()
    return HTTPResponse(json: latest.json(since: earlier, required: GatewayService.required))
  }

  // MARK: Devices

  /// `GET /v1/devices`, by pages; `GET` and `DELETE /v1/devices/<user>/<name>`.
  private func devices(_ request: HTTPRequest) async throws(CaravanError) -> HTTPResponse {
    try door.requireAdministrator(request)
    switch (request.method, request.segments.count) {
    case ("GET", 2): return try await deviceList(from: request.queryValue("from"))
    case ("GET", 4):
      let (user, name) = try Self.device(request)
      return HTTPResponse(json: try await enroller.device(name, of: user).json)
    case ("DELETE", 4):
      let (user, name) = try Self.device(request)
      return HTTPResponse(json: try await enroller.revoke(name, of: user).json)
    case (_, 2): return .notAllowed(request, "GET")
    case (_, 4): return .notAllowed(request, "GET, DELETE")
    default: return .text(status: 404, "a device is at /v1/devices/<user>/<name>")
    }
  }

  private static func device(_ request: HTTPRequest) throws(CaravanError) -> (UserID, DeviceID) {
    (try UserID(request.segments[2]), try DeviceID(request.segments[3]))
  }

  /// - Parameter start: `next` of the page before; nil: the first page.
  private func deviceList(from start: String?) async throws(CaravanError) -> HTTPResponse {
    var position: CaravanWire.ChangePosition?
    if let start {
      guard let bytes = try? Hex.decode(start), let known = try? CaravanWire.ChangePosition.decode(bytes) else {
        throw CaravanError(.invalidSyncToken, "\"from\" is not the \"next\" of a page: leave it out to begin anew")
      }
      position = known
    }
    let page = try await enroller.devices(from: position)
    let next: JSON = if let next = page.next { .string(Hex.encode(next.encoded())) } else { .null }
    return HTTPResponse(json: ["devices": .array(page.devices.map(\.json)), "next": next])
  }

  private func mint(_ request: HTTPRequest) async throws(CaravanError) -> HTTPResponse {
    try door.requireAdministrator(request)
    let body = try Self.object(request.body)
    let minted = try await enroller.mint(
      user: UserID(Self.text(body, "user")), device: DeviceID(Self.text(body, "device")),
      environment: Self.environment(body), lifetimeSeconds: Self.lifetime(body),
      isServerApp: body["server_app"] == .bool(true))
    return HTTPResponse(json: ["token": .string(minted.token), "expires": .string(minted.expires.description)])
  }

  private func enrol(_ request: HTTPRequest) async throws(CaravanError) -> HTTPResponse {
    try door.enter(request)
    let body = try Self.object(request.body)
    let jwt = try await enroller.enrol(token: Self.text(body, "token"), key: Self.text(body, "public_key"))
    return HTTPResponse(json: ["jwt": .string(jwt.text)])
  }

  /// Rated as enrolment is: whoever cannot sign learns nothing, and not often.
  private func renew(_ request: HTTPRequest) async throws(CaravanError) -> HTTPResponse {
    try door.enter(request)
    let body = try Self.object(request.body)
    guard let time = body["time"]?.intValue else {
      throw CaravanError(.invalidData, "the body lacks \"time\", a whole number")
    }
    let renewal = try RenewalRequest(
      device: Self.text(body, "device"), user: Self.text(body, "user"), key: Self.text(body, "public_key"), time: time,
      signature: Self.text(body, "signature"))
    return HTTPResponse(json: ["jwt": .string(try await enroller.renew(renewal).text)])
  }

  private static func object(_ body: [UInt8]) throws(CaravanError) -> JSON {
    let json: JSON
    do { json = try JSON.parse(body) } catch { throw CaravanError(.invalidData, "the body is not JSON: \(error)") }
    guard json.objectValue != nil else { throw CaravanError(.invalidData, "the body is not a JSON object") }
    return json
  }

  private static func lifetime(_ body: JSON) throws(CaravanError) -> Int64 {
    guard let given = body["ttl_seconds"] else { return EnrolmentToken.defaultLifetimeSeconds }
    guard let seconds = given.intValue else {
      throw CaravanError(.invalidData, "the body's \"ttl_seconds\" is not a whole number")
    }
    return seconds
  }

  /// Who says nothing means development, as before there was a choice.
  private static func environment(_ body: JSON) throws(CaravanError) -> CaravanModel.Environment {
    guard let given = body["environment"] else { return .development }
    guard let environment = given.stringValue.flatMap(CaravanModel.Environment.init) else {
      throw CaravanError(.invalidData, "the body's \"environment\" is neither \"development\" nor \"production\"")
    }
    return environment
  }

  private static func text(_ body: JSON, _ name: String) throws(CaravanError) -> String {
    guard let text = body[name]?.stringValue else {
      throw CaravanError(.invalidData, "the body lacks \"\(name)\", a string")
    }
    return text
  }
}

extension DeviceRecord {
  /// Times as RFC 3339; `revoked` is null while the device may come in.
  fileprivate var json: JSON {
    [
      "device": .string(device.device.text), "user": .string(device.user.text),
      "environment": .string(device.environment.rawValue), "enrolment": .int(Int64(device.enrolment)),
      "public_key": .string(key), "credentials_end": .bool(ends),
      "issued": .string(WallTime(milliseconds: issued).description),
      "revoked": revoked == 0 ? .null : .string(WallTime(milliseconds: revoked).description),
    ]
  }
}

extension HTTPResponse {
  init(json: JSON, status: Int = 200) {
    self.init(
      status: status, headers: ["content-type": "application/json", "cache-control": "no-store"],
      body: json.encodedBytes())
  }

  /// - Parameter methods: those that the path does answer, as RFC 9110 (15.5.6) wants them told.
  static func notAllowed(_ request: HTTPRequest, _ methods: String) -> HTTPResponse {
    .text(
      status: 405, "\(request.path) does not answer \(request.method): it answers \(methods)",
      headers: ["allow": methods])
  }

  /// `{"error": {"code", "message"}}` under the status that says whose turn it is.
  init(refusal error: CaravanError) {
    var response = HTTPResponse(
      json: ["error": ["code": .string(error.code.rawValue), "message": .string(error.message)]],
      status: Self.status(of: error.code))
    if error.code == .notAuthenticated { response.headers["www-authenticate"] = "Bearer" }
    if let milliseconds = error.retryAfterMilliseconds {
      response.headers["retry-after"] = String((milliseconds + 999) / 1000)
    }
    self = response
  }

  private static func status(of code: ErrorCode) -> Int {
    switch code {
    case .invalidData, .schemaViolation, .schemaNotAdditive, .invalidSyncToken, .chunkDamaged, .chunksMissing,
      .customZoneNeeded,
      .notInConflictResolution:
      400
    case .notAuthenticated: 401
    case .accessDenied: 403
    case .tableNotFound, .noSuchObject, .noOperationId, .zoneDoesNotExist: 404
    case .objectExists, .serverRecordChanged, .referenceViolation, .resetRequired, .rowInConflict, .rowTorn,
      .lockNotHeld, .lockAlreadyHeld, .leaseExpired:
      409
    case .limitExceeded: 413
    case .rateLimited: 429
    case .serverBusy, .unavailable, .networkNotConnected, .networkNotPermitted, .cancelled: 503
    case .timedOut: 504
    case .quotaExceeded, .storageFull: 507
    case .internalError, .recordDamaged: 500
    case .featureDisabled: 501
    }
  }
}
