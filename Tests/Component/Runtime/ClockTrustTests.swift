import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: a machine's wall clock is believed where there is reason to, and time goes on without it where there is none
/// (TRU-12). Method: tables of readings; then the clock around it, with a machine in the test's hands.
@Suite struct ClockTrustTests {
  private static let hour: Int64 = 3_600_000
  private static let day: Int64 = 24 * hour
  private static let begin: Int64 = 1_700_000_000_000

  struct Step: Sendable {
    /// What the wall clock shows beyond `begin`, and how long the machine has run.
    var wall: Int64
    var sinceBoot: Int64
    var boot = "a"
    var isSynchronised = false
    /// What the time is, beyond `begin`; and whether the wall clock is believed.
    var time: Int64
    var isTrusted: Bool
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [Step]

    init(_ text: String, _ steps: [Step]) { (testDescription, self.steps) = (text, steps) }
  }

  private static let first = Step(wall: 0, sinceBoot: 1_000, time: 0, isTrusted: true)

  static let cases = [
    Case(
      "a clock that runs is believed", [first, Step(wall: day, sinceBoot: day + 1_000, time: day, isTrusted: true)]),
    Case(
      "a step forward within a boot is not, and time goes on",
      [
        first, Step(wall: 3_650 * day, sinceBoot: hour + 1_000, time: hour, isTrusted: false),
        Step(wall: 3_650 * day + hour, sinceBoot: 2 * hour + 1_000, time: 2 * hour, isTrusted: false),
      ]),
    Case(
      "nor one backward",
      [first, Step(wall: -3_650 * day, sinceBoot: hour + 1_000, time: hour, isTrusted: false)]),
    Case(
      "one that goes back to where it should be is believed again",
      [
        first, Step(wall: 5 * hour, sinceBoot: hour + 1_000, time: hour, isTrusted: false),
        Step(wall: 2 * hour, sinceBoot: 2 * hour + 1_000, time: 2 * hour, isTrusted: true),
      ]),
    Case(
      "a step while the kernel's clock is synchronised is believed",
      [first, Step(wall: 99 * day, sinceBoot: hour, isSynchronised: true, time: 99 * day, isTrusted: true)]),
    Case(
      "small steps are, and do not add up within an hour",
      [
        first, Step(wall: 51_000, sinceBoot: 2_000, time: 51_000, isTrusted: true),
        Step(wall: 102_000, sinceBoot: 3_000, time: 2_000, isTrusted: false),
      ]),
    Case(
      "across boots a gap of up to a week is believed",
      [first, Step(wall: 6 * day, sinceBoot: 500, boot: "b", time: 6 * day, isTrusted: true)]),
    Case(
      "a longer one is not: time goes on from where it was, with what this boot has lasted",
      [
        first, Step(wall: 8 * day, sinceBoot: hour, boot: "b", time: hour, isTrusted: false),
        Step(wall: 8 * day + hour, sinceBoot: 2 * hour, boot: "b", time: 2 * hour, isTrusted: false),
      ]),
    Case(
      "a longer one while the kernel's clock is synchronised is",
      [first, Step(wall: 80 * day, sinceBoot: 1, boot: "b", isSynchronised: true, time: 80 * day, isTrusted: true)]),
    Case(
      "a clock without a battery begins in the past: time does not go back, until the network has set it",
      [
        Step(wall: 9 * day, sinceBoot: 1_000, time: 9 * day, isTrusted: true),
        Step(wall: 0, sinceBoot: 2_000, boot: "b", time: 9 * day + 2_000, isTrusted: false),
        Step(wall: 20 * day, sinceBoot: 5_000, boot: "b", isSynchronised: true, time: 20 * day, isTrusted: true),
      ]),
    Case(
      "after a gap that was believed, a step of days in the same boot is not",
      [
        first, Step(wall: 2 * day, sinceBoot: 1_000, boot: "b", time: 2 * day, isTrusted: true),
        Step(wall: 5 * day, sinceBoot: 2_000, boot: "b", time: 2 * day + 1_000, isTrusted: false),
      ]),
  ]

