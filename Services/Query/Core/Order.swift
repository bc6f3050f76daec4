import CaravanModel
import CaravanQuery

/// The total order of the answers: the sort keys, then zone and name in the direction of the last key, so that an index
/// of one field read forwards or backwards has that order already.
struct Order: Sendable {
  struct Key: Sendable {
    let term: SortTerm
    let isDescending: Bool
  }

  /// Where the engine has a key.
  struct Column {
    let selected: SQLFragment
    let name: String
    let isIndexed: Bool
  }

  let keys: [Key]

  /// - Throws: `schemaViolation` when a field is unknown or not sortable; `invalidData` when one stands twice.
  init(_ sort: [SortKey], type: RecordType) throws(CaravanError) {
    guard sort.count <= Limits.predicateTerms else {
      throw CaravanError(.limitExceeded, "a query has \(sort.count) sort keys: the limit is \(Limits.predicateTerms)")
    }
    var keys: [Key] = []
    for key in sort {
      let term = try type.term(key)
      guard !keys.contains(where: { $0.term == term }) else {
        throw CaravanError(.invalidData, "field '\(key.field)' stands twice among the sort keys: leave one out")
      }
      keys.append(Key(term: term, isDescending: key.isDescending))
    }
    self.keys = keys
  }

  /// A key that no column has is computed for each row.
  func columns(in indexes: TableIndexes) -> [Column] {
    keys.enumerated().map { index, key in
      if case .field(let field, _) = key.term, let column = indexes.column(field) {
        return Column(selected: SQLFragment(column), name: column, isIndexed: true)
      }
      let name = "s\(index)"
      var selected = SQLFragment.key(of: key.term)
      selected.sql += " AS \(name)"
      return Column(selected: selected, name: name, isIndexed: false)
    }
  }

  private var isDescendingAtLast: Bool { keys.last?.isDescending ?? false }

  func sql(_ names: [String]) -> String {
    let last = isDescendingAtLast ? "DESC" : "ASC"
    let columns = zip(names, keys).map { "\($0) \($1.isDescending ? "DESC" : "ASC")" }
    return (columns + ["zone \(last)", "name \(last)"]).joined(separator: ", ")
  }

  /// What comes after `cursor` in this order.
  func after(_ cursor: PageCursor, _ names: [String]) -> SQLFragment {
    var alternatives: [SQLFragment] = []
    var equal: [SQLFragment] = []
    for ((name, key), value) in zip(zip(names, keys), cursor.keys) {
      let beyond = SQLFragment("\(name) \(key.isDescending ? "<" : ">") ?", [.key(value)])
      alternatives.append(.joined(equal + [beyond], by: "AND"))
      equal.append(SQLFragment("\(name) = ?", [.key(value)]))
    }
    let sign = isDescendingAtLast ? "<" : ">"
    let place = SQLFragment("(zone, name) \(sign) (?, ?)", [.text(cursor.zone), .text(cursor.name)])
    alternatives.append(.joined(equal + [place], by: "AND"))
    let exact = SQLFragment.joined(alternatives, by: "OR")
    guard let name = names.first, let key = keys.first else { return exact }
    // Says the same again as one range of the first key: what an index can start from.
    let range = SQLFragment("\(name) \(key.isDescending ? "<=" : ">=") ?", [.key(cursor.keys[0])])
    return .joined([range, exact], by: "AND")
  }
}
