import CaravanBus
import CaravanBusNATS
import CaravanCLICore
import CaravanCrypto
import CaravanEncoding
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Foundation
import Testing

@testable import CaravanCLIDriver

/// Goal: no device takes the broker from others by its connections. Method: a table of events; then a real broker.
@Suite("Connections of devices", .timeLimit(.minutes(3)))
struct ConnectionTests {
  private static func connection(_ number: UInt64, _ key: String, issuer: String = "D") -> BrokerConnection {
    BrokerConnection(id: .init(server: "S", number: number), key: key, issuer: issuer, name: "cam")
  }

  @Test("TRU-08: devices are counted, services are not; what is told twice or too late changes nothing")
  func table() {
    var table = ConnectionTable(ConnectionLimits(each: 2, all: 100), signer: "D")
    for number in 1...9 { table.opened(Self.connection(UInt64(number), "service", issuer: "A")) }
    #expect(table.count == 9 && table.devices == 0 && table.crowds.isEmpty)
    for number in [20, 21, 21, 20] as [UInt64] { table.opened(Self.connection(number, "a")) }
    #expect(table.count == 11 && table.crowd(of: "a") == nil)
    table.opened(Self.connection(22, "a"))
    let crowd = table.crowd(of: "a")
    #expect(crowd?.key == "a" && crowd?.name == "cam" && crowd?.count == 3 && table.crowds.count == 1)
    for number in [22, 22, 99] as [UInt64] { table.closed(.init(server: "S", number: number)) }
    table.closed(.init(server: "other", number: 21))
    #expect(table.crowd(of: "a") == nil && table.count == 11)
    table.replace(with: (1...5).map { Self.connection($0, "b") })
    #expect(table.count == 5 && table.devices == 1 && table.crowds.map(\.key) == ["b"])
    table.replace(with: [])
    #expect(table.count == 0 && table.devices == 0)
  }

  @Test("MOB-56, TRU-08: a server app has more connections than a device, and is cut off beyond its own bound")
  func serverApps() throws {
    let limits = ConnectionLimits(each: 2, eachServerApp: 3, all: 100)
    var table = ConnectionTable(limits, signer: "D")
    let name = try ServerApp("billing").user.text
    func open(_ numbers: ClosedRange<UInt64>, _ key: String, issuer: String, name: String) {
      for number in numbers {
        table.opened(BrokerConnection(id: .init(server: "S", number: number), key: key, issuer: issuer, name: name))
      }
    }
    open(1...3, "app", issuer: "A", name: name)
    open(11...19, "service", issuer: "A", name: "svc_sync")
    open(21...22, "device", issuer: "D", name: "cam_1")
    #expect(table.crowds.isEmpty && table.devices == 1)
    open(4...4, "app", issuer: "A", name: name)
    let crowd = try #require(table.crowd(of: "app"))
    #expect(crowd.count == 4 && crowd.limit == 3 && crowd.isServerApp && crowd.name == name)
    // Whatever a device is called, whoever signed it makes it one.
    open(31...33, "false", issuer: "D", name: name)
    #expect(table.crowd(of: "false")?.limit == 2 && table.devices == 2)
    table.closed(.init(server: "S", number: 2))
    #expect(table.crowd(of: "app") == nil)
  }

  @Test("TRU-08: the warning comes at 80 %, once, and again after it was far from there")
  func warning() {
    var table = ConnectionTable(ConnectionLimits(each: 4, all: 100), signer: "D")
    var warnings: [Int] = []
    for number in 1...90 {
      table.opened(Self.connection(UInt64(number), "k\(number)"))
      if table.takeWarning() { warnings.append(number) }
    }
    #expect(warnings == [80])
    for number in (61...90).reversed() {
      table.closed(.init(server: "S", number: UInt64(number)))
      if table.takeWarning() { warnings.append(number) }
    }
    #expect(warnings == [80])
    for number in 61...80 { table.opened(Self.connection(UInt64(number), "k\(number)")) }
    let isWarned = table.takeWarning()
    #expect(isWarned)
  }

  @Test("TRU-08: what the broker tells of a connection is read, and nothing else")
  func events() throws {
    let text = """
      {"type":"io.nats.server.advisory.v1.client_connect","server":{"name":"n","id":"NS"},
       "client":{"id":7,"acc":"A","user":"UK","issuer_key":"AD","name_tag":"cam-1"}}
      """
    let read = try BrokerConnection(event: JSON.parse(text))
    #expect(read == BrokerConnection(id: .init(server: "NS", number: 7), key: "UK", issuer: "AD", name: "cam-1"))
    for wrong in ["{}", #"{"server":{"id":"S"}}"#, #"{"server":{"id":"S"},"client":{}}"#, "[]"] {
      #expect(throws: CaravanError.self) { try BrokerConnection(event: JSON.parse(wrong)) }
    }
  }

