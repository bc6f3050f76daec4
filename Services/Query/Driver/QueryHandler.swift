import CaravanBus
import CaravanModel
import CaravanQueryCore
import CaravanRuntime
import CaravanStorageClient
import CaravanWire

/// Answers `find`.
struct QueryHandler: Sendable {
  let writer: IndexWriter
  /// Each for some of the partitions.
  let readers: [IndexReader]
  let builder: IndexBuilder
  let types: TypeSource
  let metrics: QueryMetrics
  let storage: StorageClient
  let bus: any MessageBus
  let clock: any Clock
  let shares = TenantShares()

  /// Called with a database before it is looked at: returns when the index has it.
  typealias Preparation = @Sendable (DatabaseID) async throws(CaravanError) -> Void

  /// What a whole database has.
  func find(
    _ request: QueryRequest, in partition: Partition, after prepare: @escaping Preparation
  ) async throws(CaravanError) -> QueryReply {
    let query = try query(request, in: partition)
    guard query.database.shard == 0 else {
      throw CaravanError(.invalidData, "database \(query.database) is a part of one: ask about the whole")
    }
    return try await shares.within(query.database, query.viewer) { () async throws(CaravanError) in
      // Whoever has seen something of it has perhaps made its first record.
      let shards = try await types.shards(of: query.database, isFresh: !query.seen.isEmpty)
      var reply =
        shards > 1
        ? try await whole(query, shards)
        : try await own(query, in: partition, after: prepare, placesHits: false)
      // Nobody else is to see how pages are put together.
      for index in reply.hits.indices { reply.hits[index].position = [] }
      metrics.hits.add(reply.hits.count)
      return reply
    }
  }

  /// What a shard of a default zone has; a question about the whole has asked.
  func findPart(
    _ request: QueryRequest, in partition: Partition, after prepare: Preparation
  ) async throws(CaravanError) -> QueryReply {
    try await own(query(request, in: partition), in: partition, after: prepare, placesHits: true)
  }

  private func query(_ request: QueryRequest, in partition: Partition) throws(CaravanError) -> Query {
    let query = try request.model()
    let right = Partition(of: query.database)
    guard right == partition else {
      throw CaravanError(.invalidData, "database \(query.database) belongs to partition \(right), not \(partition)")
    }
    return query
  }

  func reader(of partition: Partition) -> IndexReader { readers[Int(partition.number) % readers.count] }

  // MARK: What lies here

  private func own(
    _ query: Query, in partition: Partition, after prepare: Preparation, placesHits: Bool
  ) async throws(CaravanError) -> QueryReply {
    let (type, compiled) = try await compiled(query)
    try await prepare(query.database)
    try await wait(for: query.seen, of: query.database, in: partition)
    var page = try await page(
      compiled, TableKey(database: query.database, definition: type.definition), partition, placesHits)
    if !compiled.fields.isEmpty {
      for index in page.hits.indices { page.hits[index].entry = try page.hits[index].entry?.selecting(compiled.fields) }
    }
    return QueryReply(
      hits: page.hits, cursor: page.cursor, type: CaravanWire.RecordType(type), position: page.position,
      count: page.count)
  }

