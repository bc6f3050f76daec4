/// Columns of text under their names, as wide as what they hold.
public struct TextTable: Sendable {
  private static let widest = 60

  private let names: [String]
  private let alignsRight: [Bool]
  private var rows: [[String]] = []

  /// - Parameter columns: names; those that begin with `>` are aligned to the right.
  public init(_ columns: [String]) {
    precondition(!columns.isEmpty, "a table without columns shows nothing")
    names = columns.map { $0.hasPrefix(">") ? String($0.dropFirst()) : $0 }
    alignsRight = columns.map { $0.hasPrefix(">") }
  }

  /// Line feeds and other control characters are shown as `·`; what is very long is cut.
  public mutating func add(_ cells: [String]) {
    precondition(cells.count == names.count, "a row of \(cells.count) cells in a table of \(names.count) columns")
    rows.append(cells.map(Self.shown))
  }

  public var isEmpty: Bool { rows.isEmpty }

  /// Without a line feed at the end.
  public var text: String {
    let all = [names] + rows
    let widths = names.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return all.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        line += (column > 0 ? "  " : "") + (alignsRight[column] ? padding + cell : cell + padding)
      }
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }

  private static func shown(_ cell: String) -> String {
    let plain = String(cell.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? "·" : Character($0) })
    let cut = plain.count <= widest ? plain : "\(plain.prefix(widest - 1))…"
    precondition(cut.count <= widest, "a cell is wider than \(widest)")
    return cut
  }
}
