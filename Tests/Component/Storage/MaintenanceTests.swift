import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanStorageClient
import CaravanStorageCore
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Glibc
import Testing

import struct Synchronization.Atomic

@testable import CaravanStorageDriver

/// Goal: maintenance makes way for requests, and gets done all the same (CK-32). Method: its pace as a table; then
/// maintenance itself on a store in memory, with the load and the time in the test's hands.
@Suite(.timeLimit(.minutes(1))) struct MaintenanceTests {
  private static let milliseconds: UInt64 = 1_000_000
  private static let busy = StorageLimits.busyRequests
  private static let delay = StorageLimits.longestUpkeepDelayNanoseconds / milliseconds
  private static let look = StorageLimits.maintenanceLookNanoseconds / milliseconds

  /// Times in milliseconds.
  private enum Event: Sendable {
    /// Maintenance asks, with so many requests in flight; nil: it may go on.
    case ask(_ requests: Int, at: UInt64, UInt64?)
    case step(UInt64, UInt64, hasMore: Bool)
  }

  private struct Course: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let events: [Event]

    init(_ what: String, _ events: [Event]) { (testDescription, self.events) = (what, events) }
  }

  private static let courses = [
    Course(
      "quiet: step after step",
      [
        .ask(0, at: 0, nil), .step(0, 500, hasMore: true), .ask(busy - 1, at: 500, nil),
        .step(500, 900, hasMore: false), .ask(busy - 1, at: 900, nil),
      ]),
    Course(
      "busy for a moment: as soon as that is over",
      [.ask(busy, at: 0, look), .ask(busy * 9, at: look, look), .ask(busy - 1, at: look + 1, nil)]),
    Course(
      "busy for long: no later than allowed, and looking no later than then",
      [
        .ask(busy, at: 10, look), .ask(busy, at: delay, 10), .ask(busy, at: delay + 9, 1),
        .ask(busy, at: delay + 10, nil),
      ]),
    Course(
      "overdue: a tenth of the time, unless there is quiet",
      [
        .ask(busy, at: 0, look), .ask(busy, at: delay, nil), .step(delay, delay + 100, hasMore: true),
        .ask(busy, at: delay + 100, look), .ask(busy, at: delay + 850, 150), .ask(0, at: delay + 900, nil),
        .ask(busy, at: delay + 1_000, nil), .step(delay + 1_000, delay + 1_001, hasMore: true),
        .ask(busy, at: delay + 1_001, 9),
      ]),
    Course(
      "quiet in between does not begin the delay anew before all is done",
      [
        .ask(busy, at: 0, look), .ask(0, at: 100, nil), .step(100, 101, hasMore: true), .ask(busy, at: delay - 1, 1),
        .ask(busy, at: delay, nil), .step(delay, delay + 1, hasMore: false), .ask(busy, at: delay + 50, look),
        .ask(busy, at: 2 * delay, 50),
      ]),
  ]

  @Test("CK-32: how long maintenance makes way", arguments: courses)
  private func pace(course: Course) {
    var pace = MaintenancePace()
    for event in course.events {
      switch event {
      case .ask(let requests, let now, let wait):
        let answer = pace.wait(requests: requests, at: now * Self.milliseconds)
        #expect(answer == wait.map { $0 * Self.milliseconds }, "at \(now) ms")
      case .step(let begin, let end, let hasMore):
        pace.stepped(from: begin * Self.milliseconds, to: end * Self.milliseconds, hasMore: hasMore)
      }
    }
  }

  private final class Load: Sendable {
    let requests = Mutex(busy)
  }

  /// Runs maintenance under a load that `body` sets. There is a record whose time is over.
  private static func whileKeeping(
    _ body: @Sendable (StorageBench, Load, _ isDeleted: @Sendable () async throws -> Bool) async throws -> Void
  ) async throws {
    let bench = try StorageBench()
    let store = try await StoreSQLite(.simulation(.memory), host: bench.host)
    var mutation = StorageBench.save("over", body: [])
    mutation.terms = WriteTerms(expiry: .after(1_000))
    let zone = try StorageBench.zone()
    let op = OpID(writer: "phone", epoch: 1, number: 1)
    _ = try await store.commit(Commit(zone: zone, op: op, isAtomic: false, mutations: [mutation]))
    bench.clock.advance(by: .seconds(2))
    let load = Load()
    let maintenance = Maintenance(
      store: store, actions: DelayedActions(store: store, host: bench.host), host: bench.host,
      metrics: StorageMetrics(bench.host.metrics), moved: Signal(), requests: { load.requests.withLock { $0 } })
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await maintenance.run() }
      defer { group.cancelAll() }
      try await body(bench, load) { try await store.fetch(["over"], in: zone).allSatisfy(\.isDeleted) }
    }
    await store.close()
  }

  /// Maintenance has looked, and sleeps until it looks again.
  private static func look(_ bench: StorageBench) async {
    await bench.clock.untilSleepers()
    bench.clock.advance(by: .milliseconds(Int64(look)))
  }

  @Test("CK-32: while there is much to do maintenance waits, and goes on once there is less")
  func yields() async throws {
    try await Self.whileKeeping { bench, load, isDeleted in
      for _ in 0..<20 {
        await Self.look(bench)
        #expect(try await !isDeleted())
      }
      load.requests.withLock { $0 = 0 }
      await Self.look(bench)
      try await eventually("the record is deleted") { try await isDeleted() }
    }
  }

  @Test("CK-32: however much there is to do, maintenance comes to its turn")
  func overdue() async throws {
    try await Self.whileKeeping { bench, _, isDeleted in
      for _ in 0..<(Self.delay / Self.look) {
        await Self.look(bench)
        if bench.clock.now.nanoseconds < 2 * 1_000 * Self.milliseconds + Self.delay * Self.milliseconds {
          #expect(try await !isDeleted())
        }
      }
      try await eventually("the record is deleted") { try await isDeleted() }
    }
  }

  /// Holds up whoever has a statement to run.
  private final class LinkGuard: StatementTap {
    private let isOpen = Atomic<Bool>(true)
    private let statements = Atomic<Int>(0)

    func set(open: Bool) { isOpen.store(open, ordering: .releasing) }

    /// Returns once nobody has had a statement to run for a while.
    func untilQuiet() async throws {
      try await eventually("the store has nothing to do") {
        let before = statements.load(ordering: .relaxed)
        try await Host.live().clock.sleep(for: .milliseconds(200))
        return statements.load(ordering: .relaxed) == before
      }
    }

    func fate(of sql: String) -> StatementFate {
      statements.add(1, ordering: .relaxed)
      while !isOpen.load(ordering: .acquiring) { usleep(500) }
      return .runs
    }
  }

  @Test("CK-32: maintenance of a service makes way for the requests that it has in flight")
  func inFlight() async throws {
    let gate = LinkGuard()
    var options = StoreOptions.simulation(.memory)
    options.statements = gate
    try await StorageBench.with(options) { bench in
      let putOff = bench.host.metrics.counter(.maintenancePutOff)
      let zone = try StorageBench.zone()
      // Maintenance that was held up as well would not look.
      try await gate.untilQuiet()
      gate.set(open: false)
      let bus = bench.bus
      try await withThrowingTaskGroup(of: CommitReply.self) { group in
        for number in 1...UInt64(Self.busy) {
          let op = OpID(writer: "phone", epoch: 1, number: number)
          let commit = Commit(zone: zone, op: op, isAtomic: false, mutations: [StorageBench.save("r\(number)")])
          let request = CommitRequest(commit)
          group.addTask {
            try await bus.call(
              request, to: StorageMethod.commit.subject(in: Partition(of: zone.database)), deadline: .seconds(1 << 20))
          }
        }
        // Whatever comes of it, those that are held up are let go before they are waited for.
        defer { gate.set(open: true) }
        try await eventually("maintenance looks, and lets them go first") {
          // It comes now and then, whether there were commits or not.
          bench.clock.advance(by: .seconds(10))
          return putOff.value > 0
        }
        gate.set(open: true)
        for try await reply in group { #expect(reply.outcomes.map(\.verdict) == [.accepted]) }
      }
    }
  }
}
