/// Shows that a writer holds the lease, or lock, that it thinks it holds.
public struct LeaseProof: Sendable, Hashable {
  /// The name of the lease, which both the writer and the store know.
  public var lease: String
  /// Grows each time the lease changes hands, so that a late writer shows an old one.
  public var token: UInt64

  public init(lease: String, token: UInt64) {
    self.lease = lease
    self.token = token
  }
}
