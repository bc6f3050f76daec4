import CaravanBus
import CaravanModel
import CaravanQueryCore
import CaravanRuntime
import CaravanWire

/// Answers `find`.
struct QueryHandler: Sendable {
  let writer: IndexWriter
  /// Each for some of the partitions.
  let readers: [IndexReader]
  let builder: IndexBuilder
  let types: TypeSource
  let metrics: QueryMetrics
  let bus: any MessageBus
  let clock: any Clock
  let shares = TenantShares()

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
    // Whoever asks about a shard answers a question about the whole, which has its place.
    guard query.database.shard == 0 else { return try await find(query, in: partition, after: prepare) }
    return try await shares.within(query.database) { () async throws(CaravanError) in
      try await find(query, in: partition, after: prepare)
    }
  }

  private func find(
    _ query: Query, in partition: Partition, after prepare: Preparation
  ) async throws(CaravanError) -> QueryReply {
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
    let (type, compiled) = try await compiled(query)
    try await prepare(query.database)
    try await wait(for: query.seen, of: query.database)
    var page = try await page(compiled, TableKey(database: query.database, definition: type.definition), partition)
    if !compiled.fields.isEmpty {
      for index in page.hits.indices { page.hits[index].entry = try page.hits[index].entry?.selecting(compiled.fields) }
    }
    return QueryReply(
      hits: page.hits, cursor: page.cursor, type: CaravanWire.RecordType(type), position: page.position,
      count: page.count)
  }

  private func compiled(
    _ query: Query
  ) async throws(CaravanError) -> (type: CaravanModel.RecordType, query: CompiledQuery) {
    do throws(CaravanError) {
      let known = try await types.type(named: query.type, of: query.database, isFresh: false)
      do throws(CaravanError) { return (known, try CompiledQuery(query, type: known)) } catch {
        // Perhaps a field that is newer than what is remembered.
        guard error.code == .schemaViolation else { throw error }
        let type = try await types.type(named: query.type, of: query.database, isFresh: true)
        return (type, try CompiledQuery(query, type: type))
      }
    } catch {
      throw error.code == .tableNotFound ? .noSuchType(query.type) : error
    }
  }

  private func page(
    _ query: CompiledQuery, _ key: TableKey, _ partition: Partition
  ) async throws(CaravanError) -> IndexReader.Page {
    let reader = readers[Int(partition.number) % readers.count]
    var prepared = try await writer.prepare(key, query.needs)
    if prepared?.isReady == false {
      await builder.build(key, patience: QueryLimits.buildPatience)
      prepared = try await writer.prepare(key, query.needs)
    }
    guard let prepared else { return IndexReader.Page(position: try await reader.position(of: partition)) }
    guard prepared.isReady else {
      throw CaravanError(
        .unavailable, "an index that the query needs is being built: ask again in a moment",
        retryAfterMilliseconds: UInt32(QueryLimits.buildPatience.wholeMilliseconds))
    }
    return try await reader.find(query, prepared.indexes, in: partition)
  }

  /// Waits for what the asker has seen.
  /// - Throws: `unavailable` where it does not come.
  private func wait(for seen: [Query.Seen], of database: DatabaseID) async throws(CaravanError) {
    let deadline = clock.now + QueryLimits.seenPatience
    for zone in seen {
      let id = try ZoneID(database, zone.zone)
      while try await writer.progress(of: id)?.seq ?? 0 < zone.seq {
        guard clock.now < deadline else {
          throw CaravanError(
            .unavailable, "the index has not reached version \(zone.seq) of zone '\(zone.zone)' yet: ask again",
            retryAfterMilliseconds: UInt32(QueryLimits.seenPatience.wholeMilliseconds))
        }
        do { try await clock.sleep(for: .milliseconds(10)) } catch {
          throw CaravanError(.cancelled, "the task was cancelled while it waited")
        }
      }
    }
  }

  // MARK: A default zone in shards (CK-10)

  /// What every shard has of one page, as one page. The database's own zones are with the first shard.
  private func whole(
    _ query: Query, _ shards: UInt32, home partition: Partition, after prepare: Preparation
  ) async throws(CaravanError) -> QueryReply {
    var home = query
    // Each shard counts by itself: a version of the zone as a whole says nothing of any of them.
    home.seen.removeAll { $0.zone == DefaultZone.name }
    var answers = [try await own(home, in: partition, after: prepare)]
    let others = await withTaskGroup(of: Swift.Result<QueryReply, CaravanError>.self) { group in
      for shard in 1..<shards { group.addTask { await ask(query, of: shard) } }
      var others: [Swift.Result<QueryReply, CaravanError>] = []
      for await other in group { others.append(other) }
      return others
    }
    for other in others { answers.append(try other.get()) }
    guard !query.isCount else {
      return QueryReply(
        type: answers[0].type, position: answers[0].position, count: answers.reduce(0) { $0 + $1.count })
    }
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
    part.seen = []
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

extension CaravanWire.Entry {
  fileprivate func selecting(_ fields: Set<UInt32>) throws(CaravanError) -> CaravanWire.Entry {
    var entry = model()
    try entry.select(fields)
    return CaravanWire.Entry(entry)
  }
}
