import CaravanModel
import CaravanQuery
import CaravanQueryCore
import CaravanRuntime
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
    /// Of the bodies.
    fileprivate var bytes = 0

    init(position: UInt64) { self.position = position }
  }

  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private let connection: any IndexConnection
  private let engine: IndexEngine
  private let steps: Int
  private let few: Int
  private let clock: any Clock

  /// - Parameters:
  ///   - steps: what one query may cost, as `QueryLimits.steps` has it.
  ///   - few: as `QueryLimits.fewRecords`; fewer for tests of small tables.
  init(
    _ place: any IndexPlace, steps: Int, few: Int = QueryLimits.fewRecords, host: Host
  ) throws(CaravanError) {
    executor = host.executors.makeSerial("query-reader")
    (self.steps, self.few) = (steps, few)
    clock = host.clock
    engine = place.engine
    connection = try place.openForReading(host)
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
      SELECT query FROM standing WHERE container = ? AND environment = ? AND owner = ? AND subscriber = ? AND name = ?
      """, database.container.text, database.environment.rawValue, database.ownerText, user.text, name
    ) { row in row.bytes(0) }
  }

  func standings(of user: UserID, _ database: DatabaseID) throws(CaravanError) -> [[UInt8]] {
    try connection.all(
      """
      SELECT query FROM standing WHERE container = ? AND environment = ? AND owner = ? AND subscriber = ? ORDER BY name
      """,
      database.container.text, database.environment.rawValue, database.ownerText, user.text
    ) { row in row.bytes(0) }
  }

  func standingCount(
    of user: UserID, _ database: DatabaseID, butFor name: String
  ) throws(CaravanError) -> Int64 {
    try connection.first(
      """
      SELECT count(*) FROM standing
      WHERE container = ? AND environment = ? AND owner = ? AND subscriber = ? AND name <> ?
      """, database.container.text, database.environment.rawValue, database.ownerText, user.text, name
    ) { row in row.integer(0) } ?? 0
  }

  /// How many subscriptions to a type no index finds.
  func scanCounts(
    of user: UserID, _ database: DatabaseID, _ definition: UInt32, butFor name: String
  ) throws(CaravanError) -> (own: Int64, all: Int64) {
    try connection.first(
      """
      SELECT count(*) FILTER (WHERE subscriber = ? AND name <> ?), count(*) FROM standing
      WHERE is_scanned <> 0 AND in_table = (
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
    let cost = QueryCost(most: steps, clock: clock)
    connection.watch { cost.add(QueryLimits.stepsPerLook) }
    defer { connection.watch(nil) }
    var other: SQLSource?
    do throws(CaravanError) {
      return try snapshot(of: indexes, partition) { empty throws(CaravanError) in
        let sources = Array(query.sources(in: indexes, engine).prefix(QueryLimits.weighedSources))
        var source =
          if let plain = query.plainSource(sources, in: indexes, engine) { plain } else {
            try within(cost, { () throws(CaravanError) in try best(of: sources) })
          }
        if source == nil, let first = sources.first {
          // Where many match, a page is full soon in the order of the answer; else the index finds the few there are.
          if query.isOrdered(in: indexes), !query.isCount { other = first } else { source = first }
        }
        if other != nil { cost.spareHalf() }
        return try page(query, indexes, from: source, into: empty, cost, placesHits)
      }
    } catch {
      guard error.code == .limitExceeded, let other else { throw error }
      cost.spendAll()
      // An engine may have ended what could not be finished, and the snapshot with it.
      return try snapshot(of: indexes, partition) { empty throws(CaravanError) in
        try page(query, indexes, from: other, into: empty, cost, placesHits)
      }
    }
  }

  /// - Parameter find: is given an empty page of the snapshot.
  /// - Returns: nil: the table's indexes are not these any more.
  private func snapshot(
    of indexes: TableIndexes, _ partition: Partition, find: (Page) throws(CaravanError) -> Page
  ) throws(CaravanError) -> Page? {
    try connection.reading { () throws(CaravanError) -> Page? in
      let state = try connection.first(
        "SELECT generation, (SELECT position FROM cursors WHERE partition = ?) FROM tables WHERE id = ?",
        partition.number, indexes.table
      ) { row in (generation: row.integer(0), position: row.unsigned(1)) }
      guard let state, state.generation == indexes.generation else { return nil }
      return try find(Page(position: state.position))
    }
  }

  /// What a query is to begin with, as it finds the fewest records.
  /// - Returns: nil: none of them finds few.
  private func best(of sources: [SQLSource]) throws(CaravanError) -> SQLSource? {
    var best: (count: Int64, source: SQLSource)?
    for source in sources {
      var count: Int64 = 0
      let most = best.map { Int($0.count) } ?? few
      let fragment = source.count(upTo: most)
      try connection.visit(fragment.statement, fragment.parameters.map(\.indexValue)) { row in
        count = row.integer(0)
        return false
      }
      if count < Int64(most) { best = (count, source) }
      if count == 0 { break }
    }
    return best?.source
  }

  private func page(
    _ query: CompiledQuery, _ indexes: TableIndexes, from source: SQLSource?, into empty: Page, _ cost: QueryCost,
    _ placesHits: Bool
  ) throws(CaravanError) -> Page {
    let candidates = query.candidates(in: indexes, from: source, engine)
    return try within(cost) { () throws(CaravanError) in
      try page(query, candidates, into: empty, cost, placesHits)
    }
  }

  private func page(
    _ query: CompiledQuery, _ candidates: Candidates, into empty: Page, _ cost: QueryCost, _ placesHits: Bool
  ) throws(CaravanError) -> Page {
    var page = empty
    if candidates.isCount {
      try stream(candidates, wanted: 1) { row in
        page.count = UInt64(clamping: row.integer(0))
        return false
      }
    } else if query.isCount {
      try visit(candidates, of: query, wanted: few, cost) { _, _ in
        page.count += 1
        return true
      }
    } else if let ordered = candidates.ordered {
      let first = try firstPlaces(query, candidates, ordered, cost)
      try read(first, query, into: &page, placesHits)
    } else {
      var last: PageCursor?
      try visit(candidates, of: query, wanted: query.limit + 1, cost) { row, cells throws(CaravanError) in
        let place = try row.place(in: query, candidates.keys, cells)
        return page.add(row, at: place, after: &last, query, placesHits)
      }
    }
    return page
  }

  /// Those that come first in an answer that no index has the whole order of.
  /// - Parameter ordered: how many of the first sort keys the candidates are in the order of.
  private func firstPlaces(
    _ query: CompiledQuery, _ candidates: Candidates, _ ordered: Int, _ cost: QueryCost
  ) throws(CaravanError) -> FirstPlaces {
    var first = query.firstPlaces
    try visit(candidates, of: query, wanted: few, cost) { row, cells throws(CaravanError) in
      var cells = cells
      // What has a key behind the last one need not be looked at any closer.
      if !candidates.keys.isEmpty {
        let key = try row.key(0, of: query, candidates.keys, &cells)
        if first.isBeyond(CollectionOfOne(key)) { return ordered == 0 }
      }
      let place = try row.place(in: query, candidates.keys, cells)
      if query.isBeyondCursor(place) { first.insert(place, row.integer(0)) }
      return true
    }
    return first
  }

  /// Reads what is found as far as a page has room.
  private func read(
    _ first: FirstPlaces, _ query: CompiledQuery, into page: inout Page, _ placesHits: Bool
  ) throws(CaravanError) {
    var last: PageCursor?
    for found in first.found {
      guard
        let hasRoom = try connection.first(
          """
          SELECT id, zone, name, version, created, type, writer, modified, made, maker, body FROM records WHERE id = ?
          """, found.id, read: { row in page.add(row, at: found.place, after: &last, query, placesHits) })
      else { throw CaravanError(.internalError, "a record of the index is gone within one snapshot") }
      guard hasRoom else { return }
    }
  }

  /// Calls `body` with each candidate that belongs to the answer, until it answers false.
  private func visit(
    _ candidates: Candidates, of query: CompiledQuery, wanted count: Int, _ cost: QueryCost,
    each body: (any IndexColumns, RecordCells?) throws(CaravanError) -> Bool
  ) throws(CaravanError) {
    let fields = query.fieldsRead
    let (texts, isWhole) = (query.textsRead, candidates.keys.allSatisfy { $0 != nil })
    try stream(candidates, wanted: count) { row throws(CaravanError) in
      guard !candidates.isExact || !isWhole else { return try body(row, nil) }
      guard cost.mayLook(at: row.byteCount(Candidates.body), times: candidates.isExact ? 0 : texts) else {
        return false
      }
      let cells = RecordCells(ofCandidate: row, fields)
      guard candidates.isExact || query.isAsked(cells) else { return true }
      return try body(row, cells)
    }
  }

  private func stream(
    _ candidates: Candidates, wanted count: Int, each body: (any IndexColumns) throws(CaravanError) -> Bool
  ) throws(CaravanError) {
    let fragment = candidates.fragment
    try connection.stream(
      fragment.statement, fragment.parameters.map(\.indexValue), wanted: count, inOrder: candidates.isInOrder,
      each: body)
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
      throw error.code == .cancelled ? tooMuch : error
    }
  }
}

