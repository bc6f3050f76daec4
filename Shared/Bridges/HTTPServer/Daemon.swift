import CCaravanMicroHTTPD
import CaravanModel
import CaravanRuntime
import Glibc

/// A running MHD daemon: its own thread, which calls back here and must never wait.
///
/// `@unchecked Sendable` is safe because the handle is set once, and "all functions are guaranteed to be completely
/// reentrant and thread-safe" (microhttpd.h; the exception it names, `MHD_set_connection_value`, is not used);
/// `HTTPServer.run` alone calls `quiesce` and `stopBlocking`, one after the other.
final class Daemon: @unchecked Sendable {
  private let handle: OpaquePointer
  private let intake: Intake

  /// - Parameter listening: MHD closes it when it stops, unless it was quiesced.
  init(intake: Intake, listening: Int32) throws(CaravanError) {
    let limits = intake.limits
    // Others of this process need descriptors too.
    let most = min(limits.connections + HTTPLimits.reserve, Self.descriptors(limits.connections + 512) - 256)
    let settings = CMicroHTTPD_Settings(
      listenSocket: listening, maximumConnections: UInt32(max(1, most)),
      idleTimeoutSeconds: UInt32(limits.idleTimeoutSeconds), connectionMemory: limits.headBytes)
    // Unretained: the daemon is stopped, and its thread with it, before this object lets go of the intake.
    let context = Unmanaged.passUnretained(intake).toOpaque()
    let speaksTLS = intake.links.certificate.withLock { $0 != nil }
    let callbacks = CMicroHTTPD_Callbacks(
      context: context, begin: begin, access: access, completed: completed, accept: accept, connection: connected,
      certificate: speaksTLS ? present : nil)
    guard let handle = CMicroHTTPD_start(settings, callbacks) else {
      throw CaravanError(.internalError, "libmicrohttpd does not start; are descriptors or memory used up?")
    }
    (self.handle, self.intake) = (handle, intake)
  }

  /// How many descriptors this process may have, after it has asked for as many as it may.
  private static func descriptors(_ wanted: Int) -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return wanted }
    if limit.rlim_cur < UInt(wanted) {
      limit.rlim_cur = min(limit.rlim_max, UInt(wanted))
      _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
    return Int(clamping: limit.rlim_cur)
  }

  /// Accepts no more connections; those open go on. The listening socket is the caller's again.
  func quiesce() { _ = MHD_quiesce_daemon(handle) }

  /// Closes all connections and waits for MHD's thread to end.
  ///
  /// "It is an API violation to call MHD_stop_daemon while having suspended connections": the intake has none in
  /// flight.
  func stopBlocking() { MHD_stop_daemon(handle) }
}

// MARK: Callbacks, on MHD's thread

private func begin(
  context: UnsafeMutableRawPointer?, target: UnsafePointer<CChar>?, connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
  let intake = Unmanaged<Intake>.fromOpaque(context!).takeUnretainedValue()
  let target = target.map { Array(String(cString: $0).utf8) } ?? []
  let link = Unmanaged<Link>.fromOpaque(CMicroHTTPD_context(connection)!).takeUnretainedValue()
  let exchange = Exchange(connection: connection!, link: link, target: target, isLate: intake.begin())
  return Unmanaged.passRetained(exchange).toOpaque()
}

private func accept(
  context: UnsafeMutableRawPointer?, address: UnsafePointer<sockaddr>?, length: socklen_t
) -> MHD_Result {
  let intake = Unmanaged<Intake>.fromOpaque(context!).takeUnretainedValue()
  return intake.links.mayOpen(from: address.flatMap { NetworkAddress($0) }) ? .YES : .NO
}

private func connected(
  context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
  link: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, event: MHD_ConnectionNotificationCode
) {
  let intake = Unmanaged<Intake>.fromOpaque(context!).takeUnretainedValue()
  if let held = link?.pointee {
    link?.pointee = nil
    intake.links.close(Unmanaged<Link>.fromOpaque(held).takeRetainedValue())
  } else {
    let address = CMicroHTTPD_peer(connection).flatMap { NetworkAddress($0) }
    let opened = intake.links.open(CMicroHTTPD_socket(connection), from: address)
    link?.pointee = Unmanaged.passRetained(opened).toOpaque()
  }
}

/// "gnutls_certificate_retrieve_function3": what it hands out stays ours without `GNUTLS_CERT_RETR_DEINIT_ALL`.
private let present: CMicroHTTPD_Retrieve = { session, _, chain, length, _, ocspLength, key, flags in
  guard let context = CMicroHTTPD_session_context(session),
    let pair = Unmanaged<Link>.fromOpaque(context).takeUnretainedValue().present()?.pair
  else { return -1 }
  chain?.pointee = UnsafeMutableRawPointer(pair).assumingMemoryBound(to: gnutls_pcert_st.self)
  length?.pointee = pair.pointee.length
  key?.pointee = pair.pointee.key
  ocspLength?.pointee = 0
  flags?.pointee = 0
  return 0
}

private func completed(
  context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
  exchange: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
  guard let held = exchange?.pointee else { return }
  exchange?.pointee = nil
  let intake = Unmanaged<Intake>.fromOpaque(context!).takeUnretainedValue()
  let ended = Unmanaged<Exchange>.fromOpaque(held).takeRetainedValue()
  intake.links.enter(.head, ended.link, isAgain: true)
  intake.complete()
}

