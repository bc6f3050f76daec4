package import CaravanModel
package import CaravanQuery
package import CaravanQueryCore
package import CaravanRuntime
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
  package let zone: ZoneID
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
  /// Of the row of a statement.
  /// - Parameter authorship: the column of when it was modified, before those of when and by whom it was made.
  /// - Throws: `corrupt` where the body cannot be read.
  init(
    _ row: any IndexColumns, name: Int32, authorship: Int32, body: Int32
  ) throws(CaravanError) {
    let bytes = row.bytes(body)
    self.init(
      name: row.text(name),
      authorship: Authorship(
        modified: row.integer(authorship), created: row.integer(authorship + 1), creator: row.text(authorship + 2)),
      fields: try BodyCells(bytes))
  }
}

extension SQLFragment.Parameter {
  var indexValue: IndexValue {
    switch self {
    case .integer(let number): .integer(number)
    case .text(let text): .text(text)
    case .key(let key): .bytes(key.bytes)
    }
  }
}
