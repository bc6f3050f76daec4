import CaravanHTTPServer
import CaravanRuntime
import Testing

@Suite(.timeLimit(.minutes(1))) struct HTTPShutdownTests {
  @Test("shutting down refuses new connections, finishes what is in flight, then returns")
  func inFlight() async throws {
    let gate = LinkGuard()
    let server = try HTTPServer(address: "127.0.0.1", port: 0, clock: CaravanRuntime.Host.live().clock) { request in
      if request.path == "/slow" { await gate.pass() }
      return .text(status: 200, request.path + (Task.isCancelled ? " cancelled" : ""))
    }
    let port = server.port
    async let running: Void = server.run()
    async let slow = ask(port, get("/slow"))
    await gate.arrived(1)
    let idle = try RawClient(port: port)
    await idle.send("GET /before HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(await idle.receive { $0.hasSuffix("/before\n") }.hasPrefix("HTTP/1.1 200 "))
    server.shutDown()
    server.shutDown()
    while (try? RawClient(port: port)) != nil { await Task.yield() }

    // A connection from before is told to go elsewhere.
    await idle.send("GET /late HTTP/1.1\r\nHost: h\r\n\r\n")
    let late = await idle.receiveAll()
    #expect(late.hasPrefix("HTTP/1.1 503 ") && late.lowercased().contains("connection: close"))

    gate.open()
    #expect(try await slow.hasSuffix("/slow\n"))
    try await running
  }

  @Test("when the drain timeout has passed, those in flight get 503 and the handlers are cancelled")
  func deadline() async throws {
    var limits = HTTPLimits()
    limits.drainTimeout = .milliseconds(50)
    let (gate, released) = (LinkGuard(), LinkGuard())
    let server = try HTTPServer(address: "127.0.0.1", port: 0, limits: limits, clock: CaravanRuntime.Host.live().clock)
    { _ in
      await withTaskCancellationHandler {
        await gate.pass()
      } onCancel: {
        gate.open()
      }
      await released.pass()
      return .text(status: 200, "too late")
    }
    async let running: Void = server.run()
    async let stuck = ask(server.port, get("/stuck"))
    await gate.arrived(1)
    // A client that never finishes its request does not hold up the end, either.
    let half = try RawClient(port: server.port)
    await half.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n")
    #expect(await half.receive { $0.hasSuffix("\r\n\r\n") }.hasPrefix("HTTP/1.1 100 "))
    await half.send("half")
    server.shutDown()
    #expect(try await stuck.hasPrefix("HTTP/1.1 503 "))
    await released.arrived(1)
    released.open()
    try await running
    #expect(await half.receiveAll() == "")
  }

  @Test("cancelling run cancels the handlers, and their answers still arrive")
  func cancellation() async throws {
    let gate = LinkGuard()
    let server = try HTTPServer(address: "127.0.0.1", port: 0, clock: CaravanRuntime.Host.live().clock) { _ in
      await withTaskCancellationHandler {
        await gate.pass()
      } onCancel: {
        gate.open()
      }
      return .text(status: 200, Task.isCancelled ? "cancelled" : "not cancelled")
    }
    let port = server.port
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      async let one = ask(port, get("/1"))
      async let two = ask(port, get("/2"))
      await gate.arrived(2)
      group.cancelAll()
      let (first, second) = (try await one, try await two)
      #expect(first.hasSuffix("\r\ncancelled\n") && second.hasSuffix("\r\ncancelled\n"))
      try await group.waitForAll()
    }
    #expect(throws: ConnectionRefused.self) { try RawClient(port: port) }
  }

  @Test("a server told to shut down before it runs returns at once; one never run frees its port")
  func early() async throws {
    let server = try HTTPServer(address: "127.0.0.1", port: 0, clock: CaravanRuntime.Host.live().clock) { _ in
      .text(status: 200, "")
    }
    server.shutDown()
    try await server.run()
    var port: UInt16 = 0
    do {
      let unused = try HTTPServer(address: "127.0.0.1", port: 0, clock: CaravanRuntime.Host.live().clock) { _ in
        .text(status: 200, "")
      }
      port = unused.port
    }
    _ = try HTTPServer(address: "127.0.0.1", port: port, clock: CaravanRuntime.Host.live().clock) { _ in
      .text(status: 200, "")
    }
  }

  @Test("load while shutting down: each request is answered or its connection closed, run returns", arguments: 0..<10)
  func underLoad(round: Int) async throws {
    let server = try HTTPServer(address: "127.0.0.1", port: 0, clock: CaravanRuntime.Host.live().clock) { _ in
      await Task.yield()
      return .text(status: 200, "done")
    }
    let port = server.port
    async let running: Void = server.run()
    let answered = LinkGuard()
    answered.open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<16 {
        group.addTask {
          while let client = try? RawClient(port: port) {
            await client.send(get("/"))
            let answer = await client.receiveAll()
            // Connections the kernel had accepted and MHD had not are closed unanswered.
            #expect(answer == "" || answer.hasSuffix("\r\n\r\ndone\n") || answer.hasPrefix("HTTP/1.1 503 "))
            await answered.pass()
          }
        }
      }
      await answered.arrived(50)
      server.shutDown()
      try await group.waitForAll()
    }
    try await running
  }
}
