import CaravanBus
import CaravanCrypto
import CaravanGatewayCore
import CaravanHTTPServer
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Foundation
import Testing

@testable import CaravanGatewayDriver

/// Goal: what is the suite's own is not for other machines, and nobody takes enrolment from others. Method: requests
/// that a trusted proxy says are from elsewhere.
@Suite("The gateway's door", .timeLimit(.minutes(2)))
struct DoorTests {
  private static let far = "203.0.113.5"

  private static func trustProxy(_ settings: inout GatewaySettings) {
    settings.limits.trustedProxies = [NetworkRange("127.0.0.1")].compactMap(\.self)
  }

  @Test(
    "TRU-07: figures need a token from another machine, and none from this one",
    arguments: ["/metrics", "/v1/status"])
  func figures(path: String) async throws {
    try await GatewayCluster.with(changing: Self.trustProxy) { cluster in
      #expect(try await cluster.ask("GET", path).status == 200)
      for token in [nil, "wrong", ""] as [String?] {
        let answer = try await cluster.ask("GET", path, admin: token, from: Self.far)
        #expect(answer.status == 401 && answer.errorCode == "notAuthenticated", "\(answer.text)")
        #expect(answer.headers["www-authenticate"] == "Bearer")
      }
      for token in [GatewayCluster.adminToken, GatewayCluster.metricsToken] {
        #expect(try await cluster.ask("GET", path, admin: token, from: Self.far).status == 200)
      }
      // The metrics token opens nothing else.
      #expect(try await cluster.ask("GET", "/v1/devices", admin: GatewayCluster.metricsToken).status == 401)
    }
  }

  @Test("TRU-07: a proxy of this machine that nobody named does not make strangers local")
  func unnamedProxy() async throws {
    try await GatewayCluster.with { cluster in
      for address in [Self.far, "127.0.0.1"] {
        let answer = try await cluster.ask("GET", "/metrics", from: address)
        #expect(answer.status == 401)
      }
    }
  }

  @Test("TRU-07: readiness is for everybody, what is in its way is not")
  func readiness() async throws {
    try await GatewayCluster.with(changing: Self.trustProxy) { cluster in
      #expect(try await cluster.ask("GET", "/readyz").text.contains("caravan-sync"))
      let far = try await cluster.ask("GET", "/readyz", from: Self.far)
      #expect(far.status == 503 && far.text == "not ready\n")
      let known = try await cluster.ask("GET", "/readyz", admin: GatewayCluster.metricsToken, from: Self.far)
      #expect(known.text.contains("caravan-sync"))
      #expect(try await cluster.ask("GET", "/healthz", from: Self.far).status == 200)
    }
  }

  @Test("TRU-08: enrolment has a rate for each address and one for all, and says when to come again")
  func rate() async throws {
    try await GatewayCluster.with { settings in
      Self.trustProxy(&settings)
      settings.enrolment = EnrolmentRate(
        each: Rate(perSecond: 1, burst: 3), all: Rate(perSecond: 1, burst: 5), capacity: 100)
    } _: { cluster in
      let body = #"{"token": "x", "public_key": "\#(try NKey.generate(.user).publicKey.text)"}"#
      func tries(_ count: Int, from address: String) async throws -> [GatewayCluster.Answer] {
        var answers: [GatewayCluster.Answer] = []
        for _ in 0..<count { answers.append(try await cluster.ask("POST", "/v1/enrol", body, from: address)) }
        return answers
      }
      let first = try await tries(8, from: Self.far)
      #expect(first.filter { $0.status == 401 }.count >= 3 && first.contains { $0.status == 429 })
      let refused = try #require(first.first { $0.status == 429 })
      #expect(refused.errorCode == "rateLimited" && (refused.headers["retry-after"].flatMap { Int($0) } ?? 0) >= 1)
      // Another address is let through, until all together are too many.
      let second = try await tries(1, from: "198.51.100.7")
      #expect(second[0].status == 401, "\(second[0].text)")
      var statuses: Set<Int> = []
      for index in 0..<20 { statuses.insert(try await tries(1, from: "192.0.2.\(index)")[0].status) }
      #expect(statuses.contains(429))
    }
  }

