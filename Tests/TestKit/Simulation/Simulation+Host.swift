public import CaravanRuntime

internal import struct Synchronization.Atomic

extension Simulation {
  /// A machine of this simulation: the simulation's time, randomness of its own by seed and name (so that a draw more
  /// on one machine changes nothing on another), executors that run in the simulation, its lines in `log`, its own
  /// metrics.
  public func host(_ name: String) -> SimulatedHost {
    let clock = SimulatedClock(self)
    var hash = FNV1a()
    hash.add(seed)
    hash.add(name)
    let random: any RandomSource =
      settings.isComparable
      ? MomentaryRandom(seed: hash.value, of: self) : SeededRandom(seed: hash.value)
    let host = Host(
      clock: clock, random: random, executors: SimulatedExecutors(simulation: self),
      log: Log(level: settings.logLevel, clock: clock, sink: log).with([.host: name]), metrics: MetricsRegistry())
    return SimulatedHost(name: name, host: host, clock: clock)
  }
}

/// Chances by the moment: a draw more now changes none of later.
private final class MomentaryRandom: RandomSource {
  private let seed: UInt64
  private let simulation: Simulation
  private let drawn = Mutex((at: Instant(nanoseconds: 0), count: UInt64(0)))

  init(seed: UInt64, of simulation: Simulation) {
    self.seed = seed
    self.simulation = simulation
  }

  func next() -> UInt64 {
    let now = simulation.now
    return drawn.withLock { drawn in
      if drawn.at != now { drawn = (now, 0) }
      drawn.count += 1
      var hash = FNV1a()
      for word in [seed, now.nanoseconds, drawn.count] { hash.add(word) }
      var chance = SplitMix64(seed: hash.value)
      return chance.next()
    }
  }
}

/// A machine whose wall clock can be wrong.
public struct SimulatedHost: Sendable {
  public let name: String
  public let host: Host
  private let clock: SimulatedClock

  init(name: String, host: Host, clock: SimulatedClock) {
    self.name = name
    self.host = host
    self.clock = clock
  }

  /// Moves this machine's wall clock alone, as an operator or NTP does.
  public func adjustWallTime(by duration: Duration) { clock.adjust(by: duration) }

  /// What it knows of time: it never boots anew, and nobody keeps its clock right.
  public var time: any MachineTime { SimulatedTime(clock: clock) }
}

private struct SimulatedTime: MachineTime {
  let clock: SimulatedClock

  var reading: ClockReading {
    ClockReading(
      wall: clock.wallTime.milliseconds, sinceBoot: Int64(clock.now.nanoseconds / 1_000_000), boot: "simulated")
  }

  var isSynchronised: Bool { false }
}

final class SimulatedClock: Clock {
  private let simulation: Simulation
  private let error = Atomic<Int64>(0)

  init(_ simulation: Simulation) { self.simulation = simulation }

  var now: Instant { simulation.now }

  var wallTime: WallTime {
    let epoch = simulation.settings.epoch.milliseconds
    return WallTime(
      milliseconds: epoch + Int64(simulation.now.nanoseconds / 1_000_000) + error.load(ordering: .relaxed))
  }

  func sleep(until instant: Instant) async throws { try await simulation.sleep(until: instant) }
  func call(at instant: Instant, _ body: @escaping @Sendable () -> Void) { simulation.call(at: instant, body) }
  func adjust(by duration: Duration) { error.wrappingAdd(duration.wholeMilliseconds, ordering: .relaxed) }
}
