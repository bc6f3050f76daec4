public import CaravanModel
internal import CaravanWire

/// A row as an app sees it.
public struct AppRow: Sendable, Hashable {
  /// What the cloud knows of the row as it is here.
  public enum State: Sendable, Hashable {
    case clean
    /// Changed here, not yet sent.
    case dirty
    /// On its way to the cloud.
    case pending
    /// The cloud has something else: resolve it.
    case conflict
  }

  /// Unique in its table, and the same on every device.
  public let id: String
  /// Given by the cloud; 0: it has not seen the row (MOB-15).
  public let version: UInt64
  /// Whether the cloud has the row as it is here.
  public let state: State
  /// By column; null cells are left out.
  public let cells: [String: Value]
  /// Sizes in bytes of the objects the row has, by column.
  public let objects: [String: UInt64]
  /// Why the cloud does not take the row as it is, which stays dirty; empty: it has not said so. A change is offered
  /// again.
  public let refused: String
  /// When and by whom the row was made, and when and by whom its version was; nil: it was not asked for, the cloud has
  /// not seen the row, or it is from before the cloud kept that.
  public let created: RowAct?
  /// Of the row's version; nil as for `created`.
  public let modified: RowAct?

  /// The cell of a column; null where the row has none.
  public subscript(_ column: String) -> Value { cells[column] ?? .null }

  init(_ row: CaravanWire.Row) throws(CaravanError) {
    id = row.id
    version = row.version
    state =
      switch row.state {
      case .clean: .clean
      case .dirty: .dirty
      case .pending: .pending
      case .conflict: .conflict
      }
    var cells: [String: Value] = [:]
    for cell in row.cells { cells[cell.column] = try cell.model() }
    self.cells = cells
    refused = row.refused
    created = RowAct(milliseconds: row.createdMilliseconds, by: row.createdBy)
    modified = RowAct(milliseconds: row.modifiedMilliseconds, by: row.modifiedBy)
    objects = Dictionary(row.objects.map { ($0.column, $0.size) }, uniquingKeysWith: { $1 })
  }
}

/// Something that somebody did to a row, at the cloud.
public struct RowAct: Sendable, Hashable {
  /// Unix time on the cloud's clock.
  public let milliseconds: Int64
  /// Empty where it was a service of the cloud.
  public let user: String
  /// A device of that user, or the name of a service, which begins with an @.
  public let device: String

  init?(milliseconds: UInt64, by writer: String) {
    guard milliseconds > 0 else { return nil }
    self.milliseconds = Int64(clamping: milliseconds)
    // What sync has settled for a device is that device's.
    let name = writer.hasPrefix("@sync/") ? writer.dropFirst("@sync/".count) : writer[...]
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    let isDevice = parts.count > 1 && name.first != "@"
    user = isDevice ? String(parts[0]) : ""
    device = isDevice ? String(parts[1]) : String(name)
  }
}

/// Something that happened to a table behind the app's back.
public struct Upcall: Sendable, Hashable {
  /// What happened.
  public enum Kind: Sendable, Hashable {
    case newData
    case conflict
    /// Rows are gone that the cloud does not have: they were damaged on this device's disk (SIM-82), or their zone has
    /// ceased to exist.
    case rowsLost
    /// More has happened than the agent remembers: read the table's rows and conflicts again.
    case lookAnew
  }

  /// What happened; it says which of the other fields have something.
  public let kind: Kind
  /// The name of the app's table.
  public let table: String
  /// Of a conflict: those of the table that are in conflict now.
  public let rows: UInt64
  /// Ids of rows lost; the last of them, where there were more than the agent remembers.
  public let lost: [String]
  /// Ids of rows that are new, changed, removed or newly in conflict; some of them, where they are many.
  public let rowIDs: [String]
  /// Whoever has taken this upcall goes on behind it with `Table.watch(after:)`, on this connection or another; 0: an
  /// older agent, which has no numbers.
  public let number: UInt64

  init?(_ upcall: CaravanWire.Upcall) {
    switch upcall.kind {
    case .unspecified: return nil
    // That something happened which the agent does not remember is told in two ways, for clients from before.
    case .newData where upcall.rows == 0: return nil
    case .newData: kind = .newData
    case .conflict: kind = .conflict
    case .rowsLost: kind = .rowsLost
    case .lookAnew: kind = .lookAnew
    }
    table = upcall.table
    rows = upcall.rows
    lost = upcall.lost
    rowIDs = upcall.rowIds
    number = upcall.number
  }
}

