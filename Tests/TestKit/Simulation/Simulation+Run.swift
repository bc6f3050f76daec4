internal import CaravanRuntime
internal import Glibc

internal import struct Synchronization.Atomic

/// Why a simulation did not come to its end. The description has what is needed to see it again.
public struct SimulationFailure: Error, CustomStringConvertible {
  public enum Reason: String, Sendable {
    /// Nothing can run and nobody sleeps, and yet what was waited for has not happened.
    case stuck = "everybody waits"
    case late = "the deadline passed"
    case circles = "the step limit was reached"
  }

  public let reason: Reason
  public let seed: UInt64
  public let time: Duration
  public let steps: UInt64

  public var description: String {
    "seed \(seed): \(reason.rawValue) at \(time) after \(steps) steps"
  }
}

extension Simulation {
  /// Runs `body` in this simulation until it returns. To be called from outside, on an ordinary thread; blocks it.
  /// - Parameter deadline: virtual time `body` may take.
  /// - Throws: what `body` throws; `SimulationFailure` when it does not end. It is then cancelled and driven on for a
  ///   while, so that it can put away what it holds.
  @discardableResult
  public func run<R: Sendable>(
    deadline: Duration = .seconds(86_400), _ body: @escaping @Sendable () async throws -> R
  ) throws -> R {
    let task = start(body)
    do {
      try run(within: deadline) { [flag = task.flag] in flag.isRaised }
    } catch {
      task.cancel()
      _ = drive(until: now + deadline) { task.flag.isRaised }
      throw error
    }
    guard let result = task.result else { preconditionFailure("a task that ended has no result") }
    return try result.get()
  }

  /// Lets the simulation go on until `isDone`, which is asked before each step and so may check invariants too.
  /// - Throws: what `isDone` throws; `SimulationFailure` when it does not come true within `deadline` of virtual time.
  public func run(within deadline: Duration, until isDone: () throws -> Bool) throws {
    var failure: (any Error)?
    let stop = drive(until: now + deadline) {
      do { return try isDone() } catch {
        failure = error
        return true
      }
    }
    if let failure { throw failure }
    switch stop {
    case .wanted: return
    case .quiet: throw self.failure(hasSleepers ? .late : .stuck)
    case .circles: throw self.failure(.circles)
    }
  }

  /// Lets `duration` of virtual time pass.
  /// - Throws: `SimulationFailure` at the step limit.
  public func run(for duration: Duration) throws {
    let end = now + duration
    if case .circles = drive(until: end, { false }) { throw failure(.circles) }
    advance(to: end)
  }

  /// Begins a task in this simulation that ends by itself or by `cancel`: a device that crashes, an app that is killed.
  /// It runs when the simulation is driven. May be called from inside and outside.
  public func start<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) -> SimulatedTask<R> {
    let task = SimulatedTask<R>()
    let place = unended.withLock { $0.add { task.cancel() } }
    task.begin(
      Task(executorPreference: self) {
        do { task.end(.success(try await body())) } catch { task.end(.failure(error)) }
        self.unended.withLock { $0.remove(place) }
      })
    return task
  }

  /// Cancels what `start` began and has not ended, and drives on until that has put away what it holds: for ever asleep
  /// it would keep its files and stores as long as the process lives. From inside the simulation it can only be
  /// cancelled.
  public func end() {
    for cancel in unended.withLock({ $0.all }) { cancel() }
    guard !isDriving else { return }
    _ = drive(until: now + Self.patienceAtTheEnd) { unended.withLock { $0.isEmpty } }
  }

  /// Virtual time that what was cancelled has to end.
  private static let patienceAtTheEnd: Duration = .seconds(600)

  private func failure(_ reason: SimulationFailure.Reason) -> SimulationFailure {
    SimulationFailure(reason: reason, seed: seed, time: now - Instant(nanoseconds: 0), steps: steps)
  }
}

/// How to cancel what has been started and has not ended, in the order it was started.
struct UnendedTasks {
  private var last: UInt64 = 0
  private var cancels: [UInt64: @Sendable () -> Void] = [:]

  var isEmpty: Bool { cancels.isEmpty }
  var all: [@Sendable () -> Void] { cancels.sorted { $0.key < $1.key }.map(\.value) }

  mutating func add(_ cancel: @escaping @Sendable () -> Void) -> UInt64 {
    last += 1
    cancels[last] = cancel
    return last
  }

  mutating func remove(_ place: UInt64) { cancels[place] = nil }
}

/// A task whose end can be seen from outside the simulation.
public final class SimulatedTask<R: Sendable>: Sendable {
  private let outcome = Promise<Result<R, any Error>>()
  private let task = Mutex<Task<Void, Never>?>(nil)
  let flag = SimulatedEnd()

  /// nil while it runs.
  public var result: Result<R, any Error>? { outcome.value }

  public func cancel() { task.withLock { $0 }?.cancel() }

  /// Waits from inside the simulation.
  public func value() async throws -> R { try await outcome.wait().get() }

  func begin(_ task: Task<Void, Never>) { self.task.withLock { $0 = task } }

  func end(_ result: Result<R, any Error>) {
    outcome.fulfil(result)
    flag.raise()
  }
}

/// Looked at before every step, so it is not generic: that would cost a fifth of all time.
final class SimulatedEnd: Sendable {
  private let raised = Atomic(false)

  var isRaised: Bool { raised.load(ordering: .relaxed) }
  func raise() { raised.store(true, ordering: .relaxed) }
}
