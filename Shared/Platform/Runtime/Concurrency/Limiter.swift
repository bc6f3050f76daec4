public import CaravanModel

internal import struct Synchronization.Atomic

/// A fixed number of permits, for work in flight. Those who wait are bounded too.
public final class Limiter: Sendable {
  private struct State {
    var free: Int
    /// Resumed with true: the permit passes from the one who released it without becoming free.
    var waiters = Waiters<Bool>()
  }

  private enum Entry {
    case granted, wait, refused, cancelled
  }

  public let permits: Int
  private let waiterLimit: Int
  private let state: Mutex<State>

  /// - Parameters:
  ///   - permits: held at once; positive.
  ///   - waiters: tasks that may wait for one; 0: take a permit now or be refused.
  public init(permits: Int, waiters: Int) {
    precondition(permits > 0 && waiters >= 0, "a limiter needs permits (\(permits)) and room for waiters (\(waiters))")
    self.permits = permits
    waiterLimit = waiters
    state = Mutex(State(free: permits))
  }

  public var inUse: Int { permits - state.withLock { $0.free } }

  /// - Returns: whether a permit was free; give it back with `release`.
  public func tryAcquire() -> Bool {
    state.withLock { state in
      guard state.free > 0 else { return false }
      state.free -= 1
      return true
    }
  }

  /// - Throws: `serverBusy` when too many wait already; `cancelled`.
  public func acquire() async throws(CaravanError) {
    if tryAcquire() { return }
    let ticket = Waiters<Bool>.Ticket()
    let refused = Atomic(false)
    let granted = await withTaskCancellationHandler {
      await withTaskContinuation { continuation in
        switch enter(ticket, continuation) {
        case .granted: continuation.resume(returning: true)
        case .wait: break
        case .refused:
          refused.store(true, ordering: .relaxed)
          continuation.resume(returning: false)
        case .cancelled: continuation.resume(returning: false)
        }
      }
    } onCancel: {
      state.withLock { $0.waiters.remove(ticket) }?.resume(returning: false)
    }
    if granted { return }
    if refused.load(ordering: .relaxed) {
      throw CaravanError(.serverBusy, "\(permits) are in progress and \(waiterLimit) wait: try again later")
    }
    throw CaravanError(.cancelled, "the task was cancelled while it waited for its turn")
  }

  private func enter(_ ticket: Waiters<Bool>.Ticket, _ continuation: TaskContinuation<Bool, Never>) -> Entry {
    state.withLock { state in
      if Task.isCancelled { return .cancelled }
      if state.free > 0 {
        state.free -= 1
        return .granted
      }
      if state.waiters.count >= waiterLimit { return .refused }
      state.waiters.append(ticket, continuation)
      return .wait
    }
  }

  public func release() {
    let heir = state.withLock { state in
      let heir = state.waiters.popFirst()
      if heir == nil { state.free += 1 }
      precondition(state.free <= permits, "a permit was released that nobody held")
      return heir
    }
    heir?.resume(returning: true)
  }

  /// Holds a permit while `body` runs.
  /// - Throws: `serverBusy` or `cancelled` as `acquire` does, or what `body` throws.
  public func withPermit<R: Sendable>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws(CaravanError) -> R
  ) async throws(CaravanError) -> R {
    try await acquire()
    defer { release() }
    return try await body()
  }
}
