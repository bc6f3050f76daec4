import CaravanBus
import CaravanModel
import CaravanQueryCore
import CaravanRuntime
import CaravanStorageClient
import CaravanWire

// What users subscribe to (CK-82, CK-83).
extension QueryHandler {
  /// Saves or removes a subscription, and says which ones the user has then. A saved one counts when the answer comes:
  /// what is committed after that is told of.
  func subscriptions(
    _ request: SubscriptionsRequest, in partition: Partition, after prepare: @escaping Preparation
  ) async throws(CaravanError) -> SubscriptionsReply {
    let database = try required(request.database, "database").model()
    let user = try UserID(request.user)
    guard Partition(of: database) == partition, database.shard == 0 else {
      throw CaravanError(.invalidData, "database \(database) is not one of partition \(partition)")
    }
    let viewer = request.viewer?.model
    return try await shares.within(database, viewer) { () async throws(CaravanError) in
      if let saved = request.save {
        try await save(try saved.model(), of: user, viewer, database, in: partition, after: prepare)
      } else if !request.remove.isEmpty {
        try await remove(request.remove, of: user, database, in: partition, after: prepare)
      }
      var reply = SubscriptionsReply()
      for query in try await reader(of: partition).standings(of: user, database) {
        reply.subscriptions.append(try CaravanWire.StandingQuery.decode(query))
      }
      return reply
    }
  }

  private func save(
    _ query: CaravanModel.StandingQuery, of user: UserID, _ viewer: CaravanModel.Query.Viewer?, _ database: DatabaseID,
    in partition: Partition, after prepare: @escaping Preparation
  ) async throws(CaravanError) {
    try Self.check(query.id)
    var type: CaravanModel.RecordType?
    var isScan = false
    switch query.subject {
    case .zones:
      guard !database.isPublic else {
        throw CaravanError(.invalidData, "a public database has one zone: subscribe to its records")
      }
    case .records(let name, let text, _, _):
      // Checks all that a query has, and that the viewer sees such records.
      let asked = Query(database: database, type: name, text: text, viewer: viewer)
      let found = try await compiled(asked).type
      isScan = try Standing(query, found, in: database).anchors == nil
      type = found
    }
    try await prepare(database)
    try await checkRoom(for: query.id, of: user, database, isScan ? type : nil, in: partition)
    let record = SubscriptionRecord(user: user, query: query, viewer: viewer)
    try await write(record.save, database, of: type?.name)
    try await wait(database, in: partition, after: prepare) { reader async throws(CaravanError) in
      try await reader.standing(query.id, of: user, database) == CaravanWire.StandingQuery(query).encoded()
    }
  }

  private func remove(
    _ name: String, of user: UserID, _ database: DatabaseID, in partition: Partition,
    after prepare: @escaping Preparation
  ) async throws(CaravanError) {
    try Self.check(name)
    try await prepare(database)
    let record = SubscriptionRecord.name(name, of: user)
    try await write(CaravanModel.Mutation(name: record, base: .any, change: .delete), database, of: nil)
    try await wait(database, in: partition, after: prepare) { reader async throws(CaravanError) in
      try await reader.standing(name, of: user, database) == nil
    }
  }

  private static func check(_ name: String) throws(CaravanError) {
    guard (1...64).contains(name.utf8.count), !name.utf8.contains(where: { $0 < 0x20 }) else {
      throw CaravanError(
        .invalidData,
        "subscription name '\(name.prefix(40))' is not allowed: use 1 to 64 bytes without control characters")
    }
  }

  /// - Parameter scanned: the type of records that are all looked at for it; nil: an index finds it.
  private func checkRoom(
    for name: String, of user: UserID, _ database: DatabaseID, _ scanned: CaravanModel.RecordType?,
    in partition: Partition
  ) async throws(CaravanError) {
    let reader = reader(of: partition)
    let count = try await reader.standingCount(of: user, database, butFor: name)
    guard count < QueryLimits.standingsPerUser else {
      throw CaravanError(
        .limitExceeded, "the user has \(count) subscriptions there: the limit is \(QueryLimits.standingsPerUser)")
    }
    guard let scanned else { return }
    let scans = try await reader.scanCounts(of: user, database, scanned.definition, butFor: name)
    guard scans.own < QueryLimits.scansPerUser, scans.all < QueryLimits.scansPerTable else {
      throw CaravanError(
        .limitExceeded,
        "many subscriptions to '\(scanned.name)' are looked at with each record: compare a field with a value as well, "
          + "by which an index finds the subscription")
    }
  }

  /// In every part of the database, as records of its default zone lie in all of them (CK-10).
  private func write(
    _ mutation: CaravanModel.Mutation, _ database: DatabaseID, of type: String?
  ) async throws(CaravanError) {
    for shard in 0..<(try await types.shards(of: database)) {
      let part = database.shard(shard)
      _ = try await storage.commit(to: try ZoneID(part, SubscriptionZone.name), [mutation])
      guard shard > 0, let type else { continue }
      // A question has that part followed from now on.
      var asked = Query(database: part, type: type)
      asked.isCount = true
      let _: QueryReply = try await bus.call(
        QueryRequest(asked), to: .partitioned(.query, Partition(of: part), method: "shard"),
        deadline: QueryLimits.shardDeadline)
    }
  }

  private func wait(
    _ database: DatabaseID, in partition: Partition, after prepare: Preparation,
    until isThere: (IndexReader) async throws(CaravanError) -> Bool
  ) async throws(CaravanError) {
    let deadline = clock.now + QueryLimits.standingPatience
    let reader = reader(of: partition)
    while true {
      try await prepare(database)
      if try await isThere(reader) { return }
      guard clock.now < deadline else {
        throw CaravanError(
          .unavailable, "the subscription is kept, but does not count yet: ask again in a moment",
          retryAfterMilliseconds: UInt32(QueryLimits.standingPatience.wholeMilliseconds))
      }
      do { try await clock.sleep(for: .milliseconds(5)) } catch {
        throw CaravanError(.cancelled, "the task was cancelled while it waited")
      }
    }
  }
}
