package import CaravanModel
package import CaravanQuery

/// A query as one statement. Its columns are `selected` in that order, then one a sort key.
package struct CompiledQuery: Sendable, Equatable {
  package static let selected = [
    "zone", "name", "version", "created", "type", "writer", "body", "modified", "made", "maker",
  ]

  package let statement: SQLFragment
  package let sort: [FieldDefinition]
  /// Records in one page; the statement asks for one more, to see whether there is another page.
  package let limit: Int
  /// Fields compared or sorted by: an index on each helps.
  package let indexed: [FieldDefinition]
  private let fingerprint: UInt64

  /// - Parameter table: the table of this record type's definition in this database.
  /// - Throws: `invalidData` for malformed predicates and foreign cursors; `schemaViolation` naming the field;
  ///   `limitExceeded`.
  package init(_ query: Query, type: RecordType, table: String) throws(CaravanError) {
    guard (0...Limits.queryRows).contains(query.limit) else {
      throw CaravanError(
        .limitExceeded,
        "a query asks for \(query.limit) records at once: the limit is \(Limits.queryRows), page instead")
    }
    let rows = query.limit == 0 ? QueryLimits.defaultRows : query.limit
    precondition((1...Limits.queryRows).contains(rows), "a page of \(rows) records never ends, or is too long")
    limit = rows
    fingerprint = query.fingerprint
    let expression = try Expression(query.predicate) { name throws(CaravanError) in
      try type.indexed(name, for: .queryable)
    }
    guard expression?.leaves.allSatisfy(\.isSQL) ?? true else {
      throw CaravanError(
        .featureDisabled, "the query service has no index for MATCH, CONTAINS, NEAR and WITHIN: leave them out")
    }
    let condition = expression.map(SQLCompiler(.sqlite, column: FieldDefinition.column).compile)
    let order = try Order(query.sort, type: type)
    sort = order.keys.map(\.field)
    indexed = (expression?.fields(of: type) ?? []).appending(order.keys.prefix(1).map(\.field))
    var after: SQLFragment?
    if !query.cursor.isEmpty {
      after = order.after(try PageCursor(query.cursor, fingerprint: fingerprint, keys: order.keys.count))
    }
    let columns = (Self.selected + sort.map(\.column)).joined(separator: ", ")
    let conditions = [condition, after].compactMap(\.self)
    let filter = conditions.isEmpty ? SQLFragment("") : SQLFragment.joined(conditions, by: "AND").prefixed("WHERE ")
    statement = SQLFragment(
      "SELECT \(columns) FROM \(table) \(filter.sql) ORDER BY \(order.sql) LIMIT \(limit + 1)", filter.values)
    assert(
      statement.sql.utf8.count { $0 == UInt8(ascii: "?") } == statement.values.count,
      "a parameter of the statement has no value, or a value no parameter")
    assert(Set(indexed.map(\.id)).count == indexed.count, "one field is to be indexed twice")
  }

  /// The cursor of the page that ends with the record at `zone` and `name`, whose sort columns hold `keys`.
  package func cursor(keys: [Value], zone: String, name: String) -> [UInt8] {
    precondition(keys.count == sort.count, "a cursor has one value a sort key")
    return PageCursor(fingerprint: fingerprint, keys: keys, zone: zone, name: name).bytes
  }
}

/// The total order of the answers: the sort keys, then zone and name in the direction of the last key, so that an index
/// of one field read forwards or backwards has that order already.
struct Order {
  struct Key {
    let field: FieldDefinition
    let isDescending: Bool
  }

  let keys: [Key]

  /// - Throws: `schemaViolation` when a field is unknown or not queryable; `invalidData` when one stands twice.
  init(_ sort: [SortKey], type: RecordType) throws(CaravanError) {
    guard sort.count <= Limits.predicateTerms else {
      throw CaravanError(.limitExceeded, "a query has \(sort.count) sort keys: the limit is \(Limits.predicateTerms)")
    }
    var keys: [Key] = []
    for key in sort {
      let field = try type.indexed(key.field, for: .sortable)
      guard !keys.contains(where: { $0.field == field }) else {
        throw CaravanError(.invalidData, "field '\(key.field)' stands twice among the sort keys: leave one out")
      }
      keys.append(Key(field: field, isDescending: key.isDescending))
    }
    self.keys = keys
  }

  private var isDescendingAtLast: Bool { keys.last?.isDescending ?? false }

  var sql: String {
    let last = isDescendingAtLast ? "DESC" : "ASC"
    let columns = keys.map { "\($0.field.column) \($0.isDescending ? "DESC" : "ASC")" }
    return (columns + ["zone \(last)", "name \(last)"]).joined(separator: ", ")
  }

  /// What comes after `cursor` in this order.
  func after(_ cursor: PageCursor) -> SQLFragment {
    let sign = isDescendingAtLast ? "<" : ">"
    var alternatives: [SQLFragment] = []
    var equal: [SQLFragment] = []
    for (key, value) in zip(keys, cursor.keys) {
      if let beyond = key.beyond(value) { alternatives.append(.joined(equal + [beyond], by: "AND")) }
      equal.append(key.at(value))
    }
    let place = SQLFragment("(zone, name) \(sign) (?, ?)", [.text(cursor.zone), .text(cursor.name)])
    alternatives.append(.joined(equal + [place], by: "AND"))
    let exact = SQLFragment.joined(alternatives, by: "OR")
    // Says the same again as one range of the first key: what an index can start from.
    guard let first = keys.first, let range = first.range(from: cursor.keys[0]) else { return exact }
    return .joined([range, exact], by: "AND")
  }
}

extension Order.Key {
  func at(_ value: Value) -> SQLFragment {
    value == .null ? SQLFragment("\(field.column) IS NULL") : SQLFragment("\(field.column) = ?", [value])
  }

  /// Strictly after `value`; nil: nothing can be. Null is the smallest.
  func beyond(_ value: Value) -> SQLFragment? {
    switch (value == .null, isDescending) {
    case (true, false): SQLFragment("\(field.column) IS NOT NULL")
    case (true, true): nil
    case (false, false): SQLFragment("\(field.column) > ?", [value])
    case (false, true): SQLFragment("(\(field.column) < ? OR \(field.column) IS NULL)", [value])
    }
  }

  /// At `value` or after it as one range; nil: there is no such single range.
  func range(from value: Value) -> SQLFragment? {
    switch (value == .null, isDescending) {
    case (false, false): SQLFragment("\(field.column) >= ?", [value])
    case (true, true): SQLFragment("\(field.column) IS NULL")
    case (true, false), (false, true): nil
    }
  }
}

extension Expression<Condition> {
  /// The fields that it asks of, in order of first use.
  fileprivate func fields(of type: RecordType) -> [FieldDefinition] {
    [].appending(leaves.compactMap { type.field(id: $0.field) })
  }
}

extension [FieldDefinition] {
  /// Those that are not there yet go to the end.
  fileprivate func appending(_ others: [FieldDefinition]) -> [FieldDefinition] {
    others.reduce(self) { $0.contains($1) ? $0 : $0 + [$1] }
  }
}

extension SQLFragment {
  fileprivate func prefixed(_ text: String) -> SQLFragment { SQLFragment(text + sql, values) }
}
