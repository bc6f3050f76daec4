import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanStorageCore
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import Testing

@testable import CaravanStorageDriver

/// Goal: where the store keeps the time of a database's server, that server's clock deletes nothing when it jumps, and
/// neither does one process whose own clock is wrong (TRU-12). Method: maintenance on a store in memory, whose
/// time is the server's; the machine of storage beside it is in the test's hands.
@Suite(.timeLimit(.minutes(1))) struct ServerTimeTests {
  private static let hours = StoreLimits.stagingLease + StoreLimits.stagingGrace + .seconds(60)
  private static let years: Duration = .seconds(10 * 365 * 86_400)

  /// Storage's own machine.
  private final class Machine: MachineTime {
    let state: Mutex<(wall: Int64, sinceBoot: Int64, isSynchronised: Bool)>

    init(wall: Int64, isSynchronised: Bool) { state = Mutex((wall, 5_000, isSynchronised)) }

    var reading: ClockReading {
      state.withLock { ClockReading(wall: $0.wall, sinceBoot: $0.sinceBoot, boot: "a") }
    }

    var isSynchronised: Bool { state.withLock { $0.isSynchronised } }

    func pass(_ time: Duration) {
      state.withLock { state in
        state.wall += time.components.seconds * 1_000
        state.sinceBoot += time.components.seconds * 1_000
      }
    }
  }

  private struct Bench {
    let base: StorageBench
    let store: StoreSQLite
    let machine: Machine
    let clock: TrustedClock

    func chunks() async throws -> Int { Int(try await store.status().chunks) }

    func isTrusted() -> Bool { base.host.metrics.gauge(.clockTrusted).value == 1 }

    /// Maintenance looks about ten times.
    func look() async throws {
      for _ in 0..<10 {
        base.clock.advance(by: StorageLimits.idleUpkeepInterval)
        machine.pass(StorageLimits.idleUpkeepInterval)
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  /// - Parameter ahead: how far the clock of storage's machine is ahead of the server's.
  private func with(
    ahead: Duration = .zero, isSynchronised: Bool = false, _ body: (Bench) async throws -> Void
  ) async throws {
    let base = try StorageBench()
    let store = try await StoreSQLite(.simulation(.memory), host: base.host, observer: ChangeFeed())
    let wall = base.clock.wallTime.milliseconds
    let machine = Machine(wall: wall + ahead.components.seconds * 1_000, isSynchronised: isSynchronised)
    let server = ServerTime(machine) { base.clock.wallTime }
    let clock = TrustedClock(base.clock, server, of: "PostgreSQL's server", log: base.host.log)
    let maintenance = Maintenance(
      store: store, actions: DelayedActions(store: store, host: base.host), host: base.host,
      metrics: StorageMetrics(base.host.metrics), moved: Signal(), requests: { 0 }, clock: clock, server: server)
    let hash = try #require(ChunkHash(SHA256.hash([1, 2, 3]).bytes))
    try await store.stage([ChunkBytes(hash: hash, bytes: [1, 2, 3])], in: StorageBench.database)
    let running = Task { await maintenance.run() }
    try await body(Bench(base: base, store: store, machine: machine, clock: clock))
    running.cancel()
    await running.value
    await store.close()
  }

  @Test("TRU-12: time that passes for both deletes")
  func agreed() async throws {
    try await with { bench in
      try await bench.look()
      #expect(bench.isTrusted())
      bench.base.clock.advance(by: Self.hours)
      bench.machine.pass(Self.hours)
      try await bench.look()
      #expect(try await bench.chunks() == 0)
    }
  }

  @Test(
    "TRU-12: a server's clock that jumps deletes nothing until somebody accepts it", arguments: [false, true])
  func jump(isSynchronised: Bool) async throws {
    try await with(isSynchronised: isSynchronised) { bench in
      try await bench.look()
      #expect(bench.isTrusted())
      bench.base.clock.adjustWallTime(by: Self.years)
      try await bench.look()
      #expect(!bench.isTrusted())
      #expect(bench.clock.problem?.hasPrefix("the clock of PostgreSQL's server is 3650 days ahead") == true)
      #expect(try await bench.chunks() == 1)
      try bench.clock.accept()
      try await bench.look()
      #expect(bench.isTrusted())
      #expect(try await bench.chunks() == 0)
    }
  }

  @Test("TRU-12: a process whose own clock is another deletes nothing either, until both are the same")
  func apart() async throws {
    try await with(ahead: .zero - Self.years) { bench in
      bench.base.clock.advance(by: Self.hours)
      bench.machine.pass(Self.hours)
      try await bench.look()
      #expect(!bench.isTrusted())
      #expect(try await bench.chunks() == 1)
      bench.machine.state.withLock { $0 = (bench.base.clock.wallTime.milliseconds, $0.sinceBoot, true) }
      try await bench.look()
      #expect(bench.isTrusted())
      #expect(try await bench.chunks() == 0)
    }
  }
}
