public import AgentCore
public import Model

/// What apps may ask of the sync engine. The store holds registrations; these calls only say that they changed.
public protocol SyncControl: Sendable {
  /// Registrations of the table were added, changed or removed, and are in the store.
  func registrationsChanged(of table: TableID) async
  /// The table was dropped on this device; nothing of it is left in the store.
  func tableDropped(_ table: TableID) async
  /// Syncs now, whatever is registered (SIM-19, SIM-22): pull, push or both.
  /// - Returns: when all that was dirty at the call has been answered by the cloud, and all that the cloud had is here.
  /// - Throws: `networkNotConnected`, `networkNotPermitted`, or what the cloud refused.
  func syncNow(_ table: TableID, write: Bool, read: Bool) async throws(CaravanError)
  /// The machine's link has changed; nil: there is none.
  func linkChanged(to link: LinkClass?) async
  func status() async -> SyncStatus
}

/// The device as people see it.
public struct SyncStatus: Sendable, Hashable {
  public var device: String
  public var user: String
  public var link: LinkClass?
  public var isConnected: Bool
  public var counters: [Counter]

  public struct Counter: Sendable, Hashable {
    public var name: String
    public var value: UInt64

    public init(name: String, value: UInt64) {
      self.name = name
      self.value = value
    }
  }

  public init(device: String, user: String, link: LinkClass?, isConnected: Bool, counters: [Counter] = []) {
    self.device = device
    self.user = user
    self.link = link
    self.isConnected = isConnected
    self.counters = counters
  }
}
