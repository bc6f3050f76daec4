internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit

/// Whoever has a device of the fleet: takes it up now and then, does a few things with it, and puts it down.
struct Person: Sendable {
  /// Mean time between two occasions to use it.
  private static let occasions = 6 * 3_600_000
  /// One of so many devices never sleeps.
  private static let sleepless = 10

  private var app: App
  private let reach: Reach
  private let neverSleeps: Bool
  private let counters: Counters
  private var dice: Dice

  init(_ number: Int, _ app: App, _ reach: Reach, _ counters: Counters, seed: UInt64) {
    self.app = app
    self.reach = reach
    self.counters = counters
    neverSleeps = number.isMultiple(of: Self.sleepless)
    dice = Dice(seed: seed, "person \(number)")
  }

  mutating func live(until end: Instant, clock: any Clock) async {
    if !neverSleeps { await reach.put(.asleep) }
    while clock.now < end {
      let pause = dice.milliseconds(1...(2 * Self.occasions))
      guard (try? await clock.sleep(for: min(pause, end - clock.now))) != nil, clock.now < end else { return }
      if dice.happens(Week.use(at: clock.wallTime)) { await use(clock) }
    }
  }

  private mutating func use(_ clock: any Clock) async {
    counters.used(on: Week.day(of: clock.wallTime))
    if !neverSleeps { await reach.remove(.asleep) }
    for _ in 0..<dice.within(1...6) {
      guard (try? await clock.sleep(for: dice.milliseconds(2_000...60_000))) != nil else { return }
      await app.act()
    }
    guard !neverSleeps, (try? await clock.sleep(for: dice.milliseconds(10_000...1_200_000))) != nil else { return }
    await reach.put(.asleep)
  }
}

/// What happened, counted.
final class Counters: Sendable {
  private struct Counts {
    var sessions = [Int](repeating: 0, count: Week.days.count)
    var troubles: [String: Int] = [:]
  }

  private let counts = Mutex(Counts())

  func used(on day: Int) { counts.withLock { $0.sessions[day] += 1 } }
  func happened(_ trouble: String) { counts.withLock { $0.troubles[trouble, default: 0] += 1 } }

  var sessions: [Int] { counts.withLock { $0.sessions } }
  var troubles: [String: Int] { counts.withLock { $0.troubles } }
}
