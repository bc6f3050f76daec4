internal import CaravanAgentCore
internal import CaravanCrypto
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// How changes get into rows, an app's and the cloud's, and how rows go. What changes something runs inside the
/// transaction of its caller.
struct RowWriter: TablePart {
  let inbox: Inbox
  let ancestors: Ancestors
  let refusals: Refusals

  var catalog: TableCatalog { inbox.catalog }
  private var batches: Batches { catalog.batches }
  private var tolerances: Tolerances { catalog.tolerances }

  // MARK: What apps give

  /// By column. An insert must give the primary key, an update must not.
  func checked(
    _ cells: [CellValue], of state: TableState, isInsert: Bool
  ) throws(CaravanError) -> [Int: SQLValue] {
    var values: [Int: SQLValue] = [:]
    for cell in cells {
      let index = try state.column(named: cell.column)
      let column = state.schema.columns[index]
      guard isInsert || !column.isPrimaryKey else {
        throw CaravanError(.schemaViolation, "column '\(column.name)' is the primary key: write a new row instead")
      }
      guard values.updateValue(try CellCodec.cell(cell.value, of: column), forKey: index) == nil else {
        throw CaravanError(.invalidData, "column '\(column.name)' is given twice")
      }
    }
    return values
  }

  func objectColumns(_ names: [String], of state: TableState) throws(CaravanError) -> [Int] {
    var columns: [Int] = []
    for name in names {
      let index = try state.column(named: name)
      guard state.schema.columns[index].kind == .object else {
        throw CaravanError(
          .schemaViolation,
          "column '\(name)' is \(state.schema.columns[index].typeText), not OBJECT: give it a value instead")
      }
      guard !columns.contains(index) else { throw CaravanError(.invalidData, "object '\(name)' is listed twice") }
      columns.append(index)
    }
    return columns
  }

  /// Derived from the primary key (SIM-33), or new.
  func newID(_ values: [Int: SQLValue], of state: TableState) throws(CaravanError) -> String {
    guard let column = state.schema.columns.firstIndex(where: \.isPrimaryKey) else {
      return RowID.make(milliseconds: host.clock.wallTime.milliseconds, random: host.random.bytes(10))
    }
    let key: String
    switch values[column] ?? .null {
    case .text(let text): key = "text/\(text)"
    case .integer(let number): key = "integer/\(number)"
    case .null, .real, .blob:
      throw CaravanError(
        .schemaViolation, "column '\(state.schema.columns[column].name)' is the primary key: give it a value")
    }
    return RowID.make(digest: SHA256.hash(Array(key.utf8)).bytes)
  }

  // MARK: Insert

  /// - Returns: bytes of the row's body, about.
  func insert(
    id: String, cells: [Int: SQLValue], drafts: [Int: ObjectDraft], into state: TableState
  ) throws(CaravanError) -> Int {
    if let old = try state.rows.row(id: id, database) {
      return try revive(old, cells: cells, drafts: drafts, of: state)
    }
    var row = StoredRow(
      key: 0, id: id, head: RowHead(), change: nextChange(), extra: [],
      cells: [SQLValue](repeating: .null, count: state.schema.columns.count))
    try fill(&row, cells, drafts, of: state)
    if !state.isLocalOnly { _ = row.head.write(RowChange(cells: true, objects: !drafts.isEmpty)) }
    try state.rows.insert(row, database)
    return try checkedSize(of: row, in: state)
  }

  /// A row of this primary key exists: deleted and not yet synced, it comes back with the new content.
  private func revive(
    _ old: StoredRow, cells: [Int: SQLValue], drafts: [Int: ObjectDraft], of state: TableState
  ) throws(CaravanError) -> Int {
    switch old.head.presence {
    case .live, .unconfirmed, .lost, .changedLost:
      throw CaravanError(.objectExists, "table '\(state.table.name)' has a row of this primary key: update that")
    case .torn:
      throw CaravanError(.rowTorn, "the row of this primary key is being restored from the cloud: retry later")
    case .deleted, .deletedLost, .deletedUnconfirmed: break
    }
    var row = old
    let before = try state.codec.chunks(row.cells, extra: row.extra)
    row.cells = [SQLValue](repeating: .null, count: row.cells.count)
    row.extra = []
    try chunkTable.release(before)
    try fill(&row, cells, drafts, of: state)
    let effect = row.head.write(RowChange(cells: true, objects: true))
    precondition(effect == .none, "a deleted row had no ancestor")
    row.change = nextChange()
    try state.rows.update(row, database)
    return try checkedSize(of: row, in: state)
  }

  // MARK: Update

  /// Applies an update to one row.
  func rewrite(
    _ old: StoredRow, cells: [Int: SQLValue], drafts: [Int: ObjectDraft], of state: TableState
  ) throws(CaravanError) -> (id: String, bytes: Int) {
    let touched = drafts.filter { $0.value.isTouched || old.cells[$0.key] == .null }
    let clears = cells.keys.contains { state.schema.columns[$0].kind == .object }
    let change = RowChange(cells: !cells.isEmpty, objects: !touched.isEmpty || clears)
    guard change.cells || change.objects else { return (old.id, 0) }
    var row = old
    if state.tracks(row.head), row.head.write(change) == .keepAncestor { try ancestors.keep(old, in: state) }
    try tolerances.settle(row: row.key, in: state)
    try fill(&row, cells, touched, of: state)
    row.change = nextChange()
    try state.rows.update(row, database)
    return (row.id, try checkedSize(of: row, in: state))
  }

