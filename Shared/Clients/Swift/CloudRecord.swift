public import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// When a record of the cloud ends by itself (CK-30). Whether it is still seen between its end and its collection, its
/// type says.
public enum CloudExpiry: Sendable, Hashable {
  /// As it is; a new record ends as its type says, or never.
  case keep
  /// It does not end.
  case never
  /// Unix milliseconds on the cloud's clock.
  case at(milliseconds: Int64)
  /// So long after the cloud has saved it.
  case after(Duration)
}

/// A record of the cloud in the hands of an app: what was read of it, and what the app has changed since. A column that
/// is set to null is removed from the record; columns that were not read, or of which the app knows nothing, stay as
/// they are (CK-26).
///
///     var note = CloudRecord("note-7")
///     note["text"] = .text("hello")
///     note.expiry = .after(.seconds(86_400))
public struct CloudRecord: Sendable, Hashable {
  /// Its name: unique in the database, whatever the type. Up to 255 bytes, without control characters.
  public let id: String
  /// That the cloud gave it; nil: it is new, as far as the app knows.
  public let version: UInt64?
  /// By column; null ones are left out.
  public private(set) var cells: [String: Value]
  /// Sizes in bytes of the objects it has, by column. `CloudTable.read` and `contents` read them.
  public let objects: [String: UInt64]
  /// Whole new objects, by column, which the next save gives it. Large ones are better written piece by piece, by
  /// `CloudTable.save(_:mode:objects:_:)`; a column that is set to null loses its object.
  public var contents: [String: [UInt8]] = [:]
  /// Columns that were set since it was read.
  public private(set) var changedColumns: Set<String> = []
  /// When and by whom it was made; nil: it is new, or from before the cloud kept that. Users and devices are called as
  /// in no other app (CK-02).
  public let created: RowAct?
  /// When and by whom its version was made; nil as for `created`.
  public let modified: RowAct?
  /// When it ends by itself, in Unix milliseconds, as it was read; nil: never.
  public let expires: Int64?
  /// What the next save does to its end.
  public var expiry = CloudExpiry.keep

  /// A new record, or one of which the app remembers the version.
  /// - Parameters:
  ///   - id: its name.
  ///   - version: that the app has read; nil: it is new.
  ///   - cells: by column; all of them count as changed.
  public init(_ id: String, version: UInt64? = nil, _ cells: [String: Value] = [:]) {
    self.init(id, version: version, cells: [:], objects: [:], created: nil, modified: nil, expires: nil)
    for (column, value) in cells { self[column] = value }
  }

  /// A record that was found by `Table.queryCloud(in: .public)`.
  public init(_ found: CloudRow) {
    self.init(found.row, expires: found.expires)
  }

  /// The cell of a column; null where there is none.
  public subscript(_ column: String) -> Value {
    get { cells[column] ?? .null }
    set {
      cells[column] = newValue == .null ? nil : newValue
      changedColumns.insert(column)
    }
  }

  private init(
    _ id: String, version: UInt64?, cells: [String: Value], objects: [String: UInt64], created: RowAct?,
    modified: RowAct?, expires: Int64?
  ) {
    self.id = id
    self.version = version
    self.cells = cells
    self.objects = objects
    self.created = created
    self.modified = modified
    self.expires = expires
  }

  private init(_ row: AppRow, expires: Int64?) {
    self.init(
      row.id, version: row.version, cells: row.cells, objects: row.objects, created: row.created,
      modified: row.modified, expires: expires)
  }

  init(_ row: CaravanWire.Row) throws(CaravanError) {
    self.init(try AppRow(row), expires: row.expires)
  }

  /// It as the cloud has taken it.
  /// - Parameters:
  ///   - isNew: nothing was there before.
  ///   - written: sizes of the objects that were saved with it.
  func saved(as version: UInt64, by act: RowAct?, isNew: Bool, _ written: [String: UInt64]) -> CloudRecord {
    let end: Int64? =
      switch expiry {
      case .keep: expires
      case .never: nil
      case .at(let milliseconds): milliseconds
      case .after(let duration): act.map { $0.milliseconds + duration.wholeMilliseconds }
      }
    let left = objects.filter { !changedColumns.contains($0.key) }.merging(written) { $1 }
    return CloudRecord(
      id, version: version, cells: cells, objects: left, created: isNew ? act : created, modified: act, expires: end)
  }
}

extension CaravanWire.Row {
  var expires: Int64? { expiresMilliseconds == 0 ? nil : Int64(clamping: expiresMilliseconds) }
}
