import CaravanBus
import CaravanCrypto
import CaravanEncoding
import CaravanHTTPServer
import CaravanModel
import CaravanPushCore
import CaravanPushDriver
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

/// A server on loopback that takes what is pushed, and answers as it is told.
private final class Receiver: Sendable {
  typealias Answer = @Sendable (HTTPRequest) async -> HTTPResponse

  let server: HTTPServer
  private let seen = Mutex<[HTTPRequest]>([])

  init(_ answer: @escaping Answer) throws {
    let relay = Mutex<Receiver?>(nil)
    server = try HTTPServer(
      address: "127.0.0.1", port: 0, limits: HTTPLimits(), clock: CaravanRuntime.Host.live().clock
    ) { request in
      relay.withLock { $0 }?.seen.withLock { $0.append(request) }
      return await answer(request)
    }
    relay.withLock { $0 = self }
  }

  var requests: [HTTPRequest] { seen.withLock { $0 } }
  var address: HostPort { HostPort("127.0.0.1", server.port) }
  var url: String { "http://\(address)/hook" }
}

/// Goal: a notification reaches its target, and no target reaches anything else. Method: the service on a bus in this
/// process, servers on loopback, which the operator allows or does not.
@Suite("Pushes", .timeLimit(.minutes(1))) struct DeliveryTests {
  private static let key = Swift.Result { try P256PrivateKey.generate() }
  private static let ring = Swift.Result { KeyRing(try TicketKey.generate()) }

  /// - Parameter allows: whether the receiver's address may be called.
  private static func with(
    allows: Bool = true, _ answer: @escaping Receiver.Answer,
    _ body: @Sendable (any MessageBus, Receiver) async throws -> Void
  ) async throws {
    let live = CaravanRuntime.Host.live()
    let host = live.with(log: Log(level: .error, clock: live.clock, sink: NullLogSink()))
    let receiver = try Receiver(answer)
    let hub = InProcessHub(clock: host.clock, random: host.random)
    var settings = PushSettings(key: try key.get())
    settings.origin = "cloud.example.org"
    if allows { settings.exceptions = [receiver.address] }
    let service = try PushService(settings, keys: ring.get(), bus: hub.connect(as: "push"), host: host)
    let bus = hub.connect(as: "test")
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await hub.run() }
      group.addTask { try await receiver.server.run() }
      group.addTask { try await service.run() }
      defer {
        receiver.server.shutDown()
        group.cancelAll()
      }
      try await eventually("the service answers") {
        (try? await bus.call(
          RegisterTargetRequest(), to: .service(.push, method: "register"), as: RegisterTargetReply.self)) != nil
      }
      try await body(bus, receiver)
    }
  }

  private static func hook(_ url: String) -> StoredTarget {
    StoredTarget(target: PushTarget(id: "hook", webhook: Webhook(url: url)), registration: [7])
  }

  private static func delivery(to target: StoredTarget, container: String = "chat") throws -> DeliverRequest {
    typealias Field = NotificationLog.Field
    let record = RecordFields([
      Field.reason.rawValue: .text("enters"), Field.subscription.rawValue: .text("mine"),
      Field.number.rawValue: .integer(3), Field.at.rawValue: .integer(1_700_000_000_000),
    ])
    return DeliverRequest(
      target: target, id: "n_3", container: container, environment: "development", notification: record.body,
      seconds: 60)
  }

  private static func deliver(
    to url: String, container: String = "chat", isRetry: Bool = false, on bus: any MessageBus
  ) async throws -> DeliverReply {
    var request = try delivery(to: hook(url), container: container)
    request.isRetry = isRetry
    return try await bus.call(request, to: .service(.push, method: "deliver"), deadline: .seconds(20))
  }

  @Test("CK-85: an event arrives with its id and a signature that its server's secret checks")
  func taken() async throws {
    try await Self.with({ _ in HTTPResponse(status: 204) }) { bus, receiver in
      let registered: RegisterTargetReply = try await bus.call(
        RegisterTargetRequest(), to: .service(.push, method: "register"))
      #expect(registered.serverKey == (try Self.key.get().publicKey.bytes) && registered.secret.isEmpty)
      let reply = try await Self.deliver(to: receiver.url, on: bus)
      #expect(reply.outcome == .taken && reply.status == 204)
      let request = try #require(receiver.requests.first)
      #expect(request.method == "POST" && request.path == "/hook" && request.headers["webhook-id"] == "n_3")
      #expect(request.headers["content-type"]?.hasPrefix("application/cloudevents+json") == true)
      #expect(try JSON.parse(request.body)["data"]?["number"] == 3)
      #expect(request.headers["authorization"] == nil)
    }
  }

  @Test("CK-85: a webhook is kept whose server says that it wants events; its secret is told")
  func registration() async throws {
    let allowed = Mutex("cloud.example.org")
    try await Self.with({ request in
      guard request.method == "OPTIONS" else { return HTTPResponse(status: 405) }
      return HTTPResponse(
        status: 200, headers: ["WebHook-Allowed-Origin": allowed.withLock { $0 }, "WebHook-Allowed-Rate": "60"])
    }) { bus, receiver in
      func register(_ target: StoredTarget) async throws -> RegisterTargetReply {
        try await bus.call(
          RegisterTargetRequest(target: target, container: "chat"), to: .service(.push, method: "register"),
          deadline: .seconds(20))
      }
      let reply = try await register(Self.hook(receiver.url))
      #expect(reply.secret.hasPrefix("whsec_") && reply.perMinute == 60)
      #expect(receiver.requests.first?.headers["webhook-request-origin"] == "cloud.example.org")
      #expect(try await register(Self.hook(receiver.url)).secret == reply.secret)
      allowed.withLock { $0 = "somebody.else" }
      var error = await #expect(throws: CaravanError.self) { try await register(Self.hook(receiver.url)) }
      #expect(error?.code == .accessDenied)
      for target in [
        PushTarget(id: "both", webPush: WebPushEndpoint(url: receiver.url), webhook: Webhook(url: receiver.url)),
        PushTarget(id: "none"), PushTarget(id: "clear", webhook: Webhook(url: "http://hook.example.org/")),
        PushTarget(id: "keys", webPush: WebPushEndpoint(url: receiver.url, key: [4], secret: [1])),
      ] {
        error = await #expect(throws: CaravanError.self) {
          try await register(StoredTarget(target: target, registration: [7]))
        }
        #expect(error?.code == .invalidData, "\(target.id)")
      }
    }
  }

  @Test(
    "CK-85: what a server answers decides what becomes of an event; nobody goes where it points",
    arguments: [
      (302, [("location", "/elsewhere")], .later, 0), (404, [], .gone, 0), (410, [], .gone, 0), (400, [], .refused, 0),
      (429, [("retry-after", "7")], .later, 7), (503, [], .later, 0),
    ] as [(Int, [(String, String)], DeliveryOutcome, UInt32)])
  func answers(status: Int, headers: [(String, String)], outcome: DeliveryOutcome, wait: UInt32) async throws {
    try await Self.with({ _ in
      var all = HTTPHeaders()
      for (name, value) in headers { all.add(name, value) }
      return HTTPResponse(status: status, headers: all, body: Array("secret of the operator's network".utf8))
    }) { bus, receiver in
      let reply = try await Self.deliver(to: receiver.url, on: bus)
      #expect(reply.outcome == outcome && reply.status == UInt32(status) && reply.waitSeconds == wait)
      #expect(reply.problem == "the server answered with status \(status)", "and nothing of what it said")
      #expect(receiver.requests.count == 1)
    }
  }

  @Test("CK-85: an answer that has no end is not read to its end")
  func longAnswer() async throws {
    try await Self.with({ _ in HTTPResponse(status: 200, body: [UInt8](repeating: 65, count: 1 << 20)) }) {
      bus, receiver in
      let reply = try await Self.deliver(to: receiver.url, on: bus)
      #expect(reply.outcome == .later && reply.status == 0 && reply.problem == "its answer is too long")
    }
  }

  @Test(
    "CK-85: an address of the operator's own network is not called, however it is written",
    arguments: [
      "https://127.0.0.1:%/", "https://localhost:%/", "https://127.1:%/", "https://0x7f000001:%/",
      "https://2130706433:%/", "https://[::1]:%/", "https://[::ffff:127.0.0.1]:%/", "https://0.0.0.0:%/",
    ])
  func forbidden(form: String) async throws {
    try await Self.with(allows: false, { _ in HTTPResponse(status: 200) }) { bus, receiver in
      let url = form.replacing("%", with: "\(receiver.server.port)")
      let reply = try await Self.deliver(to: url, on: bus)
      #expect(reply.outcome == .later && reply.status == 0)
      #expect(["its name means no public address", "nobody answers there"].contains(reply.problem), "\(reply.problem)")
      let error = await #expect(throws: CaravanError.self) { try await Self.deliver(to: receiver.url, on: bus) }
      #expect(error?.code == .invalidData, "in clear")
      #expect(receiver.requests.isEmpty)
    }
  }

  @Test("CK-85: a server that hangs holds up few others, and one that hung before fewer")
  func shares() async throws {
    let release = Latch()
    try await Self.with({ request in
      if request.path == "/hangs" { await release.wait() }
      return HTTPResponse(status: 200)
    }) { bus, receiver in
      // Another spelling of the host is another one.
      let other = "https://localhost:\(receiver.server.port)/"
      func isBusy(_ url: String, of container: String = "chat", isRetry: Bool = false) async throws -> Bool {
        do { _ = try await Self.deliver(to: url, container: container, isRetry: isRetry, on: bus) } catch {
          return (error as? CaravanError)?.code == .serverBusy
        }
        return false
      }
      try await withThrowingTaskGroup(of: DeliverReply.self) { group in
        func hang(_ container: String) {
          for _ in 0..<PushLimits.retryLanesPerContainer {
            group.addTask {
              try await Self.deliver(
                to: "http://\(receiver.address)/hangs", container: container, isRetry: true, on: bus)
            }
          }
        }
        hang("chat")
        try await eventually("some hang") { receiver.requests.count == PushLimits.retryLanesPerContainer }
        #expect(try await isBusy(other, isRetry: true), "tries again of one app")
        #expect(try await !isBusy(other, of: "mail", isRetry: true), "another app has its own share")
        hang("mail")
        try await eventually("all of them hang") { receiver.requests.count == PushLimits.lanesPerHost }
        #expect(try await isBusy(receiver.url, of: "notes"), "to one host")
        // There are lanes left, but not for those that failed before.
        #expect(try await isBusy(other, of: "notes", isRetry: true), "tries again")
        #expect(try await Self.deliver(to: other, on: bus).outcome == .later)
        release.open()
        for try await reply in group { #expect(reply.outcome == .taken) }
      }
      #expect(try await Self.deliver(to: receiver.url, on: bus).outcome == .taken)
    }
  }

  @Test("CK-85: what is no notification, or names no container, is refused and calls nobody")
  func malformed() async throws {
    try await Self.with({ _ in HTTPResponse(status: 200) }) { bus, receiver in
      let good = try Self.delivery(to: Self.hook(receiver.url))
      for change in [
        { (request: inout DeliverRequest) in request.target = nil },
        { (request: inout DeliverRequest) in request.notification = [0xff] },
        { (request: inout DeliverRequest) in request.container = "No Such" },
        { (request: inout DeliverRequest) in request.environment = "test" },
      ] as [(inout DeliverRequest) -> Void] {
        var request = good
        change(&request)
        let error = await #expect(throws: CaravanError.self) {
          let _: DeliverReply = try await bus.call(request, to: .service(.push, method: "deliver"))
        }
        #expect(error?.code == .invalidData)
      }
      #expect(receiver.requests.isEmpty)
    }
  }
}