extension SQLFragment {
  /// What nobody is likely to ask again as it is would take the place of many others.
  fileprivate var statement: IndexStatement {
    .text(sql, isKept: sql.utf8.count <= QueryLimits.keptStatementBytes)
  }
}

extension RecordCells {
  /// A body that cannot be read is in no index; here it has no fields.
  /// - Parameter fields: those that will be asked for.
  fileprivate init(ofCandidate row: any IndexColumns, _ fields: Set<UInt32>) {
    let cells = (try? BodyCells(row.bytes(Candidates.body), fields: fields)) ?? BodyCells()
    guard fields.contains(where: { SystemField(id: $0) != nil }) else {
      self.init(name: "", authorship: .unknown, fields: cells)
      return
    }
    self.init(name: row.text(Candidates.name), authorship: row.authorship, fields: cells)
  }
}

extension IndexColumns {
  fileprivate var authorship: Authorship {
    Authorship(
      modified: integer(Candidates.modified), created: integer(Candidates.modified + 1),
      creator: text(Candidates.modified + 2))
  }

  /// A sort key of a candidate: from its column, or computed.
  fileprivate func key(
    _ index: Int, of query: CompiledQuery, _ columns: [Int?], _ cells: inout RecordCells?
  ) throws(CaravanError) -> IndexKey {
    if let column = columns[index] { return IndexKey(bytes: bytes(Int32(column))) }
    let known = cells ?? RecordCells(ofCandidate: self, query.fieldsRead)
    cells = known
    return query.key(index, of: known)
  }