/// A row that was changed here and elsewhere.
public struct Conflict: Sendable, Hashable {
  /// The row as it is here.
  public let mine: AppRow
  /// The row was deleted here, and `mine` is what it was.
  public let isMineDeleted: Bool
  /// Nil: deleted at the cloud.
  public let theirs: AppRow?
  /// What both began with; nil: there was nothing (CK-34).
  public let ancestor: AppRow?
}

/// Which side of a row in conflict an object is read from.
public enum RowSide: Sendable, Hashable {
  case mine
  case theirs
  case ancestor

  var wire: CaravanWire.RowCopy {
    switch self {
    case .mine: .mine
    case .theirs: .theirs
    case .ancestor: .ancestor
    }
  }
}

/// How a conflict is decided (SIM-27).
public enum Resolution: Sendable, Hashable {
  case mine
  case theirs
  /// These cells on top of mine, and these columns of theirs, objects included, in place of mine.
  case new([String: Value], fromTheirs: [String] = [])
}

/// How the device and the app's tables stand (SIM-83).
public struct DeviceStatus: Sendable, Hashable {
  /// How one of the app's tables stands.
  public struct Table: Sendable, Hashable {
    /// As it was created.
    public let name: String
    /// Counts of rows: all that apps see; changed here and not sent; on their way to the cloud; in conflict; damaged on
    /// the disk.
    public let rows, dirty, pending, conflicts, torn: UInt64
    /// Ids of rows that were damaged on the disk, and are not there for apps until the cloud has restored them: the
    /// first of those that `torn` counts.
    public let tornRows: [String]
    /// Ids of rows of which the cloud's own copies are damaged, the first of them: what is here of them stays, and goes
    /// to the cloud with their next change.
    public let cloudDamagedRows: [String]
    /// Rows that have come from the cloud and do not show yet: some of their objects are not here, or, where the table
    /// shows snapshots, not all of theirs is.
    public let waiting: UInt64
    /// The cloud says that the table's zone does not exist: its rows are hidden, and come back with it.
    public let isZoneGone: Bool
    /// Changes that were not sent and are kept aside since (`Table.rowsAside`). They are discarded once the cloud has
    /// said the same again much later.
    public let aside: UInt64
    /// Unix milliseconds; 0: never.
    public let lastSync: UInt64
    /// What the table's messages and their answers took of the links since it was made, as they were on the wire.
    public let bytesUp, bytesDown: UInt64
    /// Why the cloud refused the table's writes; empty: it did not.
    public let refused: String
    /// The columns, as `createTable` takes them.
    public let schema: String
    /// Nil: nothing may be lost.
    public let loss: Loss?
    /// What is done with the table on this device.
    public let properties: TableProperties
    /// It keeps the rows of a query that says nothing the cloud could check: all rows are sent, and the device picks.
    public let picksHere: Bool
    /// If it needs a reset, `refused` says why, and `remedy` what helps.
    public let mode: SyncMode
    /// What the user or the app can do; empty: nothing is needed.
    public let remedy: String
    /// Settings of its record type that the cloud has otherwise than the device knew them, say since a restore: until
    /// they are as they were, or the table is reset.
    public let settingChanges: [CaravanModel.SettingChange]
  }

  /// Rows that may be lost, since that was declared: accepted = settled + expired + lost + those that wait (MOB-06).
  public struct Loss: Sendable, Hashable {
    /// As it was registered.
    public let tolerance: LossTolerance
    /// Rows that were written with the promise `accepted`.
    public let accepted: UInt64
    /// Taken by the cloud, or changed or deleted by the app.
    public let settled: UInt64
    /// Too old to be sent.
    public let expired: UInt64
    /// Given up on this device for want of room.
    public let lostInQueue: UInt64
    /// Given up because the cloud had too much to do.
    public let lostToBusyServer: UInt64

    init?(_ status: CaravanWire.LossStatus?) {
      guard let status, let tolerance = status.tolerance else { return nil }
      self.tolerance = LossTolerance(tolerance)
      accepted = status.accepted
      settled = status.settled
      expired = status.expired
      lostInQueue = status.lostInQueue
      lostToBusyServer = status.lostToBusyServer
    }
  }

