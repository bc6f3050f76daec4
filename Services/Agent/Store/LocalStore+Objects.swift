public import CaravanAgentCore
public import CaravanModel
internal import CaravanSQLite

extension LocalStore {
  /// Bytes of an object from `offset` on, put together from the chunks they lie in; the rest is not loaded (SIM-29).
  /// At most `StoreLimits.readBytes`; none at or beyond the end.
  /// - Parameter cursor: reads the object as it was when that read began; 0: as it is.
  /// - Throws: `noSuchObject` when there is no such row or object, `rowTorn`.
  public func readObject(
    _ table: TableID, row: String, object: String, offset: UInt64, length: Int, cursor: UInt64 = 0,
    copy: RowCopy = .mine, owner: UInt64
  ) throws(CaravanError) -> ObjectSlice {
    try readers.readObject(
      table, row: row, object: object, offset: offset, length: length, cursor: cursor, copy: copy, owner: owner)
  }

  /// Deletes the rows of a selection, all rows without one. They are gone for the app at once; what they held goes when
  /// the cloud has heard of it (SIM-16), or now if the cloud never had them.
  /// - Returns: how many.
  @discardableResult
  public func delete(_ table: TableID, selection: Selection?) async throws(CaravanError) -> Int {
    try catalog.requireZone(of: state(table))
    let keys = try await selected.keys(of: selection, in: table)
    let state = try state(table)
    guard !keys.isEmpty else { return 0 }
    try change(table, isFreeing: true) { (state) throws(CaravanError) in
      for key in keys { try writer.delete(key, of: state) }
      try openWrites.sweep()
    }
    context.events.tellDirtied(state, bytes: RowWriter.deletionBytes * keys.count)
    return keys.count
  }
}
