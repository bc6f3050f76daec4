/// What a service does for each partition it owns.
public protocol PartitionWork: Sendable {
  /// Runs until cancelled, which is when the lease is over. Calls `lease.serving()` when requests are answered.
  /// - Throws: what went wrong; it is begun again while the lease holds.
  func serve(_ lease: PartitionLease) async throws

  /// Last words after `serve` has ended, before the next owner begins: the lease may still be held.
  func handOver(_ lease: PartitionLease) async
}
