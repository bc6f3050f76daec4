import CaravanRuntime
import CaravanTestKit
import Testing

/// Talks, sleeps and draws numbers.
private actor Node {
  private let host: Host
  private let cluster: Simulation
  private let number: Int
  private(set) var heard = 0

  init(_ number: Int, _ cluster: Simulation) {
    self.number = number
    self.cluster = cluster
    host = cluster.host("node-\(number)").host
  }

  func hear(_ text: Int) {
    heard += 1
    cluster.trace("\(number) hears \(text)")
  }

  func talk(to others: [Node], rounds: Int) async throws {
    for round in 0..<rounds {
      for other in others { await other.hear(number * 1_000 + round) }
      try await host.clock.sleep(for: .milliseconds(Int64(host.random.below(100))))
    }
  }
}

/// Works on an executor of its own.
private actor Owner {
  private let executor: any SerialExecutor
  private let cluster: Simulation
  private(set) var written: [Int] = []

  init(_ cluster: Simulation) {
    self.cluster = cluster
    executor = cluster.host("owner").host.executors.makeSerial("owner")
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func write(_ value: Int) {
    assertIsolated()
    written.append(value)
    cluster.trace("writes \(value)")
  }
}

private func scenario(seed: UInt64, rounds: Int = 20) throws -> Simulation {
  let cluster = Simulation(seed: seed)
  try cluster.run {
    let nodes = (0..<6).map { Node($0, cluster) }
    let owner = Owner(cluster)
    try await withThrowingTaskGroup { group in
      for node in nodes { group.addTask { try await node.talk(to: nodes, rounds: rounds) } }
      for value in 0..<20 { group.addTask { await owner.write(value) } }
      try await group.waitForAll()
    }
    for node in nodes { #expect(await node.heard == 6 * rounds) }
    #expect(await owner.written.sorted() == Array(0..<20))
  }
  return cluster
}

@Suite("Simulation", .timeLimit(.minutes(2)))
struct SimulationTests {
  @Test("the same seed gives the same trace; other seeds give others")
  func seeds() throws {
    let first = try (0..<20).map { try scenario(seed: $0).traceHash }
    let second = try (0..<20).map { try scenario(seed: $0).traceHash }
    #expect(first == second)
    #expect(Set(first).count == 20)
  }

  @Test("two processes with one seed do the same")
  func processes() async throws {
    let other = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let log = DescriptorLogSink.standardError
      let hash = String(try scenario(seed: 4_711).traceHash, radix: 16)
      log.write(LogRecord(time: WallTime(milliseconds: 0), level: .info, message: "hash=\(hash)", fields: [:]))
    }
    let text = String(decoding: try #require(other).standardErrorContent, as: UTF8.self)
    let hash = String(try scenario(seed: 4_711).traceHash, radix: 16)
    #expect(text.contains("hash=\(hash)\""), "\(text)")
  }

  @Test("a serial executor runs its jobs in the order in which they came", arguments: 0..<10 as Range<UInt64>)
  func serialOrder(seed: UInt64) throws {
    let cluster = Simulation(seed: seed)
    let asked = Shared<[Int]>([])
    let written = try cluster.run {
      let owner = Owner(cluster)
      await withTaskGroup { group in
        for value in 0..<100 {
          group.addTask {
            asked.change { $0.append(value) }
            await owner.write(value)
          }
        }
      }
      return await owner.written
    }
    #expect(written == asked.value)
    #expect(written != written.sorted())
  }

  @Test("an hour passes at once, and only while nobody can run")
  func time() throws {
    let cluster = Simulation(seed: 1)
    let host = cluster.host("m")
    let start = host.host.clock.wallTime
    try cluster.run {
      try await host.host.clock.sleep(for: .seconds(3_600))
      for _ in 0..<1_000 { await Task.yield() }
    }
    #expect(cluster.now == Instant(nanoseconds: 3_600_000_000_000))
    #expect(host.host.clock.wallTime.milliseconds == start.milliseconds + 3_600_000)
    host.adjustWallTime(by: .seconds(-60))
    #expect(host.host.clock.wallTime.milliseconds == start.milliseconds + 3_540_000)
    #expect(cluster.host("other").host.clock.wallTime.milliseconds == start.milliseconds + 3_600_000)
  }

  @Test("cancelled sleepers wake at once and do not hold up time")
  func cancellation() throws {
    let cluster = Simulation(seed: 2)
    let clock = cluster.host("m").host.clock
    let woken = try cluster.run {
      await withTaskGroup(of: Bool.self) { group in
        for seconds in 1...100 {
          group.addTask {
            do { try await clock.sleep(for: .seconds(seconds * 1_000)) } catch { return false }
            return true
          }
        }
        try? await clock.sleep(for: .milliseconds(50_000_500))
        group.cancelAll()
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
    }
    #expect(woken == 50)
    #expect(cluster.now == Instant(nanoseconds: 50_000_500_000_000))
    #expect(throws: CancellationError.self) {
      try cluster.run {
        withUnsafeCurrentTask { $0?.cancel() }
        try await clock.sleep(for: .seconds(1))
      }
    }
  }

  @Test("many cancelled deadlines leave nothing behind that slows the simulation down")
  func deadlines() throws {
    let cluster = Simulation(seed: 3)
    let clock = cluster.host("m").host.clock
    try cluster.run {
      for value in 0..<20_000 {
        let got = try await clock.withDeadline(.seconds(1_000), "echo") { value }
        #expect(got == value)
      }
    }
    #expect(cluster.now == Instant(nanoseconds: 0))
  }

  @Test("who waits for ever, too long or in circles is told so, with the seed")
  func failures() throws {
    let cluster = Simulation(seed: 99)
    let clock = cluster.host("m").host.clock
    let stuck = #expect(throws: SimulationFailure.self) { try cluster.run { await Latch().wait() } }
    #expect(stuck?.reason == .stuck)
    #expect(stuck?.description.hasPrefix("seed 99: everybody waits") == true)
    let late = #expect(throws: SimulationFailure.self) {
      try cluster.run(deadline: .seconds(5)) { while true { try await clock.sleep(for: .seconds(2)) } }
    }
    #expect(late?.reason == .late)
    #expect(cluster.now == Instant(nanoseconds: 4_000_000_000))
    var settings = Simulation.Settings()
    settings.stepLimit = 1_000
    let busy = Simulation(seed: 1, settings: settings)
    let circles = #expect(throws: SimulationFailure.self) {
      try busy.run { while !Task.isCancelled { await Task.yield() } }
    }
    #expect(circles?.reason == .circles)
  }

  @Test("tasks can be begun, watched and cancelled from outside; an invariant's error stops the simulation")
  func outside() throws {
    struct Broken: Error {}
    let cluster = Simulation(seed: 5)
    let clock = cluster.host("m").host.clock
    let ticks = Shared(0)
    let task = cluster.start {
      while true {
        try await clock.sleep(for: .seconds(1))
        ticks.change { $0 += 1 }
      }
    }
    try cluster.run(for: .milliseconds(10_500))
    #expect(ticks.value == 10)
    #expect(cluster.now == Instant(nanoseconds: 10_500_000_000))
    try cluster.run(within: .seconds(5)) { ticks.value == 12 }
    #expect(throws: Broken.self) {
      try cluster.run(within: .seconds(5)) { if ticks.value > 13 { throw Broken() } else { false } }
    }
    #expect(task.result == nil)
    task.cancel()
    try cluster.run(for: .zero)
    #expect(throws: CancellationError.self) { try task.result?.get() }
  }

  @Test("a simulation that ends leaves nothing behind that its tasks held")
  func end() throws {
    final class Held: Sendable {}
    func cluster(holding thing: Held) -> (Simulation, [SimulatedTask<Void>]) {
      let cluster = Simulation(seed: 5)
      let clock = cluster.host("m").host.clock
      let tasks = (1...2).map { days in
        cluster.start {
          defer { withExtendedLifetime(thing) {} }
          try await clock.sleep(for: .seconds(days * 86_400))
        }
      }
      return (cluster, tasks)
    }
    weak var held: Held?
    do {
      let thing = Held()
      held = thing
      let (cluster, tasks) = cluster(holding: thing)
      try cluster.run(for: .seconds(60))
      #expect(tasks.allSatisfy { $0.result == nil })
      cluster.end()
      #expect(tasks.allSatisfy { $0.result != nil } && cluster.now == Instant(nanoseconds: 60_000_000_000))
    }
    #expect(held == nil)
  }

  @Test("what escapes from the simulation and comes back ends the process")
  func escape() async {
    await #expect(processExitsWith: .failure) {
      try Simulation(seed: 1).run {
        await withTaskGroup { group in
          group.addTask { while true { await Task.yield() } }
          // Again and again: a sleep that is over before its task is put aside does not come back.
          while true { try? await Task.sleep(for: .milliseconds(1)) }
        }
      }
    }
  }
}
