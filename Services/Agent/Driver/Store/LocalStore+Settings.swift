internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanWire

/// Settings of record types that a table has lived by, and that the cloud has changed since: a restore may have taken
/// what was said of them, and who looks after the device or the cloud has to hear that.
enum SettingsTable {
  static func install(in database: Connection) throws(CaravanError) {
    try database.execute(
      "CREATE TABLE IF NOT EXISTS former_settings (table_id INTEGER PRIMARY KEY, settings BLOB NOT NULL)")
  }

  /// Nil: they are what they have been.
  static func former(ofTable table: Int64, _ database: Connection) throws(CaravanError) -> CaravanModel.TypeSettings? {
    try database.first("SELECT settings FROM former_settings WHERE table_id = ?", table) { (row) throws(CaravanError) in
      try CaravanWire.TypeSettings.decode(row.bytes(0)).model()
    }
  }

  static func forget(ofTable table: Int64, _ database: Connection) throws(CaravanError) {
    try database.run("DELETE FROM former_settings WHERE table_id = ?", table)
  }
}

extension LocalStore {
  /// What of the table's settings is not as the device has known it.
  func settingChanges(of state: TableState) throws(CaravanError) -> [CaravanModel.SettingChange] {
    guard let former = try SettingsTable.former(ofTable: state.number, database) else { return [] }
    return (state.type?.settings ?? CaravanModel.TypeSettings()).changes(from: former)
  }

  /// - Parameter old: what was agreed before; the table has the new type already.
  func noteSettings(from old: CaravanModel.RecordType, in state: TableState) throws(CaravanError) {
    let former = try SettingsTable.former(ofTable: state.number, database)
    let (known, new) = (
      former ?? old.settings ?? CaravanModel.TypeSettings(), state.type?.settings ?? CaravanModel.TypeSettings()
    )
    guard old.settings ?? CaravanModel.TypeSettings() != new else { return }
    let changes = new.changes(from: known)
    guard !changes.isEmpty else { return try SettingsTable.forget(ofTable: state.number, database) }
    if former == nil {
      try database.run(
        "INSERT INTO former_settings VALUES (?, ?)", state.number, CaravanWire.TypeSettings(known).encoded())
    }
    host.log.warning(
      "the cloud has other settings for a table's record type than before",
      [.table: state.table, .reason: changes.map(\.description).joined(separator: ", ")])
  }
}