  /// Puts cells and objects into a row and counts its chunks anew.
  private func fill(
    _ row: inout StoredRow, _ cells: [Int: SQLValue], _ drafts: [Int: ObjectDraft], of state: TableState
  ) throws(CaravanError) {
    let namesChunks = !drafts.isEmpty || cells.keys.contains { state.schema.columns[$0].kind == .object }
    var before = namesChunks ? Set(try state.codec.chunks(row.cells, extra: row.extra)) : []
    for (column, value) in cells { row.cells[column] = value }
    var drafts = drafts
    let columns = drafts.keys.sorted()
    for column in columns {
      guard let manifest = try drafts[column]?.fold(chunkTable) else { continue }
      row.cells[column] = try chunkTable.cell(manifest, chunksInRow: options.chunksInRow)
    }
    guard namesChunks else { return }
    let after = Set(try state.codec.chunks(row.cells, extra: row.extra))
    var spare = state.properties.mode == .inPlace ? before.subtracting(after).sorted() : []
    for column in columns {
      for (new, old) in try drafts[column]?.settle(chunkTable, over: &spare) ?? [] {
        before.remove(old)
        before.insert(new)
      }
    }
    try chunkTable.replace(before, by: after)
  }

  private func checkedSize(of row: StoredRow, in state: TableState) throws(CaravanError) -> Int {
    // Field ids and lengths take a few bytes a field beyond the values.
    let bytes = row.bodyBytes
    guard bytes <= Limits.recordBytes else {
      throw CaravanError(
        .limitExceeded,
        "row \(row.id) of '\(state.table.name)' has \(bytes) bytes: the limit is \(Limits.recordBytes), use an OBJECT"
      )
    }
    guard state.holdsReferences else { return bytes }
    let references = try state.codec.references(row.cells, extra: row.extra).count
    guard references <= Limits.referencesPerRecord else {
      throw CaravanError(
        .limitExceeded,
        "row \(row.id) of '\(state.table.name)' has \(references) owning or validating references: the limit is "
          + "\(Limits.referencesPerRecord), make others plain")
    }
    return bytes
  }

  // MARK: From the cloud

  /// A row is what the cloud has: a new one, or the one that was there.
  func take(
    _ content: RowCodec.Content, _ entry: Entry, over old: StoredRow?, in state: TableState
  ) throws(CaravanError) {
    state.draft.note(.changed, entry.name)
    if let old { return try overwrite(old, with: content, entry, in: state) }
    try chunkTable.retain(content.chunks)
    let new = StoredRow(
      key: 0, id: entry.name, head: RowHead(version: entry.version), change: 0, extra: content.extra,
      cells: content.cells)
    try state.rows.insert(new, by: RowAuthorship(of: entry), database)
  }

  /// The row becomes what the cloud has.
  func overwrite(_ old: StoredRow, with entry: Entry, in state: TableState) throws(CaravanError) {
    try overwrite(old, with: state.codec.content(entry.body), entry, in: state)
  }

  /// What the entry says of when and by whom it was made is kept with the row.
  /// - Parameter isMissing: only where nobody has said it of this version.
  func note(
    _ entry: Entry, ofRow key: Int64, isMissing: Bool = false, in state: TableState
  ) throws(CaravanError) {
    guard let authorship = RowAuthorship(of: entry) else { return }
    try state.rows.note(authorship, ofRow: key, at: entry.version, isMissing: isMissing, database)
  }

  private func overwrite(
    _ old: StoredRow, with content: RowCodec.Content, _ entry: Entry, in state: TableState
  ) throws(CaravanError) {
    var row = old
    try chunkTable.replace(try state.codec.chunks(old.cells, extra: old.extra), by: content.chunks)
    if old.head.flags != .clean || old.head.presence != .live {
      try ancestors.forget(of: old.key, in: state)
      try batches.leave(old.key, in: state)
      for role in [IncomingRole.serverCopy, .repair] { try inbox.drop(named: old.id, role: role, of: state) }
    }
    if state.repairs > 0 { try inbox.drop(named: old.id, role: .wanted, of: state) }
    row.cells = content.cells
    row.extra = content.extra
    row.head = RowHead(version: entry.version)
    try state.rows.update(row, database)
    try note(entry, ofRow: row.key, in: state)
  }

  // MARK: Rows going away

  /// The row with everything it holds: its chunks, its ancestor, and the cloud's copy.
  func remove(_ row: StoredRow, of state: TableState) throws(CaravanError) {
    try tolerances.settle(row: row.key, in: state)
    try batches.leave(row.key, in: state)
    try refusals.forget(of: row.key, in: state)
    try chunkTable.release(try state.codec.chunks(row.cells, extra: row.extra))
    try ancestors.forget(of: row.key, in: state)
    try inbox.drop(named: row.id, role: .serverCopy, of: state)
    if row.head.presence == .torn { try inbox.drop(named: row.id, role: .repair, of: state) }
    if state.repairs > 0 { try inbox.drop(named: row.id, role: .wanted, of: state) }
    try state.rows.delete(key: row.key, database)
  }

  /// What is sent of a deletion, about.
  static let deletionBytes = 64

  func delete(_ key: Int64, of state: TableState) throws(CaravanError) {
    guard let old = try state.rows.row(key: key, database), old.head.presence.isVisible else { return }
    var row = old
    switch row.head.delete(wasSent: try ancestors.wasPushed(key, in: state)) {
    case .purge: return try remove(row, of: state)
    case .keepAncestor: try ancestors.keep(old, in: state)
    case .none: break
    }
    row.change = nextChange()
    try state.rows.updateHead(row, database)
  }
}

extension SQLValue {
  /// What the value takes in a record's body, its field's id and length included.
  var bodyBytes: Int {
    switch self {
    case .null: 0
    case .integer, .real: 14
    case .text(let text): text.utf8.count + 12
    case .blob(let bytes): bytes.count + 12
    }
  }
}
