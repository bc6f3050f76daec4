internal import CCaravanLinux
public import CaravanModel
internal import Glibc

/// What a watched descriptor is ready for.
public struct Readiness: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// There is something to read, or the other side has gone.
  public static let reading = Readiness(rawValue: EPOLLIN.rawValue)
  public static let writing = Readiness(rawValue: EPOLLOUT.rawValue)
}

extension EventLoop {
  /// Watches a descriptor: `ready` is called on the loop's thread as long as it is ready for what it is watched for.
  public func watch(
    _ descriptor: Int32, for interest: Readiness, _ ready: @escaping @Sendable (Readiness) -> Void
  ) throws(CaravanError) -> DescriptorWatch {
    try poller.watch(descriptor, for: interest, ready)
  }
}

/// One descriptor under watch. Cancel it before the descriptor is closed.
public final class DescriptorWatch: Sendable {
  private let poller: Poller
  private let descriptor: Int32
  private let id: UInt64

  fileprivate init(_ poller: Poller, _ descriptor: Int32, _ id: UInt64) {
    self.poller = poller
    self.descriptor = descriptor
    self.id = id
  }

  /// Without effect once cancelled.
  public func change(to interest: Readiness) { poller.change(descriptor, to: interest, id) }

  /// `ready` is not called any more, except where it is being called now.
  public func cancel() { poller.forget(descriptor, id) }
}

/// Descriptors and who hears of them (epoll(7)).
final class Poller: Sendable {
  private struct State {
    var handlers: [UInt64: @Sendable (Readiness) -> Void] = [:]
    var last: UInt64 = Poller.bell
  }

  private static let eventsPerPoll: Int32 = 64
  /// Identity of the descriptor that interrupts a poll.
  private static let bell: UInt64 = 0

  private let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
  private let interruption = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
  private let state = Mutex(State())

  init() {
    precondition(epoll >= 0 && interruption >= 0, "no descriptors for the event loop: raise the limit on open files")
    // Edge-triggered: every write to it is an event, and nobody needs to read it.
    _ = control(EPOLL_CTL_ADD, interruption, Readiness(rawValue: EPOLLIN.rawValue | EPOLLET.rawValue), Self.bell)
  }

  /// Ends a `poll` that waits, from any thread.
  func interrupt() { _ = eventfd_write(interruption, 1) }

  func watch(
    _ descriptor: Int32, for interest: Readiness, _ ready: @escaping @Sendable (Readiness) -> Void
  ) throws(CaravanError) -> DescriptorWatch {
    let id = state.withLock { state in
      state.last += 1
      state.handlers[state.last] = ready
      return state.last
    }
    guard control(EPOLL_CTL_ADD, descriptor, interest, id) else {
      state.withLock { _ = $0.handlers.removeValue(forKey: id) }
      throw CaravanError(.internalError, "descriptor \(descriptor) cannot be watched: error \(errno)")
    }
    return DescriptorWatch(self, descriptor, id)
  }

  fileprivate func control(_ operation: Int32, _ descriptor: Int32, _ interest: Readiness, _ id: UInt64) -> Bool {
    var event = unsafe epoll_event(events: interest.rawValue, data: epoll_data_t(u64: id))
    return unsafe epoll_ctl(epoll, operation, descriptor, &event) == 0
  }

  // Under the lock, so that no descriptor is touched that was closed and given to somebody else after its watch ended.

  fileprivate func change(_ descriptor: Int32, to interest: Readiness, _ id: UInt64) {
    state.withLock { state in
      if state.handlers[id] != nil { _ = control(EPOLL_CTL_MOD, descriptor, interest, id) }
    }
  }

  fileprivate func forget(_ descriptor: Int32, _ id: UInt64) {
    state.withLock { state in
      if state.handlers.removeValue(forKey: id) != nil { _ = control(EPOLL_CTL_DEL, descriptor, [], id) }
    }
  }

  /// Waits, and tells those whose descriptors are ready. For the loop's thread only.
  /// - Parameter patience: rounded up to milliseconds; nil: until there is an event.
  func poll(atMost patience: Duration?) {
    let milliseconds = patience.map { Int32(clamping: ($0.wholeNanoseconds + 999_999) / 1_000_000) } ?? -1
    unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Int(Self.eventsPerPoll)) { events in
      let count = unsafe epoll_wait(epoll, events.baseAddress, Self.eventsPerPoll, milliseconds)
      guard count > 0 else { return }
      for index in 0..<Int(count) {
        let (flags, id) = unsafe (events[index].events, events[index].data.u64)
        guard id != Self.bell else { continue }
        // An error or a hang-up shows in the next read, and in the next write.
        var readiness = Readiness(rawValue: flags)
        if flags & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { readiness.formUnion([.reading, .writing]) }
        state.withLock { $0.handlers[id] }?(readiness)
      }
    }
  }
}
