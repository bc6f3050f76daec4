package import CaravanModel
package import CaravanWire

// Between a selection with its cells and their messages, which apps send and the store keeps.

extension Cell {
  package init(_ cell: CellValue) {
    let value: Cell.Value? =
      switch cell.value {
      case .null, .asset, .assetList, .location, .reference, .list: nil
      case .text(let text): .text(text)
      case .integer(let number): .integer(number)
      case .real(let number): .real(number)
      case .data(let bytes): .data(bytes)
      }
    self.init(column: cell.column, value: value)
  }

  package var model: CaravanModel.Value {
    switch value {
    case nil: .null
    case .text(let text): .text(text)
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .data(let bytes): .data(bytes)
    }
  }
}

extension CaravanWire.Selection {
  /// Nil: every row.
  package var store: Selection? { text.isEmpty && arguments.isEmpty ? nil : Selection(text, arguments.map(\.model)) }
}