  func compiled(
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

  /// How often a page is looked for in indexes that change meanwhile.
  private static let attempts = 4

  private func page(
    _ query: CompiledQuery, _ key: TableKey, _ partition: Partition, _ placesHits: Bool
  ) async throws(CaravanError) -> IndexReader.Page {
    let reader = reader(of: partition)
    if let indexes = writer.ready(key, query.needs, at: clock.wallTime),
      let page = try await reader.find(query, indexes, in: partition, placesHits: placesHits)
    {
      return page
    }
    for _ in 0..<Self.attempts {
      guard let indexes = try await prepared(key, query.needs) else {
        return IndexReader.Page(position: try await reader.position(of: partition))
      }
      if let page = try await reader.find(query, indexes, in: partition, placesHits: placesHits) { return page }
    }
    throw CaravanError(
      .unavailable, "the indexes that the query needs are changing: ask again in a moment",
      retryAfterMilliseconds: 100)
  }

  /// - Returns: nil: there are no records of that type.
  /// - Throws: `unavailable` while an index is being built.
  private func prepared(_ key: TableKey, _ needs: [IndexNeed]) async throws(CaravanError) -> TableIndexes? {
    var prepared = try await writer.prepare(key, needs, at: clock.wallTime)
    if prepared?.isReady == false {
      await builder.build(key, patience: QueryLimits.buildPatience)
      prepared = try await writer.prepare(key, needs, at: clock.wallTime)
    }
    guard let prepared else { return nil }
    guard prepared.isReady else {
      throw CaravanError(
        .unavailable, "an index that the query needs is being built: ask again in a moment",
        retryAfterMilliseconds: UInt32(QueryLimits.buildPatience.wholeMilliseconds))
    }
    return prepared.indexes
  }

  /// Waits for what the asker has seen. That is never long, as it is there: only the index may be behind.
  /// - Throws: `invalidData` for what nobody can have seen; `unavailable` where it does not come.
  private func wait(
    for seen: [Query.Seen], of database: DatabaseID, in partition: Partition
  ) async throws(CaravanError) {
    let reader = reader(of: partition)
    let deadline = clock.now + QueryLimits.seenPatience
    for version in seen {
      let zone = try ZoneID(database, version.zone)
      var progress = try await reader.progress(of: zone)
      if progress.map(version.isIn) != true { try await check(version, of: zone) }
      while progress.map(version.isIn) != true {
        guard clock.now < deadline else {
          throw CaravanError(
            .unavailable, "the index has not reached version \(version.seq) of zone '\(zone.name)' yet: ask again",
            retryAfterMilliseconds: UInt32(QueryLimits.seenPatience.wholeMilliseconds))
        }
        do { try await clock.sleep(for: .milliseconds(10)) } catch {
          throw CaravanError(.cancelled, "the task was cancelled while it waited")
        }
        progress = try await reader.progress(of: zone)
      }
    }
  }

  /// - Throws: `invalidData` where the zone is not in that state.
  private func check(_ version: Query.Seen, of zone: ZoneID) async throws(CaravanError) {
    let request = ReadChangesRequest(zone: ZoneRef(zone), maxRecords: 1, maxBytes: 1)
    let reply = try await storage.changes(of: zone, request)
    let progress = reply.next.map { ZoneProgress(incarnation: $0.incarnation, seq: reply.head) }
    guard progress.map(version.isIn) == true else {
      throw CaravanError(
        .invalidData,
        "zone '\(zone.name)' has no version \(version.seq), or is another zone than the one that had it: read its "
          + "changes, and ask with what they say")
    }
  }

  // MARK: A default zone in shards (CK-10)

  /// What every shard has of one page, as one page. The database's own zones are with the first shard.
  private func whole(_ query: Query, _ shards: UInt32) async throws(CaravanError) -> QueryReply {
    let all = await withTaskGroup(of: (UInt32, Swift.Result<QueryReply, CaravanError>).self) { group in
      for shard in 0..<shards { group.addTask { (shard, await ask(query, of: shard)) } }
      var all: [UInt32: Swift.Result<QueryReply, CaravanError>] = [:]
      for await (shard, answer) in group { all[shard] = answer }
      return all
    }
    var answers: [QueryReply] = []
    for shard in 0..<shards { if let answer = all[shard] { answers.append(try answer.get()) } }
    return try Self.merged(answers, of: query)
  }

  /// One answer of those that the shards have given, of which the first is that of the first shard.
  static func merged(_ answers: [QueryReply], of query: Query) throws(CaravanError) -> QueryReply {
    precondition(!answers.isEmpty, "no shard has answered")
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
    let most = query.pageBytes == 0 ? QueryLimits.answerBytes : min(query.pageBytes, QueryLimits.answerBytes)
    let fitting = page.hits.prefix { placed in
      bytes += placed.hit.entry?.body.count ?? 0
      return bytes <= most
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
    // The database's own zones are with the first shard. Each shard numbers its part of the default zone by itself, so
    // a version of the whole zone says nothing about any of them.
    part.seen = shard == 0 ? query.seen.filter { $0.zone != DefaultZone.name } : []
    do throws(CaravanError) {
      return .success(
        try await bus.call(
          QueryRequest(part), to: .partitioned(.query, Partition(of: part.database), method: "shard"),
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

extension Query.Seen {
  /// Whether an index that has come so far has it.
  fileprivate func isIn(_ progress: ZoneProgress) -> Bool {
    progress.incarnation == incarnation && progress.seq >= seq
  }
}