  fileprivate func place(
    in query: CompiledQuery, _ columns: [Int?], _ cells: RecordCells?
  ) throws(CaravanError) -> PageCursor {
    var cells = cells
    var keys: [IndexKey] = []
    for index in columns.indices { keys.append(try key(index, of: query, columns, &cells)) }
    return query.place(keys: keys, zone: text(Candidates.zone), name: text(Candidates.name))
  }

  fileprivate var entry: CaravanModel.Entry {
    CaravanModel.Entry(
      name: text(Candidates.name), version: unsigned(3), created: unsigned(4), type: UInt32(clamping: integer(5)),
      body: bytes(Candidates.body), writer: text(6), authorship: authorship)
  }
}

extension IndexReader.Page {
  /// Takes the next record, in the columns of a candidate, if there is room.
  /// - Parameter last: the place of the one before.
  /// - Returns: whether there may be room for more.
  fileprivate mutating func add(
    _ row: any IndexColumns, at place: PageCursor, after last: inout PageCursor?, _ query: CompiledQuery,
    _ placesHits: Bool
  ) -> Bool {
    let size = row.byteCount(Candidates.body)
    guard hits.count < query.limit, hits.isEmpty || bytes + size <= query.pageBytes else {
      cursor = last?.bytes ?? []
      return false
    }
    bytes += size
    var hit = QueryHit(zone: place.zone, entry: CaravanWire.Entry(row.entry))
    if placesHits { hit.position = place.bytes }
    hits.append(hit)
    last = place
    return true
  }
}
