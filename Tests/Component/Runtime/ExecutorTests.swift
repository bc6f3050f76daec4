import CaravanRuntime
import CaravanTestKit
import Glibc
import Testing

/// Owns a thread the way a C handle's owner does.
private actor Owner {
  private let executor: any SerialExecutor
  private var order: [Int] = []

  init(_ executor: any SerialExecutor) { self.executor = executor }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func thread() -> UInt { UInt(pthread_self()) }
  func add(_ value: Int) { order.append(value) }
  func all() -> [Int] { order }
  nonisolated func check() { assertIsolated() }
  func checkFromInside() { check() }
}

@Suite("Executors", .timeLimit(.minutes(1)))
struct ExecutorTests {
  @Test("an actor's work happens on its executor's own thread, always the same")
  func ownThread() async {
    let executors = Host.live().executors
    let (a, b) = (Owner(executors.makeSerial("a")), Owner(executors.makeSerial("b")))
    let threads = [await a.thread(), await b.thread(), await a.thread()]
    #expect(threads[0] == threads[2])
    #expect(Set(threads).count == 2)
    await a.checkFromInside()
  }

  @Test("executors come and go, with their threads")
  func lifetimes() async throws {
    let executors = Host.live().executors
    let before = try threads()
    for round in 0..<200 {
      let owner = Owner(executors.makeSerial("short"))
      await owner.add(round)
      #expect(await owner.all() == [round])
    }
    try await eventually("the threads end") { try threads() <= before + 2 }
  }

  private func threads() throws -> Int {
    let directory = try #require(opendir("/proc/self/task"))
    defer { closedir(directory) }
    var count = -2
    while readdir(directory) != nil { count += 1 }
    return count
  }

  @Test("a busy actor loses no call")
  func load() async {
    let owner = Owner(Host.live().executors.makeSerial("busy"))
    await withTaskGroup { group in
      for task in 0..<8 { group.addTask { for value in 0..<2_000 { await owner.add(task * 2_000 + value) } } }
    }
    #expect(await owner.all().sorted() == Array(0..<16_000))
  }
}