  @Test("TRU-08: the table of addresses is bounded, and who is stopped at their own rate takes nothing from all")
  func ledger() {
    var rate = EnrolmentRate(each: Rate(perSecond: 1, burst: 2), all: Rate(perSecond: 1, burst: 1_000), capacity: 10)
    for index in 0..<500 { #expect(rate.take(from: "10.0.0.\(index)", at: 1) == nil) }
    #expect(rate.count <= 10)
    #expect(rate.take(from: "a", at: 2) == nil && rate.take(from: "a", at: 2) == nil)
    for _ in 0..<5_000 { #expect(rate.take(from: "a", at: 2) != nil) }
    #expect(rate.take(from: "b", at: 2) == nil)
    #expect(rate.take(from: "a", at: 2_000_000_003) == nil)
    var open = EnrolmentRate(each: nil, all: nil, capacity: 1)
    for _ in 0..<100 { #expect(open.take(from: "a", at: 0) == nil) }
    #expect(open.count == 0)
  }

  @Test("TRU-08: room is made of addresses that have waited long enough; who has to wait is not forgotten")
  func room() {
    var rate = EnrolmentRate(each: Rate(perSecond: 1, burst: 2), all: nil, capacity: 10)
    for index in 0..<9 { #expect(rate.take(from: "10.0.0.\(index)", at: 0) == nil) }
    let later: UInt64 = 5_000_000_000
    for _ in 0..<2 { #expect(rate.take(from: "a", at: later) == nil) }
    #expect(rate.take(from: "b", at: later) == nil && rate.count == 2)
    #expect(rate.take(from: "a", at: later) != nil)
  }

  @Test("TRU-07: HTTP that other machines reach is refused without a certificate, unless told --insecure")
  func clear() throws {
    let hub = InProcessHub(clock: CaravanRuntime.Host.live().clock, random: SeededRandom(seed: 1))
    func open(_ address: String, _ change: (inout GatewaySettings) -> Void = { _ in }) throws {
      var settings = GatewaySettings(address: address, port: 0, adminToken: "x")
      change(&settings)
      _ = try GatewayService(
        settings, bus: hub.connect(as: "gateway"), host: CaravanRuntime.Host.live(),
        authority: DeviceAuthority(signingKey: .generate(.account), account: NKey.generate(.account).publicKey))
    }
    try open("127.0.0.1")
    for address in ["0.0.0.0", "::"] {
      let error = #expect(throws: CaravanError.self) { try open(address) }
      #expect(error?.code == .invalidData && error?.message.contains("--http-cert") == true)
      #expect(error?.message.contains("--insecure") == true)
    }
    try open("0.0.0.0") { $0.allowsClear = true }
  }

  @Test("TRU-07: the certificate is read again when its files change; a bad pair leaves the old one")
  func certificates() async throws {
    try await withTemporaryDirectory { path in
      let validity = CertificateValidity(notBefore: 1_700_000_000, notAfter: 4_000_000_000)
      let authority = try CertificateAuthority.create(commonName: "test", validity: validity)
      func write(until end: Int64, key: String? = nil) throws {
        let validity = CertificateValidity(notBefore: 1_700_000_000, notAfter: end)
        let pair = try authority.issue(.server, commonName: "h", names: [.ip("127.0.0.1")], validity: validity)
        try TextFile.writeSecret(key ?? pair.privateKey, to: "\(path)/key.pem")
        try TextFile.writeSecret(pair.certificate, to: "\(path)/cert.pem")
      }
      try write(until: 3_000_000_001)
      let log = MemoryLogSink()
      let live = CaravanRuntime.Host.live()
      let host = live.with(log: Log(level: .info, clock: live.clock, sink: log))
      let files = CertificateFiles(certificate: "\(path)/cert.pem", key: "\(path)/key.pem")
      let stamp = files.stamp
      let server = try HTTPServer(
        address: "127.0.0.1", port: 0, clock: host.clock, certificate: files.read()
      ) { .text(status: 200, $0.path) }
      let watch = CertificateWatch(files: files, server: server, host: host)
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await server.run() }
        tasks.addTask { await watch.run(since: stamp) }
        defer {
          server.shutDown()
          tasks.cancelAll()
        }
        #expect(try Self.shown(server.port) == 3_000_000_001)
        try write(until: 3_000_000_002)
        try await eventually("the new one is shown") { try Self.shown(server.port) == 3_000_000_002 }
        try write(until: 3_000_000_003, key: "nonsense")
        try await eventually("the bad one is complained of") {
          log.records.contains { $0.message.contains("cannot be used") }
        }
        #expect(try Self.shown(server.port) == 3_000_000_002)
        try write(until: 3_000_000_004)
        try await eventually("the next one is shown") { try Self.shown(server.port) == 3_000_000_004 }
      }
    }
  }

  /// When the certificate ends that a server shows.
  private static func shown(_ port: UInt16) throws -> Int64 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    #expect(status == 0)
    return try PresentedCertificate(
      on: descriptor, server: "127.0.0.1", authorityFile: nil, certificateFile: nil, keyFile: nil
    ).validity.notAfter
  }
}
