import CaravanHTTPServer
import CaravanRuntime
import Testing

private let clock = CaravanRuntime.Host.live().clock

private func serving(
  _ change: (inout HTTPLimits) -> Void, handler: @escaping HTTPServer.Handler = { .text(status: 200, $0.path) },
  _ body: (HTTPServer) async throws -> Void
) async throws {
  var limits = HTTPLimits()
  change(&limits)
  let server = try HTTPServer(address: "127.0.0.1", port: 0, limits: limits, clock: clock, handler: handler)
  try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try await server.run() }
    defer { server.shutDown() }
    try await body(server)
  }
}

/// Goal: nobody takes the server's places by being slow. Method: clients that send a byte now and then.
@Suite(.timeLimit(.minutes(1))) struct HTTPLimitTests {
  @Test(
    "TRU-08: a connection that trickles is ended when its time is over, whatever it trickles",
    arguments: [
      "", "GET /", "GET / HTTP/1.1\r\nHost: h\r\nX: ", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n",
      "GET /first HTTP/1.1\r\nHost: h\r\n\r\n",
    ])
  func trickle(beginning: String) async throws {
    try await serving({
      $0.headTimeout = .milliseconds(300)
      $0.bodyTimeout = .milliseconds(300)
      $0.idleTimeoutSeconds = 1
    }) { server in
      let client = try RawClient(port: server.port)
      await client.send(beginning)
      let begin = clock.now
      while await client.send("x"), clock.now - begin < .seconds(40) { try await clock.sleep(for: .milliseconds(20)) }
      let duration = clock.now - begin
      #expect(duration < .seconds(20), "\(duration)")
      #expect(try await ask(server.port, get("/")).hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test("TRU-08: who does not read their answer is ended when its time is over")
  func slowReader() async throws {
    let body = [UInt8](repeating: 0x78, count: 40_000_000)
    try await serving(
      { $0.answerTimeout = .milliseconds(300) }, handler: { _ in HTTPResponse(status: 200, body: body) }
    ) { server in
      let client = try RawClient(port: server.port)
      await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      // Nothing is read; more than the kernel's buffers hold is never sent.
      let begin = clock.now
      while await client.send("x"), clock.now - begin < .seconds(40) { try await clock.sleep(for: .milliseconds(20)) }
      #expect(clock.now - begin < .seconds(20))
    }
  }

  @Test("TRU-08: a handler may take longer than any of these times")
  func slowHandler() async throws {
    try await serving(
      {
        $0.headTimeout = .milliseconds(100)
        $0.bodyTimeout = .milliseconds(100)
        $0.answerTimeout = .milliseconds(100)
      },
      handler: { _ in
        try? await clock.sleep(for: .milliseconds(700))
        return .text(status: 200, "done")
      }
    ) { server in
      let answer = try await ask(server.port, get("/"))
      #expect(answer.hasSuffix("done\n"))
    }
  }

  @Test("TRU-08: one address has so many connections, and what is over is closed at once; room comes back")
  func perAddress() async throws {
    try await serving({ $0.connectionsPerAddress = 4 }) { server in
      var held: [RawClient] = []
      for index in 0..<4 {
        let client = try RawClient(port: server.port)
        await client.send("GET /\(index) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(await client.receive { $0.hasSuffix("/\(index)\n") }.hasPrefix("HTTP/1.1 200 "))
        held.append(client)
      }
      #expect(try await ask(server.port, get("/over")) == "")
      held.removeAll()
      var answer = ""
      while answer.isEmpty { answer = try await ask(server.port, get("/again")) }
      #expect(answer.hasSuffix("/again\n"))
    }
  }

  @Test("TRU-08: where all places are taken by unfinished heads, the oldest goes for whoever comes")
  func eviction() async throws {
    try await serving({
      $0.connections = 16
      $0.headTimeout = .seconds(60)
    }) { server in
      var slow: [RawClient] = []
      for _ in 0..<16 {
        let client = try RawClient(port: server.port)
        await client.send("GET / HT")
        slow.append(client)
      }
      for index in 0..<8 { #expect(try await ask(server.port, get("/\(index)")).hasSuffix("/\(index)\n")) }
      #expect(await slow[0].receiveAll() == "")
    }
  }

  @Test("TRU-08: behind a trusted proxy the limit holds for whom it names, and nobody else can name anybody")
  func forwarded() async throws {
    let gate = LinkGuard()
    func request(_ client: String) -> String {
      "GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: \(client)\r\nConnection: close\r\n\r\n"
    }
    try await serving(
      {
        $0.connectionsPerAddress = 2
        $0.trustedProxies = [NetworkRange("127.0.0.0/8")].compactMap(\.self)
      },
      handler: { request in
        await gate.pass()
        return .text(status: 200, request.client?.description ?? "?")
      }
    ) { server in
      async let first = ask(server.port, request("203.0.113.5"))
      async let second = ask(server.port, request("198.51.100.1, 203.0.113.5"))
      await gate.arrived(2)
      let third = try await ask(server.port, request("203.0.113.5"))
      #expect(third.hasPrefix("HTTP/1.1 429 ") && third.lowercased().contains("retry-after: "))
      async let other = ask(server.port, request("203.0.113.5, 203.0.113.6"))
      await gate.arrived(3)
      gate.open()
      #expect(try await first.hasSuffix("203.0.113.5\n"))
      #expect(try await second.hasSuffix("203.0.113.5\n"))
      #expect(try await other.hasSuffix("203.0.113.6\n"))
    }
  }

  @Test("TRU-08: who sent a request, for each way to say it")
  func origins() throws {
    let proxies = ["10.0.0.1", "10.0.0.2", "127.0.0.1", "fd00::/8"].compactMap { NetworkRange($0) }
    let table: [(peer: String, forwarded: String?, client: String, isLocal: Bool)] = [
      ("203.0.113.9", nil, "203.0.113.9", false),
      ("127.0.0.1", nil, "127.0.0.1", true),
      ("127.8.9.1", nil, "127.8.9.1", true),
      ("::1", nil, "::1", true),
      ("::ffff:127.0.0.1", nil, "127.0.0.1", true),
      ("203.0.113.9", "1.2.3.4", "203.0.113.9", false),
      ("10.0.0.1", "1.2.3.4", "1.2.3.4", false),
      ("10.0.0.1", "6.6.6.6, 1.2.3.4", "1.2.3.4", false),
      ("10.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.2", "1.2.3.4", false),
      ("10.0.0.1", "6.6.6.6, nonsense, 10.0.0.2", "10.0.0.2", false),
      ("10.0.0.1", nil, "10.0.0.1", false),
      ("fd00::7", "2001:db8::5", "2001:db8::5", false),
      // A proxy of this machine asks for others: no rights of this machine's for them, whatever they write.
      ("127.0.0.1", "1.2.3.4", "1.2.3.4", false),
      ("127.0.0.1", "127.0.0.1", "127.0.0.1", false),
      ("127.8.9.1", "127.0.0.1", "127.8.9.1", false),
    ]
    for (peer, forwarded, client, isLocal) in table {
      let headers: HTTPHeaders = forwarded.map { ["x-forwarded-for": $0] } ?? [:]
      let origin = Origin(peer: NetworkAddress(peer), headers: headers, proxies: proxies)
      #expect(origin.client?.description == client, "\(peer) \(forwarded ?? "-")")
      #expect(origin.isLocal == isLocal, "\(peer) \(forwarded ?? "-")")
    }
    #expect(NetworkAddress("2001:db8:1:2:3:4:5:6")?.block == NetworkAddress("2001:db8:1:2:ffff::1")?.block)
    #expect(NetworkAddress("2001:db8:1:2::1")?.block != NetworkAddress("2001:db8:1:3::1")?.block)
    for text in ["", "10.0.0.1/33", "10.0.0.1/x", "name", "10.0.0.1/8/8", "::/129"] {
      #expect(NetworkRange(text) == nil, "\(text)")
    }
  }
}
