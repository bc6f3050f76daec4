/// Shows that a writer holds the lease, or lock, that it thinks it holds.
public struct LeaseProof: Sendable, Hashable {
  public var lease: String
  public var token: UInt64

  public init(lease: String, token: UInt64) {
    self.lease = lease
    self.token = token
  }
}
