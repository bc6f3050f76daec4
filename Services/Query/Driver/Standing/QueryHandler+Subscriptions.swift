import CaravanBus
import CaravanModel
import CaravanQuery
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
        let roles = try request.viewer?.ownRoles() ?? []
        try await save(try saved.model(), of: user, viewer, having: roles, database, in: partition, after: prepare)
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
    _ asked: CaravanModel.StandingQuery, of user: UserID, _ viewer: CaravanModel.Query.Viewer?,
    having roles: Set<String>, _ database: DatabaseID, in partition: Partition, after prepare: @escaping Preparation
  ) async throws(CaravanError) {
    try Self.check(asked.id)
    let query = try await kept(asked, database)
    var type: CaravanModel.RecordType?
    var isScan = false
    switch query.subject {
    case .zones:
      guard !database.isPublic else {
        throw CaravanError(.invalidData, "a public database has one zone: subscribe to its records")
      }
    case .records(let name, let text, _, _):
      var seen = Query(database: database, type: name, text: text, viewer: viewer)
      seen.roles = roles
      let found = try await self.type(of: seen, showing: query.shows)
      isScan = try Standing(query, found, in: database).anchors == nil
      type = found
    case .template: preconditionFailure("subscription '\(query.id)' is kept without what its template says")
    }
    try await prepare(database)
    try await checkRoom(for: query.id, of: user, database, isScan ? type : nil, in: partition)
    let record = SubscriptionRecord(user: user, query: query, viewer: viewer)
    try await write(record.save, of: user, database, about: type?.name)
    try await wait(database, in: partition, after: prepare) { reader async throws(CaravanError) in
      try await reader.standing(query.id, of: user, database) == CaravanWire.StandingQuery(query).encoded()
    }
  }

  /// What becomes of a subscription that is asked for: of one from a template what that says now, so that later changes
  /// of the template do not change it.
  /// - Throws: `schemaViolation` for a query in production that is from no template; `noSuchObject` for the template;
  ///   `invalidData` where its parameters are not bound.
  private func kept(
    _ asked: CaravanModel.StandingQuery, _ database: DatabaseID
  ) async throws(CaravanError) -> CaravanModel.StandingQuery {
    switch asked.subject {
    case .zones: return asked
    case .records(let type, _, _, _):
      guard asked.source == nil else {
        throw CaravanError(
          .invalidData, "subscription '\(asked.id)' has a query and a template: ask for it with one of them")
      }
      guard database.environment == .development else {
        throw CaravanError(
          .schemaViolation,
          "production takes subscriptions to records from templates only: define one for '\(type)' in development "
            + "(caravan schema template set), promote it (caravan schema promote), and subscribe with its name")
      }
      return asked
    case .template(let name, let arguments, let zone):
      let template = try await types.template(named: name, of: database)
      let parameters = try template.parameters
      guard parameters == arguments.count else {
        throw CaravanError(
          .invalidData,
          "template '\(name)' has \(parameters) parameters, and \(arguments.count) are bound: give a value for each")
      }
      if let unbound = arguments.firstIndex(of: .null) {
        throw CaravanError(
          .invalidData, "parameter \(unbound + 1) of template '\(name)' is bound to null: give it a value")
      }
      return template.bound(id: asked.id, arguments, zone: zone)
    }
  }

  /// Checks all that a query has, that the viewer sees such records, and that notifications can carry what they are to.
  private func type(
    of asked: CaravanModel.Query, showing content: CaravanModel.NotificationContent
  ) async throws(CaravanError) -> CaravanModel.RecordType {
    let found = try await compiled(asked).type
    do throws(CaravanError) { try content.check(against: found) } catch {
      // Perhaps a field that is newer than what is remembered.
      guard error.code == .schemaViolation else { throw error }
      let newest = try await types.type(named: asked.type, of: asked.database, isFresh: true)
      try content.check(against: newest)
      return newest
    }
    return found
  }

  private func remove(
    _ name: String, of user: UserID, _ database: DatabaseID, in partition: Partition,
    after prepare: @escaping Preparation
  ) async throws(CaravanError) {
    try Self.check(name)
    try await prepare(database)
    let record = SubscriptionRecord.name(name, of: user)
    try await write(CaravanModel.Mutation(name: record, base: .any, change: .delete), of: user, database, about: nil)
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

  /// In every part of the database, as records of its default zone lie in all of them (CK-10). How many there are is
  /// settled by that, as by the first record: a subscription may be older.
  private func write(
    _ mutation: CaravanModel.Mutation, of user: UserID, _ database: DatabaseID, about type: String?
  ) async throws(CaravanError) {
    for shard in 0..<(try await types.settledShards(of: database, for: user)) {
      let part = database.shard(shard)
      // A question has that part followed. It is to be before the subscription is there, or it would have missed
      // something; and has been taken in after that.
      if shard > 0, let type { try await follow(part, type) }
      _ = try await storage.commit(to: try ZoneID(part, SubscriptionZone.name), [mutation])
      if shard > 0, let type { try await follow(part, type) }
    }
  }

  private func follow(_ part: DatabaseID, _ type: String) async throws(CaravanError) {
    var asked = Query(database: part, type: type)
    asked.isCount = true
    let _: QueryReply = try await bus.call(
      QueryRequest(asked), to: .partitioned(.query, Partition(of: part), method: "shard"),
      deadline: QueryLimits.shardDeadline)
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
