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

  /// What a query has cost so far.
  private final class Cost {
    var steps = 0
  }

  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private let connection: Connection
  private let steps: Int
  private static let stepsPerLook: Int32 = 1_000

  /// - Parameter steps: what one query may cost, as `QueryLimits.steps` has it.
  init(_ file: IndexFile, steps: Int, executors: any ExecutorSource) throws(CaravanError) {
    executor = executors.makeSerial("query-reader")
    self.steps = steps
    connection = try file.openForReading()
    try connection.allowRowFunctions()
  }

  func close() { connection.close() }

  func position(of partition: Partition) throws(CaravanError) -> UInt64 {
    try connection.first("SELECT position FROM cursors WHERE partition = ?", partition.number) { row in
      row.unsigned(0)
    } ?? 0
  }

  /// One page and its position, from one snapshot.
  /// - Throws: `limitExceeded` where the query would look at too many records.
  func find(
    _ query: CompiledQuery, _ indexes: TableIndexes, in partition: Partition
  ) throws(CaravanError) -> Page {
    try withinSteps { cost throws(CaravanError) in
      try connection.transaction(.read) { () throws(CaravanError) in
        var page = Page(position: try position(of: partition))
        var bytes = 0
        let source = try source(of: query, indexes, cost)
        try visit(query.statement(in: indexes, from: source), cost) { row in
          guard !query.isCount else {
            page.count = row.unsigned(0)
            return true
          }
          var hit = Self.hit(row)
          bytes += hit.entry?.body.count ?? 0
          guard page.hits.count < query.limit, page.hits.isEmpty || bytes <= query.pageBytes else {
            page.cursor = page.hits.last?.position ?? []
            return false
          }
          let keys = (0..<query.sortKeys).map { IndexKey(bytes: row.bytes(Int32(CompiledQuery.selected.count + $0))) }
          hit.position = query.cursor(keys: keys, zone: hit.zone, name: hit.entry?.name ?? "")
          page.hits.append(hit)
          return true
        }
        return page
      }
    }
  }

  /// What a query begins with; nil: the order of its answer.
  private func source(
    of query: CompiledQuery, _ indexes: TableIndexes, _ cost: Cost
  ) throws(CaravanError) -> SQLSource? {
    let sources = query.sources(in: indexes).prefix(QueryLimits.weighedSources)
    var best: (count: Int64, source: SQLSource)?
    for source in sources {
      var count: Int64 = 0
      let most = best.map { Int($0.count) } ?? QueryLimits.fewRecords
      try visit(CompiledQuery.count(source, upTo: most), cost) { row in
        count = row.integer(0)
        return false
      }
      if count < Int64(most) { best = (count, source) }
      if count == 0 { break }
    }
    return best?.source ?? (query.isOrdered(in: indexes) && !query.isCount ? nil : sources.first)
  }

  private func visit(
    _ fragment: SQLFragment, _ cost: Cost, _ take: (CaravanSQLite.Row) -> Bool
  ) throws(CaravanError) {
    // What nobody is likely to ask again as it is would take the place of many others.
    let isKept = fragment.sql.utf8.count <= QueryLimits.keptStatementBytes
    let statement = isKept ? try connection.statement(text: fragment.sql) : try connection.prepare(fragment.sql)
    for (index, parameter) in fragment.parameters.enumerated() {
      try parameter.bindable { cost.steps += QueryLimits.recordCost }.bind(to: statement, at: Int32(index) + 1)
    }
    defer { statement.reset() }
    while let row = try statement.next(), take(row) {}
  }

  /// Stops what costs more.
  private func withinSteps<Result>(_ body: (Cost) throws(CaravanError) -> Result) throws(CaravanError) -> Result {
    let steps = steps
    let cost = Cost()
    connection.setProgressHandler(everySteps: Self.stepsPerLook) {
      cost.steps += Int(Self.stepsPerLook)
      return cost.steps < steps ? .goOn : .stop
    }
    defer { connection.setProgressHandler(everySteps: 0, nil) }
    do throws(CaravanError) { return try body(cost) } catch {
      guard error.code == .cancelled, cost.steps >= steps else { throw error }
      throw CaravanError(
        .limitExceeded,
        "the query would look at too many records: compare a field with a value as well, by which few of them are found"
      )
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