  /// The names under which the device is enrolled.
  public let device, user: String
  /// The gravest of the tables', or the device's own: `notRecoverable`.
  public let mode: SyncMode
  /// Why nothing is synced at all, and what helps: the broker refuses this device's credentials. Empty: it does not.
  public let refused, remedy: String
  /// Unix milliseconds; 0: it is not.
  public let refusedSince: UInt64
  /// The class of the link in use; nil: there is none.
  public let link: CaravanModel.LinkClass?
  /// Bytes over this link cost money.
  public let isMetered: Bool
  /// The machine's own word, not what somebody announced.
  public let isLinkAutomatic: Bool
  /// Nobody knows what the link is: it counts as the dearest that a table of the device names.
  public let isLinkAssumed: Bool
  /// The agent has a connection to the cloud.
  public let isConnected: Bool
  /// Why there is no connection although one may be made. Empty: there is one, or none may be made; or the app is
  /// another user's than the device.
  public let unreachable: String
  /// Too little room is left on the device's disk: what apps write is refused until there is; rows can be deleted,
  /// tables dropped, and sync goes on.
  public let isDiskFull: Bool
  /// Those of the app that asks.
  public let tables: [Table]
  /// Of all apps together: empty unless the app runs as the agent's own user, or as root.
  public let counters: [String: UInt64]
  /// What the user allows the device.
  public let policy: NetworkPolicy
  /// Bytes today, of the links that have a budget; by this app's tables alone, where the device is another user's.
  public let spentToday: [CaravanModel.LinkClass: UInt64]
  /// Today's, of this app's tables and, where the device is this user's, of the device itself.
  public let usage: [LinkUse]

  init(_ status: CaravanWire.AgentStatus) {
    device = status.device
    user = status.user
    mode = SyncMode(status.mode)
    unreachable = status.unreachable
    (refused, remedy, refusedSince) = (status.refused, status.remedy, status.refusedSinceMilliseconds)
    link = status.link.model
    isMetered = status.metered
    (isLinkAutomatic, isLinkAssumed) = (status.linkIsAutomatic, status.linkIsAssumed)
    policy = NetworkPolicy(status.policy ?? CaravanWire.NetworkPolicy(maximumLink: .roaming))
    spentToday = Dictionary(
      (status.policy?.budgets ?? []).compactMap { budget in budget.link.model.map { ($0, budget.usedToday) } },
      uniquingKeysWith: { $1 })
    usage = status.usage.compactMap { LinkUse($0) }
    isConnected = status.connected
    isDiskFull = status.diskIsFull
    tables = status.tables.map {
      Table(
        name: $0.table, rows: $0.rows, dirty: $0.dirty, pending: $0.pending, conflicts: $0.conflicts, torn: $0.torn,
        tornRows: $0.tornRows, cloudDamagedRows: $0.cloudDamagedRows, waiting: $0.waiting, isZoneGone: $0.zoneIsGone,
        aside: $0.aside,
        lastSync: $0.lastSyncMilliseconds, bytesUp: $0.bytesUp,
        bytesDown: $0.bytesDown, refused: $0.refused, schema: $0.schema, loss: Loss($0.loss),
        properties: TableProperties($0.properties ?? CaravanWire.TableProperties()), picksHere: $0.picksHere,
        mode: SyncMode($0.mode), remedy: $0.remedy,
        settingChanges: $0.settingChanges.map { CaravanModel.SettingChange($0.setting, was: $0.was, now: $0.now) })
    }
    counters = Dictionary(status.counters.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
  }
}

extension CaravanWire.Cell {
  /// - Throws: `schemaViolation` for an object, which is written as a stream, and for what no column takes.
  init(_ column: String, _ value: CaravanModel.Value) throws(CaravanError) {
    try value.checkCell(of: column)
    switch value {
    case .asset, .assetList:
      throw CaravanError(.schemaViolation, "column '\(column)' takes an object: open it and write its bytes")
    case .null, .text, .integer, .real, .data, .location, .reference, .list: self.init(column: column, value)
    }
  }

  static func list(_ cells: [String: CaravanModel.Value]) throws(CaravanError) -> [CaravanWire.Cell] {
    var list: [CaravanWire.Cell] = []
    for (column, value) in cells.sorted(by: { $0.key < $1.key }) { list.append(try CaravanWire.Cell(column, value)) }
    return list
  }
}
