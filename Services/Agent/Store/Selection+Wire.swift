package import CaravanModel
package import CaravanWire

// Between a selection with its cells and their messages, which apps send and the store keeps.

extension Cell {
  package init(_ cell: CellValue) { self.init(column: cell.column, cell.value) }
}

extension CellValue {
  /// - Throws: `invalidData` naming the column.
  package init(_ cell: Cell) throws(CaravanError) { self.init(cell.column, try cell.model()) }

  package static func list(_ cells: [Cell]) throws(CaravanError) -> [CellValue] {
    var list: [CellValue] = []
    for cell in cells { list.append(try CellValue(cell)) }
    return list
  }
}

extension CaravanWire.Selection {
  /// Nil: every row.
  package func store() throws(CaravanError) -> Selection? {
    if text.isEmpty && arguments.isEmpty { return nil }
    return Selection(text, try CellValue.list(arguments).map(\.value))
  }
}
