internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// Gives the writers, readers and holders of locks of a file of layout 4 the names that they have in layout 5.
///
/// Records refer to a row of `writers`, so hardly any of them is touched: that row gets the new name. Where users
/// shared a device's name and its store's epoch, all but one of them get a row of their own.
struct WriterRenaming {
  private let db: Connection
  var names: EnrolledNames
  /// Owners of private databases, by number; public ones are absent.
  private var owners: [Int64: UserID] = [:]
  /// The database of each zone.
  private var databases: [Int64: Int64] = [:]
  private var zonesByLife: [Incarnation: Int64] = [:]

  init(_ db: Connection, _ names: EnrolledNames) throws(CaravanError) {
    self.db = db
    self.names = names
    for (number, id) in try Self.databasesFound(in: db) { owners[number] = id.owner }
    let life = try db.first("SELECT life FROM meta", read: { $0.unsigned(0) }) ?? 0
    try db.statement("SELECT id, database, incarnation FROM zones").visit { row in
      let (id, own) = (row.integer(0), row.unsigned(2))
      databases[id] = row.integer(1)
      zonesByLife[own == 0 ? life << 24 | UInt64(id) : own] = id
      return true
    }
  }

  /// All that the file has, for steps that must know of each.
  static func databasesFound(in db: Connection) throws(CaravanError) -> [(number: Int64, id: DatabaseID)] {
    try db.all("SELECT id, container, environment, owner FROM databases ORDER BY id") { (row) throws(CaravanError) in
      (
        row.integer(0),
        try DatabaseID(
          container: ContainerID(unchecked: row.text(1)),
          environment: CaravanModel.Environment(rawValue: row.text(2)) ?? .development, ownerText: row.text(3))
      )
    }
  }

  private func owner(ofZone zone: Int64) -> UserID? { databases[zone].flatMap { owners[$0] } }

  mutating func run() throws(CaravanError) {
    // Before `writers`, as histories of fields leave out whom the entry names.
    try renameFieldHistories(
      in: "SELECT e.key, w.name, e.fields FROM entries e JOIN writers w ON w.id = e.writer WHERE e.fields IS NOT NULL",
      by: "UPDATE entries SET fields = ? WHERE key = ?")
    try renameFieldHistories(
      in: """
        SELECT e.key, w.name, e.fields FROM superseded e JOIN writers w ON w.id = e.writer WHERE e.fields IS NOT NULL
        """, by: "UPDATE superseded SET fields = ? WHERE key = ?")
    try renameWriters()
    try rename(
      in: "SELECT zone, writer FROM footprints WHERE (zone, writer) > (?, ?) ORDER BY zone, writer LIMIT 256",
      by: "UPDATE footprints SET writer = ? WHERE zone = ? AND writer = ?")
    try rename(
      in: "SELECT zone, device FROM sightings WHERE (zone, device) > (?, ?) ORDER BY zone, device LIMIT 256",
      by: "UPDATE sightings SET device = ? WHERE zone = ? AND device = ?")
    try renameLog()
    try renameLocks()
  }

  // MARK: Tables that have names

  private mutating func rename(in page: StaticString, by update: StaticString) throws(CaravanError) {
    var last: (zone: Int64, name: String) = (.min, "")
    while true {
      let found = try db.all(page, last.zone, last.name, read: { (zone: $0.integer(0), name: $0.text(1)) })
      for row in found {
        let new = names.name(row.name, in: owner(ofZone: row.zone))
        if new != row.name { try db.run(update, new, row.zone, row.name) }
      }
      guard let end = found.last else { return }
      last = end
    }
  }

  private mutating func renameLog() throws(CaravanError) {
    var last = Int64.min
    while true {
      let found = try db.all(
        "SELECT key, zone, writer FROM log WHERE key > ? ORDER BY key LIMIT 256", last,
        read: { (key: $0.integer(0), zone: $0.integer(1), name: $0.text(2)) })
      for row in found {
        let new = names.name(row.name, in: owner(ofZone: row.zone))
        if new != row.name { try db.run("UPDATE log SET writer = ? WHERE key = ?", new, row.key) }
      }
      guard let end = found.last else { return }
      last = end.key
    }
  }

  /// Other leases are services'.
  private mutating func renameLocks() throws(CaravanError) {
    for (_, id) in try Self.databasesFound(in: db) {
      let lock = "lock/\(id)"
      guard let holder = try db.first("SELECT holder FROM leases WHERE name = ?", lock, read: { $0.text(0) }) else {
        continue
      }
      try db.run("UPDATE leases SET holder = ? WHERE name = ?", names.name(holder, in: id.owner), lock)
    }
  }

