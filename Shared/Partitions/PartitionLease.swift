public import Model
import Runtime

/// The right to act for one partition, as long as `isHeld`.
public final class PartitionLease: Sendable {
  public let partition: Partition
  /// Its name in the store.
  public let name: String
  /// Grows with every change of holder; the store refuses writes under an older one.
  public let token: UInt64
  private let clock: any Clock
  private let until: Mutex<Instant>
  private let end = Latch()
  private let onServing: @Sendable (Partition) -> Void

  init(
    _ partition: Partition, name: String, token: UInt64, until: Instant, clock: any Clock,
    onServing: @escaping @Sendable (Partition) -> Void
  ) {
    self.partition = partition
    self.name = name
    self.token = token
    self.clock = clock
    self.until = Mutex(until)
    self.onServing = onServing
  }

  /// Whether nobody else can hold it now.
  public var isHeld: Bool { !end.isOpen && clock.now < until.withLock { $0 } }

  /// To be called once the partition's requests are answered.
  public func serving() { onServing(partition) }

  func extend(until later: Instant) { until.withLock { $0 = max($0, later) } }

  /// The work is to stop.
  func revoke() { end.open() }

  /// Returns when the lease has been revoked or can have expired, or the task is cancelled.
  func waitUntilOver() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.end.wait() }
      group.addTask {
        while self.isHeld {
          guard (try? await self.clock.sleep(until: self.until.withLock { $0 })) != nil else { return }
        }
      }
      await group.next()
      group.cancelAll()
    }
  }
}
