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
  package static let rowValues = ["body", "name", "modified", "made", "maker", "writer"]

  /// Records in one page; the statement asks for one more, to see whether there is another page.
  package let limit: Int
  /// Indexes that help to answer it.
  package let needs: [IndexNeed]
  /// Ids of the fields that records in the answer have; empty: all they have.
  package let fields: Set<UInt32>
  package var sortKeys: Int { order.keys.count }
  private let expression: Expression<Condition>?
  private let order: Order
  private let after: PageCursor?
  private let zone: String?
  private let visibility: Visibility
  /// How many records there are is all that is asked.
  package let isCount: Bool
  private let fingerprint: UInt64

  /// - Throws: `invalidData` for malformed predicates and foreign cursors; `schemaViolation` naming the field;
  ///   `limitExceeded`; `tableNotFound` where the viewer sees no records of the type.
  package init(_ query: Query, type: RecordType) throws(CaravanError) {
    guard (0...Limits.queryRows).contains(query.limit) else {
      throw CaravanError(
        .limitExceeded,
        "a query asks for \(query.limit) records at once: the limit is \(Limits.queryRows), page instead")
    }
    visibility = try Visibility(query, type)
    let rows = query.limit == 0 ? QueryLimits.defaultRows : query.limit
    precondition((1...Limits.queryRows).contains(rows), "a page of \(rows) records never ends, or is too long")
    limit = rows
    fingerprint = query.fingerprint
    expression = try type.expression(query.predicate)
    order = try Order(query.isCount ? [] : query.sort, type: type)
    let sorted = order.keys.first.flatMap { key in
      if case .field(let field, let kind) = key.term { IndexNeed(field, kind, .key) } else { nil }
    }
    let leaves = (expression?.leaves ?? []) + (visibility.condition?.leaves ?? [])
    needs = Self.distinct(leaves.compactMap { IndexNeed($0) } + [sorted].compactMap(\.self))
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

  package func statement(in indexes: TableIndexes) -> SQLFragment {
    let order = order.columns(in: indexes)
    let columns = SQLFragment.listed(Self.selected.map { SQLFragment($0) } + order.map(\.selected))
    var conditions = [SQLFragment("in_table = ?", [.integer(indexes.table)])]
    if let zone { conditions.append(SQLFragment("zone = ?", [.text(zone)])) }
    let asked = [expression, visibility.condition].compactMap(\.self)
    if !asked.isEmpty { conditions.append(SQLCompiler(indexes).compile(.all(asked))) }
    guard !isCount else { return SQLFragment("SELECT count(*) FROM records").adding(.joined(conditions, by: "AND")) }
    // The index of the first key has no rows without it.
    if let first = order.first, first.isIndexed { conditions.append(SQLFragment("\(first.name) IS NOT NULL")) }
    if let after { conditions.append(self.order.after(after, order.map(\.name))) }
    return SQLFragment("SELECT \(columns.sql) FROM records", columns.parameters)
      .adding(.joined(conditions, by: "AND"))
      .followed(by: "ORDER BY \(self.order.sql(order.map(\.name))) LIMIT \(limit + 1)")
  }
}

/// Which records of the type the viewer sees.
private enum Visibility: Sendable {
  case all
  case made(Condition)

  var condition: Expression<Condition>? { if case .made(let condition) = self { .leaf(condition) } else { nil } }

  init(_ query: Query, _ type: RecordType) throws(CaravanError) {
    let grants = type.grants ?? .standard
    switch query.viewer {
    case nil: self = .all
    case .anonymous where grants.rights(isUser: false, isCreator: false).contains(.read): self = .all
    case .user where grants.rights(isUser: true, isCreator: false).contains(.read): self = .all
    case .user(let author) where grants.rights(isUser: true, isCreator: true).contains(.read):
      self = .made(try Condition(SystemField.createdBy.definition, .compare(.equal, .text(author))))
    case .anonymous, .user: throw .noSuchType(query.type)
    }
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

  fileprivate func followed(by text: String) -> SQLFragment { SQLFragment("\(sql) \(text)", parameters) }
}

extension SQLCompiler {
  fileprivate init(_ indexes: TableIndexes) {
    self.init(column: indexes.column, lookup: indexes.lookup, test: SQLFragment.test)
  }
}

extension TableIndexes {
  /// A condition that an index of words or members answers.
  fileprivate func lookup(_ condition: Condition) -> SQLFragment? {
    switch condition.test {
    case .match(_, _, isNegated: false):
      guard words.contains(condition.field), let asked = condition.words else { return nil }
      return SQLFragment(
        "id IN (SELECT rowid FROM words WHERE words MATCH ?)", [.text(text(asked, of: condition.field))])
    case .contains(let quantity, let values, isNegated: false):
      guard members.contains(condition.field), !values.isEmpty else { return nil }
      let keys = values.compactMap { IndexKey(Cell($0, as: condition.kind)) }
      guard keys.count == values.count else { return nil }
      switch quantity {
      case .all: return .joined(keys.map { member([$0], of: condition.field) }, by: "AND")
      case .any: return member(keys, of: condition.field)
      }
    case .match, .contains, .compare, .among, .prefix, .like, .containsLike, .inside: return nil
    }
  }

  private func member(_ keys: [IndexKey], of field: UInt32) -> SQLFragment {
    let places = Array(repeating: "?", count: keys.count).joined(separator: ", ")
    return SQLFragment(
      "id IN (SELECT record FROM members WHERE in_table = ? AND field = ? AND value IN (\(places)))",
      [.integer(table), .integer(Int64(field))] + keys.map { .key($0) })
  }

  /// What FTS5 is asked (https://sqlite.org/fts5.html §3): words have no quotes.
  private func text(_ asked: WordQuery, of field: UInt32) -> String {
    let phrases = asked.phrases.map { phrase in
      let tokens = phrase.words.map { Self.token($0, table: table, field: field) }
      return "\"\(tokens.joined(separator: " "))\"\(phrase.isPrefix ? " *" : "")"
    }
    return phrases.joined(separator: asked.quantity == .all ? " AND " : " OR ")
  }
}
