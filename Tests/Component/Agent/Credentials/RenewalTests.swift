import CaravanAgentSync
import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: credentials that end are renewed in time, whatever the device's wall clock says, and never again and again
/// (TRU-09). Method: a device on the bus in memory, a cloud that signs, and a clock that the test moves.
@Suite(.timeLimit(.minutes(1))) struct RenewalTests {
  private static let week: Int64 = 7 * 86_400
  private static let made: Int64 = 1_700_000_000

  /// A device whose credentials were made when the clock says `made`, with a cloud that renews them.
  private final class Cluster: Sendable {
    let clock: ManualClock
    let own: DeviceCredentials
    let asked = Mutex(0)
    let fails = Mutex(false)

    init(_ clock: ManualClock, _ own: DeviceCredentials) { (self.clock, self.own) = (clock, own) }

    /// Lets the loops run until nothing moves any more, then moves the clock.
    func pass(_ duration: Duration) async throws {
      try await eventually("the device waits") { clock.sleepers > 0 }
      clock.advance(by: duration)
    }
  }

  private static func with(
    clockAhead: Duration = .zero, _ body: @escaping @Sendable (Cluster) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { directory in
      let (account, scope, key) = (
        try NKey.generate(.account), try NKey.generate(.account), try NKey.generate(.user)
      )
      let clock = ManualClock(epoch: WallTime(milliseconds: made * 1_000))
      let started = clock.now
      @Sendable func sign() throws -> JWT {
        let now = made + (clock.now - started).components.seconds
        return try JWTClaims(
          subject: key.publicKey, name: "laptop_1", issuedAt: now, expires: now + week,
          .user(UserClaims(.scoped, issuerAccount: account.publicKey, tags: ["user:ada"]))
        ).sign(with: scope)
      }
      let live = Host.live(logLevel: .error)
      clock.adjustWallTime(by: clockAhead)
      let host = Host(
        clock: clock, random: live.random, executors: live.executors,
        log: Log(level: .error, clock: clock, sink: NullLogSink()), metrics: MetricsRegistry(), process: live.process)
      let first = try Credentials(jwt: sign(), key: key)
      let cluster = Cluster(clock, DeviceCredentials(directory: directory, host: host) { first })
      let hub = InProcessHub(clock: live.clock, random: SeededRandom(seed: 1))
      let renew = Endpoint("renew", .everyRenewal, group: nil, maxInFlight: 1) { incoming throws(CaravanError) in
        cluster.asked.withLock { $0 += 1 }
        guard !cluster.fails.withLock(\.self), incoming.subject.text == "edge.ada.laptop_1.renew",
          let token = try? sign()
        else { throw CaravanError(.unavailable, "not now") }
        return RenewedCredentials(jwt: token.text).encoded()
      }
      let service = ServiceHost(
        name: "caravan-gateway", version: "1.0.0", bus: hub.connect(as: "cloud"), host: live, endpoints: [renew])
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await service.run() }
        defer {
          cluster.own.shutDown()
          service.shutDown()
        }
        try await eventually("served") { service.isServing(.everyRenewal) }
        _ = try await cluster.own.connect { _ throws(CaravanError) in hub.connect(as: "laptop") }
        group.addTask { await cluster.own.run() }
        try await body(cluster)
      }
    }
  }

  @Test("TRU-09: half of the time is over, and the device has others for a week; before, nobody is asked")
  func inTime() async throws {
    try await Self.with { cluster in
      for _ in 0..<13 { try await cluster.pass(.seconds(6 * 3_600)) }
      try await eventually("it waits") { cluster.clock.sleepers > 0 }
      #expect(cluster.asked.withLock { $0 } == 0)
      for week in 1...3 as ClosedRange<Int64> {
        while cluster.asked.withLock({ $0 }) < week { try await cluster.pass(.seconds(3_600)) }
        let now = cluster.clock.wallTime.milliseconds / 1_000
        #expect(now <= Self.made + week * (Self.week / 2 + 7_200), "in the middle, not at the end")
        try await eventually("it has others") {
          (cluster.own.current.jwt.claims.expires ?? 0) > now + Self.week - 7_200
        }
      }
      #expect(cluster.asked.withLock { $0 } == 3)
    }
  }

  @Test("TRU-09: who cannot be renewed asks again, now and then, and is renewed when it can be")
  func again() async throws {
    try await Self.with { cluster in
      cluster.fails.withLock { $0 = true }
      for _ in 0..<15 { try await cluster.pass(.seconds(6 * 3_600)) }
      let before = cluster.asked.withLock { $0 }
      #expect((1...15).contains(before))
      for _ in 0..<12 { try await cluster.pass(.seconds(300)) }
      #expect((before + 6...before + 13).contains(cluster.asked.withLock { $0 }))
      cluster.fails.withLock { $0 = false }
      while cluster.own.current.jwt.claims.issuedAt == Self.made { try await cluster.pass(.seconds(300)) }
      #expect(cluster.own.current.jwt.claims.name == "laptop_1")
    }
  }

  @Test(
    "TRU-09: a clock that is years wrong has a device renew now, and then no more often than half of the time",
    arguments: [Duration.seconds(10 * 365 * 86_400), .seconds(-10 * 365 * 86_400)])
  func wrongClock(ahead: Duration) async throws {
    try await Self.with(clockAhead: ahead) { cluster in
      try await eventually("it is renewed") { cluster.asked.withLock { $0 } == 1 }
      // Half of a week in the longest waits.
      for _ in 0..<20 { try await cluster.pass(.seconds(6 * 3_600)) }
      #expect(cluster.asked.withLock { $0 } <= 21, "each wait is at least six hours")
      #expect(cluster.own.current.jwt.claims.issuedAt >= Self.made)
    }
  }

  @Test("TRU-09: a device that was away for too long is told so, with what helps")
  func over() async throws {
    try await Self.with(clockAhead: .seconds(8 * 86_400)) { cluster in
      cluster.fails.withLock { $0 = true }
      let refusal = await #expect(throws: CaravanError.self) {
        _ = try await cluster.own.connect { _ throws(CaravanError) in
          throw CaravanError(.notAuthenticated, "the broker refuses these credentials")
        }
      }
      #expect(refusal?.code == .notAuthenticated && refusal?.message.contains("caravan device renew") == true)
    }
  }
}
