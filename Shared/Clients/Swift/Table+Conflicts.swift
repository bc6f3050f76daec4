public import CaravanModel
internal import CaravanWire

extension Table {
  /// Opens a conflict-resolution transaction, runs `body`, and closes it: what it resolved leaves conflict at once and
  /// becomes eligible for sync (SIM-25, SIM-28); if it throws, nothing is resolved. Until then nothing arrives for this
  /// table.
  /// - Throws: `serverBusy` while another session of the app resolves conflicts of this table; what `body` throws.
  public nonisolated(nonsending) func withConflictResolution<Result>(
    _ body: (ConflictResolution) async throws -> Result
  ) async throws -> Result {
    try await connection.done(.beginResolution(CaravanWire.TableName(table: name)))
    do {
      let result = try await body(ConflictResolution(table: self))
      try await connection.done(.endResolution(CaravanWire.EndResolution(table: name)))
      return result
    } catch {
      connection.notify(.endResolution(CaravanWire.EndResolution(table: name, abandon: true)))
      throw error
    }
  }
}

/// The inside of a conflict-resolution transaction.
public struct ConflictResolution: Sendable {
  let table: Table

  /// Every conflicted row, with what is here, what the cloud has, and what both began with (SIM-26).
  public func conflicts() async throws(CaravanError) -> [Conflict] {
    var list: [Conflict] = []
    while true {
      let request = CaravanWire.ConflictedRows(table: table.name, after: list.last?.mine.id ?? "")
      guard case .conflicts(let page) = try await table.connection.request(.conflictedRows(request)) else {
        throw AppConnection.surprise("look at conflicts")
      }
      for row in page.conflicts {
        guard let mine = row.mine else { throw AppConnection.surprise("look at conflicts") }
        list.append(
          Conflict(
            mine: try AppRow(mine), isMineDeleted: row.mineDeleted, theirs: try row.theirs.map(AppRow.reading),
            ancestor: try row.ancestor.map(AppRow.reading)))
      }
      guard page.more, !page.conflicts.isEmpty else { return list }
    }
  }

  /// - Throws: `noSuchObject` when the row is not in conflict.
  public func resolve(_ row: String, _ resolution: Resolution) async throws(CaravanError) {
    var request = CaravanWire.ResolveConflict(table: table.name, row: row)
    switch resolution {
    case .mine: request.choice = .mine
    case .theirs: request.choice = .theirs
    case .new(let cells, let fromTheirs):
      request.choice = .new
      request.cells = try CaravanWire.Cell.list(cells)
      request.fromTheirs = fromTheirs
    }
    try await table.connection.done(.resolveConflict(request))
  }
}

extension AppRow {
  fileprivate static func reading(_ row: CaravanWire.Row) throws(CaravanError) -> AppRow { try AppRow(row) }
}
