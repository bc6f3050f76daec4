import CaravanTestKit
import Testing

@testable import CaravanRuntime

@Suite("Service groups", .timeLimit(.minutes(1)))
struct ServiceGroupTests {
  final class Journal: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func write(_ line: String) { lines.withLock { $0.append(line) } }
  }

  struct Failure: Error, Equatable { let text: String }

  /// Runs until told to stop; or fails; or ignores being told.
  final class Probe: Service {
    enum Habit { case obedient, deaf, failing }
    let name: String
    let habit: Habit
    let journal: Journal
    let clock: any Clock
    let stop = Latch()

    init(_ name: String, _ habit: Habit = .obedient, _ journal: Journal, _ clock: any Clock) {
      (self.name, self.habit, self.journal, self.clock) = (name, habit, journal, clock)
    }

    func run() async throws {
      journal.write("\(name) runs")
      defer { journal.write("\(name) ended") }
      switch habit {
      case .failing: throw Failure(text: name)
      case .deaf: try await clock.sleep(for: .seconds(100_000))
      case .obedient:
        await stop.wait()
        if !Task.isCancelled { try await clock.sleep(for: .seconds(1)) }
      }
    }

    func shutDown() {
      journal.write("\(name) told")
      stop.open()
    }
  }

  let journal = Journal()
  let cluster = Simulation(seed: 1)

  func group(_ habits: [Probe.Habit], _ host: Host) -> ServiceGroup {
    ServiceGroup(
      zip(["a", "b", "c"], habits).map { Probe($0, $1, journal, host.clock) }, host: host, deadline: .seconds(10))
  }

  @Test("services end in reverse order, each before the next is told")
  func order() throws {
    let host = cluster.host("m").host
    let group = group([.obedient, .obedient, .obedient], host)
    try cluster.run {
      async let stop: Void = {
        try await host.clock.sleep(for: .seconds(5))
        group.shutDown()
        group.shutDown()
      }()
      try await group.run()
      try await stop
    }
    #expect(journal.all.suffix(6) == ["c told", "c ended", "b told", "b ended", "a told", "a ended"])
    #expect(cluster.now == Instant(nanoseconds: 8_000_000_000))
  }

  @Test("a service that does not end is cancelled at the deadline, and so are those before it")
  func deadline() throws {
    let host = cluster.host("m").host
    let group = group([.obedient, .deaf, .obedient], host)
    #expect(throws: CancellationError.self) {
      try cluster.run {
        group.shutDown()
        try await group.run()
      }
    }
    #expect(cluster.now == Instant(nanoseconds: 10_000_000_000))
    #expect(Set(journal.all.suffix(2)) == ["a ended", "b ended"])
    #expect(cluster.log.records.contains { $0.message.contains("did not end in time") })
  }

  @Test("a service that fails ends all, and its error is the group's")
  func failure() throws {
    let host = cluster.host("m").host
    let group = group([.obedient, .failing, .obedient], host)
    #expect(throws: Failure(text: "b")) { try cluster.run { try await group.run() } }
    #expect(Set(journal.all.filter { $0.hasSuffix("ended") }).count == 3)
  }

  @Test("cancelling the group's task ends all services")
  func cancellation() throws {
    let host = cluster.host("m").host
    let group = group([.obedient, .deaf, .obedient], host)
    let task = cluster.start { try await group.run() }
    try cluster.run(for: .seconds(1))
    task.cancel()
    try cluster.run(within: .seconds(1)) { task.result != nil }
    #expect(journal.all.filter { $0.hasSuffix("ended") }.count == 3)
  }

  @Test("the plan: out of turn ends are remembered, and nothing is told twice")
  func plan() {
    var plan = Shutdown(count: 3)
    #expect(plan.begin() == .shutDown(2, isFirst: true))
    #expect(plan.begin() == .none)
    #expect(plan.ended(1) == .none)
    #expect(plan.ended(2) == .shutDown(0, isFirst: false))
    #expect(!plan.isOver)
    #expect(plan.ended(0) == .none)
    #expect(plan.isOver)
    var early = Shutdown(count: 2)
    #expect(early.ended(1) == .shutDown(0, isFirst: true))
    var empty = Shutdown(count: 0)
    #expect(empty.begin() == .none && empty.isOver)
  }
}
