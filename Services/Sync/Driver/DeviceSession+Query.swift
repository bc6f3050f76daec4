import CaravanAccess
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSyncCore
import CaravanTokens
import CaravanWire

extension DeviceSession {
  /// A question to the query service about the user's own database, or about the public one, of which it finds what the
  /// user may see.
  func query(_ question: AskQuery, _ account: ReplyAccount) async throws(CaravanError) -> QueryResult {
    let database = try database(question.container, question.database)
    var request = try QueryRequest.decode(question.request)
    let wanted = request.pageBytes == 0 ? Limits.pageBytes : min(Int(request.pageBytes), Limits.pageBytes)
    guard let room = account.take(wanted) else { throw Refusal.replyFull }
    let reply: QueryReply
    do throws(CaravanError) {
      (request.database, request.pageBytes) = (DatabaseRef(database), UInt32(room))
      request.viewer = try await viewer(of: database)
      request.seen = seen(with: question.token, inZone: request.zone, of: database, or: request.seen)
      reply = try await cloud.bus.call(
        request, to: .partitioned(.query, Partition(of: database), method: "find"), deadline: SyncLimits.queryDeadline)
    } catch {
      _ = account.settle(taken: room, needed: 0)
      throw error
    }
    let answer = reply.encoded()
    guard account.settle(taken: room, needed: answer.count) else { throw Refusal.replyFull }
    return QueryResult(answer: answer)
  }

  /// How far the answer has to be so that nothing is missing in it that the device has pulled, or says that it has
  /// written.
  private func seen(
    with token: [UInt8], inZone name: String, of database: DatabaseID, or written: [SeenZone]
  ) -> [SeenZone] {
    guard !token.isEmpty, !name.isEmpty,
      let position = try? cloud.tokens.open(token, of: ZoneID(database, name)), position.incarnation > 0,
      !written.contains(where: { $0.zone == name && $0.incarnation == position.incarnation && $0.seq > position.seq })
    else { return written }
    return [SeenZone(zone: name, incarnation: position.incarnation, seq: position.seq)]
  }

  /// What the user has subscribed to, in their own database or the public one.
  func subscriptions(
    _ question: AskSubscriptions, _ account: ReplyAccount
  ) async throws(CaravanError) -> SubscriptionsResult {
    let database = try database(question.container, question.database)
    var request = try SubscriptionsRequest.decode(question.request)
    (request.database, request.user) = (DatabaseRef(database), user.text)
    request.viewer = try await viewer(of: database)
    let reply: SubscriptionsReply = try await cloud.bus.call(
      request, to: .partitioned(.query, Partition(of: database), method: "subscriptions"),
      deadline: SyncLimits.queryDeadline)
    let answer = reply.encoded()
    guard account.settle(taken: 0, needed: answer.count) else { throw Refusal.replyFull }
    return SubscriptionsResult(answer: answer)
  }

  private func viewer(of database: DatabaseID) async throws(CaravanError) -> QueryViewer? {
    guard database.owner == nil else { return nil }
    let author = WriterName.author(try await writer(in: database)).map { String($0) }
    let roles = try await roles(cloud.visibility.of(database), in: database)
    return QueryViewer(author: author ?? "", server: access.principal.isServerApp, roles: roles.sorted())
  }
}
