public import CaravanModel
public import CaravanRuntime
import Dispatch
import Glibc

/// A small HTTP/1.1 server over libmicrohttpd, with TLS where it has a certificate: whole requests in, whole answers
/// out.
///
///     let server = try HTTPServer(address: "127.0.0.1", port: 0, clock: host.clock) { request in
///       .text(status: 200, request.path)
///     }
///     try await server.run()
///
/// One thread of MHD's serves all connections. A complete request suspends its connection and goes, through a bounded
/// queue, to a child task of `run`, which runs the handler; the answer resumes the connection.
public final class HTTPServer: Service {
  public typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse

  /// The port listened on, also if the system chose it.
  public let port: UInt16

  private let intake: Intake
  private let handler: Handler
  /// The listening socket until `run` takes it.
  private let listening: Mutex<Int32?>
  /// For what may wait, and for the two timeouts of shutting down. They cannot be tasks: when `run` is cancelled, every
  /// sleep below it ends at once. Real time is what they need, like the sockets they wait for.
  private let queue = DispatchQueue(label: "caravan.http")

  /// Binds the port at once, so that connections wait for `run` rather than fail.
  ///
  /// - Parameters:
  ///   - address: a numeric address, such as "127.0.0.1", "0.0.0.0" or "::".
  ///   - port: 0 lets the system choose.
  ///   - certificate: nil: it speaks no TLS.
  ///   - handler: called concurrently, at most `limits.inFlight` times.
  public init(
    address: String, port: UInt16, limits: HTTPLimits = HTTPLimits(), clock: any Clock,
    certificate: HTTPCertificate? = nil, handler: @escaping Handler
  ) throws(CaravanError) {
    limits.check()
    let socket = try ListenSocket(address: address, port: port)
    self.port = socket.port
    self.handler = handler
    intake = Intake(limits: limits, links: Links(limits: limits, clock: clock, certificate: certificate))
    listening = Mutex(socket.descriptor)
  }

  deinit {
    if let descriptor = listening.withLock({ $0 }) { close(descriptor) }
  }

  /// Serves until `shutDown` or cancellation. Then accepts nothing new, lets requests in flight end within
  /// `limits.drainTimeout`, answers the rest 503, and returns when everything is closed and all handlers have returned.
  /// Cancelling differs in that the handlers, being child tasks, are cancelled with it. To be called once.
  public func run() async throws {
    guard let listening = listening.withLock({ $0.take() }) else {
      preconditionFailure("an HTTP server was run twice")
    }
    let daemon = try Daemon(intake: intake, listening: listening)
    await withTaskCancellationHandler {
      await withDiscardingTaskGroup { group in
        await serve(in: &group, daemon, listening)
        await stop(daemon)
        close(listening)
      }
    } onCancel: {
      intake.drain()
    }
  }

  /// What connections from now on are shown. Those from before keep the one that they know until they end.
  public func use(_ certificate: HTTPCertificate) {
    intake.links.certificate.withLock { current in
      precondition(current != nil, "a server that speaks no TLS was given a certificate")
      current = certificate
    }
  }

  /// Begins to shut down. Callable from anywhere, more than once.
  public func shutDown() { intake.drain() }

  private func serve(in group: inout DiscardingTaskGroup, _ daemon: Daemon, _ listening: Int32) async {
    while true {
      switch await intake.next() {
      case .serve(let exchange): group.addTask { await self.handle(exchange) }
      case .stopAccepting:
        daemon.quiesce()
        // From here on connecting is refused; the descriptor is closed when MHD's thread has ended.
        shutdown(listening, Int32(SHUT_RDWR))
        after(intake.limits.drainTimeout) { $0.expire(.shuttingDown($0.limits)) }
      case .cancelHandlers:
        group.cancelAll()
        after(intake.limits.flushTimeout) { $0.finish() }
      case .stop: return
      }
    }
  }

  private func handle(_ exchange: Exchange) async {
    guard let request = exchange.request else { preconditionFailure("an incomplete HTTP request was admitted") }
    intake.answer(exchange, await handler(request))
  }

  private func stop(_ daemon: Daemon) async {
    await withTaskContinuation { stopped in
      queue.async {
        daemon.stopBlocking()
        stopped.resume()
      }
    }
  }

  private func after(_ timeout: Duration, _ body: @escaping @Sendable (Intake) -> Void) {
    let intake = intake
    queue.asyncAfter(deadline: .now() + .nanoseconds(Int(timeout.wholeNanoseconds))) { body(intake) }
  }
}
