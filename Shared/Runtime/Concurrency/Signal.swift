/// Wakes one loop: "there is something to do". Raising it again before the loop looks changes nothing.
public final class Signal: Sendable {
  private let queue = BoundedQueue<Void>(capacity: 1)

  public init() {}

  public func raise() { queue.push(()) }

  /// Returns once the signal has been raised since the last return, or the task is cancelled.
  public func wait() async { _ = await queue.next() }
}
