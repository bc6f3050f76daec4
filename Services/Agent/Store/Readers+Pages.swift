internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

// A read's pages, and what of them takes long.
extension Readers {
  nonisolated(nonsending) func page(of open: ReadCursor, handle: UInt64) async throws(CaravanError) -> RowsPage {
    var cursor = open
    cursor.lastUse = host.clock.now
    var page = PageShape.Page(isLast: true)
    if let statement = cursor.statement {
      do throws(CaravanError) { page = try await rows(of: &cursor, statement, handle: handle) } catch {
        cursors[handle] = nil
        cursor.reader.close()
        throw error
      }
      for key in page.damaged { damage.note(row: key, of: cursor.table) }
      cursor.steps += page.steps
      if page.isLast {
        statement.reset()
        cursor.statement = nil
      }
    }
    let hasMore = cursor.statement != nil
    guard hasMore || cursor.isHeld else {
      close(cursor, handle: handle)
      return RowsPage(cursor: 0, rows: page.rows, hasMore: false)
    }
    cursors[handle] = cursor
    idleAlarm.set(cursor.lastUse + StoreLimits.cursorIdle)
    return RowsPage(cursor: handle, rows: page.rows, hasMore: hasMore)
  }

  /// What takes long is begun anew beside the store, in the same snapshot, and goes on there.
  nonisolated(nonsending) private func rows(
    of cursor: inout ReadCursor, _ statement: Statement, handle: UInt64
  ) async throws(CaravanError) -> PageShape.Page {
    let shape = cursor.shape
    var skipped = 0
    if !cursor.isSlow {
      let reader = cursor.reader
      let page = try reader.within(.short) { () throws(CaravanError) in try shape.page(of: statement, reader.connection)
      }
      if let page { return page }
      statement.reset()
      (cursor.isSlow, skipped) = (true, cursor.steps)
    }
    cursor.isLent = true
    cursors[handle] = cursor
    let after = skipped
    let result: Result<PageShape.Page, CaravanError>
    do throws(CaravanError) {
      result = .success(
        try await slow.run(statement, of: cursor.reader, for: cursor.table.app) { (lent) throws(CaravanError) in
          try shape.page(of: lent.statement, lent.connection, after: after)
        })
    } catch { result = .failure(error) }
    guard cursors[handle] != nil else {
      throw CaravanError(.cancelled, "the read was closed meanwhile: begin it again")
    }
    cursor.isLent = false
    return try result.get()
  }
}
