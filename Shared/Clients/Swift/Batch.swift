public import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

extension Table {
  /// Writes and deletions that take effect together when `body` has returned: here in one transaction, and at the cloud
  /// in one commit, of which other devices have all rows or none in tables of snapshots (REC-23, UNI-05). If `body`
  /// throws, nothing has happened.
  ///
  ///     try await accounts.batch { batch in
  ///       try await batch.update(.init("owner = ?", [.text("ada")]), ["balance": .integer(60)])
  ///       try await batch.update(.init("owner = ?", [.text("eve")]), ["balance": .integer(40)])
  ///     }
  ///
  /// Selections see the table as it is without the batch. A row of it that the cloud has in another version is in
  /// conflict, and until that is resolved, all the others wait.
  /// - Parameters:
  ///   - intent: of all of it; its rows are never lost.
  ///   - body: makes the writes; what it returns is returned.
  /// - Throws: besides what `body` does, `limitExceeded` beyond 1,000 writes and deletions, 10,000 rows, or 32 MiB of
  ///   values beside objects.
  public nonisolated(nonsending) func batch<Outcome>(
    intent: WriteIntent = WriteIntent(), _ body: (Batch) async throws -> Outcome
  ) async throws -> Outcome {
    let batch = Batch(table: self, intent: intent)
    do {
      let outcome = try await body(batch)
      try await batch.close()
      return outcome
    } catch {
      await batch.abandon()
      throw error
    }
  }
}

/// Writes and deletions of one table that take effect together, made by `Table.batch`.
public final class Batch: Sendable {
  private let table: Table
  private let intent: WriteIntent
  private let writes = Mutex<[UInt64]?>([])

  fileprivate init(table: Table, intent: WriteIntent) {
    self.table = table
    self.intent = intent
  }

  /// Adds a row.
  /// - Returns: its id.
  @discardableResult
  public nonisolated(nonsending) func write(
    _ cells: [String: Value], objects: [String] = [], _ fill: (ObjectWriter) async throws -> Void = { _ in }
  ) async throws -> String {
    try row(of: await add(try await table.open(try held(cells, objects), fill)))
  }

  /// Adds a row with whole objects.
  /// - Returns: its id.
  @discardableResult
  public func write(_ cells: [String: Value], contents: [String: [UInt8]]) async throws(CaravanError) -> String {
    try row(of: await add(try await table.open(try held(cells), contents)))
  }

  /// Changes every row selected; only the objects named are opened.
  /// - Returns: ids of the rows.
  @discardableResult
  public nonisolated(nonsending) func update(
    _ selection: Table.Selection, _ cells: [String: Value], objects: [String] = [],
    _ fill: (ObjectWriter) async throws -> Void = { _ in }
  ) async throws -> [String] {
    try await add(try await table.open(try held(cells, objects, selection), fill)).rows
  }

  /// Gives every row selected whole new objects.
  /// - Returns: ids of the rows.
  @discardableResult
  public func update(
    _ selection: Table.Selection, _ cells: [String: Value], contents: [String: [UInt8]]
  ) async throws(CaravanError) -> [String] {
    try await add(try await table.open(try held(cells, [], selection), contents)).rows
  }

  /// Removes rows.
  /// - Returns: ids of the rows.
  @discardableResult
  public func delete(_ selection: Table.Selection) async throws(CaravanError) -> [String] {
    let request = CaravanWire.BeginWrite(
      table: table.name, selection: try selection.wire(), intent: intent.wire, hold: true, deletion: true)
    return try await add(try await table.connection.open(request)).rows
  }

  // MARK: Parts

  private func held(
    _ cells: [String: Value], _ objects: [String] = [], _ selection: Table.Selection? = nil
  ) throws(CaravanError) -> CaravanWire.BeginWrite {
    CaravanWire.BeginWrite(
      table: table.name, cells: try CaravanWire.Cell.list(cells), objects: objects, selection: try selection?.wire(),
      intent: intent.wire, hold: true)
  }

  private func row(of opened: CaravanWire.WriteOpened) throws(CaravanError) -> String {
    guard let row = opened.rows.first else { throw AppConnection.surprise("write") }
    return row
  }

  private func add(_ opened: CaravanWire.WriteOpened) async throws(CaravanError) -> CaravanWire.WriteOpened {
    let isOpen = writes.withLock { writes in
      writes?.append(opened.write)
      return writes != nil
    }
    guard isOpen else {
      await table.connection.abandon([opened.write])
      throw CaravanError(.cancelled, "the batch has ended: write before its closure returns")
    }
    return opened
  }

  /// - Returns: what the batch holds, once.
  private func end() -> [UInt64] { writes.withLock { $0.take() ?? [] } }

  fileprivate func close() async throws(CaravanError) {
    let writes = end()
    if !writes.isEmpty { _ = try await table.connection.close(writes, isAtomic: true) }
  }

  fileprivate func abandon() async { await table.connection.abandon(end()) }
}
