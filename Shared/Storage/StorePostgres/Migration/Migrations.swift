internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// How a database of an older layout becomes one of this release: by numbered steps. A step adds columns, which changes
/// no row, and then rewrites one partition after the other, each in a transaction of its own with the mark that it is
/// done. The first partition comes last: its mark is the database's. So whatever ends a step, the next start goes on
/// from there, and several processes that start at once take turns at each partition.
///
/// Storage processes of the release before must have ended: they know nothing of the new names.
enum Migrations {
  struct Step {
    /// The layout that the step makes, of the one before.
    let layout: Int64
    let columns: [String]
    /// Within a transaction that holds the partition.
    let rewrite: @Sendable (Connection, Int32, inout EnrolledNames) throws(PostgresError) -> Void
  }

  static let steps = [
    Step(layout: 5, columns: MigrationStatements.layout5) { (db, partition, names) throws(PostgresError) in
      var renaming = try WriterRenaming(db, partition, names)
      try renaming.run()
      names = renaming.names
    },
    Step(layout: 6, columns: MigrationStatements.layout6) { _, _, _ in },
  ]

  /// The oldest layout that a step begins with.
  static var oldest: Int64 { (steps.first?.layout ?? Layout.version) - 1 }

  /// - Parameter found: the database's layout.
  /// - Returns: what is to be said about it in the log; nil: nothing.
  static func run(_ db: Connection, from found: Int64) throws(PostgresError) -> String? {
    // A partition takes as long as it takes.
    for (setting, value, _) in settings { try db.execute("SET \(setting) = \(value)") }
    var names = try registeredDevices(db)
    for step in steps where step.layout > found {
      for column in step.columns { try db.execute(column) }
      for partition in Partition.all.reversed() { try rewrite(Int32(partition.number), by: step, db, &names) }
    }
    for (setting, _, value) in settings { try db.execute("SET \(setting) = \(value)") }
    return names.complaint
  }

  /// While a migration runs, and as `ConnectionOptions.store` has them.
  private static let settings = [
    ("statement_timeout", "0", "'20s'"), ("lock_timeout", "0", "'10s'"), ("enable_seqscan", "on", "off"),
    ("enable_hashjoin", "on", "off"),
  ]

  private static func rewrite(
    _ partition: Int32, by step: Step, _ db: Connection, _ names: inout EnrolledNames
  ) throws(PostgresError) {
    var begin = Pipeline()
    begin.add("BEGIN ISOLATION LEVEL READ COMMITTED")
    begin.add(Statements.holdPartition, partition)
    // Once nobody else holds the partition any more.
    let at = begin.add(MigrationStatements.layoutOfPartition, partition)
    let mark = try db.run(begin)[at].first?.integer(0) ?? 0
    if mark < step.layout {
      try step.rewrite(db, partition, &names)
      try db.run(MigrationStatements.saveLayout, partition, step.layout)
    }
    let end = try db.run("COMMIT")
    guard end.tag == "COMMIT" else { throw PostgresError(state: "40001", message: "a migration was rolled back") }
  }

  private static func registeredDevices(_ db: Connection) throws(PostgresError) -> EnrolledNames {
    var names = EnrolledNames()
    let (database, zone) = EnrolledNames.registry
    let partition = Int32(Partition(of: database).number)
    for row in try db.run(MigrationStatements.registry, partition, database.key, zone) {
      names.learn(device: row.text(0), body: row.bytes(1))
    }
    return names
  }
}