/// "For each HTTP request this callback is called several times: after request headers are fully received and decoded,
/// for each received part of request body, when request is fully received." And once more after a suspended connection
/// resumes.
private func access(
  context: UnsafeMutableRawPointer?, connection: OpaquePointer?, url: UnsafePointer<CChar>?,
  method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, upload: UnsafePointer<CChar>?,
  uploadSize: UnsafeMutablePointer<Int>?, exchange: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let held = exchange?.pointee, let uploadSize, let method else { return .NO }
  let intake = Unmanaged<Intake>.fromOpaque(context!).takeUnretainedValue()
  let exchange = Unmanaged<Exchange>.fromOpaque(held).takeUnretainedValue()
  switch exchange.stage {
  case .head:
    intake.links.enter(.body, exchange.link)
    return headArrived(exchange, intake)
  case .body where uploadSize.pointee > 0:
    exchange.receive(UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee), limit: intake.limits.bodyBytes)
    uploadSize.pointee = 0
    return bodyArrived(exchange, intake)
  case .body: return requestArrived(exchange, String(cString: method), intake)
  case .handling: return exchange.response.map { queue($0, exchange, intake) } ?? .NO
  case .refused: return .NO
  }
}

private func headArrived(_ exchange: Exchange, _ intake: Intake) -> MHD_Result {
  // "If response is provided before request is fully received, the rest of the request is discarded and connection is
  // automatically closed after sending response."
  if exchange.isLate { return refuse(exchange, intake, .shuttingDown(intake.limits)) }
  if let ambiguity = exchange.ambiguity {
    return refuse(exchange, intake, .text(status: 400, ambiguity, headers: ["connection": "close"]))
  }
  if let length = exchange.statedLength, length > intake.limits.bodyBytes {
    return refuse(exchange, intake, .tooLarge(intake.limits))
  }
  exchange.stage = .body
  return .YES
}

/// "The response cannot be queued when this callback is called to process the client upload data." So a body without a
/// stated length is dropped to its end and then answered, but not beyond twice the limit: then the connection is
/// closed.
private func bodyArrived(_ exchange: Exchange, _ intake: Intake) -> MHD_Result {
  exchange.received / 2 > intake.limits.bodyBytes ? .NO : .YES
}

private func requestArrived(_ exchange: Exchange, _ method: String, _ intake: Intake) -> MHD_Result {
  if exchange.received > intake.limits.bodyBytes { return refuse(exchange, intake, .tooLarge(intake.limits)) }
  guard exchange.complete(method: method, proxies: intake.limits.trustedProxies) else {
    return refuse(
      exchange, intake, .text(status: 400, "the request's target is not a percent-encoded UTF-8 path and query"))
  }
  switch intake.admit(exchange) {
  case .admitted:
    intake.links.enter(.handling, exchange.link)
    return .YES
  case .crowded: return refuse(exchange, intake, .crowded(intake.limits))
  case .full: return refuse(exchange, intake, .busy(intake.limits))
  case .late: return refuse(exchange, intake, .shuttingDown(intake.limits))
  }
}

private func refuse(_ exchange: Exchange, _ intake: Intake, _ response: HTTPResponse) -> MHD_Result {
  exchange.stage = .refused
  return queue(response, exchange, intake)
}

/// Hands the answer to MHD, which copies it.
private func queue(_ response: HTTPResponse, _ exchange: Exchange, _ intake: Intake) -> MHD_Result {
  intake.links.enter(.answer, exchange.link)
  let handle = response.body.withUnsafeBytes {
    MHD_create_response_from_buffer($0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
  }
  guard let handle else { return .NO }
  defer { MHD_destroy_response(handle) }
  for field in response.headers.fields where MHD_add_response_header(handle, field.name, field.value) != .YES {
    guard response.status != 500 else { return .NO }
    return queue(.text(status: 500, "the answer's header \"\(field.name)\" is not allowed in HTTP"), exchange, intake)
  }
  return MHD_queue_response(exchange.connection, UInt32(response.status), handle)
}

extension HTTPResponse {
  static func tooLarge(_ limits: HTTPLimits) -> HTTPResponse {
    .text(status: 413, "the request's body is larger than \(limits.bodyBytes) bytes")
  }

  static func crowded(_ limits: HTTPLimits) -> HTTPResponse {
    let headers: HTTPHeaders = ["retry-after": String(limits.retryAfterSeconds)]
    return .text(
      status: 429, "\(limits.connectionsPerAddress) requests of one address are in flight; try again", headers: headers)
  }

  static func busy(_ limits: HTTPLimits) -> HTTPResponse {
    let headers: HTTPHeaders = ["retry-after": String(limits.retryAfterSeconds)]
    return .text(status: 503, "all \(limits.inFlight) places for requests are taken; try again", headers: headers)
  }

  static func shuttingDown(_ limits: HTTPLimits) -> HTTPResponse {
    let headers: HTTPHeaders = ["retry-after": String(limits.retryAfterSeconds), "connection": "close"]
    return .text(status: 503, "the server is shutting down; try again", headers: headers)
  }
}
