package import CaravanModel
import CaravanQuery
import CaravanQueryCore
import CaravanRuntime
import CaravanSQLite
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

/// What a standing query is looked up by when a record is written.
private enum Probe: Hashable {
  case tokens(IndexNeed)
  case spans(IndexNeed)
  /// Some have no anchors.
  case scan
}

/// The subscriptions to databases of the index, on its writing connection: they are found by the anchors of their
/// queries, as records are by keys (CK-84). All of them lie in the file; little is kept in memory.
struct Standings {
  /// One that a record's writing is of interest to.
  struct Match {
    let standing: Int64
    let reason: NotificationLog.Reason
    /// What its notifications show.
    let content: BoundContent
  }

  private let connection: Connection
  private var probes: [Int64: [Probe]] = [:]
  private var compiled = BoundedCache<Int64, Standing>(capacity: QueryLimits.cachedStandings)
  /// Tables of which it is known what their queries are found by.
  private static let knownLimit = 4_096
  /// An R*Tree puts together what has the smallest volume together, so nothing is flat in any direction; numbers of
  /// tables and fields are whole.
  private static let extent = 0.5
  /// In the place of an `IndexNeed.Use`.
  private static let spanUse: Int64 = 0

  init(_ connection: Connection) { self.connection = connection }

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
        "INSERT OR REPLACE INTO standing_types(in_table, type_name, type) VALUES(?, ?, ?)", table, type.name,
        CaravanWire.RecordType(type).encoded())
    }
    let anchors = standing?.anchors
    try connection.run(
      """
      INSERT INTO standing(
        partition, container, environment, owner, user, name, in_table, is_scanned, is_zones, query, viewer)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, Partition(of: database).number, database.container.text, database.environment.rawValue, database.ownerText,
      row.user.text, row.query.id, standing == nil ? 0 : table ?? 0, standing != nil && anchors == nil,
      row.query.subject == .zones, CaravanWire.StandingQuery(row.query).encoded(), row.viewer?.text)
    let id = connection.lastInsertedRow
    guard standing != nil, let table else { return id }
    for anchor in Set(anchors ?? []) { try add(anchor, id, table) }
    probes[table] = nil
    return id
  }

  private func isHere(_ row: StandingRow, _ database: DatabaseID, table: Int64?) throws(CaravanError) -> Bool {
    let known = try connection.first(
      """
      SELECT query, in_table, viewer IS NULL, viewer, type FROM standing LEFT JOIN standing_types USING (in_table)
      WHERE container = ? AND environment = ? AND owner = ? AND user = ? AND name = ?
      """, database.container.text, database.environment.rawValue, database.ownerText, row.user.text, row.query.id
    ) { found in
      found.bytes(0) == CaravanWire.StandingQuery(row.query).encoded() && found.integer(1) == table ?? 0
        && (found.flag(2) ? nil : found.text(3)) == row.viewer?.text
        && found.bytes(4) == row.type.map { CaravanWire.RecordType($0).encoded() } ?? []
    }
    return known ?? false
  }

  private func add(_ anchor: Anchor, _ id: Int64, _ table: Int64) throws(CaravanError) {
    let need = anchor.need
    var (use, value, span) = (Int64(need.use.rawValue), [UInt8](), Int64(0))
    switch anchor {
    case .token(_, let token): value = token
    case .span(_, let part):
      let second = part.second
      let isFlat = second.lowerBound == second.upperBound
      try connection.run(
        """
        INSERT INTO spans(table_low, table_high, field_low, field_high, low, high, low2, high2, standing)
        VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, Double(table), Double(table) + Self.extent, Double(need.field), Double(need.field) + Self.extent,
        part.first.lowerBound, part.first.upperBound, second.lowerBound,
        isFlat ? second.upperBound + Self.extent : second.upperBound, id)
      (use, span) = (Self.spanUse, connection.lastInsertedRow)
      value = Array(String(span).utf8)
    }
    try connection.run(
      "INSERT INTO anchors(in_table, field, use, value, standing, span) VALUES(?, ?, ?, ?, ?, ?)", table, need.field,
      use, value, id, span)
    try connection.run(
      """
      INSERT INTO anchored(in_table, field, use, kind, count) VALUES(?, ?, ?, ?, 1)
      ON CONFLICT(in_table, field, use) DO UPDATE SET count = count + 1
      """, table, need.field, use, need.kind.rawValue)
  }

  mutating func remove(_ name: String, of user: UserID, _ database: DatabaseID) throws(CaravanError) {
    let found = try connection.first(
      """
      SELECT id, in_table FROM standing
      WHERE container = ? AND environment = ? AND owner = ? AND user = ? AND name = ?
      """, database.container.text, database.environment.rawValue, database.ownerText, user.text, name
    ) { row in (id: row.integer(0), table: row.integer(1)) }
    if let found { try remove(found.id, in: found.table) }
  }

  private mutating func remove(_ id: Int64, in table: Int64) throws(CaravanError) {
    let anchors = try connection.all(
      "DELETE FROM anchors WHERE standing = ? RETURNING field, use, span", id
    ) { row in (field: row.integer(0), use: row.integer(1), span: row.integer(2)) }
    for anchor in anchors {
      if anchor.span > 0 { try connection.run("DELETE FROM spans WHERE id = ?", anchor.span) }
      try connection.run(
        "UPDATE anchored SET count = count - 1 WHERE in_table = ? AND field = ? AND use = ?", table, anchor.field,
        anchor.use)
    }
    try connection.run("DELETE FROM anchored WHERE in_table = ? AND count <= 0", table)
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
      "SELECT 1 FROM standing WHERE container = ? AND environment = ? AND owner = ?", database.container.text,
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
      "SELECT id, query FROM standing WHERE container = ? AND environment = ? AND owner = ? AND is_zones",
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

  private mutating func probes(of table: Int64) throws(CaravanError) -> [Probe] {
    if let known = probes[table] { return known }
    var found = try connection.all(
      "SELECT field, use, kind FROM anchored WHERE in_table = ?", table
    ) { row -> Probe? in
      guard let kind = FieldKind(rawValue: row.text(2)) else { return nil }
      let field = UInt32(clamping: row.integer(0))
      guard row.integer(1) != Self.spanUse else { return .spans(IndexNeed(field, kind, .key)) }
      return IndexNeed.Use(rawValue: UInt8(clamping: row.integer(1))).map { .tokens(IndexNeed(field, kind, $0)) }
    }.compactMap(\.self)
    let isScanned =
      try connection.first(
        "SELECT 1 FROM standing WHERE in_table = ? AND is_scanned", table, read: { _ in true }) ?? false
    if isScanned { found.append(.scan) }
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
    for probe in try probes(of: table) {
      if case .scan = probe {
        candidates.formUnion(
          try connection.all("SELECT id FROM standing WHERE in_table = ? AND is_scanned", table) { $0.integer(0) })
      }
      for cells in [before, after].compactMap(\.self) { try look(for: probe, in: cells, of: table, &candidates) }
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
    for probe: Probe, in cells: RecordCells, of table: Int64, _ found: inout Set<Int64>
  ) throws(CaravanError) {
    switch probe {
    case .scan: return
    case .tokens(let need):
      for token in cells.tokens(need) {
        found.formUnion(
          try connection.all(
            "SELECT standing FROM anchors WHERE in_table = ? AND field = ? AND use = ? AND value = ?", table,
            need.field, Int64(need.use.rawValue), token
          ) { row in row.integer(0) })
      }
    case .spans(let need):
      guard let point = SpanPoint(cells.cell(need.field, need.kind)) else { return }
      found.formUnion(
        try connection.all(
          """
          SELECT standing FROM spans WHERE table_low <= ? AND table_high >= ? AND field_low <= ? AND field_high >= ?
          AND low <= ? AND high >= ? AND low2 <= ? AND high2 >= ?
          """, table, table, need.field, need.field, point.first, point.first, point.second, point.second
        ) { row in row.integer(0) })
    }
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
