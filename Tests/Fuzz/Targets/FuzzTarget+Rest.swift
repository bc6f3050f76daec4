import CaravanAgentCore
import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanNotifyCore
import CaravanQuery
import CaravanQueryCore
import CaravanRuntime
import CaravanStore
import CaravanTokens
import CaravanWire

extension FuzzTarget {
  static let queries: [FuzzTarget] = [
    FuzzTarget("query", seeds: [QueryRequest(query).encoded()]) { bytes in
      let query = try QueryRequest.decode(bytes).model()
      let again = try sure { try QueryRequest(decoding: QueryRequest(query).encoded()).model() }
      try hold(QueryRequest(again).encoded() == QueryRequest(query).encoded(), "a query is read again as another")
      let compiled = try CompiledQuery(query, type: Samples.type)
      for engine in IndexEngine.allCases {
        let indexes = TableIndexes(table: 1, slots: [1: 1, 2: 2], words: [1: true])
        let statement = compiled.candidates(in: indexes, engine).fragment
        let sql = statement.sql
        try hold(sql.utf8.count { $0 == UInt8(ascii: "?") } == statement.parameters.count, "values of \(sql)")
        let own = sql.split(separator: "'UTF8'").joined()
        try hold(!own.contains("'") && !own.contains(";"), "the query's own words are in \(sql)")
      }
    },
    FuzzTarget("cursor", seeds: [cursor.bytes]) { bytes in
      let cursor = try PageCursor(bytes, fingerprint: 5, keys: 2)
      let again = try sure { try PageCursor(cursor.bytes, fingerprint: 5, keys: 2) }
      try hold(again.bytes == cursor.bytes, "a cursor is read again as another")
    },
    FuzzTarget("filter", seeds: [Pull(filter: filter.map { FilterTerm($0) }).encoded()]) { bytes in
      let pull = try Pull.decode(bytes)
      guard let filter = try RowFilter(pull.filter) else { return }
      let again = try sure {
        try RowFilter(Pull(decoding: Pull(filter: filter.terms.map { FilterTerm($0) }).encoded()).filter)
      }
      try hold(again == filter, "a filter is read again as another")
      // Whatever it says, and of whatever bytes, it comes to a result.
      for body in [Samples.body, bytes, []] { _ = BodyFilter(filter).excludes(body) }
    },
    FuzzTarget("filtered", seeds: [Samples.body, RecordFields([2: .integer(9)]).body]) { bytes in
      let record = try RecordFields(body: bytes)
      let isOut = BodyFilter(try sure { try RowFilter(filter) }).excludes(bytes)
      guard case .integer(let number) = record[2] else { return }
      let isIn = number < 5 && record[1] != .text("")
      try hold(!isIn || !isOut, "a row of \(number) is excluded")
    },
  ]

  private static let cursor = PageCursor(
    fingerprint: 5, keys: [IndexKey(bytes: [1, 97]), .null], zone: "z", name: "n")

  /// A number below 5, and any text but the empty one.
  private static let filter: [RowFilter.Term] = [
    .test(RowFilter.Test(2, .integer, .less, .integer(5))), .test(RowFilter.Test(1, .text, .notEqual, .text(""))),
    .all(2),
  ]

  private static let query = Query(
    database: Samples.database, type: "t",
    predicate: Predicate([
      .compare(field: "name", .prefix, .text("sn")), .compare(field: "n", .greater, .integer(4)), .all(2),
    ]), sort: [SortKey("date", isDescending: true)], limit: 10)

  // MARK: Seals

  static let seals: [FuzzTarget] = [
    FuzzTarget("token", seeds: [tokens.seal(CaravanModel.ChangePosition(incarnation: 4, seq: 9), of: zone)]) { bytes in
      let position = try tokens.open(bytes, of: zone)
      try hold(tokens.seal(position, of: zone) == bytes, "a token that was not sealed is opened: \(position)")
    },
    FuzzTarget("ticket", seeds: [tickets.issue(grant).encoded()]) { bytes in
      let ticket = try Ticket.decode(bytes)
      let opened = try tickets.open(ticket, from: grant.device, nowMilliseconds: 5)
      try hold(tickets.issue(opened).mac == ticket.mac, "a ticket that was not issued is opened: \(opened)")
    },
  ]

  private static let key: TicketKey = {
    do { return try TicketKey([UInt8](repeating: 9, count: TicketKey.byteCount)) } catch {
      preconditionFailure("a key of the right size: \(error)")
    }
  }()
  private static let tokens = TokenSeal(key: key)
  private static let tickets = TicketSeal(key: key)
  private static let zone: ZoneID = {
    do { return try ZoneID(Samples.database, "t") } catch { preconditionFailure("a name of the right form: \(error)") }
  }()
  private static let grant = TicketGrant(
    database: Samples.database, device: Samples.phone, isUpload: true, bytes: 500,
    expiresMilliseconds: 10)

