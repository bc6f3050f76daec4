public import CaravanAgentCore
public import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// A table as `status` shows it (SIM-83).
public struct TableStatusView: Sendable, Hashable {
  public let table: TableID
  public let rows: Int
  public let dirty: Int
  public let pending: Int
  public let conflicts: Int
  public let torn: Int
  /// Ids of the first of those.
  public let tornRows: [String]
  /// Ids of rows of which the cloud's own copies are damaged, the first of them.
  public let cloudDamagedRows: [String]
  /// What has come from the cloud and does not show yet, until its objects are here, or all of its snapshot is.
  public let waiting: Int
  /// Unix milliseconds; 0: never.
  public let lastSync: Int64
  /// Why the cloud last refused the table; empty: it did not.
  public let refused: String
  public let properties: TableProperties
  /// It keeps the rows of a query that says nothing the cloud could check: all rows are sent here.
  public let picksHere: Bool
  public let fault: TableFault?
  public let isResyncing: Bool
  public let schema: SchemaText
  /// Its zone is said not to exist: its rows are hidden.
  public let zoneIsGone: Bool
  /// Changes that were not sent, kept aside since.
  public let aside: Int
  /// Of rows that may be lost; nil: none may.
  public let loss: LossLedger?
  /// Of its record type, until they are as they were or the table is reset.
  public let settingChanges: [SettingChange]
}

extension TableStatusView {
  fileprivate init(
    _ state: TableState, _ catalog: TableCatalog, _ tolerances: Tolerances, damaged: [String], _ database: Connection
  ) throws(CaravanError) {
    let census = try state.rows.census(database)
    var torn: [String] = []
    if census.torn > 0 {
      torn = try state.rows.ids(where: RowTable.isTorn, limit: StoreLimits.tornRowsNamed, database)
    }
    self.init(
      table: state.table, rows: state.absence == nil ? census.visible : 0,
      dirty: state.isLocalOnly ? 0 : census.dirty,
      pending: census.pending, conflicts: census.conflicts, torn: census.torn, tornRows: torn,
      cloudDamagedRows: damaged, waiting: state.waiting, lastSync: state.lastSync, refused: state.refused,
      properties: state.properties, picksHere: state.picksHere, fault: state.fault, isResyncing: state.isResyncing,
      schema: state.schema, zoneIsGone: state.absence != nil,
      aside: state.absence == nil ? 0 : try catalog.unsentCount(of: state),
      loss: tolerances.mayLose.contains(state.number) ? try tolerances.ledgers.ledger(of: state.number) : nil,
      settingChanges: try TypeAgreement(catalog: catalog).settingChanges(of: state))
  }
}

extension GaugeName {
  static let waitingRows = GaugeName(
    "caravan_agent_waiting_rows", "Rows from the cloud that do not show yet: their objects or their snapshot lack.")
}

extension LocalStore {
  public func status(of app: ContainerID) throws(CaravanError) -> [TableStatusView] {
    var views: [TableStatusView] = []
    for state in tables.values.filter({ $0.table.app == app }).sorted(by: { $0.number < $1.number }) {
      let damaged = cloudDamage.rows(of: state.table)
      views.append(try TableStatusView(state, catalog, tolerances, damaged: damaged, database))
    }
    return views
  }

  /// Whether the disk has no room for the reserve now: then apps' writes are refused.
  public func isDiskFull() -> Bool {
    do { try context.reserve.hold() } catch { return error.code == .storageFull }
    return false
  }
}
