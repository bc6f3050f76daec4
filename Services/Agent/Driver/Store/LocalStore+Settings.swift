internal import AgentCore
internal import Model
internal import Runtime
internal import SQLite
internal import Wire

/// Settings of record types that a table has lived by, and that the cloud has changed since: a restore may have taken
/// what was said of them, and who looks after the device or the cloud has to hear that.
enum SettingsTable {
  static func install(in database: Connection) throws(CaravanError) {
    try database.execute(
      "CREATE TABLE IF NOT EXISTS former_settings (table_id INTEGER PRIMARY KEY, settings BLOB NOT NULL)")
  }

  /// Nil: they are what they have been.
  static func former(ofTable table: Int64, _ database: Connection) throws(CaravanError) -> Model.TypeSettings? {
    try database.first("SELECT settings FROM former_settings WHERE table_id = ?", table) { (row) throws(CaravanError) in
      try Wire.TypeSettings.decode(row.bytes(0)).model()
    }
  }

  static func forget(ofTable table: Int64, _ database: Connection) throws(CaravanError) {
    try database.run("DELETE FROM former_settings WHERE table_id = ?", table)
  }
}

extension LocalStore {
  /// What of the table's settings is not as the device has known it.
  func settingChanges(of state: TableState) throws(CaravanError) -> [Model.SettingChange] {
    guard let former = try SettingsTable.former(ofTable: state.number, database) else { return [] }
    return (state.type?.settings ?? Model.TypeSettings()).changes(from: former)
  }

  /// - Parameter old: what was agreed before; the table has the new type already.
  func noteSettings(from old: Model.RecordType, in state: TableState) throws(CaravanError) {
    let former = try SettingsTable.former(ofTable: state.number, database)
    let (known, new) = (former ?? old.settings ?? Model.TypeSettings(), state.type?.settings ?? Model.TypeSettings())
    guard old.settings ?? Model.TypeSettings() != new else { return }
    let changes = new.changes(from: known)
    guard !changes.isEmpty else { return try SettingsTable.forget(ofTable: state.number, database) }
    if former == nil {
      try database.run(
        "INSERT INTO former_settings VALUES (?, ?)", state.number, Wire.TypeSettings(known).encoded())
    }
    host.log.warning(
      "the cloud has other settings for a table's record type than before",
      [.table: state.table, .reason: changes.map(\.description).joined(separator: ", ")])
  }
}
