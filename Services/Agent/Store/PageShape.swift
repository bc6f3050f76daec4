internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite

/// What a page of a read is made of; makes it on whatever thread has the statement.
struct PageShape: Sendable {
  /// The table's, when the read began.
  let schema: SchemaText
  let columns: [Int]
  /// The table's number, where some of its rows were refused.
  let refusalsOf: Int64?
  let rows: Int
  /// The statement reads when and by whom rows were changed, behind the table's columns.
  let hasAuthorship: Bool

  struct Page: Sendable {
    var rows: [RowView] = []
    /// Keys of rows that are not as they were written.
    var damaged: [Int64] = []
    /// The last row has been read.
    var isLast = false
    /// Of the rows, about.
    var bytes = 0

    /// Rows that were gone over.
    var steps: Int { rows.count + damaged.count }
  }

  /// - Parameters:
  ///   - database: in whose snapshot the statement runs.
  ///   - skipped: rows of earlier pages, where the statement begins anew.
  func page(
    of statement: Statement, _ database: Connection, after skipped: Int = 0
  ) throws(CaravanError) -> Page {
    for _ in 0..<skipped { guard try statement.next() != nil else { return Page(isLast: true) } }
    var page = Page()
    while page.rows.count < rows, page.bytes < StoreLimits.pageBytes {
      guard let row = try statement.next() else {
        page.isLast = true
        return page
      }
      let cells = schema.columns.indices.map { row.value(Int32($0) + 7) }
      let isSound =
        row.isNull(5)
        || StoredRow.isSound(row.unsigned(5), id: row.text(0), extra: row.bytes(4), cells: cells)
      if isSound {
        var view = try view(row, cells, bytes: &page.bytes)
        if hasAuthorship {
          view.authorship = RowAuthorship(row, first: Int32(cells.count) + 7, at: view.version)
        }
        if let refusalsOf, view.state != .clean {
          view.refused = try RefusalTable.reason(
            row: row.integer(3), atChange: row.integer(6), of: refusalsOf, database)
        }
        page.rows.append(view)
      } else {
        page.damaged.append(row.integer(3))
      }
    }
    return page
  }

  private func view(_ row: Row, _ stored: [SQLValue], bytes: inout Int) throws(CaravanError) -> RowView {
    var cells: [CellValue] = []
    var objects: [RowView.ObjectSize] = []
    bytes += 64
    for index in columns {
      let column = schema.columns[index]
      let cell = stored[index]
      if let value = try CellCodec.value(cell, of: column) {
        cells.append(CellValue(column.name, value))
        bytes += column.name.utf8.count + cell.bodyBytes
      } else if let size = try RowCodec.objectSize(cell) {
        objects.append(RowView.ObjectSize(column: column.name, size: size))
        bytes += column.name.utf8.count + 12
      }
    }
    return RowView(
      id: row.text(0), version: row.unsigned(1), state: RowView.State(RowFlags(packed: row.integer(2))), cells: cells,
      objects: objects)
  }
}

extension RowView.State {
  init(_ flags: RowFlags) {
    self =
      if flags.inConflict { .conflict } else if flags.syncPending { .pending } else if flags.isDirty { .dirty } else {
        .clean
      }
  }
}
