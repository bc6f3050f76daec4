internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// Which rows an update or a delete concerns.
struct SelectedKeys: TablePart {
  let readers: Readers

  var catalog: TableCatalog { readers.catalog }

  /// Rows that an update or a delete concerns, as of when this returns: no row is written between that and what the
  /// caller does before it waits for anything.
  /// - Throws: `tableNotFound`, also when the table went meanwhile; as `beginRead`; `serverBusy` when so much changed
  ///   while a slow selection ran that it has to be run again.
  nonisolated(nonsending) func keys(of selection: Selection?, in table: TableID) async throws(CaravanError) -> [Int64] {
    let state = try state(table)
    let reader = try readers.pool.take()
    let prepared: Reader.Prepared
    do throws(CaravanError) {
      prepared = try prepare(keysOf: selection, "", in: state, reader).prepared
      if !prepared.isHeavy {
        let keys = try reader.within(.short) { () throws(CaravanError) in try Self.keys(prepared.statement) }
        if let keys {
          readers.pool.giveBack(reader)
          return keys
        }
      }
    } catch {
      readers.pool.giveBack(reader)
      throw error
    }
    let handle = context.newHandle()
    context.touched.begin(handle, table: state.rows.name, limit: StoreLimits.rowsPerChange, in: try database)
    let found: [Int64]
    do throws(CaravanError) {
      found = try await readers.slow.run(prepared.statement, of: reader, for: table.app) {
        (lent) throws(CaravanError) in try Self.keys(lent.statement)
      }
    } catch {
      _ = context.touched.end(handle, in: context.connection)
      reader.close()
      throw error
    }
    let changed = context.touched.end(handle, in: context.connection)
    readers.pool.giveBack(reader)
    guard try self.state(table).number == state.number else {
      throw CaravanError(.tableNotFound, "table '\(table.name)' was dropped meanwhile, and made anew: select again")
    }
    return try changed.isEmpty ? found : again(found, changed, selection, in: table)
  }

  /// What changed while the selection ran is looked at once more.
  private func again(
    _ found: [Int64], _ changed: Set<Int64>, _ selection: Selection?, in table: TableID
  ) throws(CaravanError) -> [Int64] {
    let reader = try readers.pool.take()
    defer { readers.pool.giveBack(reader) }
    let (prepared, parameters) = try prepare(keysOf: selection, " AND _row = ?", in: try state(table), reader)
    let (statement, last) = (prepared.statement, Int32(parameters) + 1)
    let kept = try reader.within(.short) { () throws(CaravanError) in
      var kept: [Int64] = []
      for key in changed {
        try statement.bind(key, at: last)
        kept += try Self.keys(statement)
      }
      return kept
    }
    guard let kept, changed.count <= StoreLimits.rowsPerChange else {
      throw CaravanError(
        .serverBusy, "many rows changed while the selection ran: narrow it, or retry", retryAfterMilliseconds: 500)
    }
    return (found.filter { !changed.contains($0) } + kept).sorted()
  }

  private func prepare(
    keysOf selection: Selection?, _ more: String, in state: TableState, _ reader: Reader
  ) throws(CaravanError) -> (prepared: Reader.Prepared, parameters: Int) {
    let rows = try readers.rows(selection, of: state)
    let text = "SELECT _row FROM \(state.rows.quotedName) WHERE \(readers.condition(rows))\(more) ORDER BY _row"
    let prepared = try reader.prepared(text, SelectionGuard(state.rows, calls: rows?.functions ?? []))
    try rows?.bind(to: prepared.statement)
    return (prepared, rows?.parameters.count ?? 0)
  }

  private static func keys(_ statement: Statement) throws(CaravanError) -> [Int64] {
    var keys: [Int64] = []
    defer { statement.reset() }
    while let row = try statement.next() {
      keys.append(row.integer(0))
      guard keys.count <= StoreLimits.rowsPerChange else {
        throw CaravanError(
          .limitExceeded, "the selection has more than \(StoreLimits.rowsPerChange) rows: change them in parts")
      }
    }
    return keys
  }
}
