public import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// The rows of a query, a page at a time (MOB-10), all as they were when the first page was read.
public struct RowCursor: AsyncSequence, Sendable {
  /// A row as it was when the first page was read.
  public typealias Element = AppRow
  let table: Table
  let selection: Table.Selection
  let columns: [String]
  let order: [(column: String, descending: Bool)]
  var isAside = false
  var authorship = false

  /// Goes over the rows once.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let pages: RowPages
    private var page = [AppRow]().makeIterator()

    init(_ rows: RowCursor) { pages = RowPages(rows, isHeld: false) }

    /// The next row; nil at the end.
    public mutating func next() async throws(CaravanError) -> AppRow? {
      while true {
        if let row = page.next() { return row }
        guard let next = try await pages.next() else { return nil }
        page = next.makeIterator()
      }
    }
  }

  /// From the first row on.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  /// All of them, in memory.
  public func all() async throws(CaravanError) -> [AppRow] {
    var list: [AppRow] = []
    var iterator = makeAsyncIterator()
    while let row = try await iterator.next() { list.append(row) }
    return list
  }
}

/// A read in progress at the agent. One task uses it; whoever lets go of it before the end closes it there.
final class RowPages: Sendable {
  private enum Place {
    case start
    case open(UInt64, hasMore: Bool)
    case closed
  }

  private let rows: RowCursor
  private let isHeld: Bool
  private let place = Mutex(Place.start)

  init(_ rows: RowCursor, isHeld: Bool) {
    self.rows = rows
    self.isHeld = isHeld
  }

  deinit { close() }

  /// At the agent, for reading objects; 0: closed.
  var cursor: UInt64 {
    place.withLock { place in
      if case .open(let cursor, _) = place { cursor } else { 0 }
    }
  }

  /// Nil after the last page.
  func next() async throws(CaravanError) -> [AppRow]? {
    let request: AppRequest.Kind
    switch place.withLock({ $0 }) {
    case .start: request = .beginRead(try begin())
    case .open(let cursor, hasMore: true): request = .nextPage(CaravanWire.CursorRef(cursor: cursor))
    case .open(_, hasMore: false), .closed: return nil
    }
    guard case .rows(let page) = try await rows.table.connection.request(request) else {
      throw AppConnection.surprise("read")
    }
    place.withLock { $0 = page.cursor == 0 ? .closed : .open(page.cursor, hasMore: page.more) }
    var list: [AppRow] = []
    for row in page.rows { list.append(try AppRow(row)) }
    return list
  }

  func close() {
    let cursor = cursor
    place.withLock { $0 = .closed }
    if cursor != 0 { rows.table.connection.notify(.closeCursor(CaravanWire.CursorRef(cursor: cursor))) }
  }

  private func begin() throws(CaravanError) -> CaravanWire.Select {
    CaravanWire.Select(
      table: rows.table.name, columns: rows.columns, selection: try rows.selection.wire(),
      order: rows.order.map { CaravanWire.OrderBy(column: $0.column, descending: $0.descending) },
      pageRows: ClientLimits.pageRows, hold: isHeld, aside: rows.isAside, authorship: rows.authorship)
  }
}

extension Table {
  /// Reads rows and their objects as they are at one moment, whatever is written meanwhile (SIM-03, SIM-15).
  /// Keep it short: the store cannot reuse space while a snapshot is open, and closes one that is idle for a minute.
  public nonisolated(nonsending) func withSnapshot<Result>(
    _ selection: Selection = .all, columns: [String] = [],
    orderBy order: [(column: String, descending: Bool)] = [], _ body: (Snapshot) async throws -> Result
  ) async throws -> Result {
    let rows = RowCursor(table: self, selection: selection, columns: columns, order: order)
    let snapshot = Snapshot(table: self, pages: RowPages(rows, isHeld: true))
    defer { snapshot.pages.close() }
    return try await body(snapshot)
  }
}

/// Rows as they were at one moment, once from front to back, and their objects.
public struct Snapshot: AsyncSequence, Sendable {
  /// A row as it was when the first page was read.
  public typealias Element = AppRow
  let table: Table
  let pages: RowPages

  /// Goes over the rows once.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let pages: RowPages
    var page = [AppRow]().makeIterator()

    /// The next row; nil at the end.
    public mutating func next() async throws(CaravanError) -> AppRow? {
      while true {
        if let row = page.next() { return row }
        guard let next = try await pages.next() else { return nil }
        page = next.makeIterator()
      }
    }
  }

  /// From the first row on.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: pages) }

  /// An object of a row that this snapshot has given.
  public func contents(of object: String, row: AppRow) -> ObjectContents {
    ObjectContents(table: table, object: object, row: row.id, side: .mine, cursor: pages.cursor)
  }
}
