package import CaravanModel
package import CaravanQuery
package import CaravanQueryCore
package import CaravanRuntime
import CaravanSQLite
import CaravanWire

/// The records of one database and one record type (all versions of its definition) are one table of the index.
struct TableKey: Sendable, Hashable {
  let database: DatabaseID
  let definition: UInt32
}

/// A record as the index keeps it.
package struct IndexRow: Sendable {
  let entry: CaravanModel.Entry
  let definition: UInt32
  let cells: RecordCells

  var name: String { entry.name }

  package init(_ entry: CaravanModel.Entry, _ fields: BodyCells, definition: UInt32) {
    self.entry = entry
    self.definition = definition
    cells = RecordCells(name: entry.name, authorship: entry.authorship, fields: fields)
  }

  /// The fields of the version that is indexed; of a body that cannot be read to its end there are none.
  func fields() -> RecordFields { (try? RecordFields(body: entry.body)) ?? RecordFields() }
}

/// What happens to one zone in the index.
package struct IndexUpdate: Sendable {
  let zone: ZoneID
  /// Records written.
  package var rows: [IndexRow] = []
  /// Those that are gone or cannot be indexed.
  var removed: [RemovedRow] = []
  let progress: ZoneProgress
  /// Subscriptions written or removed, where it is the zone that has them.
  package var standings: [StandingChange] = []
  /// What subscribers hear of it.
  var telling = Telling.differences
  /// A life of the zone begins with it, of which they hear.
  var isMade = false
  /// It was read from storage: subscriptions in it may be older than what the index has of the zones they are about.
  var isRead = false
  /// When it was taken in.
  let at: WallTime

  package init(zone: ZoneID, progress: ZoneProgress, at: WallTime) {
    (self.zone, self.progress, self.at) = (zone, progress, at)
  }
}

/// What subscribers hear of what the index takes in.
enum Telling: Sendable {
  /// The difference to what the index had.
  case differences
  /// That something was missed: others have told them what they found since the index was what it is, and perhaps not
  /// all of it.
  case loss
  /// Nothing: they hear that all of the database is to be asked for anew.
  case nothing
}

/// A record that an index has no more.
struct RemovedRow: Sendable {
  let name: String
  let version: Seq
  let writer: String
}

/// What became of a subscription.
package enum StandingChange: Sendable {
  case saved(StandingRow)
  case removed(UserID, name: String)
}

extension BoundContent {
  /// `shown(of:)` as the outbox keeps it.
  func encoded(of record: RecordFields?) -> [UInt8] { shown(of: record).body }
}

extension RecordCells {
  /// What a statement hands to the evaluator, in the order of `CompiledQuery.rowValues`. A body that cannot be read is
  /// in no index; here it has no fields.
  /// - Parameter fields: those that will be asked for.
  init(_ row: RowFunction.Arguments, _ fields: Set<UInt32>) {
    let cells = (try? BodyCells(row.bytes(0), fields: fields)) ?? BodyCells()
    guard fields.contains(where: { SystemField(id: $0) != nil }) else {
      self.init(name: "", authorship: .unknown, fields: cells)
      return
    }
    self.init(
      name: row.text(1),
      authorship: Authorship(modified: row.integer(2), created: row.integer(3), creator: row.text(4)), fields: cells)
  }
}

extension SQLFragment.Parameter {
  /// - Parameter cost: to which each record that is looked at is added; once that is over, none is.
  func bindable(_ cost: QueryCost) -> any Bindable {
    switch self {
    case .integer(let number): return number
    case .text(let text): return text
    case .key(let key): return key.bytes
    case .test(let expression):
      let fields = Set(expression.leaves.map(\.field))
      let texts = expression.leaves.count(where: \.readsAll)
      return RowFunction { row in
        guard cost.mayLook(at: row.byteCount(0), times: texts) else { return .integer(0) }
        let cells = RecordCells(row, fields)
        let truth = expression.truth { $0.truth(of: cells.cell($0.field, $0.kind, isList: $0.isList)) }
        return .integer(truth == .yes ? 1 : 0)
      }
    case .keyOf(let term):
      return RowFunction { row in
        guard cost.mayLook(at: row.byteCount(0), times: 0) else { return .null }
        let cells = RecordCells(row, [term.field])
        return .blob(term.key { cells.cell($0, $1) }.bytes)
      }
    }
  }
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
