import CaravanModel
package import CaravanQuery

/// The statement by which an engine finds records that may belong to the answer of a query, with all that do. Its
/// columns are `columns` in that order, then `keys`.
package struct Candidates: Sendable {
  package static let columns = [
    "id", "zone", "name", "version", "created", "type", "writer", "modified", "made", "maker", "body",
  ]

  package static let zone: Int32 = 1
  package static let name: Int32 = 2
  /// Before those of when and by whom it was made.
  package static let modified: Int32 = 7
  package static let body: Int32 = 10

  package let fragment: SQLFragment
  /// All of them belong to the answer; else the evaluator is asked about each.
  package let isExact: Bool
  /// How many of the first sort keys they are in the order of; nil: they are in the order of the answer.
  package let ordered: Int?
  /// They have that order from an index, so that the first of them cost no more than they are.
  package let isInOrder: Bool
  /// The statement gives their number, and no records.
  package let isCount: Bool
  /// Where among the columns each sort key stands; nil: it is computed.
  package let keys: [Int?]
}

extension CompiledQuery {
  /// What a query may begin with: best is what has the fewest records.
  package func sources(in indexes: TableIndexes, _ engine: IndexEngine) -> [SQLSource] {
    asked.map { SQLCompiler(indexes, engine) { _ in }.sources($0) } ?? []
  }

  /// Whether records can be read in the order of the answer, or of its first key.
  package func isOrdered(in indexes: TableIndexes) -> Bool {
    order.columns(in: indexes).first.map { $0 != nil } ?? true
  }

  /// The source that gives a page as it is, whatever else finds fewer records.
  package func plainSource(_ sources: [SQLSource], in indexes: TableIndexes, _ engine: IndexEngine) -> SQLSource? {
    guard !isCount else { return nil }
    return sources.first { source in
      guard source.isOneKey else { return false }
      let candidates = candidates(in: indexes, from: source, engine)
      return candidates.isExact && candidates.isInOrder && candidates.ordered == nil
    }
  }

  /// - Parameter source: one of `sources`, to begin with; nil: records are read in the order of the answer as far as an
  ///   index has it.
  package func candidates(
    in indexes: TableIndexes, from source: SQLSource? = nil, _ engine: IndexEngine
  ) -> Candidates {
    let columns = order.columns(in: indexes)
    let leading = Array(columns.prefix { $0 != nil }.compactMap(\.self))
    // What a source finds has the order of the answer where it is a range of the keys that the answer begins with, or
    // one key and the answer is in the order of names.
    let isInOrder =
      !isCount
      && (source.map { $0.column != nil && $0.column == leading.first || $0.isOneKey && columns.isEmpty } ?? true)
    var isExact = true
    var conditions = [SQLFragment("in_table = ?", [.integer(indexes.table)])]
    if let zone { conditions.append(SQLFragment("zone = ?", [.text(zone)])) }
    if let asked {
      conditions.append(SQLCompiler(indexes, engine) { _ in isExact = false }.compile(asked, from: source))
    }
    // The index of the first key has no rows without it.
    if !isCount, let first = leading.first { conditions.append(SQLFragment("\(first) IS NOT NULL")) }
    if let after, let beyond = order.after(after, leading) { conditions.append(beyond) }
    let shown = isCount && isExact ? ["count(*)"] : Self.shown(columns)
    let place = engine.place(source, orderedBy: isInOrder ? leading.first : nil)
    let condition = SQLFragment.joined(conditions, by: "AND")
    var sql = "SELECT \(shown.joined(separator: ", ")) FROM \(place.sql) WHERE \(condition.sql)"
    let sorted = isInOrder ? leading : []
    var isWhole = isInOrder && sorted.count == columns.count
    if isWhole || !sorted.isEmpty {
      sql += " ORDER BY \(order.sql(sorted))"
    } else if isExact, !isCount, engine.sorts, leading.count == columns.count {
      sql += " ORDER BY \(order.sql(leading))"
      isWhole = true
    }
    if isWhole, isExact { sql += " LIMIT \(limit + 1)" }
    var next = Candidates.columns.count
    let keys = columns.map { column -> Int? in
      guard column != nil else { return nil }
      next += 1
      return next - 1
    }
    return Candidates(
      fragment: SQLFragment(sql, place.parameters + condition.parameters), isExact: isExact,
      ordered: isWhole ? nil : sorted.count, isInOrder: isInOrder, isCount: isCount && isExact, keys: keys)
  }

  private static func shown(_ columns: [String?]) -> [String] { Candidates.columns + columns.compactMap(\.self) }

  /// Whether a record belongs to the answer.
  package func isAsked(_ cells: RecordCells) -> Bool {
    guard let asked else { return true }
    return asked.truth { $0.truth(of: cells.cell($0.field, $0.kind, isList: $0.isList)) } == .yes
  }

  /// Fields that the evaluator and the sort keys read.
  package var fieldsRead: Set<UInt32> { Set(asked?.leaves.map(\.field) ?? []).union(order.keys.map(\.term.field)) }

  /// How often the evaluator may go through all of a record's texts and lists.
  package var textsRead: Int { asked?.leaves.count(where: \.readsAll) ?? 0 }

  package func key(_ index: Int, of cells: RecordCells) -> IndexKey {
    order.keys[index].term.key { cells.cell($0, $1) }
  }

  /// Whether a place belongs to the pages that are still to come.
  package func isBeyondCursor(_ place: PageCursor) -> Bool { after.map { order.places.precedes($0, place) } ?? true }

  /// For one page, and to see whether there is another one.
  package var firstPlaces: FirstPlaces { FirstPlaces(order.places, atMost: limit + 1) }
}

extension Condition {
  /// It goes through the whole of a text or list.
  fileprivate var readsAll: Bool {
    switch test {
    case .like, .match, .contains, .containsLike: true
    case .compare, .among, .prefix, .inside: false
    }
  }
}

extension SQLCompiler {
  /// - Parameter whenTested: called for what no index answers, which is left to the evaluator.
  fileprivate init(
    _ indexes: TableIndexes, _ engine: IndexEngine, whenTested: @escaping (Expression<Condition>) -> Void
  ) {
    self.init(column: indexes.column, found: indexes.found, lookup: { indexes.lookup($0, engine) }) { expression in
      whenTested(expression)
      return SQLFragment("(1 = 1)")
    }
  }
}

extension TableIndexes {
  fileprivate func found(_ condition: SQLFragment) -> SQLFragment {
    SQLFragment(
      "SELECT id FROM records WHERE in_table = ? AND \(condition.sql)", [.integer(table)] + condition.parameters)
  }

  /// Statements whose common answer is that of the condition, by an index of words or members.
  fileprivate func lookup(_ condition: Condition, _ engine: IndexEngine) -> SQLLookup? {
    let field = condition.field
    switch condition.test {
    case .match(_, _, isNegated: false):
      guard let isWhole = words[field], let asked = condition.words,
        asked.phrases.allSatisfy({ $0.words.allSatisfy { $0.utf8.count <= QueryLimits.wordBytes } })
      else { return nil }
      let found = engine.words(asked) { Self.token($0, table: table, field: field) }
      let text = isWhole ? found.text : engine.words(found.text, orToken: Self.token("", table: table, field: field))
      return SQLLookup([SQLFragment(engine.wordsLookup, [.text(text)])], isExact: isWhole && found.isExact)
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
}
