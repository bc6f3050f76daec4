internal import CaravanHTTPClient
internal import CaravanModel

/// Where a gateway is asked, which blocks: on a thread of its own.
actor HTTPRoom {
  private static let limits = {
    var limits = HTTPClientLimits()
    limits.total = GatewayClient.patience
    return limits
  }()

  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Who may have signed the gateway's certificate; nil: whom the system trusts.
  private let authority: String?
  private var client: HTTPClient?

  init(_ executor: any SerialExecutor, authority: String?) {
    self.executor = executor
    self.authority = authority
  }

  /// - Throws: `unavailable`, `timedOut`, naming the server.
  func perform(_ call: HTTPCall, at server: String) throws(CaravanError) -> HTTPAnswer {
    let client: HTTPClient
    if let known = self.client { client = known } else { client = try HTTPClient(authorityFile: authority) }
    self.client = client
    do throws(HTTPFailure) { return try client.performBlocking(call, limits: Self.limits) } catch {
      throw Self.error(error, server)
    }
  }

  private static func error(_ failure: HTTPFailure, _ server: String) -> CaravanError {
    switch failure {
    case .unreachable(let reason):
      CaravanError(.unavailable, "nobody answers at \(server) (\(reason)): does caravan up run?")
    case .untrusted(let reason):
      CaravanError(
        .unavailable,
        "\(server) does not prove who it is (\(reason)): give the file of who signed its certificate, --ca")
    case .forbidden: CaravanError(.unavailable, "\(server) has no address that may be asked")
    case .timedOut: CaravanError(.timedOut, "\(server) did not answer in time: try again")
    case .tooLong(let bytes): CaravanError(.unavailable, "\(server) answered with more than \(bytes) bytes")
    case .broken(let reason), .noBody(let reason):
      CaravanError(.unavailable, "\(server) does not speak HTTP, or broke the connection (\(reason)): try again")
    }
  }
}