  // MARK: The bus

  static let names: [FuzzTarget] = [
    FuzzTarget("subject", seeds: subjects.map { Array($0.text.utf8) }) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      let subject = try Subject(parsing: text)
      try hold(subject.text == text, "'\(text)' is read as \(subject.text)")
      try hold(SubjectPattern.exact(subject).matches(subject), "\(text) does not match itself")
      if let sender = subject.sender {
        try hold(text.contains(".\(sender.user).\(sender.token)."), "\(text) is not from \(sender)")
      }
    },
    FuzzTarget("headers", seeds: [Array(headers.utf8)]) { bytes in
      let lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map {
        String(decoding: $0, as: UTF8.self)
      }
      func line(_ index: Int) -> String? { index < lines.count ? lines[index] : nil }
      let headers = Headers(
        traceparent: line(0), requestID: line(1), errorCode: line(2), errorText: line(3))
      let context = RequestContext(continuing: headers, random: FixedRandom())
      try hold(TraceContext(traceparent: context.trace.traceparent) != nil, "a trace that nobody else can read")
      if let traceparent = headers.traceparent, let trace = TraceContext(traceparent: traceparent) {
        try hold(context.trace.traceID == trace.traceID, "another trace goes on")
      }
      _ = try Message(bytes, headers: headers).accepted()
    },
  ]

  private static let headers = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\nrequest"

  private static let subjects: [Subject] = [
    .exchange(Samples.phone),
    .chunks(Samples.phone, Partition.all[5]),
    .notify(Samples.phone), .service(.schema, method: "types"),
    .partitioned(.storage, Partition.all[63], method: "commit"), .changes(Partition.all[0]),
    .discovery(.ping, service: "caravan-sync", instance: "x1"), .claimsUpdate,
  ]

  // MARK: Notifications

  static let notifications: [FuzzTarget] = [
    FuzzTarget("notification", seeds: [Notification(number: 5, generation: 3, bitmap: [5, 1]).encoded()]) { bytes in
      let notification = try Notification.decode(bytes)
      let list = CaravanAgentCore.SubscriptionList(
        generation: 3,
        items: (0..<20).map {
          .init(table: TableID(app: ContainerID(unchecked: "app"), name: "t\($0)"), periodMilliseconds: 0)
        })
      guard let tables = list.tables(in: notification.bitmap, generation: notification.generation) else {
        throw CaravanError(.invalidData, "of another list")
      }
      var bitmap = Bitmap(count: list.items.count)
      for (index, item) in list.items.enumerated() where tables.contains(item.table) { bitmap[index] = true }
      try hold(bitmap.set.count == tables.count, "\(tables.count) tables, \(bitmap.set) bits")
      try hold(list.tables(in: bitmap.bytes, generation: 3) == tables, "bits are read as other tables")
    },
    FuzzTarget("subscriptions", seeds: [attach.encoded()]) { bytes in
      let request = try AttachRequest.decode(bytes)
      try hold(
        try sure { try AttachRequest(decoding: request.encoded()) } == request, "an attachment is read again as another"
      )
      for item in request.list?.subscriptions ?? [] { _ = try item.zone?.model() }
    },
  ]

  private static let attach = AttachRequest(
    device: "ann/phone/1", generation: 4, seen: [3, 4],
    list: CaravanWire.SubscriptionList(
      generation: 4, subscriptions: [Subscription(zone: ZoneRef(zone), periodMilliseconds: 1_000)]))

  // MARK: What stores keep

  static let stored: [FuzzTarget] = [
    FuzzTarget("outcome", seeds: outcomes.map(\.encoded)) { bytes in
      let outcome = try OpOutcome(encoded: bytes)
      let again = try sure { try OpOutcome(encoded: outcome.encoded) }
      try hold(again == outcome, "an outcome is read again as another: \(outcome), \(again)")
    }
  ]

  private static let outcomes: [OpOutcome] = [
    .aborted,
    .decided(
      verdicts: [
        .accepted(version: 5), .conflict(name: "a"), .aborted, .merged(name: "b"), .read(name: "c", version: 4),
        .refused(CaravanError(.referenceViolation, "no")),
      ], zoneSeq: 300, incarnation: 7),
  ]
}

/// The same every time.
private struct FixedRandom: RandomSource {
  func next() -> UInt64 { 0x0123_4567_89ab_cdef }
}
