package import CaravanModel
import CaravanQuery
import CaravanQueryCore
import CaravanRuntime
import CaravanWire

/// A subscription as the index keeps it.
package struct StandingRow: Sendable {
  let user: UserID
  let query: CaravanModel.StandingQuery
  /// Who they are to a public database; nil: they see all there is.
  let viewer: Query.Viewer?
  /// Of its records; nil: it is about zones, or there is no such type.
  let type: CaravanModel.RecordType?

  package init(
    user: UserID, query: CaravanModel.StandingQuery, viewer: Query.Viewer?, type: CaravanModel.RecordType?
  ) {
    (self.user, self.query, self.viewer, self.type) = (user, query, viewer, type)
  }
}

/// How the standing queries of a table are found when a record is written.
private struct Probes {
  var anchors: [Anchor.Probe] = []
  /// Some have no anchors.
  var hasScanned = false

  var isEmpty: Bool { anchors.isEmpty && !hasScanned }
}

/// The subscriptions to databases of the index, on its writing connection: they are found by the anchors of their
/// queries, as records are by keys (CK-84). All of them lie in the index; little is kept in memory.
struct Standings {
  /// One that a record's writing is of interest to.
  struct Match {
    let standing: Int64
    let reason: NotificationLog.Reason
    /// What its notifications show.
    let content: BoundContent
  }

  private let connection: any IndexConnection
  private var probes: [Int64: Probes] = [:]
  private var compiled = BoundedCache<Int64, Standing>(capacity: QueryLimits.cachedStandings)
  /// Tables of which it is known what their queries are found by.
  private static let knownLimit = 4_096

  init(_ connection: any IndexConnection) { self.connection = connection }

  /// After a transaction was rolled back.
  mutating func forget() {
    probes = [:]
    compiled = BoundedCache(capacity: QueryLimits.cachedStandings)
  }

  // MARK: Subscriptions

  /// In place of what the user had under this name.
  /// - Parameter table: of the type's records.
  /// - Returns: nil: it is here as it is.
  mutating func save(_ row: StandingRow, _ database: DatabaseID, table: Int64?) throws(CaravanError) -> Int64? {
    if try isHere(row, database, table: table) { return nil }
    try remove(row.query.id, of: row.user, database)
    var standing: Standing?
    if let type = row.type, let table {
      standing = try? Standing(row.query, type, in: database)
      try connection.run(
        """
        INSERT INTO standing_types(in_table, type_name, type) VALUES(?, ?, ?)
        ON CONFLICT(in_table) DO UPDATE SET type_name = excluded.type_name, type = excluded.type
        """, table, type.name, CaravanWire.RecordType(type).encoded())
    }
    let anchors = standing?.anchors
    let id = try connection.id(
      """
      INSERT INTO standing(
        partition, container, environment, owner, subscriber, name, in_table, is_scanned, is_zones, query, viewer)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
      """, Partition(of: database).number, database.container.text, database.environment.rawValue, database.ownerText,
      row.user.text, row.query.id, standing == nil ? 0 : table ?? 0, standing != nil && anchors == nil,
      row.query.subject == .zones, CaravanWire.StandingQuery(row.query).encoded(), row.viewer?.text)
    guard standing != nil, let table else { return id }
    for anchor in Set(anchors ?? []) { try add(anchor, id, table) }
    probes[table] = nil
    return id
  }

  private func isHere(_ row: StandingRow, _ database: DatabaseID, table: Int64?) throws(CaravanError) -> Bool {
    let known = try connection.first(
      """
      SELECT query, in_table, viewer IS NULL, viewer, type FROM standing LEFT JOIN standing_types USING (in_table)
      WHERE container = ? AND environment = ? AND owner = ? AND subscriber = ? AND name = ?
      """, database.container.text, database.environment.rawValue, database.ownerText, row.user.text, row.query.id
    ) { found in
      found.bytes(0) == CaravanWire.StandingQuery(row.query).encoded() && found.integer(1) == table ?? 0
        && (found.isTrue(2) ? nil : found.text(3)) == row.viewer?.text
        && found.bytes(4) == row.type.map { CaravanWire.RecordType($0).encoded() } ?? []
    }
    return known ?? false
  }

