internal import CaravanCLICore
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// Where a suite listens, and nobody else that is starting.
struct Addresses: Sendable {
  let http: HostPort
  let nats: HostPort
  /// Under which others reach the broker.
  let names: [String]
  private let claims: [PortClaim]

  /// - Parameters:
  ///   - http: as asked for.
  ///   - nats: as asked for.
  ///   - earlier: the last run.
  /// - Throws: as `choose`.
  init(
    http givenHTTP: HostPort?, nats givenNATS: HostPort?, after earlier: RunFile?, names: [String],
    random: any RandomSource
  ) throws(CaravanError) {
    if let port = givenHTTP?.port, port > 0, port == givenNATS?.port {
      throw CaravanError(.invalidData, "--http and --nats have the same port: choose another for one of them")
    }
    func chooseHTTP() throws(CaravanError) -> Claimed {
      try Self.choose(givenHTTP, earlier?.http, HostPort("127.0.0.1", 8080), "--http", random)
    }
    // What was asked for goes before what is usual.
    let early = givenNATS == nil ? try chooseHTTP() : nil
    let nats = try Self.choose(givenNATS, earlier?.nats, HostPort("127.0.0.1", 4222), "--nats", random)
    let http = if let early { early } else { try chooseHTTP() }
    guard names.isEmpty || !nats.address.isLoopback || !http.address.isLoopback else {
      throw CaravanError(
        .invalidData,
        "--tls-name: there is no TLS at \(nats.address) and \(http.address), which are for this machine alone; say "
          + "--nats 0.0.0.0:4222 or --http 0.0.0.0:8443")
    }
    self.http = http.address
    self.nats = nats.address
    self.names = names
    claims = [http.claim, nats.claim]
  }

  /// Once the suite has ended.
  func release() { for claim in claims { claim.release() } }

  /// An address whose port is this process's.
  struct Claimed: Sendable {
    let address: HostPort
    let claim: PortClaim
  }

  /// - Parameters:
  ///   - given: by the flag.
  ///   - earlier: of the last run, a URL, that devices know.
  /// - Returns: the address given; else that of the last run; else the usual one; else any that is free.
  /// - Throws: `invalidData` for an address given that is none; `unavailable` when another has it, or is about to.
  static func choose(
    _ given: HostPort?, _ earlier: String?, _ usual: HostPort, _ flag: String, _ random: any RandomSource
  ) throws(CaravanError) -> Claimed {
    if let given { return try claim(given, flag, random) }
    let known = earlier?.split(separator: "/").last.flatMap { HostPort(flagText: String($0)) }
    if let known, known.isLoopback, let claimed = claim(known) { return claimed }
    return if let claimed = claim(usual) { claimed } else { try claimFree(at: usual.host, random) }
  }

  private static func claim(
    _ given: HostPort, _ flag: String, _ random: any RandomSource
  ) throws(CaravanError) -> Claimed {
    var given = given
    if given.host == "localhost" { given.host = "127.0.0.1" }
    guard unsafe inet_addr(given.host) != INADDR_NONE else {
      throw CaravanError(.invalidData, "\(flag) \(given): give a numeric IPv4 address, such as 127.0.0.1 or 0.0.0.0")
    }
    guard given.port > 0 else { return try claimFree(at: given.host, random) }
    guard isFree(given) else {
      throw CaravanError(.unavailable, "\(flag) \(given): somebody listens there already, choose another port")
    }
    guard let claimed = claim(given) else {
      throw CaravanError(
        .unavailable, "\(flag) \(given): another caravan up that starts just now listens there, choose another port")
    }
    return claimed
  }

  private static func claimFree(at host: String, _ random: any RandomSource) throws(CaravanError) -> Claimed {
    for _ in 0..<freePortsTried {
      let address = HostPort(host, try LoopbackPort.free(random: random))
      if let claimed = claim(address) { return claimed }
    }
    throw CaravanError(
      .unavailable, "no port can be claimed at \(host) (\(freePortsTried) tried): may this process have unix sockets?")
  }

  private static let freePortsTried = 20

  /// Whoever claims it first and listens later is noticed either way.
  private static func claim(_ address: HostPort) -> Claimed? {
    guard let claim = PortClaim(address.port), isFree(address) else { return nil }
    return Claimed(address: address, claim: claim)
  }

  private static func isFree(_ address: HostPort) -> Bool {
    !LoopbackPort.accepts(address.port, at: address.reachable.host)
  }
}
