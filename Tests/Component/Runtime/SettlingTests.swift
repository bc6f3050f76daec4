import CaravanTestKit
import Testing

@testable import CaravanRuntime

@Suite("Settling", .timeLimit(.minutes(1)))
struct SettlingTests {
  private final class Counter: Sendable {
    let times = Mutex(0)
  }

  private let cluster = Simulation(seed: 1)

  private func settle(shutDownAfter wait: Duration) throws -> Int {
    let clock = cluster.host("m").host.clock
    let counter = Counter()
    let settling = Settling(clock: clock) { counter.times.withLock { $0 += 1 } }
    try cluster.run {
      async let run: Void = settling.run()
      try await clock.sleep(for: wait)
      settling.shutDown()
      await run
    }
    return counter.times.withLock { $0 }
  }

  @Test("Code is given back once, a while after the start")
  func once() throws { #expect(try settle(shutDownAfter: .seconds(1_000)) == 1) }

  @Test("A process that stops before gives nothing back")
  func stopped() throws { #expect(try settle(shutDownAfter: .seconds(1)) == 0) }

  @Test("What is mapped to be run is found; data, the kernel's own and what may be written are not")
  func places() {
    let maps = """
      5581e000-5581f000 r--p 00000000 fe:01 131 /usr/bin/some agent
      5581f000-55829000 r-xp 00001000 fe:01 131 /usr/bin/some agent
      5582a000-5582b000 rwxp 00002000 fe:01 131 /usr/bin/some agent
      7f000000-7f010000 r-xp 00000000 00:00 0
      7f020000-7f030000 r-xp 00000000 fe:01 99 /lib/libc.so.6 (deleted)
      7ffd0000-7ffd1000 r-xp 00000000 00:00 0 [vdso]
      """
    let found = MappedCode.places(in: maps)
    #expect(found.map(\.begin) == [0x5581_f000, 0x7f02_0000])
    #expect(found.map(\.end) == [0x5582_9000, 0x7f03_0000])
  }

  @Test("What is given back is no longer resident, and the process goes on")
  func resident() throws {
    let before = try residentCode()
    MappedCode.giveBack()
    #expect(try residentCode() < before)
  }

  /// In kilobytes; of files, for the code is of them.
  private func residentCode() throws -> Int {
    let line = try TextFile.read("/proc/self/status").split(separator: "\n").first { $0.hasPrefix("RssFile:") }
    return try #require(line?.split(separator: " ").dropLast().last.flatMap { Int($0) })
  }
}
