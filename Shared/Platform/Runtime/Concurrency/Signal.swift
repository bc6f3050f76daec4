/// Wakes one loop: "there is something to do". Raised again before the loop looks, it has the
/// loop look once more at most.
public final class Signal: Sendable {
  private let queue = BoundedQueue<Void>(capacity: 1)

  public init() {}

  public func raise() { queue.push(()) }

  /// Returns once the signal has been raised since the last return, or the task is cancelled.
  public func wait() async { _ = await queue.next() }

  /// The same, but returns after `duration` at the latest.
  public func wait(atMost duration: Duration, clock: any Clock) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await clock.sleep(for: duration) }
      group.addTask { await self.wait() }
      await group.next()
      group.cancelAll()
    }
  }
}
