public import Model
internal import Wire

/// The rows of a query, a page at a time (MOB-10), all as they were when the first page was read.
public struct RowCursor: AsyncSequence, Sendable {
  public typealias Element = AppRow
  let table: Table
  let selection: Table.Selection
  let columns: [String]
  let order: [(column: String, descending: Bool)]

  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate enum Place {
      case start
      case page(Array<AppRow>.Iterator, cursor: UInt64)
    }

    let rows: RowCursor
    private var place = Place.start

    init(_ rows: RowCursor) { self.rows = rows }

    public mutating func next() async throws(CaravanError) -> AppRow? {
      while true {
        switch place {
        case .start: place = try await rows.firstPage()
        case .page(var page, let cursor):
          if let row = page.next() {
            place = .page(page, cursor: cursor)
            return row
          }
          guard cursor != 0 else { return nil }
          place = try await rows.page(after: cursor)
        }
      }
    }

  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  /// All of them, in memory.
  public func all() async throws(CaravanError) -> [AppRow] {
    var list: [AppRow] = []
    var iterator = makeAsyncIterator()
    while let row = try await iterator.next() { list.append(row) }
    return list
  }

  private func firstPage() async throws(CaravanError) -> AsyncIterator.Place {
    let request = Wire.Select(
      table: table.name, columns: columns, selection: try selection.wire(),
      order: order.map { Wire.OrderBy(column: $0.column, descending: $0.descending) }, pageRows: ClientLimits.pageRows)
    return try await page(.beginRead(request))
  }

  private func page(after cursor: UInt64) async throws(CaravanError) -> AsyncIterator.Place {
    try await page(.nextPage(Wire.CursorRef(cursor: cursor)))
  }

  private func page(_ request: AppRequest.Kind) async throws(CaravanError) -> AsyncIterator.Place {
    guard case .rows(let page) = try await table.connection.request(request) else {
      throw AppConnection.surprise("read")
    }
    var list: [AppRow] = []
    for row in page.rows { list.append(try AppRow(row)) }
    return .page(list.makeIterator(), cursor: page.cursor)
  }
}
