public import Model
internal import Wire

extension Table {
  /// Opens a conflict-resolution transaction, runs `body`, and closes it: what it resolved leaves conflict at once and
  /// becomes eligible for sync (SIM-25, SIM-28). Until then nothing arrives for this table.
  public func withConflictResolution<Result>(
    _ body: (ConflictResolution) async throws -> Result
  ) async throws -> Result {
    let name = Wire.TableName(table: name)
    try await connection.done(.beginResolution(name))
    do {
      let result = try await body(ConflictResolution(table: self))
      try await connection.done(.endResolution(name))
      return result
    } catch {
      _ = try? await connection.request(.endResolution(name))
      throw error
    }
  }
}

/// The inside of a conflict-resolution transaction.
public struct ConflictResolution: Sendable {
  let table: Table

  /// Every conflicted row, with what is here, what the cloud has, and what both began with (SIM-26).
  public func conflicts() async throws(CaravanError) -> [Conflict] {
    let request = Wire.ConflictedRows(table: table.name)
    guard case .conflicts(let page) = try await table.connection.request(.conflictedRows(request)) else {
      throw AppConnection.surprise("look at conflicts")
    }
    var list: [Conflict] = []
    for row in page.conflicts {
      guard let mine = row.mine else { throw AppConnection.surprise("look at conflicts") }
      list.append(
        Conflict(
          mine: try AppRow(mine), isMineDeleted: row.mineDeleted, theirs: try row.theirs.map(AppRow.reading),
          ancestor: try row.ancestor.map(AppRow.reading)))
    }
    return list
  }

  /// - Throws: `noSuchObject` when the row is not in conflict.
  public func resolve(_ row: String, _ resolution: Resolution) async throws(CaravanError) {
    var request = Wire.ResolveConflict(table: table.name, row: row)
    switch resolution {
    case .mine: request.choice = .mine
    case .theirs: request.choice = .theirs
    case .new(let cells):
      request.choice = .new
      request.cells = try Wire.Cell.list(cells)
    }
    try await table.connection.done(.resolveConflict(request))
  }
}

extension AppRow {
  fileprivate static func reading(_ row: Wire.Row) throws(CaravanError) -> AppRow { try AppRow(row) }
}
