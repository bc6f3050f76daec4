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
