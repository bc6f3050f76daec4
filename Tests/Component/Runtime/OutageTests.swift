import CaravanEncoding
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: what fails for long is said once, and so is its end. Method: a clock in the test's hand, and the log.
@Suite("Outages", .timeLimit(.minutes(1)))
struct OutageTests {
  private let clock = ManualClock()
  private let sink = MemoryLogSink()

  private var host: Host {
    let live = Host.live(logLevel: .error)
    return Host(
      clock: clock, random: live.random, executors: live.executors, log: Log(level: .info, clock: clock, sink: sink),
      metrics: MetricsRegistry())
  }

  private var told: [String] { sink.records.map { "\($0.level): \($0.message)" } }

  @Test("said once when it begins, however often it fails, and once when it is over; the next one is another")
  func once() {
    let outage = Outage(host, "gone", over: "back")
    outage.ended()
    #expect(told == [] && outage.current == nil)
    for _ in 0..<3 { outage.lasts(CaravanError(.unavailable, "nobody there")) }
    #expect(told == ["warning: gone"] && outage.current == "gone")
    #expect(sink.records[0].fields[.reason] == "unavailable: nobody there")
    clock.advance(by: .seconds(90))
    outage.ended()
    outage.ended()
    #expect(told == ["warning: gone", "info: back"] && outage.current == nil)
    #expect(sink.records[1].fields[.duration] == 90.0)
    outage.lasts("again")
    #expect(told.count == 3)
  }

  @Test("with patience, what is over soon is not said at all")
  func patience() {
    let outage = Outage(host, "gone", over: "back", patience: .seconds(2))
    outage.lasts("x")
    clock.advance(by: .seconds(1))
    outage.lasts("x")
    outage.ended()
    clock.advance(by: .seconds(5))
    outage.lasts("x")
    #expect(told == [] && outage.current == nil)
    clock.advance(by: .seconds(2))
    outage.lasts("x")
    #expect(told == ["warning: gone"])
  }

  @Test("with quiet, what fails now and then goes on until it has not failed for so long")
  func quiet() {
    let outage = Outage(host, "full", over: "has room", quiet: .seconds(10))
    for _ in 0..<5 {
      outage.lasts("x")
      clock.advance(by: .seconds(9))
      outage.ended()
    }
    #expect(told == ["warning: full"])
    clock.advance(by: .seconds(1))
    outage.ended()
    #expect(told == ["warning: full", "info: has room"])
  }

  @Test("work that takes long is told of while it goes on; that is over when it succeeds")
  func slowWork() async throws {
    let outage = Outage(host, "gone", over: "back")
    let quick: Int = try await outage.told(after: .seconds(4)) { 1 }
    #expect(quick == 1 && told == [])
    let (clock, sink) = (clock, sink)
    _ = try await outage.told(after: .seconds(4)) { () async throws(CaravanError) -> Int in
      await clock.untilSleepers()
      clock.advance(by: .seconds(4))
      while sink.records.isEmpty { await Task.yield() }
      return 2
    }
    #expect(told == ["warning: gone"])
  }
}