  private func add(_ anchor: Anchor, _ id: Int64, _ table: Int64) throws(CaravanError) {
    let (need, number) = (anchor.need, Int64(anchor.probe.number))
    try connection.run(
      "INSERT INTO anchors(in_table, field, probe, value, standing) VALUES(?, ?, ?, ?, ?)", table, need.field, number,
      anchor.value, id)
    try connection.run(
      """
      INSERT INTO anchored(in_table, field, probe, kind, anchors) VALUES(?, ?, ?, ?, 1)
      ON CONFLICT(in_table, field, probe) DO UPDATE SET anchors = anchored.anchors + 1
      """, table, need.field, number, need.kind.rawValue)
  }

  mutating func remove(_ name: String, of user: UserID, _ database: DatabaseID) throws(CaravanError) {
    let found = try connection.first(
      """
      SELECT id, in_table FROM standing
      WHERE container = ? AND environment = ? AND owner = ? AND subscriber = ? AND name = ?
      """, database.container.text, database.environment.rawValue, database.ownerText, user.text, name
    ) { row in (id: row.integer(0), table: row.integer(1)) }
    if let found { try remove(found.id, in: found.table) }
  }

  private mutating func remove(_ id: Int64, in table: Int64) throws(CaravanError) {
    let anchors = try connection.all("DELETE FROM anchors WHERE standing = ? RETURNING field, probe", id) { row in
      (field: row.integer(0), probe: row.integer(1))
    }
    for anchor in anchors {
      try connection.run(
        "UPDATE anchored SET anchors = anchors - 1 WHERE in_table = ? AND field = ? AND probe = ?", table,
        anchor.field, anchor.probe)
    }
    try connection.run("DELETE FROM anchored WHERE in_table = ? AND anchors <= 0", table)
    try connection.run("DELETE FROM standing WHERE id = ?", id)
    probes[table] = nil
    compiled.remove(id)
  }

  mutating func removeAll(of database: DatabaseID) throws(CaravanError) {
    let found = try connection.all(
      "SELECT id, in_table FROM standing WHERE container = ? AND environment = ? AND owner = ?",
      database.container.text, database.environment.rawValue, database.ownerText
    ) { row in (id: row.integer(0), table: row.integer(1)) }
    for (id, table) in found { try remove(id, in: table) }
  }

  func has(_ database: DatabaseID) throws(CaravanError) -> Bool {
    try connection.first(
      "SELECT 1 FROM standing WHERE container = ? AND environment = ? AND owner = ? LIMIT 1", database.container.text,
      database.environment.rawValue, database.ownerText, read: { _ in true }) ?? false
  }

  func all(of database: DatabaseID) throws(CaravanError) -> [Int64] {
    try connection.all(
      "SELECT id FROM standing WHERE container = ? AND environment = ? AND owner = ?", database.container.text,
      database.environment.rawValue, database.ownerText
    ) { row in row.integer(0) }
  }

  /// Those about zones, and what their notifications show.
  func aboutZones(of database: DatabaseID) throws(CaravanError) -> [(id: Int64, content: BoundContent)] {
    try connection.all(
      "SELECT id, query FROM standing WHERE container = ? AND environment = ? AND owner = ? AND is_zones <> 0",
      database.container.text, database.environment.rawValue, database.ownerText
    ) { row throws(CaravanError) in
      let query = try CaravanWire.StandingQuery.decode(row.bytes(1)).model()
      return (row.integer(0), BoundContent(query.shows, nil))
    }
  }

  /// Those about records of a table.
  func about(_ table: Int64) throws(CaravanError) -> [Int64] {
    try connection.all("SELECT id FROM standing WHERE in_table = ?", table) { row in row.integer(0) }
  }

  // MARK: Matching

  /// Whether what is written to a table is of interest to somebody.
  mutating func watches(_ table: Int64) throws(CaravanError) -> Bool { try !probes(of: table).isEmpty }

  private mutating func probes(of table: Int64) throws(CaravanError) -> Probes {
    if let known = probes[table] { return known }
    var found = Probes()
    found.anchors = try connection.all(
      "SELECT field, probe, kind FROM anchored WHERE in_table = ? ORDER BY field, probe", table
    ) { row -> Anchor.Probe? in
      FieldKind(rawValue: row.text(2)).flatMap { kind in
        Anchor.Probe(number: UInt8(clamping: row.integer(1)), field: UInt32(clamping: row.integer(0)), kind: kind)
      }
    }.compactMap(\.self)
    found.hasScanned =
      try connection.first(
        "SELECT 1 FROM standing WHERE in_table = ? AND is_scanned <> 0 LIMIT 1", table, read: { _ in true }) ?? false
    if probes.count >= Self.knownLimit { probes = [:] }
    probes[table] = found
    return found
  }

