import CaravanBus
import CaravanModel
import CaravanQueryCore
import CaravanRuntime
import CaravanWire

/// Answers `find`.
struct QueryHandler: Sendable {
  let writer: IndexWriter
  let reader: IndexReader
  let types: TypeSource
  let metrics: QueryMetrics
  let bus: any MessageBus

  /// Called with a database before it is looked at: returns when the index has it.
  typealias Preparation = @Sendable (DatabaseID) async throws(CaravanError) -> Void

  func find(
    _ request: QueryRequest, in partition: Partition, after prepare: Preparation
  ) async throws(CaravanError) -> QueryReply {
    let query = try request.model()
    let right = Partition(of: query.database)
    guard right == partition else {
      throw CaravanError(.invalidData, "database \(query.database) belongs to partition \(right), not \(partition)")
    }
    var reply: QueryReply
    let shards = query.database.shard == 0 ? try await types.shards(of: query.database) : 1
    if shards > 1 {
      reply = try await whole(query, shards, home: partition, after: prepare)
    } else {
      reply = try await own(query, in: partition, after: prepare)
    }
    if query.database.shard == 0 { for index in reply.hits.indices { reply.hits[index].position = [] } }
    metrics.hits.add(reply.hits.count)
    return reply
  }

  // MARK: What lies here

  private func own(
    _ query: Query, in partition: Partition, after prepare: Preparation
  ) async throws(CaravanError) -> QueryReply {
    var type = try await types.type(named: query.type, of: query.database, isFresh: false)
    do throws(CaravanError) { try Self.check(query, type) } catch {
      // Perhaps a field that is newer than what is remembered.
      guard error.code == .schemaViolation else { throw error }
      type = try await types.type(named: query.type, of: query.database, isFresh: true)
    }
    try await prepare(query.database)
    let page = try await page(query, type, partition)
    return QueryReply(hits: page.hits, cursor: page.cursor, type: CaravanWire.RecordType(type), position: page.position)
  }

  private static func check(_ query: Query, _ type: CaravanModel.RecordType) throws(CaravanError) {
    _ = try CompiledQuery(query, type: type, table: "r0")
  }

  private func page(
    _ query: Query, _ type: CaravanModel.RecordType, _ partition: Partition
  ) async throws(CaravanError) -> IndexReader.Page {
    let draft = try CompiledQuery(query, type: type, table: "r0")
    let key = TableKey(database: query.database, definition: type.definition)
    let table = try await writer.prepare(
      key, fields: type.fields.filter(\.isQueryable).map(\.id), indexed: draft.indexed.map(\.id))
    guard let table else { return IndexReader.Page(position: try await reader.position(of: partition)) }
    return try await reader.find(CompiledQuery(query, type: type, table: table), in: partition)
  }

  // MARK: A default zone in shards (CK-10)

  /// What every shard has of one page, as one page. The database's own zones are with the first shard.
  private func whole(
    _ query: Query, _ shards: UInt32, home partition: Partition, after prepare: Preparation
  ) async throws(CaravanError) -> QueryReply {
    var answers = [try await own(query, in: partition, after: prepare)]
    let others = await withTaskGroup(of: Swift.Result<QueryReply, CaravanError>.self) { group in
      for shard in 1..<shards { group.addTask { await ask(query, of: shard) } }
      var others: [Swift.Result<QueryReply, CaravanError>] = []
      for await other in group { others.append(other) }
      return others
    }
    for other in others { answers.append(try other.get()) }
    let fingerprint = query.fingerprint
    var pages: [ShardMerge.Page<QueryHit>] = []
    for answer in answers {
      var hits: [ShardMerge.Placed<QueryHit>] = []
      for hit in answer.hits {
        let place = try PageCursor(hit.position, fingerprint: fingerprint, keys: query.sort.count)
        hits.append(ShardMerge.Placed(hit, at: place))
      }
      pages.append(ShardMerge.Page(hits, hasMore: !answer.cursor.isEmpty))
    }
    let limit = query.limit == 0 ? QueryLimits.defaultRows : query.limit
    var page = ShardMerge(query.sort).merge(pages, limit: limit)
    var bytes = 0
    let fitting = page.hits.prefix { placed in
      bytes += placed.hit.entry?.body.count ?? 0
      return bytes <= QueryLimits.answerBytes
    }
    let count = max(fitting.count, min(1, page.hits.count))
    if count < page.hits.count { page = ShardMerge.Page(Array(page.hits.prefix(count)), hasMore: true) }
    let cursor = page.hasMore ? page.hits.last?.hit.position ?? [] : []
    return QueryReply(
      hits: page.hits.map(\.hit), cursor: cursor, type: answers[0].type, position: answers[0].position)
  }

  private func ask(_ query: Query, of shard: UInt32) async -> Swift.Result<QueryReply, CaravanError> {
    var part = query
    part.database = query.database.shard(shard)
    do throws(CaravanError) {
      return .success(
        try await bus.call(
          QueryRequest(part), to: .partitioned(.query, Partition(of: part.database), method: "find"),
          deadline: QueryLimits.shardDeadline))
    } catch {
      return .failure(error)
    }
  }
}
