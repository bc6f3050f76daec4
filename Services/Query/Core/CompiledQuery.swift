package import CaravanModel
package import CaravanQuery

/// A query that is checked against its record type, and the statement that answers it. Columns of the answer are
/// `selected` in that order, then one a sort key.
package struct CompiledQuery: Sendable {
  package static let selected = [
    "zone", "name", "version", "created", "type", "writer", "body", "modified", "made", "maker",
  ]
  /// The function of an engine that calls the evaluator, and what it is given of a row.
  package static let rowFunction = "row_function"
  package static let rowValues = ["body", "name", "modified", "made", "maker"]

  /// Records in one page; the statement asks for one more, to see whether there is another page.
  package let limit: Int
  /// Bytes that bodies of one page have at most, but for a single larger one.
  package let pageBytes: Int
  /// Indexes that help to answer it.
  package let needs: [IndexNeed]
  /// Ids of the fields that records in the answer have; empty: all they have.
  package let fields: Set<UInt32>
  package var sortKeys: Int { order.keys.count }
  /// What is asked of records, and which of them the viewer sees.
  private let asked: Expression<Condition>?
  private let order: Order
  private let after: PageCursor?
  private let zone: String?
  /// How many records there are is all that is asked.
  package let isCount: Bool
  private let fingerprint: UInt64

  /// - Throws: `invalidData` for malformed predicates and foreign cursors; `schemaViolation` naming the field;
  ///   `limitExceeded`; `tableNotFound` where the viewer sees no records of the type.
  package init(_ query: Query, type: RecordType) throws(CaravanError) {
    // First, as nothing else may be said of a type that the viewer does not see.
    let visibility = try Visibility(query, type)
    guard (0...Limits.queryRows).contains(query.limit) else {
      throw CaravanError(
        .limitExceeded,
        "a query asks for \(query.limit) records at once: the limit is \(Limits.queryRows), page instead")
    }
    let rows = query.limit == 0 ? QueryLimits.defaultRows : query.limit
    precondition((1...Limits.queryRows).contains(rows), "a page of \(rows) records never ends, or is too long")
    limit = rows
    pageBytes = query.pageBytes == 0 ? QueryLimits.answerBytes : min(query.pageBytes, QueryLimits.answerBytes)
    fingerprint = query.fingerprint
    let parts = [try type.expression(query), visibility.condition].compactMap(\.self)
    asked = parts.isEmpty ? nil : parts.count == 1 ? parts[0] : .all(parts)
    order = try Order(query.isCount ? [] : query.sort, type: type)
    let sorted = order.keys.first.flatMap { key in
      if case .field(let field, let kind) = key.term { IndexNeed(field, kind, .key) } else { nil }
    }
    needs = Self.distinct((asked?.leaves ?? []).compactMap { IndexNeed($0) } + [sorted].compactMap(\.self))
    after = query.cursor.isEmpty ? nil : try PageCursor(query.cursor, fingerprint: fingerprint, keys: order.keys.count)
    var fields: Set<UInt32> = []
    for name in query.fields { fields.insert(try type.shown(name).id) }
    self.fields = fields
    zone = query.zone
    isCount = query.isCount
  }

  private static func distinct(_ needs: [IndexNeed]) -> [IndexNeed] {
    needs.reduce(into: []) { list, need in if !list.contains(need) { list.append(need) } }
  }

  /// The cursor of the page that ends with the record at `zone` and `name`, whose sort columns hold `keys`.
  package func cursor(keys: [IndexKey], zone: String, name: String) -> [UInt8] {
    precondition(keys.count == sortKeys, "a cursor has one value a sort key")
    return PageCursor(fingerprint: fingerprint, keys: keys, zone: zone, name: name).bytes
  }

  // MARK: The statement

  /// What a query may begin with: best is what has the fewest records.
  package func sources(in indexes: TableIndexes) -> [SQLSource] {
    asked.map { SQLCompiler(indexes).sources($0) } ?? []
  }

  /// Whether records can be read in the order of the answer.
  package func isOrdered(in indexes: TableIndexes) -> Bool { order.columns(in: indexes).first?.isIndexed ?? true }

  /// - Parameter source: one of `sources`, to begin with; nil: records are read in the order of the answer, as long as
  ///   the page has room.
  package func statement(in indexes: TableIndexes, from source: SQLSource? = nil) -> SQLFragment {
    let columns = order.columns(in: indexes)
    let keys = columns.map(\.selected)
    var found = SQLFragment.listed(isCount ? [SQLFragment("count(*)")] : [SQLFragment("id AS found")] + keys)
    found = SQLFragment("SELECT \(found.sql) FROM ", found.parameters).followed(by: place(source, columns))
    var conditions = [SQLFragment("in_table = ?", [.integer(indexes.table)])]
    if let zone { conditions.append(SQLFragment("zone = ?", [.text(zone)])) }
    if let asked { conditions.append(SQLCompiler(indexes).compile(asked, from: source)) }
    guard !isCount else { return found.adding(.joined(conditions, by: "AND")) }
    // The index of the first key has no rows without it.
    if let first = columns.first, first.isIndexed { conditions.append(SQLFragment("\(first.name) IS NOT NULL")) }
    if let after { conditions.append(order.after(after, columns.map(\.name))) }
    let inOrder = "ORDER BY \(order.sql(columns.map(\.name)))"
    found = found.adding(.joined(conditions, by: "AND")).followed(by: SQLFragment("\(inOrder) LIMIT \(limit + 1)"))
    // Only records of the page are read as a whole.
    let selected = (Self.selected + columns.indices.map { "key\($0)" }).joined(separator: ", ")
    let named = (["found"] + columns.indices.map { "key\($0)" }).joined(separator: ", ")
    let again = "ORDER BY \(order.sql(columns.indices.map { "key\($0)" }))"
    let page = "WITH page(\(named)) AS MATERIALIZED (\(found.sql))"
    return SQLFragment(
      "\(page) SELECT \(selected) FROM page CROSS JOIN records ON id = found \(again)", found.parameters)
  }

  /// Where records are read. The planner is told, as it knows nothing of how many each index has.
  private func place(_ source: SQLSource?, _ columns: [Order.Column]) -> SQLFragment {
    guard let source else {
      return SQLFragment(
        "records INDEXED BY records_by_\(columns.first.map { $0.isIndexed ? $0.name : "name" } ?? "name")")
    }
    if let column = source.column { return SQLFragment("records INDEXED BY records_by_\(column)") }
    return SQLFragment(
      "(SELECT id AS candidate FROM (\(source.ids.sql))) CROSS JOIN records NOT INDEXED ON id = candidate",
      source.ids.parameters)
  }
}

