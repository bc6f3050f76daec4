internal import CaravanModel
internal import CaravanSQLite

/// Tables whose zone does not exist, by what the cloud has said.
enum AbsenceTable {
  static func install(in database: Connection) throws(CaravanError) {
    try database.execute(
      "CREATE TABLE IF NOT EXISTS absences (table_id INTEGER PRIMARY KEY, waited INTEGER NOT NULL)")
  }
}
