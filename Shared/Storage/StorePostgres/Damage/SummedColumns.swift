internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// Where a row of `caravan_records` or `caravan_superseded` has what its sum is of.
struct SummedColumns {
  let version: Int32
  let created: Int32
  let flags: Int32
  let type: Int32
  let expires: Int32
  /// nil: it was found by its name, which is known.
  let name: Int32?
  let fields: Int32
  let body: Int32
  let sum: Int32
}

extension Row {
  /// Whether the row is what was written, as far as anybody can tell.
  func isWhole(_ columns: SummedColumns, name: String = "") -> Bool {
    guard !isNull(columns.sum) else { return true }
    var sum = RowSum(
      version: unsigned(columns.version), created: unsigned(columns.created), flags: integer(columns.flags),
      type: UInt32(truncatingIfNeeded: integer(columns.type)), expires: integer(columns.expires))
    if let column = columns.name { withBytes(column) { sum.add($0) } } else { sum.add(name) }
    withBytes(columns.fields) { sum.add($0) }
    withBytes(columns.body) { sum.add($0) }
    return sum.value == unsigned(columns.sum)
  }
}