extension RecordType {
  /// Whether a viewer sees a record of the type.
  /// - Parameter maker: who made it; empty: nobody knows.
  package func isVisible(to viewer: Query.Viewer, madeBy maker: String) -> Bool {
    let grants = grants ?? .standard
    return grants.rights(of: viewer, isCreator: !maker.isEmpty && maker == viewer.author).contains(.read)
  }
}

extension Query.Viewer {
  /// nil: they have not signed in.
  fileprivate var author: String? {
    switch self {
    case .anonymous: nil
    case .user(let author), .server(let author): author
    }
  }
}

extension TypeGrants {
  fileprivate func rights(of viewer: Query.Viewer, isCreator: Bool) -> Rights {
    assert(viewer.author != nil || !isCreator, "who has not signed in has made a record")
    switch viewer {
    case .anonymous: return rights(isUser: false, isCreator: false)
    case .user: return rights(isUser: true, isCreator: isCreator)
    case .server: return rights(isUser: true, isServerApp: true, isCreator: isCreator)
    }
  }
}

/// Which records of the type the viewer sees.
private enum Visibility: Sendable {
  case all
  case made(Condition)

  var condition: Expression<Condition>? { if case .made(let condition) = self { .leaf(condition) } else { nil } }

  init(_ query: Query, _ type: RecordType) throws(CaravanError) {
    let grants = type.grants ?? .standard
    guard let viewer = query.viewer, !grants.rights(of: viewer, isCreator: false).contains(.read) else {
      self = .all
      return
    }
    guard let author = viewer.author, grants.rights(of: viewer, isCreator: true).contains(.read) else {
      throw .noSuchType(query.type)
    }
    self = .made(try Condition(SystemField.createdBy.definition, .compare(.equal, .text(author))))
  }
}

