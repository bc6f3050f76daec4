public import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// One of the app's tables.
public struct Table: Sendable {
  /// As it was created.
  public let name: String
  let connection: AppConnection

  // MARK: Rows

  /// Which rows: SQL's WHERE over the table's own columns, `?` for each argument. Nil text: all rows.
  public struct Selection: Sendable, Hashable {
    /// The expression; nil: every row.
    public let text: String?
    /// For the `?` of the text, in order.
    public let arguments: [Value]

    /// - Parameters:
    ///   - text: what follows SQL's WHERE; nil: every row.
    ///   - arguments: for its `?`, in order.
    public init(_ text: String?, _ arguments: [Value] = []) {
      self.text = text
      self.arguments = arguments
    }

    /// Every row.
    public static let all = Selection(nil)

    func wire() throws(CaravanError) -> CaravanWire.Selection {
      var cells: [CaravanWire.Cell] = []
      for argument in arguments { cells.append(try CaravanWire.Cell("", argument)) }
      return CaravanWire.Selection(text: text ?? "", arguments: cells)
    }
  }

  /// Adds a row. With `objects`, the row appears as a whole when `fill` has returned and the objects are on disk; if
  /// `fill` throws, nothing has happened (SIM-13).
  /// - Returns: the row's id.
  @discardableResult
  public nonisolated(nonsending) func write(
    _ cells: [String: Value], objects: [String] = [], _ fill: (ObjectWriter) async throws -> Void = { _ in }
  ) async throws -> String {
    try await write(cells, objects: objects, intent: WriteIntent(), fill).row
  }

  /// Adds a row that travels as `intent` says.
  @discardableResult
  public nonisolated(nonsending) func write(
    _ cells: [String: Value], objects: [String] = [], intent: WriteIntent,
    _ fill: (ObjectWriter) async throws -> Void = { _ in }
  ) async throws -> WriteReceipt {
    let request = CaravanWire.BeginWrite(
      table: name, cells: try CaravanWire.Cell.list(cells), objects: objects, intent: intent.wire)
    let closed = try await run(request, fill)
    guard let row = closed.rows.first else { throw AppConnection.surprise("write") }
    return WriteReceipt(row: row, promise: WritePromise(closed.promise))
  }

  /// Adds a row with whole objects, in one request as long as they are small.
  /// - Returns: the row's id.
  @discardableResult
  public func write(_ cells: [String: Value], contents: [String: [UInt8]]) async throws(CaravanError) -> String {
    let request = CaravanWire.BeginWrite(table: name, cells: try CaravanWire.Cell.list(cells))
    guard let row = try await connection.close(try await open(request, contents)).rows.first else {
      throw AppConnection.surprise("write")
    }
    return row
  }

  /// Changes every row selected, all at once; only the objects named are opened (SIM-14).
  /// - Returns: ids of the rows.
  @discardableResult
  public nonisolated(nonsending) func update(
    _ selection: Selection, _ cells: [String: Value], objects: [String] = [], intent: WriteIntent = WriteIntent(),
    _ fill: (ObjectWriter) async throws -> Void = { _ in }
  ) async throws -> [String] {
    let request = CaravanWire.BeginWrite(
      table: name, cells: try CaravanWire.Cell.list(cells), objects: objects, selection: try selection.wire(),
      intent: intent.wire)
    return try await run(request, fill).rows
  }

  /// Gives every row selected whole new objects, in one request as long as they are small.
  /// - Returns: ids of the rows.
  @discardableResult
  public func update(
    _ selection: Selection, _ cells: [String: Value], contents: [String: [UInt8]]
  ) async throws(CaravanError) -> [String] {
    let request = CaravanWire.BeginWrite(
      table: name, cells: try CaravanWire.Cell.list(cells), selection: try selection.wire())
    return try await connection.close(try await open(request, contents)).rows
  }

  private nonisolated(nonsending) func run(
    _ request: CaravanWire.BeginWrite, _ fill: (ObjectWriter) async throws -> Void
  ) async throws -> WriteClosed {
    try await connection.close(try await open(request, fill))
  }

  /// Begins a write and gives its objects their bytes; if that fails, nothing has happened.
  nonisolated(nonsending) func open(
    _ request: CaravanWire.BeginWrite, _ fill: (ObjectWriter) async throws -> Void
  ) async throws -> WriteOpened {
    let opened = try await connection.open(request)
    guard opened.write != 0 else { return opened }
    do {
      try await fill(ObjectWriter(write: opened.write, rows: opened.rows, connection: connection))
    } catch {
      await connection.abandon([opened.write])
      throw error
    }
    return opened
  }