  /// As many as descriptors allow, up to the 2,000 of the requirement.
  private static var attackers: Int {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = min(limit.rlim_max, 8_192)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return max(64, min(2_000, Int(limit.rlim_cur) / 2 - 200))
  }

  /// Opens connections on a thread of its own, until the broker refuses them.
  /// - Returns: those that it took.
  private static func attack(_ broker: RawBroker, _ attacker: Credentials, _ count: Int) async throws -> [Int32] {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(
          with: Result {
            var held: [Int32] = []
            var refusals = 0
            for _ in 0..<count where refusals <= 20 {
              if let socket = try broker.stay(attacker) { held.append(socket) } else { refusals += 1 }
            }
            return held
          })
      }
    }
  }

  @Test(
    "TRU-08: one device opens 2,000 connections; its credential becomes void, and another connects meanwhile",
    .enabled(if: FileManager.default.isExecutableFile(atPath: NATSServerProcess.program)))
  func crowd() async throws {
    try await PermissionTests.with { cluster in
      let (attacker, other) = (try cluster.device("cam-1", user: "eve"), try cluster.device("cam-1", user: "ann"))
      // Within the bound, and there before anybody watches.
      let early = try (0..<3).compactMap { _ in try cluster.broker.stay(other) }
      #expect(early.count == 3)
      let limiter = ConnectionLimiter(
        keys: cluster.keys, url: cluster.url, tls: nil, limits: ConnectionLimits(), host: cluster.host)
      try await running([limiter]) {
        let held = try await Self.attack(cluster.broker, attacker, Self.attackers)
        defer { for socket in held + early { close(socket) } }
        try await eventually("the attacker's connections end") {
          try held.allSatisfy(RawBroker.hasEnded) && cluster.broker.stay(attacker) == nil
        }
        #expect(early.allSatisfy { !RawBroker.hasEnded($0) })
        #expect(try cluster.broker.answers(other, []) == [])
        try await eventually("the keys know it") { try !cluster.keys.revocations().isEmpty }
        #expect(try cluster.keys.revocations().keys.sorted { $0.text < $1.text } == [attacker.key.publicKey])
        // Whoever is enrolled anew is let in again.
        #expect(try cluster.broker.answers(cluster.device("cam-1", user: "eve"), []) == [])
      }
    }
  }

  @Test(
    "TRU-08: a device that had too many connections before anybody watched is found",
    .enabled(if: FileManager.default.isExecutableFile(atPath: NATSServerProcess.program)))
  func found() async throws {
    try await PermissionTests.with { cluster in
      let attacker = try cluster.device("cam-1", user: "eve")
      let held = try await Self.attack(cluster.broker, attacker, 200)
      defer { for socket in held { close(socket) } }
      #expect(held.count == 200)
      let limiter = ConnectionLimiter(
        keys: cluster.keys, url: cluster.url, tls: nil, limits: ConnectionLimits(), host: cluster.host)
      try await running([limiter]) {
        try await eventually("its connections end") { held.allSatisfy(RawBroker.hasEnded) }
      }
    }
  }

  @Test(
    "TRU-08: a device's connection has so many subscriptions, and its messages so many bytes",
    .enabled(if: FileManager.default.isExecutableFile(atPath: NATSServerProcess.program)))
  func subscriptions() async throws {
    try await PermissionTests.with { cluster in
      let device = try cluster.device("cam-1", user: "ann")
      func lines(_ count: Int) -> [String] { (0..<count).map { "SUB inbox.ann.cam-1_1.x\($0) \($0)" } }
      #expect(try cluster.broker.answers(device, lines(100)) == [])
      let refused = try cluster.broker.answers(device, lines(200))
      #expect(
        refused.contains { $0.contains("Maximum Subscriptions Exceeded") || $0.contains("maximum subscriptions") })
      let claims = try #require(try cluster.keys.token("account.jwt")).claims.body
      guard case .account(let account) = claims, case .scoped(let scope)? = account.signingKeys.first else {
        return #expect(Bool(false))
      }
      #expect(scope.limits == .device && account.limits.connections == Int64(ConnectionLimits.standardAll))
    }
  }

  @Test("TRU-08: revocations by two processes at once keep each other's")
  func together() async throws {
    try await PermissionTests.with { cluster in
      let session = try BusSession(
        url: cluster.url, tls: nil, credentials: cluster.keys.credentialsFile(.system), name: "test")
      let victims = try (0..<6).map { _ in try NKey.generate(.user).publicKey }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for victim in victims {
          group.addTask {
            try await session.with(cluster.host) { bus throws(CaravanError) in
              try await cluster.keys.revoke([victim], over: bus, cluster.host)
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try Set(cluster.keys.revocations().keys) == Set(victims))
    }
  }
}

/// Goal: `--device-tls` keeps out whoever has no certificate of the deployment's. Method: a real broker.
@Suite("Certificates of devices", .timeLimit(.minutes(2)))
struct DeviceCertificateTests {
  @Test(
    "SIM-95: a broker that asks for certificates lets in who shows one made for a client, and nobody else",
    .enabled(if: FileManager.default.isExecutableFile(atPath: NATSServerProcess.program)))
  func demanded() async throws {
    let live = CaravanRuntime.Host.live()
    let host = live.with(log: Log(level: .error, clock: live.clock, sink: NullLogSink()))
    let now = host.clock.wallTime.milliseconds / 1000
    try await withTemporaryDirectory { path in
      let keys = try KeyDirectory.ensure("\(path)/keys", at: now)
      let server = try keys.ensureBrokerCertificate(["127.0.0.1"], at: now)
      let operators = try keys.ensureClientCertificate(of: .cli, at: now)
      let device = KeyDirectory.PairFiles(certificate: "\(path)/cam.cert.pem", key: "\(path)/cam.key.pem")
      try keys.issueClientCertificate(named: "cam", to: device, at: now)
      var configuration = NATSConfiguration(port: try LoopbackPort.free(random: host.random))
      configuration.operator = try keys.brokerOperator(directory: "\(path)/jwt")
      configuration.tls = .init(
        certificateFile: server.certificate, keyFile: server.key, clientAuthorityFile: keys.authorityFile)
      let broker = try await NATSServerProcess.start(configuration, in: path, host: host)
      func isLetIn(_ pair: KeyDirectory.PairFiles?) async throws -> Bool {
        let session = try BusSession(
          url: configuration.url,
          tls: .init(authorityFile: keys.authorityFile, certificateFile: pair?.certificate, keyFile: pair?.key),
          credentials: keys.credentialsFile(.cli), name: "test")
        return (try? await session.with(host) { _ throws(CaravanError) in true }) ?? false
      }
      #expect(try await isLetIn(operators))
      #expect(try await isLetIn(device))
      #expect(try await !isLetIn(nil))
      #expect(try await !isLetIn(server))
      // What is there stays.
      #expect(try keys.ensureClientCertificate(of: .cli, at: now) == operators)
      #expect(KeyDirectory.demandsClients(keys.folder.path))
      await broker.stop(clock: host.clock)
    }
  }
}

/// Runs services for the time of the body, then shuts them down and waits for them.
private func running(_ services: [any Service], _ body: () async throws -> Void) async throws {
  let group = ServiceGroup(services, host: CaravanRuntime.Host.live())
  try await withThrowingTaskGroup(of: Void.self) { tasks in
    tasks.addTask { try await group.run() }
    defer { group.shutDown() }
    try await body()
  }
}

/// Goal: nothing goes in clear to another machine that was not told so.
@Suite("In clear")
struct ClearTests {
  @Test("TRU-07: nats:// to another machine is refused with what to do, tls:// and the loopback are not")
  func brokers() async throws {
    func refusal(_ options: NATSOptions) async -> CaravanError? {
      do throws(CaravanError) {
        let bus = try await NATSBus.connect(options, host: CaravanRuntime.Host.live())
        await bus.drain(deadline: .milliseconds(10))
        return nil
      } catch {
        return error
      }
    }
    for url in ["nats://192.0.2.1:4222", "192.0.2.1:4222", "nats://127.evil.example:4222", "nats://0.0.0.0:4222"] {
      let error = await refusal(NATSOptions(urls: ["nats://127.0.0.1:1", url], name: "test"))
      #expect(error?.code == .invalidData && error?.message.contains("--insecure") == true, "\(url)")
    }
    for url in ["nats://127.0.0.1:1", "nats://localhost:1", "nats://[::1]:1"] {
      #expect(await refusal(NATSOptions(urls: [url], name: "test"))?.code != .invalidData, "\(url)")
    }
    var told = NATSOptions(urls: ["nats://127.evil.invalid:1"], name: "test")
    told.allowsClear = true
    #expect(await refusal(told)?.code != .invalidData)
  }

  @Test("TRU-07: what only looks like the loopback is none")
  func loopback() {
    for host in ["127.0.0.1", "127.255.1.2", "localhost", "::1"] { #expect(HostPort(host, 1).isLoopback, "\(host)") }
    for host in ["127.evil.example", "127.0.0.1.example.org", "127.", "127.0.0", "127.0.0.256", "0.0.0.0", "128.0.0.1"]
    {
      #expect(!HostPort(host, 1).isLoopback, "\(host)")
    }
  }
}
