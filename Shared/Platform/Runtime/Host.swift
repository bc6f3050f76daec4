/// What a machine gives to a service. Everything in `Services` and `Shared` reads time, sleeps, draws random numbers,
/// runs blocking code, logs and counts through this value, so the whole suite also runs on a simulated one
/// (architecture §7).
public struct Host: Sendable {
  public let clock: any Clock
  public let random: any RandomSource
  public let executors: any ExecutorSource
  public let log: Log
  public let metrics: MetricsRegistry
  public let process: ProcessFacts

  public init(
    clock: any Clock, random: any RandomSource, executors: any ExecutorSource, log: Log, metrics: MetricsRegistry,
    process: ProcessFacts = .simulated
  ) {
    self.clock = clock
    self.random = random
    self.executors = executors
    self.log = log
    self.metrics = metrics
    self.process = process
  }

  /// The same machine with another log: a service's, a request's.
  public func with(log: Log) -> Host {
    Host(clock: clock, random: random, executors: executors, log: log, metrics: metrics, process: process)
  }

  /// The same machine with another clock.
  public func with(clock: any Clock) -> Host {
    Host(clock: clock, random: random, executors: executors, log: log, metrics: metrics, process: process)
  }
}

/// A point of the monotonic clock, in nanoseconds. Only differences mean anything.
public struct Instant: Sendable, Hashable, Comparable {
  public var nanoseconds: UInt64
  public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }
  public static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }

  public static func + (a: Self, b: Duration) -> Instant {
    let (sum, overflow) = Int64(clamping: a.nanoseconds).addingReportingOverflow(b.wholeNanoseconds)
    return Instant(nanoseconds: overflow ? UInt64(Int64.max) : UInt64(max(0, sum)))
  }

  public static func - (a: Self, b: Self) -> Duration {
    .nanoseconds(Int64(clamping: a.nanoseconds) - Int64(clamping: b.nanoseconds))
  }
}

/// Unix time in milliseconds. May jump; used for expiry, wall-clock periods and what people read.
public struct WallTime: Sendable, Hashable, Comparable {
  public var milliseconds: Int64
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }
  public static func < (a: Self, b: Self) -> Bool { a.milliseconds < b.milliseconds }
}

extension Duration {
  /// Clamped to what 64 bits hold (292 years).
  public var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? (seconds < 0 ? .min : .max) : scaled &+ attoseconds / 1_000_000_000
  }

  public var wholeMilliseconds: Int64 { wholeNanoseconds / 1_000_000 }
}

public protocol Clock: Sendable {
  /// Monotonic; does not go back.
  var now: Instant { get }
  var wallTime: WallTime { get }
  /// Returns at `instant` or later.
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  func sleep(until instant: Instant) async throws
  /// Calls `body` at `instant` or later, once. It must not block; on which thread it runs is not said.
  func call(at instant: Instant, _ body: @escaping @Sendable () -> Void)
}

extension Clock {
  public func sleep(for duration: Duration) async throws { try await sleep(until: now + duration) }
}

public protocol RandomSource: Sendable {
  func next() -> UInt64
}

extension RandomSource {
  /// Uniform below `bound`, which is positive.
  public func below(_ bound: UInt64) -> UInt64 {
    precondition(bound > 0, "a random number below zero was asked for")
    return next() % bound
  }

  public func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let word = next()
      for k in 0..<8 where bytes.count < count { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * UInt64(k)))) }
    }
    return bytes
  }
}

/// Where actors run that own a C handle, never the cooperative pool.
public protocol ExecutorSource: Sendable {
  /// A new serial executor on the thread where the process's tasks run: calling its actor changes no thread, and what
  /// blocks there holds up the process.
  func makeInline() -> any SerialExecutor
  /// For calls that block for long: one thread per handle.
  /// A new serial executor; `name` shows in thread lists. It lives as long as somebody holds it.
  func makeSerial(_ name: String) -> any SerialExecutor
  /// For work that goes on beside the thread that asks for it. `name` as above.
  func makeHelper(_ name: String) -> any Helper
}

/// A part of a process that works until it is cancelled or told to stop.
public protocol Service: Sendable {
  /// Runs until `shutDown` has been called and everything in flight has ended, or the task is cancelled.
  /// - Throws: what made it impossible to go on; the process then stops.
  func run() async throws
  /// Asks `run` to finish in order. Callable from anywhere, more than once.
  func shutDown()
  /// Why it runs and cannot do its work now, in a few words; nil: it can, for all that is known.
  var trouble: String? { get }
}

extension Service {
  public var trouble: String? { nil }
}
