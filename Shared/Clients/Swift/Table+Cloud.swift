public import CaravanModel
internal import CaravanWire

/// Which of the app's databases a question to the cloud is about (CK-03).
public enum CloudDatabase: Sendable, Hashable {
  /// The device's user's own.
  case `private`
  /// The one that all users of the app share.
  case `public`
}

/// What rows found in the cloud are ordered by.
public struct CloudOrder: Sendable, Hashable {
  /// A column, `___createTime`, `___modTime` or `___recordID`.
  public let column: String
  /// From the greatest to the least; rows without a value come last then.
  public let isDescending: Bool
  /// The distance of the column, a place, from here is what counts; nil: the column's value.
  public let near: CaravanModel.Location?

  /// - Parameters:
  ///   - column: the name of a column that can be compared; with `near`, of one of places.
  ///   - isDescending: from the greatest to the least.
  ///   - near: a place that the column's distance is measured from, over the sphere.
  public init(_ column: String, isDescending: Bool = false, near: CaravanModel.Location? = nil) {
    self.column = column
    self.isDescending = isDescending
    self.near = near
  }

  var wire: CaravanWire.OrderBy {
    CaravanWire.OrderBy(column: column, descending: isDescending, near: near.map { CaravanWire.Location($0) })
  }
}

/// A row as the cloud has it, on this device or not. It is always `clean`, and its objects are read once the table has
/// the row; those of public records by `CloudTable.contents`.
public struct CloudRow: Sendable, Hashable {
  /// Where it lies: a table's rows are in the zone of the table's name.
  public let zone: String
  /// What it is.
  public let row: AppRow
  /// When it ends by itself, in Unix milliseconds; nil: never.
  public let expires: Int64?

  init(_ row: CaravanWire.CloudRow) throws(CaravanError) {
    let record = try required(row.row, "row")
    (zone, self.row, expires) = (row.zone, try AppRow(record), record.expires)
  }
}

extension Table {
  /// Asks the cloud for rows of this table's type, wherever they lie and whether or not this device has them (CK-80).
  /// It asks over whatever link there is, and sees what the cloud has been sent.
  /// - Parameters:
  ///   - selection: in the query language, which has words, lists and places as well.
  ///   - database: the user's own, or the one that all users of the app share.
  ///   - columns: that the rows have; none: all.
  ///   - order: by which they come; none: by zone and id.
  ///   - zone: that they lie in; nil: any.
  ///   - limit: how many rows come at most, and no more of them travel; nil: all.
  /// - Returns: rows that are asked for page by page; `networkNotConnected`, `networkNotPermitted`, or what the cloud
  ///   refuses, is thrown by its iteration.
  public func queryCloud(
    _ selection: Selection = .all, in database: CloudDatabase = .private, columns: [String] = [],
    orderBy order: [CloudOrder] = [], zone: String? = nil, limit: Int? = nil
  ) -> CloudRows {
    CloudRows(
      table: self, selection: selection, database: database, columns: columns, order: order, zone: zone, limit: limit)
  }

  /// How many rows of this table's type the cloud has.
  /// - Throws: as `queryCloud`.
  public func countInCloud(
    _ selection: Selection = .all, in database: CloudDatabase = .private, zone: String? = nil
  ) async throws(CaravanError) -> UInt64 {
    var request = try queryCloud(selection, in: database, zone: zone).request()
    request.counts = true
    guard case .cloudRows(let found) = try await connection.request(.queryCloud(request)) else {
      throw AppConnection.surprise("query")
    }
    return found.count
  }
}

/// Rows that the cloud finds, a page at a time. Rows that change meanwhile are shown as they are when their page is
/// asked for, each once at most.
public struct CloudRows: AsyncSequence, Sendable {
  /// A row and its zone.
  public typealias Element = CloudRow
  let table: Table
  let selection: Table.Selection
  let database: CloudDatabase
  let columns: [String]
  let order: [CloudOrder]
  let zone: String?
  let limit: Int?

  func request() throws(CaravanError) -> CaravanWire.QueryCloud {
    guard limit.map({ $0 > 0 }) ?? true else {
      throw CaravanError(.invalidData, "a query for \(limit ?? 0) rows finds nothing: give 1 or more, or no limit")
    }
    return CaravanWire.QueryCloud(
      table: table.name, publicDatabase: database == .public, selection: try selection.wire(), order: order.map(\.wire),
      columns: columns, zone: zone ?? "")
  }

  /// Goes over the rows once.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let rows: CloudRows
    private var page: [CloudRow].Iterator = [].makeIterator()
    /// Of the next page; empty: the first one's; nil: there is none.
    private var cursor: [UInt8]? = []
    /// Rows that may still be asked for; nil: however many there are.
    private var left: Int?

    init(_ rows: CloudRows) { (self.rows, left) = (rows, rows.limit) }

    /// The next row; nil at the end.
    public mutating func next() async throws(CaravanError) -> CloudRow? {
      while true {
        if let row = page.next() { return row }
        guard let cursor else { return nil }
        var request = try rows.request()
        request.cursor = cursor
        request.limit = left.map { Swift.min(UInt32(clamping: $0), ClientLimits.pageRows) } ?? 0
        guard case .cloudRows(let found) = try await rows.table.connection.request(.queryCloud(request)) else {
          throw AppConnection.surprise("query")
        }
        var list: [CloudRow] = []
        for row in found.rows.prefix(left ?? .max) { list.append(try CloudRow(row)) }
        page = list.makeIterator()
        left = left.map { $0 - list.count }
        self.cursor = found.cursor.isEmpty || left == 0 ? nil : found.cursor
      }
    }
  }

  /// From the first row on.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  /// All of them, in memory.
  public func all() async throws(CaravanError) -> [CloudRow] {
    var list: [CloudRow] = []
    var iterator = makeAsyncIterator()
    while let row = try await iterator.next() { list.append(row) }
    return list
  }
}
