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
    /// The log position that the page reflects.
    var position: UInt64
  }

  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private let connection: Connection

  init(_ file: IndexFile, executors: any ExecutorSource) throws(CaravanError) {
    executor = executors.makeSerial("query-reader")
    connection = try file.openForReading()
  }

  func close() { connection.close() }

  func position(of partition: Partition) throws(CaravanError) -> UInt64 {
    try connection.first("SELECT position FROM cursors WHERE partition = ?", partition.number) { row in
      row.unsigned(0)
    } ?? 0
  }

  /// One page and its position, from one snapshot.
  func find(_ query: CompiledQuery, in partition: Partition) throws(CaravanError) -> Page {
    try connection.transaction(.read) { () throws(CaravanError) in
      var page = Page(position: try position(of: partition))
      let statement = try connection.statement(text: query.statement.sql)
      var index: Int32 = 0
      for value in query.statement.values {
        index += 1
        try SQLValue(value).bind(to: statement, at: index)
      }
      defer { statement.reset() }
      var bytes = 0
      var last: [UInt8] = []
      while let row = try statement.next() {
        var hit = Self.hit(row)
        bytes += hit.entry?.body.count ?? 0
        guard page.hits.count < query.limit, page.hits.isEmpty || bytes <= QueryLimits.answerBytes else {
          page.cursor = last
          break
        }
        let keys = query.sort.indices.map { row.value(Int32(CompiledQuery.selected.count + $0)).model }
        last = query.cursor(keys: keys, zone: hit.zone, name: hit.entry?.name ?? "")
        hit.position = last
        page.hits.append(hit)
      }
      return page
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
