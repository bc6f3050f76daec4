import CaravanHTTPServer
import CaravanModel
import CaravanRuntime
import Foundation
import Testing

/// Runs a server for the time of the test's body, then shuts it down and waits for it.
private func serving(
  limits: HTTPLimits = HTTPLimits(), handler: @escaping HTTPServer.Handler,
  _ body: (HTTPServer) async throws -> Void
) async throws {
  let server = try HTTPServer(
    address: "127.0.0.1", port: 0, limits: limits, clock: CaravanRuntime.Host.live().clock, handler: handler)
  try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try await server.run() }
    defer { server.shutDown() }
    try await body(server)
  }
}

private func describe(_ request: HTTPRequest) -> HTTPResponse {
  let lines = [
    request.method, request.path, request.segments.joined(separator: "|"),
    request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "|"), request.headers["x-test"] ?? "none",
    String(decoding: request.body, as: UTF8.self), request.peer,
  ]
  return .text(status: 200, lines.joined(separator: "\n"))
}

@Suite(.timeLimit(.minutes(1))) struct HTTPServerTests {
  @Test("a request arrives decoded, and the answer goes back")
  func roundTrip() async throws {
    try await serving(handler: describe) { server in
      let answer = try await ask(
        server.port,
        """
        POST /a/b%20c/d%2Fe?x=1+2&y=%C3%BC&z HTTP/1.1\r\nHost: h\r\nX-Test: one\r\nx-test: two\r\n\
        Content-Length: 5\r\nConnection: close\r\n\r\nhello
        """)
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
      let lines = "POST\n/a/b c/d/e\na|b c|d/e\nx=1 2|y=ü|z=\none, two\nhello\n127.0.0.1\n"
      #expect(answer.hasSuffix("\r\n\r\n" + lines))
    }
  }

  @Test("one connection carries many requests, chunked bodies too")
  func keepAlive() async throws {
    try await serving(handler: describe) { server in
      let client = try RawClient(port: server.port)
      for index in 0..<20 {
        await client.send("GET /\(index) HTTP/1.1\r\nHost: h\r\n\r\n")
        let answer = await client.receive { $0.hasSuffix("127.0.0.1\n") }
        #expect(answer.contains("GET\n/\(index)\n"))
      }
      await client.send("PUT /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
      await client.send("3\r\nabc\r\n")
      await client.send("2\r\nde\r\n0\r\n\r\n")
      #expect(await client.receive { $0.hasSuffix("127.0.0.1\n") }.contains("\nabcde\n"))
    }
  }

  @Test(
    "a request whose end is told in two ways is refused, and nothing behind it is taken for another (RFC 9112, 6.3)",
    arguments: [
      "Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: 6\r\nX: y\r\ncontent-length: 5\r\n",
      "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
    ])
  func ambiguousEnds(headers: String) async throws {
    let handled = Mutex(0)
    try await serving(handler: { request in
      handled.withLock { $0 += 1 }
      return describe(request)
    }) { server in
      let answer = try await ask(
        server.port, "POST /a HTTP/1.1\r\nHost: h\r\n\(headers)\r\n5\r\nhello\r\n0\r\n\r\n\(get("/b"))")
      #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
      #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2, "\(answer)")
      #expect(answer.lowercased().contains("connection: close"))
      let same =
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
      #expect(try await ask(server.port, same).hasPrefix("HTTP/1.1 200 "))
    }
    #expect(handled.withLock { $0 } == 1)
  }

  @Test("HEAD is answered without a body")
  func head() async throws {
    try await serving(handler: describe) { server in
      let answer = try await ask(server.port, "HEAD /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 200") && answer.hasSuffix("\r\n\r\n"))
    }
  }

  @Test("a hundred clients at once get each their own answer")
  func concurrent() async throws {
    try await serving(handler: describe) { server in
      let port = server.port
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for index in 0..<100 {
          group.addTask {
            for round in 0..<5 {
              let answer = try await ask(port, get("/\(index)/\(round)"))
              guard answer.contains("\n\(index)|\(round)\n") else { return false }
            }
            return true
          }
        }
        for try await correct in group { #expect(correct) }
      }
    }
  }

  @Test("a slow handler holds nobody else")
  func slow() async throws {
    let gate = LinkGuard()
    try await serving(handler: { request in
      if request.path == "/slow" { await gate.pass() }
      return .text(status: 200, request.path)
    }) { server in
      async let slow = ask(server.port, get("/slow"))
      await gate.arrived(1)
      for _ in 0..<10 {
        let fast = try await ask(server.port, get("/fast"))
        #expect(fast.hasSuffix("/fast\n"))
      }
      gate.open()
      let answer = try await slow
      #expect(answer.hasSuffix("/slow\n"))
    }
  }

  @Test("over the bound of requests in flight the answer is 503 at once, and room comes back")
  func busy() async throws {
    let gate = LinkGuard()
    var limits = HTTPLimits()
    limits.inFlight = 2
    limits.retryAfterSeconds = 7
    try await serving(
      limits: limits,
      handler: { request in
        await gate.pass()
        return .text(status: 200, request.path)
      }
    ) { server in
      async let first = ask(server.port, get("/1"))
      async let second = ask(server.port, get("/2"))
      await gate.arrived(2)
      let refused = try await ask(server.port, get("/3"))
      #expect(refused.hasPrefix("HTTP/1.1 503 ") && refused.lowercased().contains("retry-after: 7\r\n"))
      gate.open()
      #expect(try await first.hasSuffix("/1\n"))
      #expect(try await second.hasSuffix("/2\n"))
      #expect(try await ask(server.port, get("/4")).hasPrefix("HTTP/1.1 200"))
    }
  }

  @Test("a body over the limit is answered 413, whether its length is stated or not, and never handled")
  func tooLarge() async throws {
    var limits = HTTPLimits()
    limits.bodyBytes = 1000
    let handled = Mutex(0)
    try await serving(
      limits: limits,
      handler: { request in
        handled.withLock { $0 += 1 }
        return .text(status: 200, "\(request.body.count)")
      }
    ) { server in
      let head = "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
      let body = String(repeating: "x", count: 1000)
      let fitting = try await ask(server.port, head + "Content-Length: 1000\r\n\r\n" + body)
      #expect(fitting.hasSuffix("\r\n1000\n"))
      // Answered without the body having been sent at all.
      #expect(try await ask(server.port, head + "Content-Length: 1001\r\n\r\n").hasPrefix("HTTP/1.1 413 "))
      let chunk = "1f4\r\n" + String(repeating: "x", count: 500) + "\r\n"
      let chunked = head + "Transfer-Encoding: chunked\r\n\r\n" + chunk + chunk
      #expect(try await ask(server.port, chunked + "0\r\n\r\n").hasSuffix("\r\n1000\n"))
      #expect(try await ask(server.port, chunked + "1\r\nx\r\n0\r\n\r\n").hasPrefix("HTTP/1.1 413 "))

      let endless = try RawClient(port: server.port)
      await endless.send(head + "Transfer-Encoding: chunked\r\n\r\n")
      var chunks = 0
      while await endless.send(chunk), chunks < 100_000 { chunks += 1 }
      #expect(chunks < 100_000, "the server reads an endless body for ever")
      #expect(handled.withLock { $0 } == 2)
    }
  }

  @Test(
    "malformed requests are refused and never handled",
    arguments: [
      "GET nowhere HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
      get("/%zz"), get("/%4"), get("/a?x=%"),
      get("/%FF"), get("/%00"), "GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -5\r\nConnection: close\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5x\r\nConnection: close\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nno colon here\r\n\r\n",
    ])
  func malformed(request: String) async throws {
    try await serving(handler: describe) { server in
      let (bad, good) = (try await ask(server.port, request), try await ask(server.port, get("/")))
      #expect(bad.hasPrefix("HTTP/1.1 400 "))
      #expect(good.hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test("what is no request line at all ends the connection")
  func garbage() async throws {
    try await serving(handler: describe) { server in
      let (bad, good) = (try await ask(server.port, "GARBAGE\r\n\r\n"), try await ask(server.port, get("/")))
      #expect(bad == "")
      #expect(good.hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test("a head over the limit is refused")
  func headTooLarge() async throws {
    var limits = HTTPLimits()
    limits.headBytes = 4096
    try await serving(limits: limits, handler: describe) { server in
      let long = String(repeating: "x", count: 10_000)
      let target = try await ask(server.port, get("/\(long)"))
      #expect(target.hasPrefix("HTTP/1.1 414 "))
      let headers = try await ask(server.port, "GET / HTTP/1.1\r\nHost: h\r\nX: \(long)\r\n\r\n")
      #expect(headers.hasPrefix("HTTP/1.1 431 "))
    }
  }

  @Test("an answer of many megabytes arrives whole")
  func longAnswer() async throws {
    let body = (0..<3_000_000).map { UInt8(97 + $0 % 23) }
    try await serving(handler: { _ in HTTPResponse(status: 200, body: body) }) { server in
      let answer = try await ask(server.port, get("/"))
      #expect(answer.hasSuffix("\r\n\r\n" + String(decoding: body, as: UTF8.self)))
    }
  }

  @Test("repeated headers are kept, forbidden ones become a 500")
  func answerHeaders() async throws {
    try await serving(handler: { request in
      var response = HTTPResponse.text(status: 201, "made")
      response.headers.add("Set-Cookie", "a=1")
      response.headers.add("Set-Cookie", "b=2")
      if request.path == "/bad" { response.headers["x-bad"] = "line\r\nbreak" }
      return response
    }) { server in
      let good = try await ask(server.port, get("/good"))
      #expect(good.hasPrefix("HTTP/1.1 201 "))
      #expect(good.contains("set-cookie: a=1\r\n") && good.contains("set-cookie: b=2\r\n"))
      #expect(try await ask(server.port, get("/bad")).hasPrefix("HTTP/1.1 500 "))
    }
  }

  @Test("clients that go away in the middle do no harm, and are noticed: the server need not drain them")
  func disconnect() async throws {
    let gate = LinkGuard()
    var limits = HTTPLimits()
    limits.drainTimeout = .seconds(600)
    try await serving(
      limits: limits,
      handler: { request in
        if request.path == "/gone" { await gate.pass() }
        return .text(status: 200, String(repeating: "x", count: 1 << 20))
      }
    ) { server in
      for index in 1...20 {
        var client: RawClient? = try RawClient(port: server.port)
        await client?.send(get("/gone"))
        await gate.arrived(index)
        client = nil
        _ = try await RawClient(port: server.port).send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhalf")
      }
      gate.open()
      #expect(try await ask(server.port, get("/")).hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test("a port in use and an address that is none are refused with a clear line")
  func cannotListen() throws {
    let server = try HTTPServer(
      address: "127.0.0.1", port: 0, clock: CaravanRuntime.Host.live().clock, handler: describe)
    #expect(server.port > 0)
    func message(_ address: String, _ port: UInt16) -> String {
      do throws(CaravanError) {
        _ = try HTTPServer(address: address, port: port, clock: CaravanRuntime.Host.live().clock, handler: describe)
        return "none"
      } catch {
        return error.message
      }
    }
    #expect(message("127.0.0.1", server.port).contains("port \(server.port): Address already in use; free the port"))
    #expect(message("nobody.example", 0).contains("not a numeric address"))
    #expect(message("::1", 0) == "none" || message("::1", 0).contains("Cannot assign"))
  }
}
