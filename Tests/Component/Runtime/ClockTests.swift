import CaravanRuntime
import CaravanTestKit
import Testing

@Suite("Clocks", .timeLimit(.minutes(1)))
struct ClockTests {
  @Test("sleepers of a manual clock wake at their time and not before")
  func manual() async throws {
    let clock = ManualClock()
    let woken = Shared<[Int]>([])
    let tasks = [30, 10, 20].map { seconds in
      Task {
        try await clock.sleep(for: .seconds(seconds))
        woken.change { $0.append(seconds) }
      }
    }
    await clock.untilSleepers(3)
    clock.advance(by: .seconds(9))
    #expect(clock.sleepers == 3)
    clock.advance(by: .seconds(11))
    try await tasks[1].value
    try await tasks[2].value
    #expect(woken.value.sorted() == [10, 20])
    #expect(clock.sleepers == 1)
    tasks[0].cancel()
    await #expect(throws: CancellationError.self) { try await tasks[0].value }
    #expect(clock.sleepers == 0)
    #expect(clock.wallTime.milliseconds == 1_700_000_000_000 + 20_000)
  }

  @Test("a task that is cancelled already does not sleep, on any clock")
  func cancelledBefore() async {
    for clock in [Host.live().clock, ManualClock()] as [any Clock] {
      let sleeper = Task {
        while !Task.isCancelled { await Task.yield() }
        try await clock.sleep(for: .seconds(3_600))
      }
      sleeper.cancel()
      await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
  }

  @Test("cancellation races with waking: every sleep ends once")
  func race() async {
    let clock = ManualClock()
    for _ in 0..<2_000 {
      let sleeper = Task { try? await clock.sleep(for: .seconds(1)) }
      let canceller = Task { sleeper.cancel() }
      clock.advance(by: .seconds(1))
      await sleeper.value
      await canceller.value
    }
    #expect(clock.sleepers == 0)
  }

  @Test("the machine's clock does not go back and sleeps long enough")
  func system() async throws {
    let clock = Host.live().clock
    let start = clock.now
    try await clock.sleep(for: .milliseconds(20))
    #expect(clock.now - start >= .milliseconds(20))
    #expect(clock.wallTime.milliseconds > 1_700_000_000_000)
  }

  @Test(
    "wall times read as RFC 3339",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (951_827_696_789, "2000-02-29T12:34:56.789Z"),
      (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
      (-1, "1969-12-31T23:59:59.999Z"), (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
    ] as [(Int64, String)])
  func wallText(milliseconds: Int64, text: String) {
    #expect(WallTime(milliseconds: milliseconds).description == text)
  }
}