  private mutating func renameFieldHistories(
    in select: StaticString, by update: StaticString
  ) throws(CaravanError) {
    var changed: [(key: Int64, fields: [UInt8])] = []
    try db.statement(select).visit { row in
      let key = row.integer(0)
      if let new = names.fields(row.bytes(2), writer: row.text(1), in: owner(ofZone: Key.owner(key))) {
        changed.append((key, new))
      }
      return true
    }
    for (key, fields) in changed { try db.run(update, fields, key) }
  }

  // MARK: Writers

  private struct Writer {
    let id: Int64
    let name: String
    let epoch: UInt64
  }

  private mutating func renameWriters() throws(CaravanError) {
    let all = try db.all(
      "SELECT id, name, epoch FROM writers ORDER BY id",
      read: { Writer(id: $0.integer(0), name: $0.text(1), epoch: $0.unsigned(2)) })
    var places = try placesOfWriters()
    for writer in all {
      if places[writer.id] == nil { places[writer.id] = try placesOfOps(of: writer.id) }
      // In an order that every file has alike.
      let users = Set((places[writer.id] ?? []).map { owners[$0] }).sorted { $0?.text ?? "" < $1?.text ?? "" }
      let first = names.name(writer.name, in: users.first ?? nil)
      guard first != writer.name else { continue }
      for user in users.dropFirst() where names.name(writer.name, in: user) != first {
        try split(writer, for: user)
      }
      try db.run("UPDATE writers SET name = ? WHERE id = ?", first, writer.id)
    }
  }

  /// The databases in which each writer has left something.
  private func placesOfWriters() throws(CaravanError) -> [Int64: Set<Int64>] {
    var places: [Int64: Set<Int64>] = [:]
    func note(_ select: StaticString) throws(CaravanError) {
      try db.statement(select).visit { row in
        if let database = databases[row.integer(1)] { places[row.integer(0), default: []].insert(database) }
        return true
      }
    }
    try note("SELECT DISTINCT writer, key >> 40 FROM entries")
    try note("SELECT DISTINCT writer, key >> 40 FROM superseded")
    try db.statement("SELECT DISTINCT key >> 40, database FROM groups").visit { row in
      places[row.integer(0), default: []].insert(row.integer(1))
      return true
    }
    return places
  }

  private func placesOfOps(of writer: Int64) throws(CaravanError) -> Set<Int64> {
    var places: Set<Int64> = []
    for (_, outcome) in try ops(of: writer) { if let place = database(of: outcome) { places.insert(place) } }
    return places
  }

  private func ops(of writer: Int64) throws(CaravanError) -> [(key: Int64, outcome: [UInt8])] {
    try db.all(
      "SELECT key, outcome FROM ops WHERE key BETWEEN ? AND ?", Key.make(writer, 0),
      Key.make(writer, StoreLimits.highestNumber), read: { ($0.integer(0), $0.bytes(1)) })
  }

  /// nil: it wrote to no zone.
  private func database(of outcome: [UInt8]) -> Int64? {
    guard case .decided(_, _, let life, _)? = try? OpOutcome(encoded: outcome), life != 0 else { return nil }
    return zonesByLife[life].flatMap { databases[$0] }
  }

  /// Gives one user's part of what a writer has left to a writer of its own. An outcome that says nothing of its zone
  /// is kept for both.
  private mutating func split(_ writer: Writer, for user: UserID?) throws(CaravanError) {
    try db.run(
      "INSERT INTO writers(name, epoch, floor) SELECT ?, epoch, floor FROM writers WHERE id = ?",
      names.name(writer.name, in: user), writer.id)
    let new = db.lastInsertedRow
    for (zone, database) in databases where owners[database] == user {
      let (low, high) = (Key.make(zone, 0), Key.make(zone, StoreLimits.highestNumber))
      for table in ["entries", "superseded"] {
        try db.statement(text: "UPDATE \(table) SET writer = ? WHERE key BETWEEN ? AND ? AND writer = ?").run(
          new, low, high, writer.id)
      }
    }
    for (key, outcome) in try ops(of: writer.id) {
      let moved = Key.make(new, Key.counter(key))
      guard let place = database(of: outcome) else {
        try db.run("INSERT INTO ops(key, outcome) VALUES (?, ?)", moved, outcome)
        continue
      }
      if owners[place] == user { try db.run("UPDATE ops SET key = ? WHERE key = ?", moved, key) }
    }
    let groups = try db.all(
      "SELECT key, database FROM groups WHERE key BETWEEN ? AND ?", Key.make(writer.id, 0),
      Key.make(writer.id, StoreLimits.highestNumber), read: { (key: $0.integer(0), database: $0.integer(1)) })
    for group in groups where owners[group.database] == user {
      let moved = Key.make(new, Key.counter(group.key))
      try db.run("UPDATE groups SET key = ? WHERE key = ?", moved, group.key)
      try db.run("UPDATE group_parts SET owner = ? WHERE owner = ?", moved, group.key)
      try db.run("UPDATE objects SET op = ? WHERE op = ?", moved, group.key)
    }
  }
}
