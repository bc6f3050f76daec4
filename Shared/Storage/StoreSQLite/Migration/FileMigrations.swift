internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// How a file of an older layout becomes one of this release: by numbered steps, each in one transaction with the
/// number of the layout that it makes. So whatever ends a step, the file is of one layout or of the next, and the next
/// start goes on from there. Each release opens what the two before it wrote.
enum FileMigrations {
  struct Step {
    /// The layout that the step makes, of the one before.
    let layout: Int
    let run: @Sendable (Connection, inout EnrolledNames) throws(CaravanError) -> Void
  }

  static let steps = [
    Step(layout: 5) { (db, names) throws(CaravanError) in
      try addAuthorship(to: db)
      var renaming = try WriterRenaming(db, names)
      try renaming.run()
      names = renaming.names
    },
    Step(layout: 6) { (db, _) throws(CaravanError) in
      // What is there stays without: nobody can tell whether it still is what was written.
      try db.execute(
        """
        ALTER TABLE entries ADD COLUMN sum INTEGER;
        ALTER TABLE superseded ADD COLUMN sum INTEGER;
        """)
    },
  ]

  /// The oldest layout that a step begins with.
  static var oldest: Int { (steps.first?.layout ?? FileSchema.version) - 1 }

  /// - Parameter names: asked for once, where there is something to do.
  /// - Returns: what is to be said about it in the log; nil: nothing.
  static func run(
    _ db: Connection, from found: Int, names: (Connection) throws(CaravanError) -> EnrolledNames
  ) throws(CaravanError) -> String? {
    var known = try names(db)
    for step in steps where step.layout > found {
      try db.transaction { () throws(CaravanError) in
        try step.run(db, &known)
        try db.setUserVersion(step.layout)
      }
    }
    return known.complaint
  }

  // MARK: Layout 5

  /// Adding columns writes to no row.
  private static func addAuthorship(to db: Connection) throws(CaravanError) {
    try db.execute(
      """
      ALTER TABLE zones ADD COLUMN time INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE entries ADD COLUMN time INTEGER;
      ALTER TABLE entries ADD COLUMN born INTEGER;
      ALTER TABLE entries ADD COLUMN maker INTEGER;
      ALTER TABLE superseded ADD COLUMN time INTEGER;
      ALTER TABLE superseded ADD COLUMN born INTEGER;
      ALTER TABLE superseded ADD COLUMN maker INTEGER;
      ALTER TABLE names ADD COLUMN born INTEGER;
      ALTER TABLE names ADD COLUMN maker INTEGER;
      CREATE INDEX leases_by_end ON leases(expires);
      ALTER TABLE databases ADD COLUMN made INTEGER NOT NULL DEFAULT 0;
      UPDATE databases SET made = (SELECT count(*) FROM zones WHERE database = databases.id);
      ALTER TABLE writers ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE writers ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
      """)
  }

  /// What the registry of devices says, in a file of any of the layouts that there are steps for.
  static func learnDevices(_ db: Connection, _ names: inout EnrolledNames) throws(CaravanError) {
    let (database, zone) = EnrolledNames.registry
    try db.statement(
      """
      SELECT e.name, e.body FROM databases d JOIN zones z ON z.database = d.id
      JOIN entries e ON e.key >= z.id << 40 AND e.key < (z.id + 1) << 40
      WHERE d.owner = '' AND d.container = ? AND d.environment = ? AND z.name = ? AND z.state = 0 AND NOT e.flags & 1
      """
    ).visit(database.container.text, database.environment.rawValue, zone) { row in
      names.learn(device: row.text(0), body: row.bytes(1))
      return true
    }
  }
}
