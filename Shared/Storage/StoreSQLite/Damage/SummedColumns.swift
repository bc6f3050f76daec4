internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// Where a row of `entries` or `superseded` has what its sum is of.
struct SummedColumns {
  let created: Int32
  let flags: Int32
  let type: Int32
  let expires: Int32
  let name: Int32
  let fields: Int32
  let body: Int32
  let sum: Int32
}

extension Row {
  /// nil: the row came before sums were kept.
  func sum(_ columns: SummedColumns) -> UInt64? { isNull(columns.sum) ? nil : unsigned(columns.sum) }

  /// Whether the row is what was written, as far as anybody can tell.
  func isWhole(_ columns: SummedColumns, version: Seq) throws(CaravanError) -> Bool {
    guard let kept = sum(columns) else { return true }
    var sum = RowSum(
      version: version, created: unsigned(columns.created), flags: integer(columns.flags),
      type: UInt32(truncatingIfNeeded: integer(columns.type)), expires: integer(columns.expires))
    try withBytes(columns.name) { sum.add($0) }
    try withBytes(columns.fields) { sum.add($0) }
    try withBytes(columns.body) { sum.add($0) }
    return sum.value == kept
  }
}