extension CaravanError {
  /// What is said of a type that is not there, and of one whose records the viewer may not see: the two are one.
  package static func noSuchType(_ name: String) -> CaravanError {
    CaravanError(.tableNotFound, "there is no record type '\(name.prefix(80))'")
  }
}

extension SQLFragment {
  /// Calls the evaluator with the row.
  static func test(_ expression: Expression<Condition>) -> SQLFragment { called(.test(expression)) }

  /// The key of the row, computed.
  static func key(of term: SortTerm) -> SQLFragment { called(.keyOf(term)) }

  private static func called(_ parameter: Parameter) -> SQLFragment {
    SQLFragment(
      "\(CompiledQuery.rowFunction)(?, \(CompiledQuery.rowValues.joined(separator: ", ")))", [parameter])
  }

  fileprivate static func listed(_ parts: [SQLFragment]) -> SQLFragment {
    SQLFragment(parts.map(\.sql).joined(separator: ", "), parts.flatMap(\.parameters))
  }

  fileprivate func adding(_ condition: SQLFragment) -> SQLFragment {
    SQLFragment("\(sql) WHERE \(condition.sql)", parameters + condition.parameters)
  }

  fileprivate func followed(by other: SQLFragment) -> SQLFragment {
    SQLFragment("\(sql) \(other.sql)", parameters + other.parameters)
  }
}

extension SQLCompiler {
  fileprivate init(_ indexes: TableIndexes) {
    self.init(column: indexes.column, found: indexes.found, lookup: indexes.lookup, test: SQLFragment.test)
  }
}

extension TableIndexes {
  fileprivate func found(_ condition: SQLFragment) -> SQLFragment {
    SQLFragment(
      "SELECT id FROM records WHERE in_table = ? AND \(condition.sql)", [.integer(table)] + condition.parameters)
  }

  /// Statements whose common answer is that of the condition, by an index of words or members.
  fileprivate func lookup(_ condition: Condition) -> SQLLookup? {
    let field = condition.field
    switch condition.test {
    case .match(_, _, isNegated: false):
      guard let isWhole = words[field], let asked = condition.words else { return nil }
      let text = text(asked, of: field, orMore: !isWhole)
      return SQLLookup(
        [SQLFragment("SELECT rowid AS id FROM words WHERE words MATCH ?", [.text(text)])], isExact: isWhole)
    case .contains(let quantity, let values, isNegated: false):
      guard let isWhole = members[field] else { return nil }
      let keys = values.compactMap { IndexKey(Cell($0, as: condition.kind)) }
      guard keys.count == values.count, !keys.isEmpty else { return nil }
      let others: [IndexKey] = isWhole ? [] : [Self.more]
      let statements =
        switch quantity {
        case .all: keys.map { member([$0] + others, of: field) }
        case .any: [member(keys + others, of: field)]
        }
      return SQLLookup(statements, isExact: isWhole && keys.allSatisfy(\.isWhole))
    case .match, .contains, .compare, .among, .prefix, .like, .containsLike, .inside: return nil
    }
  }

  private func member(_ keys: [IndexKey], of field: UInt32) -> SQLFragment {
    let places = Array(repeating: "?", count: keys.count).joined(separator: ", ")
    // A list that has several of the members is one record.
    let each = keys.count > 1 ? "DISTINCT record" : "record"
    return SQLFragment(
      "SELECT \(each) AS id FROM members WHERE in_table = ? AND field = ? AND value IN (\(places))",
      [.integer(table), .integer(Int64(field))] + keys.map { .key($0) })
  }

  /// What FTS5 is asked (https://sqlite.org/fts5.html §3): words have no quotes.
  /// - Parameter orMore: or records that have more words than the index has of them.
  private func text(_ asked: WordQuery, of field: UInt32, orMore: Bool) -> String {
    let phrases = asked.phrases.map { phrase in
      let tokens = phrase.words.map { Self.token($0, table: table, field: field) }
      return "\"\(tokens.joined(separator: " "))\"\(phrase.isPrefix ? " *" : "")"
    }
    let text = phrases.joined(separator: asked.quantity == .all ? " AND " : " OR ")
    return orMore ? "(\(text)) OR \"\(Self.token("", table: table, field: field))\"" : text
  }
}
