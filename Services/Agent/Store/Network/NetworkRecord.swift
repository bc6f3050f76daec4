public import CaravanAgentCore
public import CaravanModel

/// What the store remembers of the device's network.
public struct NetworkRecord: Sendable, Hashable {
  public var policy: NetworkPolicy
  /// The day that the rest is of.
  public var day: Int64
  public var grants: [LinkClass: UInt64]
  public var accounts: [UsageLedger.Account: UsageLedger.Bytes]
  /// What each table has carried since it was made.
  public var totals: [TableID: UsageLedger.Bytes]
  /// The broker refuses these credentials of the device.
  public var refusal: Admission.Refusal?

  public init(
    policy: NetworkPolicy = NetworkPolicy(), day: Int64 = 0, grants: [LinkClass: UInt64] = [:],
    accounts: [UsageLedger.Account: UsageLedger.Bytes] = [:], totals: [TableID: UsageLedger.Bytes] = [:],
    refusal: Admission.Refusal? = nil
  ) {
    self.policy = policy
    self.day = day
    self.grants = grants
    self.accounts = accounts
    self.totals = totals
    self.refusal = refusal
  }
}
