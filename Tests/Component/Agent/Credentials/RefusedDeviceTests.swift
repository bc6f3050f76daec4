import CaravanAgentApps
import CaravanAgentCore
import CaravanAgentSync
import CaravanBusNATS
import CaravanClient
import CaravanCrypto
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: what nats-server says of credentials it does not know is what marks a device, and nothing else is. Method: a
/// server in operator mode that knows the device's account or not; the agent behind its socket, with a clock that runs
/// fast.
@Suite("A broker that refuses", .timeLimit(.minutes(2)))
struct RefusedDeviceTests {
  /// Hours pass in seconds.
  private struct HastyClock: Clock {
    static let factor = 1_000
    let clock = Host.live().clock

    var now: Instant { Instant(nanoseconds: clock.now.nanoseconds * UInt64(Self.factor)) }
    var wallTime: WallTime { clock.wallTime }
    func sleep(until instant: Instant) async throws { try await clock.sleep(until: Self.real(instant)) }
    func call(at instant: Instant, _ body: @escaping @Sendable () -> Void) {
      clock.call(at: Self.real(instant), body)
    }

    private static func real(_ instant: Instant) -> Instant {
      Instant(nanoseconds: instant.nanoseconds / UInt64(factor))
    }
  }

  private static let quiet = Host.live(logLevel: .error)

  private static var hasty: Host {
    Host(
      clock: HastyClock(), random: quiet.random, executors: quiet.executors,
      log: Log(level: .error, clock: quiet.clock, sink: NullLogSink()), metrics: MetricsRegistry())
  }

  /// A broker's owner, an account it may know, and a device of that.
  private struct Realm {
    let directory: String
    let port: UInt16
    let now = quiet.clock.wallTime.milliseconds / 1_000
    let root: NKey
    let system: NKey
    let account: NKey
    let device: Credentials

    init(in directory: String) throws {
      self.directory = directory
      port = try LoopbackPort.free(random: quiet.random)
      root = try NKey.generate(.operator)
      (system, account) = (try NKey.generate(.account), try NKey.generate(.account))
      let key = try NKey.generate(.user)
      let everything = UserClaims(.explicit(Permissions()), tags: ["user:ada"])
      let claims = JWTClaims(subject: key.publicKey, name: "camera", issuedAt: now - 10, .user(everything))
      device = try Credentials(jwt: claims.sign(with: account), key: key)
    }

    func broker(knowsAccount: Bool) async throws -> ChildProcess {
      func token(_ key: NKey, _ name: String) throws -> JWT {
        try JWTClaims(subject: key.publicKey, name: name, issuedAt: now, .account(AccountClaims())).sign(with: root)
      }
      let claims = JWTClaims(
        subject: root.publicKey, name: "caravan", issuedAt: now,
        .operator(OperatorClaims(systemAccount: system.publicKey)))
      let owner = NATSConfiguration.Operator(
        token: try claims.sign(with: root), systemAccount: system.publicKey,
        accounts: [try token(system, "SYS")] + (knowsAccount ? [try token(account, "APP")] : []),
        directory: "\(directory)/jwt-\(knowsAccount)")
      return try await NATSServerProcess.start(
        NATSConfiguration(port: port, operator: owner), in: directory, host: quiet)
    }

    /// An agent behind its socket, until `body` has ended.
    func agent(_ body: @escaping @Sendable (CaravanClient) async throws -> Void) async throws {
      var options = NATSOptions(urls: ["nats://127.0.0.1:\(port)"], credentials: device, name: "caravan-agent")
      options.lastRetry = .milliseconds(200)
      let agent = try await Agent(
        Agent.Configuration(directory: "\(directory)/store", identity: DeviceIdentity(device), link: .wifi),
        host: RefusedDeviceTests.hasty
      ) { [options] () throws(CaravanError) in
        let bus = try await NATSBus.connect(options, host: quiet)
        try await bus.waitUntilConnected(deadline: .seconds(5))
        return bus
      }
      let socket = "\(directory)/agent.sock"
      let apps = try await AppServer(socket: socket, store: agent.store, sync: agent.engine, host: quiet)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await agent.run() }
        group.addTask { try await apps.run() }
        defer {
          apps.shutDown()
          agent.shutDown()
        }
        try await CaravanClient.withConnection(to: socket, app: "album", body)
        apps.shutDown()
        agent.shutDown()
        try await group.waitForAll()
      }
    }
  }

  @Test("REC-08, UNI-19: an account that nats-server does not know marks the device; one that is gone does not")
  func refused() async throws {
    try await withTemporaryDirectory { directory in
      let realm = try Realm(in: directory)
      try await realm.agent { client in
        // Several hours of the agent's time.
        try await Self.quiet.clock.sleep(for: .seconds(4))
        #expect(try await client.status().mode == .idle, "nobody is there, who says nothing of credentials")
      }
      let stranger = try await realm.broker(knowsAccount: false)
      try await realm.agent { client in
        try await eventually("it is marked") { try await client.status().mode == .notRecoverable }
        let status = try await client.status()
        #expect(status.refused == Admission.Refusal.reason && status.refusedSince > 0 && !status.isConnected)
      }
      try await realm.agent { client in
        let status = try await client.status()
        #expect(status.mode == .notRecoverable, "it was before")
      }
      await stranger.stop(clock: Self.quiet.clock)
      let server = try await realm.broker(knowsAccount: true)
      try await realm.agent { client in
        try await eventually("it is let in") { try await client.status().isConnected }
        let status = try await client.status()
        #expect(status.refused.isEmpty && status.refusedSince == 0 && status.mode != .notRecoverable)
        // A broker that was running, and comes back with the wrong accounts.
        await server.stop(clock: Self.quiet.clock)
        let wrong = try await realm.broker(knowsAccount: false)
        try await eventually("it is marked again") { try await client.status().mode == .notRecoverable }
        await wrong.stop(clock: Self.quiet.clock)
        let right = try await realm.broker(knowsAccount: true)
        try await client.resetDevice()
        try await eventually("a reset has it try at once", within: .seconds(3)) {
          try await client.status().isConnected
        }
        await right.stop(clock: Self.quiet.clock)
      }
    }
  }
}
