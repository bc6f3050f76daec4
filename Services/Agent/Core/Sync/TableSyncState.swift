public import CaravanModel

/// Where a table stands in its sync.
public struct TableSyncState: Sendable, Hashable {
  /// What to propose: the table's columns; ids 0 until agreed.
  public let proposal: RecordType
  /// What was agreed; nil before the first sync, and when the table has gained columns since.
  public let type: RecordType?
  /// Change token of the last page applied; empty: from the beginning.
  public let token: [UInt8]
  /// So many of the newest rows are all that the table is to have, and it has not come to them: it is read backwards in
  /// time (UNI-15). nil: it goes on from its token.
  public let newestFirst: UInt64?
  /// Rows that could be collected now, and may start a transfer.
  public let dirtyRows: Int
  /// Rows that could be collected, and only ride along: they may be lost.
  public let toleratedRows: Int
  /// Until when a row that was written with a deadline of its own has to be on its way: wall clock, milliseconds.
  public let deadline: Int64?
  /// Nothing of it goes to the cloud, and nothing comes.
  public let isLocalOnly: Bool
  /// An op of this table is in flight.
  public let opInFlight: UInt64?
  /// Entries and conflict copies wait for chunks.
  public let lacksChunks: Bool
  /// Rows of the table are torn, or were left to the cloud, and have to come as a whole, the device's own among them.
  public let lacksRows: Bool
  /// Between a reset and the last page of its resync.
  public let isResyncing: Bool
  /// What was told of the table is told again: its next pull begins with a reset.
  public let mustStartOver: Bool
  /// A query says what it keeps, and, once the type is agreed, what the cloud may leave out of its pages.
  public let keepsQuery: Bool
  public let filter: RowFilter?
  /// Its apps see the zone as it once was (UNI-13).
  public let showsSnapshots: Bool
  /// Entries are kept aside.
  public let keepsEntries: Bool
  /// Of what the device itself wrote, it knows all up to this version (MOB-52).
  public let ownThrough: Seq
  /// Conflicts are being resolved: what arrives waits (SIM-25).
  public let isResolving: Bool
  /// Its sync rests until somebody resets it, and why.
  public let fault: TableFault?
  public let refused: String
  /// The cloud has said that its zone does not exist: nothing goes until it has said that it does.
  public let zoneIsGone: Bool

  public init(
    proposal: RecordType, type: RecordType?, token: [UInt8], newestFirst: UInt64? = nil, dirtyRows: Int,
    toleratedRows: Int = 0,
    deadline: Int64? = nil, isLocalOnly: Bool = false, opInFlight: UInt64?, lacksChunks: Bool, lacksRows: Bool = false,
    isResyncing: Bool = false, keepsQuery: Bool = false,
    filter: RowFilter? = nil, showsSnapshots: Bool = false, keepsEntries: Bool = false,
    mustStartOver: Bool = false, ownThrough: Seq = 0, isResolving: Bool, fault: TableFault? = nil, refused: String = "",
    zoneIsGone: Bool = false
  ) {
    self.proposal = proposal
    self.type = type
    self.token = token
    self.newestFirst = newestFirst
    self.dirtyRows = dirtyRows
    self.toleratedRows = toleratedRows
    self.deadline = deadline
    self.isLocalOnly = isLocalOnly
    self.opInFlight = opInFlight
    self.lacksChunks = lacksChunks
    self.lacksRows = lacksRows
    self.isResyncing = isResyncing
    self.keepsQuery = keepsQuery
    self.filter = filter
    self.showsSnapshots = showsSnapshots
    self.keepsEntries = keepsEntries
    self.mustStartOver = mustStartOver
    self.ownThrough = ownThrough
    self.isResolving = isResolving
    self.fault = fault
    self.refused = refused
    self.zoneIsGone = zoneIsGone
  }

  /// What waits in the store to be sent.
  /// - Parameter now: wall clock, milliseconds.
  public func waitingChanges(at now: Int64) -> [LocalChange] {
    let left = deadline.map { UInt32(clamping: $0 - now) }
    return (dirtyRows > 0 ? [LocalChange(bytes: 1, withinMilliseconds: left)] : [])
      + (toleratedRows > 0 ? [LocalChange(bytes: 1, isTolerated: true)] : [])
  }

  /// Something of the table is lacking here that the cloud is to send. A table that has gained columns is agreed on
  /// anew, and may lack what belongs into them.
  public var lacksSomething: Bool {
    lacksChunks || lacksRows || isResyncing || type == nil && !token.isEmpty && fault == nil
  }
}
