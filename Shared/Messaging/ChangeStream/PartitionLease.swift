public import CaravanModel
import CaravanRuntime

/// The right to act for one partition, as long as `isHeld`.
public final class PartitionLease: Sendable {
  public let partition: Partition
  /// Its name in the store.
  public let name: String
  /// Grows with every change of holder; the store refuses writes under an older one.
  public let token: UInt64
  let watch: ChangeWatch
  private let clock: any Clock
  private let until: Mutex<Instant>
  private let end = Latch()
  private let onServing: @Sendable (Partition) -> Void

  init(
    _ partition: Partition, name: String, token: UInt64, until: Instant, watch: ChangeWatch, clock: any Clock,
    onServing: @escaping @Sendable (Partition) -> Void
  ) {
    self.partition = partition
    self.name = name
    self.token = token
    self.watch = watch
    self.clock = clock
    self.until = Mutex(until)
    self.onServing = onServing
  }

  /// Whether nobody else can hold it now.
  public var isHeld: Bool { expiry.map { clock.now < $0 } ?? false }

  /// To be called once the partition's requests are answered.
  public func serving() { onServing(partition) }

  /// When it can have expired; nil: it is over.
  var expiry: Instant? { end.isOpen ? nil : until.withLock { $0 } }

  func extend(until later: Instant) { until.withLock { $0 = max($0, later) } }

  /// The work is to stop.
  func revoke() { end.open() }

  /// Returns when the lease has been revoked, or the task is cancelled.
  func waitUntilOver() async { await end.wait() }
}
