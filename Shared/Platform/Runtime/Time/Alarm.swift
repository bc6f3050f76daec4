/// One timer for everything that waits for a time (MOB-32): raises a signal when the earliest has come. May raise it
/// once more than needed, never too late.
public final class Alarm: Sendable {
  private let clock: any Clock
  private let ring: Signal
  private let changed = Signal()
  private let due = Mutex<Instant?>(nil)

  public init(clock: any Clock, ring: Signal) {
    self.clock = clock
    self.ring = ring
  }

  /// Rings at `instant` or before.
  public func set(_ instant: Instant) {
    let isEarlier = due.withLock { due in
      if let due, due <= instant { return false }
      due = instant
      return true
    }
    if isEarlier { changed.raise() }
  }

  /// Until the task is cancelled.
  public func run() async {
    while !Task.isCancelled {
      guard let next = due.withLock({ $0 }) else {
        await changed.wait()
        continue
      }
      if await sleeps(until: next), take(next) { ring.raise() }
    }
  }

  /// False when the task was cancelled.
  private func take(_ instant: Instant) -> Bool {
    due.withLock { due in
      guard due == instant else { return false }
      due = nil
      return true
    }
  }

  /// True when the time has come, false when an earlier one was set meanwhile.
  private func sleeps(until instant: Instant) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      group.addTask { (try? await self.clock.sleep(until: instant)) != nil }
      group.addTask {
        await self.changed.wait()
        return false
      }
      defer { group.cancelAll() }
      return await group.next() ?? false
    }
  }
}
