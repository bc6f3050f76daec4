public import CaravanAgentCore
public import CaravanModel

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
  /// The store wants more of the cloud than it did.
  func askForWhatIsLacking() async
  /// Starts a table over, and ends its fault (REC-27).
  /// - Throws: `serverBusy` while it is being synced; `invalidData` when changes that the cloud does not have would be
  ///   forgotten and are not to be discarded.
  func reset(_ table: TableID, _ choice: ResetChoice, discardingUnsent: Bool) async throws(CaravanError)
  /// Ends the device's own fault, that the broker refuses its credentials (REC-08), and has it tried at once.
  func resetDevice() async
  /// Somebody says what the link is, whatever the machine says; nil: there is none.
  func linkChanged(to link: Link?) async
  /// The machine's own word counts again.
  /// - Throws: `invalidData` when nobody watches it.
  func useDetectedLink() async throws(CaravanError)
  /// What the user allows has changed.
  func setPolicy(_ policy: NetworkPolicy) async throws(CaravanError)
  /// `tell` is called at the end of every session that something came of (REC-28); it must return at once.
  func whenSessionsEnd(_ tell: @escaping @Sendable (SessionReport) -> Void) async
  /// The cloud itself, for questions of apps, over whatever link there is.
  /// - Throws: `networkNotConnected` or `networkNotPermitted`.
  func cloud() async throws(CaravanError) -> any CloudControl
  func status() async -> SyncStatus
}

/// The device as people see it.
public struct SyncStatus: Sendable, Hashable {
  public var device: String
  public var user: String
  public var link: Link?
  public var isLinkAutomatic: Bool
  public var isConnected: Bool
  /// Why the last attempt to connect failed, while attempts are made.
  public var unreachable: String?
  /// The broker refuses the device's credentials.
  public var refusal: Admission.Refusal?
  /// Tables that are being synced now.
  public var atWork: Set<TableID>
  /// Tables whose sync the device's disk refuses, and what it said; until it has taken it.
  public var refusedByDisk: [TableID: String]
  public var counters: [Counter]
  public var policy: NetworkPolicy
  /// Today, of the links that have a budget.
  public var spent: [LinkClass: UInt64]
  /// Today's.
  public var usage: [Usage]
  /// What each table has carried since it was made.
  public var totals: [TableID: UsageLedger.Bytes]
  /// What the device itself has carried since its agent began.
  public var deviceTotal: UsageLedger.Bytes

  public struct Usage: Sendable, Hashable {
    public var account: UsageLedger.Account
    public var bytes: UsageLedger.Bytes

    public init(account: UsageLedger.Account, bytes: UsageLedger.Bytes) {
      self.account = account
      self.bytes = bytes
    }
  }

  public struct Counter: Sendable, Hashable {
    public var name: String
    public var value: UInt64

    public init(name: String, value: UInt64) {
      self.name = name
      self.value = value
    }
  }

  public init(
    device: String, user: String, link: Link?, isLinkAutomatic: Bool = false, isConnected: Bool,
    unreachable: String? = nil, refusal: Admission.Refusal? = nil, atWork: Set<TableID> = [],
    refusedByDisk: [TableID: String] = [:], counters: [Counter] = [],
    policy: NetworkPolicy = NetworkPolicy(), spent: [LinkClass: UInt64] = [:], usage: [Usage] = [],
    totals: [TableID: UsageLedger.Bytes] = [:], deviceTotal: UsageLedger.Bytes = UsageLedger.Bytes()
  ) {
    self.device = device
    self.user = user
    self.link = link
    self.isLinkAutomatic = isLinkAutomatic
    self.isConnected = isConnected
    self.unreachable = unreachable
    self.refusal = refusal
    self.atWork = atWork
    self.refusedByDisk = refusedByDisk
    self.counters = counters
    self.policy = policy
    self.spent = spent
    self.usage = usage
    self.totals = totals
    self.deviceTotal = deviceTotal
  }
}

extension SyncStatus {
  /// The part of it that an app may see: of other apps' tables nothing, and what was counted of all apps together only
  /// if the device is its user's (MOB-18).
  package func shown(to app: ContainerID, isOwner: Bool) -> SyncStatus {
    var shown = self
    shown.atWork = atWork.filter { $0.app == app }
    shown.usage = usage.filter { usage in usage.account.table.map { $0.app == app } ?? isOwner }
    if isOwner { return shown }
    shown.unreachable = nil
    shown.counters = []
    shown.spent = spent.mapValues { _ in 0 }
    for usage in shown.usage where spent[usage.account.link] != nil {
      shown.spent[usage.account.link, default: 0] += usage.bytes.up + usage.bytes.down
    }
    return shown
  }
}