  @Test("TRU-12: which readings are believed, and what the time is otherwise", arguments: cases)
  func table(_ given: Case) {
    var trust = ClockTrust()
    for (number, step) in given.steps.enumerated() {
      let reading = ClockReading(wall: Self.begin + step.wall, sinceBoot: step.sinceBoot, boot: step.boot)
      let time = trust.time(reading) { step.isSynchronised }
      #expect(time - Self.begin == step.time && trust.isTrusted == step.isTrusted, "step \(number)")
    }
  }

  @Test("TRU-12: somebody accepts the clock, and it is believed from then on, also by a later life")
  func accepted() {
    var trust = ClockTrust()
    _ = trust.time(ClockReading(wall: 0, sinceBoot: 0, boot: "a")) { false }
    let odd = ClockReading(wall: 900 * Self.day, sinceBoot: 1_000, boot: "a")
    #expect(trust.time(odd) { false } == 1_000)
    let kept = trust.kept(at: odd)
    #expect(kept == ClockReading(wall: 1_000, sinceBoot: 1_000, boot: "a"), "a new start does not make it believed")
    var later = ClockTrust(mark: kept)
    #expect(later.time(odd) { false } == 1_000 && !later.isTrusted)
    later.accept(odd)
    #expect(later.time(odd) { false } == odd.wall && later.isTrusted)
  }

  // MARK: The clock

  private final class Machine: MachineTime {
    let state = Mutex(
      (wall: ClockTrustTests.begin, sinceBoot: Int64(0), boot: "a", isSynchronised: false, questions: 0))

    var reading: ClockReading {
      state.withLock { ClockReading(wall: $0.wall, sinceBoot: $0.sinceBoot, boot: $0.boot) }
    }

    var isSynchronised: Bool {
      state.withLock { state in
        state.questions += 1
        return state.isSynchronised
      }
    }

    func pass(_ milliseconds: Int64, jump: Int64 = 0) {
      state.withLock { state in
        state.wall += milliseconds + jump
        state.sinceBoot += milliseconds
      }
    }
  }

  @Test("TRU-12: what is believed survives the process; a damaged file says nothing and ends nothing")
  func file() async throws {
    try await withTemporaryDirectory { directory in
      let (machine, log, file) = (Machine(), MemoryLogSink(), "\(directory)/store-clock.json")
      let manual = ManualClock()
      func start() -> TrustedClock {
        TrustedClock(manual, machine, file: file, log: Log(level: .info, clock: manual, sink: log))
      }
      let clock = start()
      #expect(clock.wallTime.milliseconds == Self.begin && clock.problem == nil)
      try clock.save()
      machine.pass(Self.hour, jump: 3_650 * Self.day)
      #expect(clock.wallTime.milliseconds == Self.begin + Self.hour)
      let problem = try #require(clock.problem)
      #expect(problem.contains("3650 days") && problem.contains("caravan clock accept"))
      #expect(problem.hasPrefix("the clock of storage's machine is 3650 days ahead"))
      let again = start()
      #expect(again.wallTime.milliseconds == Self.begin + Self.hour && again.problem != nil)
      try again.accept()
      #expect(again.problem == nil && start().problem == nil)
      try TextFile.writeSecret("{", to: file)
      #expect(start().problem == nil && log.records.count == 1)
    }
  }

  @Test("TRU-12: the kernel is asked only where it matters, and not for every reading")
  func questions() {
    let machine = Machine()
    let manual = ManualClock()
    let clock = TrustedClock(manual, machine, log: Log(level: .info, clock: manual, sink: NullLogSink()))
    for _ in 0..<100 { _ = clock.wallTime }
    #expect(machine.state.withLock { $0.questions } == 0)
    machine.pass(10, jump: Self.day)
    for _ in 0..<100 { _ = clock.wallTime }
    #expect(machine.state.withLock { $0.questions } == 1)
    machine.state.withLock { $0.isSynchronised = true }
    machine.pass(2_000)
    #expect(clock.wallTime == WallTime(milliseconds: machine.reading.wall))
  }
}