  /// - Parameters:
  ///   - before: the record as it was; nil: it was not in this table.
  ///   - after: as it is now; nil: it is not in this table any more.
  mutating func matches(
    _ table: Int64, from before: RecordCells?, to after: RecordCells?, in zone: String
  ) throws(CaravanError) -> [Match] {
    var candidates: Set<Int64> = []
    let probes = try probes(of: table)
    if probes.hasScanned {
      candidates.formUnion(
        try connection.all("SELECT id FROM standing WHERE in_table = ? AND is_scanned <> 0", table) { $0.integer(0) })
    }
    let states = [before, after].compactMap(\.self)
    for probe in probes.anchors {
      candidates.formUnion(try look(for: Array(Set(states.flatMap(probe.values))), probe, table))
    }
    var matches: [Match] = []
    for id in candidates.sorted() {
      guard let standing = try standing(id),
        let reason = standing.event(from: before, to: after, in: zone)
      else { continue }
      matches.append(Match(standing: id, reason: reason, content: standing.content))
    }
    return matches
  }

  private func look(
    for values: [[UInt8]], _ probe: Anchor.Probe, _ table: Int64
  ) throws(CaravanError) -> [Int64] {
    switch probe {
    case .tokens, .cells: return try look(forAnyOf: values, probe, table)
    case .atLeast: return try look(for: values, beyond: "value <= ?", probe, table)
    case .atMost: return try look(for: values, beyond: "value >= ?", probe, table)
    }
  }

  private static let found = "SELECT standing FROM anchors WHERE in_table = ? AND field = ? AND probe = ? AND"

  private func look(
    for values: [[UInt8]], beyond bound: String, _ probe: Anchor.Probe, _ table: Int64
  ) throws(CaravanError) -> [Int64] {
    var found: [Int64] = []
    for value in values {
      try connection.visit(.text("\(Self.found) \(bound)", isKept: true), Self.values([value], probe, table)) { row in
        found.append(row.integer(0))
        return true
      }
    }
    return found
  }

  private func look(
    forAnyOf values: [[UInt8]], _ probe: Anchor.Probe, _ table: Int64
  ) throws(CaravanError) -> [Int64] {
    var found: [Int64] = []
    for start in stride(from: 0, to: values.count, by: Self.lookedForTogether) {
      var run = Array(values[start..<min(start + Self.lookedForTogether, values.count)])
      // Of few lengths, so that few statements are kept: the last value stands there several times.
      let room = 1 << (Int.bitWidth - (run.count - 1).leadingZeroBitCount)
      run += Array(repeating: run[run.count - 1], count: room - run.count)
      let places = Array(repeating: "?", count: room).joined(separator: ", ")
      let statement = IndexStatement.text("\(Self.found) value IN (\(places))", isKept: true)
      try connection.visit(statement, Self.values(run, probe, table)) { row in
        found.append(row.integer(0))
        return true
      }
    }
    return found
  }

  private static let lookedForTogether = 128

  private static func values(_ values: [[UInt8]], _ probe: Anchor.Probe, _ table: Int64) -> [IndexValue] {
    [table.indexValue, probe.need.field.indexValue, Int64(probe.number).indexValue] + values.map(\.indexValue)
  }

  /// nil: it is gone, or its text does not fit the type any more.
  private mutating func standing(_ id: Int64) throws(CaravanError) -> Standing? {
    if let known = compiled.value(for: id) { return known }
    let row = try connection.first(
      """
      SELECT container, environment, owner, query, type FROM standing JOIN standing_types USING (in_table) WHERE id = ?
      """, id
    ) { row throws(CaravanError) in
      guard let database = try row.database() else { return Standing?.none }
      let query = try CaravanWire.StandingQuery.decode(row.bytes(3)).model()
      return try Standing(query, CaravanWire.RecordType.decode(row.bytes(4)).model(), in: database)
    }
    guard let standing = row.flatMap({ $0 }) else { return nil }
    compiled.insert(standing, for: id)
    return standing
  }
}

extension Query.Viewer {
  /// Before the author who is a server app: no author's name has a colon.
  private static let serverMark = "server:"

  /// As the index keeps it; an author has a name.
  var text: String {
    switch self {
    case .anonymous: ""
    case .user(let author): author
    case .server(let author): Self.serverMark + author
    }
  }

  init(text: String) {
    guard !text.isEmpty else {
      self = .anonymous
      return
    }
    self = text.hasPrefix(Self.serverMark) ? .server(String(text.dropFirst(Self.serverMark.count))) : .user(text)
  }
}
