import CaravanModel
import CaravanQuery
import CaravanQueryCore
import CaravanRuntime
import CaravanSQLite
import CaravanWire

/// Answers queries from the index, beside its writer. One connection on its own thread.
actor IndexReader {
  struct Page: Sendable {
    var hits: [QueryHit] = []
    /// Empty: there is no more.
    var cursor: [UInt8] = []
    /// Of a query that asks for no more.
    var count: UInt64 = 0
    /// The log position that the page reflects.
    var position: UInt64
  }

  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private let connection: Connection
  private let steps: Int
  private let few: Int
  private let clock: any Clock
  private static let stepsPerLook: Int32 = 1_000

  /// - Parameters:
  ///   - steps: what one query may cost, as `QueryLimits.steps` has it.
  ///   - few: as `QueryLimits.fewRecords`; fewer for tests of small tables.
  init(
    _ file: IndexFile, steps: Int, few: Int = QueryLimits.fewRecords, host: Host
  ) throws(CaravanError) {
    executor = host.executors.makeSerial("query-reader")
    (self.steps, self.few) = (steps, few)
    clock = host.clock
    connection = try file.openForReading()
    try connection.allowRowFunctions()
  }

  func close() { connection.close() }

  func position(of partition: Partition) throws(CaravanError) -> UInt64 {
    try connection.first("SELECT position FROM cursors WHERE partition = ?", partition.number) { row in
      row.unsigned(0)
    } ?? 0
  }

  /// How far a zone has been taken in; nil: not at all.
  func progress(of zone: ZoneID) throws(CaravanError) -> ZoneProgress? {
    let database = zone.database
    return try connection.first(
      "SELECT incarnation, seq FROM zones WHERE container = ? AND environment = ? AND owner = ? AND name = ?",
      database.container.text, database.environment.rawValue, database.ownerText, zone.name
    ) { row in ZoneProgress(incarnation: row.unsigned(0), seq: row.unsigned(1)) }
  }

  // MARK: Subscriptions

  /// An encoded subscription; nil: there is none of this name.
  func standing(_ name: String, of user: UserID, _ database: DatabaseID) throws(CaravanError) -> [UInt8]? {
    try connection.first(
      """
      SELECT query FROM standing WHERE container = ? AND environment = ? AND owner = ? AND user = ? AND name = ?
      """, database.container.text, database.environment.rawValue, database.ownerText, user.text, name
    ) { row in row.bytes(0) }
  }

  func standings(of user: UserID, _ database: DatabaseID) throws(CaravanError) -> [[UInt8]] {
    try connection.all(
      "SELECT query FROM standing WHERE container = ? AND environment = ? AND owner = ? AND user = ? ORDER BY name",
      database.container.text, database.environment.rawValue, database.ownerText, user.text
    ) { row in row.bytes(0) }
  }

  func standingCount(
    of user: UserID, _ database: DatabaseID, butFor name: String
  ) throws(CaravanError) -> Int64 {
    try connection.first(
      """
      SELECT count(*) FROM standing
      WHERE container = ? AND environment = ? AND owner = ? AND user = ? AND name <> ?
      """, database.container.text, database.environment.rawValue, database.ownerText, user.text, name
    ) { row in row.integer(0) } ?? 0
  }

  /// How many subscriptions to a type no index finds.
  func scanCounts(
    of user: UserID, _ database: DatabaseID, _ definition: UInt32, butFor name: String
  ) throws(CaravanError) -> (own: Int64, all: Int64) {
    try connection.first(
      """
      SELECT count(*) FILTER (WHERE user = ? AND name <> ?), count(*) FROM standing
      WHERE is_scanned AND in_table = (
        SELECT id FROM tables WHERE container = ? AND environment = ? AND owner = ? AND definition = ?)
      """, user.text, name, database.container.text, database.environment.rawValue, database.ownerText, definition
    ) { row in (own: row.integer(0), all: row.integer(1)) } ?? (0, 0)
  }

  // MARK: Pages

  /// One page and its position, from one snapshot.
  /// - Parameter placesHits: each hit says where it stands, as pages of shards are put together by that; for all others
  ///   the end of the page is enough.
  /// - Returns: nil: the table's indexes are not these any more.
  /// - Throws: `limitExceeded` where the query would look at too many records.
  func find(
    _ query: CompiledQuery, _ indexes: TableIndexes, in partition: Partition, placesHits: Bool = true
  ) throws(CaravanError) -> Page? {
    try connection.transaction(.read) { () throws(CaravanError) -> Page? in
      let generation = try connection.first("SELECT generation FROM tables WHERE id = ?", indexes.table) { row in
        row.integer(0)
      }
      guard generation == indexes.generation else { return nil }
      let empty = Page(position: try position(of: partition))
      let sources = Array(query.sources(in: indexes).prefix(QueryLimits.weighedSources))
      let cost = QueryCost(most: steps, clock: clock)
      connection.setProgressHandler(everySteps: Self.stepsPerLook) {
        cost.add(Int(Self.stepsPerLook)) ? .goOn : .stop
      }
      defer { connection.setProgressHandler(everySteps: 0, nil) }
      func page(from source: SQLSource?) throws(CaravanError) -> Page {
        try self.page(query, indexes, from: source, into: empty, cost, placesHits)
      }
      if let best = try within(cost, { () throws(CaravanError) in try best(of: sources, cost) }) {
        return try page(from: best)
      }
      guard let first = sources.first else { return try page(from: nil) }
      guard query.isOrdered(in: indexes), !query.isCount else { return try page(from: first) }
      // Where many match, a page is full soon in the order of the answer; else the index finds the few there are.
      cost.spareHalf()
      do throws(CaravanError) { return try page(from: nil) } catch {
        guard error.code == .limitExceeded else { throw error }
        cost.spendAll()
        return try page(from: first)
      }
    }
  }

  private func page(
    _ query: CompiledQuery, _ indexes: TableIndexes, from source: SQLSource?, into empty: Page, _ cost: QueryCost,
    _ placesHits: Bool
  ) throws(CaravanError) -> Page {
    var page = empty
    var bytes = 0
    var keys: [IndexKey] = []
    try within(cost) { () throws(CaravanError) in
      try visit(query.statement(in: indexes, from: source), cost) { row in
        guard !query.isCount else {
          page.count = row.unsigned(0)
          return true
        }
        var hit = Self.hit(row)
        bytes += hit.entry?.body.count ?? 0
        guard page.hits.count < query.limit, page.hits.isEmpty || bytes <= query.pageBytes else {
          if let last = page.hits.last {
            page.cursor = query.cursor(keys: keys, zone: last.zone, name: last.entry?.name ?? "")
          }
          return false
        }
        keys = (0..<query.sortKeys).map { IndexKey(bytes: row.bytes(Int32(CompiledQuery.selected.count + $0))) }
        if placesHits { hit.position = query.cursor(keys: keys, zone: hit.zone, name: hit.entry?.name ?? "") }
        page.hits.append(hit)
        return true
      }
    }
    return page
  }

  /// What a query is to begin with, as it finds the fewest records.
  /// - Returns: nil: none of them finds few.
  private func best(of sources: [SQLSource], _ cost: QueryCost) throws(CaravanError) -> SQLSource? {
    var best: (count: Int64, source: SQLSource)?
    for source in sources {
      var count: Int64 = 0
      let most = best.map { Int($0.count) } ?? few
      try visit(source.count(upTo: most), cost) { row in
        count = row.integer(0)
        return false
      }
      if count < Int64(most) { best = (count, source) }
      if count == 0 { break }
    }
    return best?.source
  }

  private func visit(
    _ fragment: SQLFragment, _ cost: QueryCost, _ take: (CaravanSQLite.Row) -> Bool
  ) throws(CaravanError) {
    // What nobody is likely to ask again as it is would take the place of many others.
    let isKept = fragment.sql.utf8.count <= QueryLimits.keptStatementBytes
    let statement = isKept ? try connection.statement(text: fragment.sql) : try connection.prepare(fragment.sql)
    for (index, parameter) in fragment.parameters.enumerated() {
      try parameter.bindable(cost).bind(to: statement, at: Int32(index) + 1)
    }
    defer { statement.reset() }
    while let row = try statement.next(), take(row) {}
  }

  /// - Throws: `limitExceeded` for what costs more than it may.
  private func within<Result>(
    _ cost: QueryCost, _ body: () throws(CaravanError) -> Result
  ) throws(CaravanError) -> Result {
    let tooMuch = CaravanError(
      .limitExceeded,
      "the query would look at too many records: compare a field with a value as well, by which few of them are found")
    do throws(CaravanError) {
      let result = try body()
      // What was not looked at any more may be missing.
      guard !cost.isOver else { throw tooMuch }
      return result
    } catch {
      throw error.code == .cancelled && cost.isOver ? tooMuch : error
    }
  }

  /// In the order of `CompiledQuery.selected`.
  private static func hit(_ row: CaravanSQLite.Row) -> QueryHit {
    let entry = CaravanModel.Entry(
      name: row.text(1), version: row.unsigned(2), created: row.unsigned(3), type: UInt32(clamping: row.integer(4)),
      body: row.bytes(6), writer: row.text(5),
      authorship: Authorship(modified: row.integer(7), created: row.integer(8), creator: row.text(9)))
    return QueryHit(zone: row.text(0), entry: CaravanWire.Entry(entry))
  }
}
