internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// Gives the writers, readers and holders of locks of a partition of layout 4 the names that they have in layout 5.
struct WriterRenaming {
  private struct Writer: Hashable {
    let name: String
    let epoch: UInt64
  }

  private let db: Connection
  private let partition: Int32
  var names: EnrolledNames
  /// The database of each zone.
  private var databases: [Int64: DatabaseID] = [:]
  /// Who has left something in this partition under a name, and with which epoch.
  private var users: [Writer: Set<UserID?>] = [:]

  init(_ db: Connection, _ partition: Int32, _ names: EnrolledNames) throws(PostgresError) {
    (self.db, self.partition, self.names) = (db, partition, names)
    for row in try db.run(MigrationStatements.zones, partition) {
      databases[row.integer(0)] = DatabaseID(key: row.text(1))
    }
  }

  private func owner(ofZone zone: Int64) -> UserID? { databases[zone]?.owner }

  mutating func run() throws(PostgresError) {
    // Before the records' writers, as histories of fields leave out whom the entry names.
    try renameHistories(MigrationStatements.histories, by: MigrationStatements.saveHistories)
    try renameHistories(MigrationStatements.supersededHistories, by: MigrationStatements.saveSupersededHistories)
    for (select, update) in [
      (MigrationStatements.writersOfRecords, MigrationStatements.renameRecords),
      (MigrationStatements.writersOfSuperseded, MigrationStatements.renameSuperseded),
      (MigrationStatements.writersOfOps, MigrationStatements.renameOps),
    ] {
      let found = try db.run(select, partition)
      for row in found where row.integer(0) > 0 {
        users[Writer(name: row.text(1), epoch: row.unsigned(2)), default: []].insert(owner(ofZone: row.integer(0)))
      }
      try rename(found, by: update)
    }
    for (select, update) in [
      (MigrationStatements.writersOfFootprints, MigrationStatements.renameFootprints),
      (MigrationStatements.sighted, MigrationStatements.renameSightings),
      (MigrationStatements.writersOfLog, MigrationStatements.renameLog),
      (MigrationStatements.writersOfObjects, MigrationStatements.renameObjects),
    ] {
      try rename(db.run(select, partition), by: update)
    }
    try renameGroups()
    try renameLocks()
    try renameWriters()
  }

  /// - Parameter found: zones and names.
  private mutating func rename(_ found: Rows, by update: StaticString) throws(PostgresError) {
    var changes: Set<[String]> = []
    var renamed: [(zone: Int64, old: String, new: String)] = []
    for row in found where row.integer(0) > 0 {
      let (zone, old) = (row.integer(0), row.text(1))
      let new = names.name(old, in: owner(ofZone: zone))
      guard new != old, changes.insert([String(zone), old]).inserted else { continue }
      renamed.append((zone, old, new))
    }
    guard !renamed.isEmpty else { return }
    try db.run(update, partition, renamed.map(\.zone), renamed.map(\.old), renamed.map(\.new))
  }

  private mutating func renameHistories(_ page: StaticString, by update: StaticString) throws(PostgresError) {
    var last: (zone: Int64, seq: Seq) = (0, 0)
    while true {
      let found = try db.run(page, partition, last.zone, last.seq)
      var changed: [(zone: Int64, seq: Seq, fields: [UInt8])] = []
      for row in found {
        last = (row.integer(0), row.unsigned(1))
        if let new = names.fields(row.bytes(3), writer: row.text(2), in: owner(ofZone: last.zone)) {
          changed.append((last.zone, last.seq, new))
        }
      }
      if !changed.isEmpty {
        try db.run(update, partition, changed.map(\.zone), changed.map(\.seq), changed.map { Bytes($0.fields) })
      }
      guard !found.isEmpty else { return }
    }
  }

  private mutating func renameGroups() throws(PostgresError) {
    var renamed: [(op: OpID, new: String)] = []
    for row in try db.run(MigrationStatements.groups, partition) {
      let owner = DatabaseID(key: row.text(0))?.owner
      let op = OpID(writer: row.text(1), epoch: row.unsigned(2), number: row.unsigned(3))
      users[Writer(name: op.writer, epoch: op.epoch), default: []].insert(owner)
      let new = names.name(op.writer, in: owner)
      if new != op.writer { renamed.append((op, new)) }
    }
    guard !renamed.isEmpty else { return }
    for update in [MigrationStatements.renameParts, MigrationStatements.renameGroups] {
      try db.run(
        update, partition, renamed.map(\.op.writer), renamed.map(\.op.epoch), renamed.map(\.op.number),
        renamed.map(\.new))
    }
  }

  private mutating func renameLocks() throws(PostgresError) {
    var renamed: [(name: String, holder: String)] = []
    for row in try db.run(MigrationStatements.locks, partition) {
      let lock = row.text(0)
      let owner = databases.values.first { lock == "lock/\($0)" }?.owner
      renamed.append((lock, names.name(row.text(1), in: owner)))
    }
    guard !renamed.isEmpty else { return }
    try db.run(MigrationStatements.renameLocks, partition, renamed.map(\.name), renamed.map(\.holder))
  }

  /// What is kept of a writer without a zone beside it: for each of the users who have left something else under its
  /// name.
  private mutating func renameWriters() throws(PostgresError) {
    var renamed: [(old: Writer, new: String)] = []
    let floors = try db.run(MigrationStatements.floors, partition)
    var known = Set(floors.map { Writer(name: $0.text(0), epoch: $0.unsigned(1)) })
    for row in try db.run(MigrationStatements.writersOfOps, partition) where row.integer(0) == 0 {
      known.insert(Writer(name: row.text(1), epoch: row.unsigned(2)))
    }
    for old in known.sorted(by: { ($0.name, $0.epoch) < ($1.name, $1.epoch) }) {
      for user in users[old] ?? [nil] {
        let new = names.name(old.name, in: user)
        if new != old.name { renamed.append((old, new)) }
      }
    }
    guard !renamed.isEmpty else { return }
    let (old, epochs, new) = (renamed.map(\.old.name), renamed.map(\.old.epoch), renamed.map(\.new))
    try db.run(MigrationStatements.copyFloors, partition, old, epochs, new)
    try db.run(MigrationStatements.removeFloors, partition, old, epochs)
    try db.run(MigrationStatements.copyOps, partition, old, epochs, new)
    try db.run(MigrationStatements.removeOps, partition, old, epochs)
  }
}
