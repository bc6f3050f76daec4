internal import CaravanModel

/// All values of a field whose codes have the same first bits. Ranges of values are covered by few cells each, and a
/// value lies in one cell of each level: so who waits for a range is found among many by equality, on every engine.
public struct KeyCell: Sendable, Hashable {
  /// Bits of a code that are left out.
  public let level: UInt8
  /// The other bits.
  public let prefix: UInt64

  /// The cell of a level that a code lies in.
  public init(of code: UInt64, level: UInt8) {
    precondition(level <= 64, "a code has 64 bits, not \(level)")
    self.level = level
    // A shift by all bits leaves none.
    prefix = level == 64 ? 0 : code >> UInt64(level)
  }

  /// One or two, which have no more than four times what the range has.
  public static func cover(_ range: ClosedRange<UInt64>) -> [KeyCell] {
    let (low, high) = (range.lowerBound, range.upperBound)
    let level = UInt8(64 - (high - low).leadingZeroBitCount)
    let cells = [KeyCell(of: low, level: level), KeyCell(of: high, level: level)]
    return cells[0] == cells[1] ? [cells[0]] : cells
  }

  /// Four at most for each rectangle around a region (`Region.boxes`).
  /// - Parameter numbers: of the region.
  public static func cover(_ region: Region, _ numbers: [Double]) -> [KeyCell] {
    region.boxes(numbers).flatMap { box in
      let rectangle = CellRectangle(box)
      let (rows, columns) = (rectangle.latitude, rectangle.longitude)
      let extent = max(rows.upperBound - rows.lowerBound, columns.upperBound - columns.lowerBound)
      let level = UInt8(32 - extent.leadingZeroBitCount)
      var cells: [KeyCell] = []
      for row in [rows.lowerBound, rows.upperBound] {
        for column in [columns.lowerBound, columns.upperBound] {
          let code = PlaceCell(latitude: row, longitude: column).code
          let cell = KeyCell(of: code, level: 2 * level)
          if !cells.contains(cell) { cells.append(cell) }
        }
      }
      return cells
    }
  }
}

extension Cell {
  /// Where a value lies among all of its kind, in their order; of a text or data its first eight bytes decide. A place
  /// lies in cells of the earth (`PlaceCell`), which are in no order. nil: nowhere.
  public var code: UInt64? {
    switch self {
    case .integer(let number): UInt64(bitPattern: number) ^ 1 << 63
    case .real(let number): number.orderedBits
    case .bytes(let run):
      run.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } << UInt64(8 * (8 - min(8, run.count)) & 63)
    case .place(let place): PlaceCell(place).code
    case .null, .list, .present: nil
    }
  }
}

extension Double {
  /// Its bits so that their order is that of the numbers. Zero has two forms and one code.
  var orderedBits: UInt64 {
    let bits = (self == 0 ? 0 : self).bitPattern
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }
}