  /// The same with whole objects, in one request as long as they are small.
  func open(
    _ request: CaravanWire.BeginWrite, _ contents: [String: [UInt8]]
  ) async throws(CaravanError) -> WriteOpened {
    var request = request
    let objects = contents.sorted { $0.key < $1.key }
    guard objects.reduce(0, { $0 + $1.value.count }) > ClientLimits.objectPieceBytes else {
      request.contents = objects.map { CaravanWire.ObjectContent(object: $0.key, data: $0.value) }
      return try await connection.open(request)
    }
    request.objects = objects.map(\.key)
    do {
      return try await open(request) { writer in
        for row in writer.rows.indices {
          for (object, bytes) in objects { try await writer.replace(object, with: bytes, row: row) }
        }
      }
    } catch {
      throw (error as? CaravanError) ?? CaravanError(.internalError, "\(error)")
    }
  }

  /// Removes rows; they disappear at once here and, with the next sync, everywhere (SIM-16).
  /// - Returns: how many there were.
  @discardableResult
  public func delete(_ selection: Selection) async throws(CaravanError) -> UInt64 {
    let request = CaravanWire.DeleteRows(table: name, selection: try selection.wire())
    guard case .affected(let affected) = try await connection.request(.deleteRows(request)) else {
      throw AppConnection.surprise("delete")
    }
    return affected.rows
  }

  /// Rows as they were when the first one was asked for, in pages.
  public func rows(
    _ selection: Selection = .all, columns: [String] = [], orderBy order: [(column: String, descending: Bool)] = [],
    authorship: Bool = false
  ) -> RowCursor {
    RowCursor(table: self, selection: selection, columns: columns, order: order, authorship: authorship)
  }

  /// Rows with changes that were not sent when the cloud said that the table's zone does not exist; until it is there
  /// again the table shows no others (`DeviceStatus.Table.isZoneGone`).
  public func rowsAside(_ selection: Selection = .all, columns: [String] = []) -> RowCursor {
    RowCursor(table: self, selection: selection, columns: columns, order: [], isAside: true)
  }

  // MARK: Sync

  /// Looks for changes every `period` and sends them at most `delayTolerance` later, over `link` or cheaper (SIM-17).
  /// - Parameters:
  ///   - period: how often the table is looked at; zero: whenever something changes.
  ///   - delayTolerance: how long a change may wait then for others to travel with.
  ///   - link: the dearest link that changes may go over.
  ///   - loss: new rows that may be lost only go along with other data (MOB-05).
  public func registerWriteSync(
    period: Duration, delayTolerance: Duration, link: CaravanModel.LinkClass, loss: LossTolerance? = nil
  ) async throws(CaravanError) {
    try await register(read: false, period, delayTolerance, link, loss)
  }

  /// Has the cloud tell of changes, at most every `period`, and fetches them within `delayTolerance` (SIM-20).
  public func registerReadSync(
    period: Duration, delayTolerance: Duration, link: CaravanModel.LinkClass
  ) async throws(CaravanError) {
    try await register(read: true, period, delayTolerance, link, nil)
  }

  private func register(
    read: Bool, _ period: Duration, _ tolerance: Duration, _ link: CaravanModel.LinkClass, _ loss: LossTolerance?
  ) async throws(CaravanError) {
    let request = CaravanWire.RegisterSync(
      table: name, read: read, periodMilliseconds: UInt32(clamping: period.wholeMilliseconds),
      delayToleranceMilliseconds: UInt32(clamping: tolerance.wholeMilliseconds), link: CaravanWire.LinkClass(link),
      loss: loss?.wire)
    try await connection.done(.registerSync(request))
  }

  /// Ends the periodic sync to the cloud; rows that were not sent stay dirty (SIM-18).
  public func unregisterWriteSync() async throws(CaravanError) {
    try await connection.done(.unregisterSync(CaravanWire.UnregisterSync(table: name, read: false)))
  }

  /// Ends the periodic sync from the cloud (SIM-21).
  public func unregisterReadSync() async throws(CaravanError) {
    try await connection.done(.unregisterSync(CaravanWire.UnregisterSync(table: name, read: true)))
  }

  /// Sends what is dirty now, whatever is registered; returns when the cloud has answered for it (SIM-19).
  public func writeSyncNow() async throws(CaravanError) { try await sync(write: true, read: false) }

  /// Fetches what the cloud has; returns when it is here (SIM-22).
  public func readSyncNow() async throws(CaravanError) { try await sync(write: false, read: true) }

  /// Sends what is dirty, and fetches what the cloud has; returns when both are done.
  public func syncNow() async throws(CaravanError) { try await sync(write: true, read: true) }

  private func sync(write: Bool, read: Bool) async throws(CaravanError) {
    try await connection.done(.syncNow(CaravanWire.SyncNow(table: name, write: write, read: read)))
  }

  /// Asks for this table's upcalls, on this connection: those that come from now on, and those behind the upcall of
  /// this number. Each connection hears everything. What fell off the agent's memory meanwhile is told as `lookAnew`.
  /// - Parameter number: `Upcall.number` of the last one taken; nil: what no connection of the app has taken
  ///   (SIM-44).
  public func watch(after number: UInt64? = nil) async throws(CaravanError) {
    try await connection.done(.watch(CaravanWire.Watch(table: name, after: number ?? 0, saysTaken: true)))
  }
}
