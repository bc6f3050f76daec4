import CaravanCrypto
import CaravanHTTPClient
import CaravanHTTPServer
import CaravanModel
import CaravanRuntime
import Foundation
import Testing

/// Goal: HTTP speaks TLS with a certificate that may be replaced. Method: a server, libcurl, and an authority of the
/// test's own.
@Suite(.timeLimit(.minutes(1))) struct HTTPSTests {
  private let authority: CertificateAuthority
  private let directory: URL
  private let validity = CertificateValidity(notBefore: 1_700_000_000, notAfter: 4_000_000_000)

  init() throws {
    authority = try CertificateAuthority.create(commonName: "test", validity: validity)
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("caravan-https-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try Data(authority.certificate.utf8).write(to: directory.appendingPathComponent("ca.pem"))
  }

  private func pair(_ name: CertificateName) throws -> CertificatePair {
    try authority.issue(.server, commonName: "server", names: [name], validity: validity)
  }

  private func certificate(_ pair: CertificatePair) throws -> HTTPCertificate {
    try HTTPCertificate(certificate: pair.certificate, key: pair.privateKey)
  }

  private func serving(
    _ pair: CertificatePair, _ change: (inout HTTPLimits) -> Void = { _ in }, _ body: (HTTPServer) async throws -> Void
  ) async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    var limits = HTTPLimits()
    change(&limits)
    let server = try HTTPServer(
      address: "127.0.0.1", port: 0, limits: limits, clock: CaravanRuntime.Host.live().clock,
      certificate: certificate(pair)
    ) { request in
      .text(status: 200, "\(request.method) \(request.path) \(request.body.count)")
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      defer { server.shutDown() }
      try await body(server)
    }
  }

  private func client(trusting file: String? = "ca.pem") throws -> Asker {
    try Asker(file.map { directory.appendingPathComponent($0).path })
  }

  @Test("TRU-07: HTTPS answers who knows its authority, and nobody takes it for another")
  func roundTrip() async throws {
    try await serving(pair(.ip("127.0.0.1"))) { server in
      let url = "https://127.0.0.1:\(server.port)"
      let answer = try await client().ask(HTTPCall("PUT", "\(url)/a", body: .bytes([1, 2, 3])))
      #expect(answer.status == 200 && String(decoding: answer.body, as: UTF8.self) == "PUT /a 3\n")
      for (file, address) in [(nil, url), ("ca.pem", "https://localhost:\(server.port)")] as [(String?, String)] {
        let failure = await #expect(throws: HTTPFailure.self) {
          try await client(trusting: file).ask(HTTPCall("GET", address))
        }
        guard case .untrusted = failure else { return #expect(Bool(false), "\(String(describing: failure))") }
      }
      // Without TLS nothing is answered.
      #expect(try await ask(server.port, get("/")) == "")
    }
  }

  @Test("TRU-07: a replaced certificate is shown to new connections, and those from before go on")
  func replaced() async throws {
    try await serving(pair(.ip("127.0.0.1"))) { server in
      let url = "https://127.0.0.1:\(server.port)/"
      let early = try client()
      #expect(try await early.ask(HTTPCall("GET", url)).status == 200)
      // One that is for another name shows which of them was presented.
      try server.use(certificate(pair(.dns("elsewhere"))))
      await #expect(throws: HTTPFailure.self) { try await client().ask(HTTPCall("GET", url)) }
      #expect(try await early.ask(HTTPCall("GET", url)).status == 200)
      try server.use(certificate(pair(.ip("127.0.0.1"))))
      #expect(try await client().ask(HTTPCall("GET", url)).status == 200)
      for _ in 0..<50 { #expect(try await client().ask(HTTPCall("GET", url)).status == 200) }
    }
  }

  @Test("TRU-08: a handshake that never ends is ended")
  func slowHandshake() async throws {
    try await serving(pair(.ip("127.0.0.1")), { $0.headTimeout = .milliseconds(300) }) { server in
      let client = try RawClient(port: server.port)
      await client.send([0x16, 3, 1, 2, 0, 1])
      let clock = CaravanRuntime.Host.live().clock
      let begin = clock.now
      _ = await client.receiveAll()
      #expect(clock.now - begin < .seconds(15))
    }
  }

  @Test("TRU-07: a certificate and a key that do not belong together are refused, and so is what is none")
  func mismatched() throws {
    let (one, two) = (try pair(.dns("a")), try pair(.dns("b")))
    for (first, second, says) in [
      (one.certificate, two.privateKey, "not that of the certificate"), ("nonsense", one.privateKey, "PEM"),
      (one.certificate, "nonsense", "PEM"), ("", "", "PEM"),
    ] {
      let error = #expect(throws: CaravanError.self) { try HTTPCertificate(certificate: first, key: second) }
      #expect(error?.code == .invalidData && error?.message.contains(says) == true, "\(error?.message ?? "")")
    }
  }
}

/// Goal: a client takes no more than it was to, of nobody but whom it asked. Method: servers that misbehave.
@Suite(.timeLimit(.minutes(1))) struct HTTPClientTests {
  private func serving(
    _ handler: @escaping HTTPServer.Handler, _ body: (String) async throws -> Void
  ) async throws {
    let server = try HTTPServer(
      address: "127.0.0.1", port: 0, clock: CaravanRuntime.Host.live().clock, handler: handler)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      defer { server.shutDown() }
      try await body("http://127.0.0.1:\(server.port)")
    }
  }

  @Test("TRU-07: answers are bounded in bytes and in time, and no redirect is followed")
  func bounded() async throws {
    let gate = LinkGuard()
    try await serving({ request in
      switch request.path {
      case "/long": return HTTPResponse(status: 200, body: [UInt8](repeating: 1, count: 100_000))
      case "/away": return HTTPResponse(status: 302, headers: ["location": "/long"])
      case "/slow":
        await gate.pass()
        return .text(status: 200, "late")
      default: return .text(status: 404, "no")
      }
    }) { url in
      var limits = HTTPClientLimits()
      limits.answerBytes = 99_999
      let asker = try Asker(nil, limits)
      limits.total = .milliseconds(300)
      let hasty = try Asker(nil, limits)
      await #expect(throws: HTTPFailure.tooLong(99_999)) { try await asker.ask(HTTPCall("GET", "\(url)/long")) }
      #expect(try await asker.ask(HTTPCall("GET", "\(url)/away")).status == 302)
      #expect(try await asker.ask(HTTPCall("GET", "\(url)/none")).status == 404)
      await #expect(throws: HTTPFailure.timedOut) { try await hasty.ask(HTTPCall("GET", "\(url)/slow")) }
      gate.open()
    }
  }
}

/// Blocking calls of one client, on a thread of their own.
private final class Asker: Sendable {
  private let client: HTTPClient
  private let limits: HTTPClientLimits
  private let queue = DispatchQueue(label: "asker")

  init(_ authority: String?, _ limits: HTTPClientLimits = HTTPClientLimits()) throws {
    client = try HTTPClient(authorityFile: authority)
    // Other tests load the machine.
    var limits = limits
    limits.connect = .seconds(50)
    self.limits = limits
  }

  func ask(_ call: HTTPCall) async throws -> HTTPAnswer {
    try await withCheckedThrowingContinuation { continuation in
      queue.async {
        continuation.resume(with: Result { try self.client.performBlocking(call, limits: self.limits) })
      }
    }
  }
}
