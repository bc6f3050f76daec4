import CaravanModel
import CaravanQuery

/// The total order of the answers: the sort keys, then zone and name in the direction of the last key, so that an index
/// of one field read forwards or backwards has that order already.
struct Order: Sendable {
  struct Key: Sendable {
    let term: SortTerm
    let isDescending: Bool
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

  var places: PlaceOrder { PlaceOrder(keys.map(\.isDescending)) }

  /// Which column has each of the keys; nil: it is computed.
  func columns(in indexes: TableIndexes) -> [String?] {
    keys.map { key in if case .field(let field, _) = key.term { indexes.column(field) } else { nil } }
  }

  private var isDescendingAtLast: Bool { keys.last?.isDescending ?? false }

  /// The order of the first keys, which these columns have; of all of them, it is the whole order.
  func sql(_ columns: [String]) -> String {
    precondition(columns.count <= keys.count, "more columns than keys")
    let first = zip(columns, keys).map { "\($0) \($1.isDescending ? "DESC" : "ASC")" }
    guard columns.count == keys.count else { return first.joined(separator: ", ") }
    let last = isDescendingAtLast ? "DESC" : "ASC"
    return (first + ["zone \(last)", "name \(last)"]).joined(separator: ", ")
  }

  /// What comes after `cursor` in this order, and more where not all keys have columns: all of its first key.
  /// - Parameter columns: of the first keys.
  /// - Returns: nil: no column says.
  func after(_ cursor: PageCursor, _ columns: [String]) -> SQLFragment? {
    var range: SQLFragment?
    if let column = columns.first, let key = keys.first, let value = cursor.keys.first {
      range = SQLFragment("\(column) \(key.isDescending ? "<=" : ">=") ?", [.key(value)])
    }
    guard columns.count == keys.count else { return range }
    var alternatives: [SQLFragment] = []
    var equal: [SQLFragment] = []
    for ((name, key), value) in zip(zip(columns, keys), cursor.keys) {
      let beyond = SQLFragment("\(name) \(key.isDescending ? "<" : ">") ?", [.key(value)])
      alternatives.append(.joined(equal + [beyond], by: "AND"))
      equal.append(SQLFragment("\(name) = ?", [.key(value)]))
    }
    let sign = isDescendingAtLast ? "<" : ">"
    let place = SQLFragment("(zone, name) \(sign) (?, ?)", [.text(cursor.zone), .text(cursor.name)])
    alternatives.append(.joined(equal + [place], by: "AND"))
    let exact = SQLFragment.joined(alternatives, by: "OR")
    // The range says the same again: what an index can start from.
    return range.map { SQLFragment.joined([$0, exact], by: "AND") } ?? exact
  }
}
