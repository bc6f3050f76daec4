internal import CaravanAgentCore
internal import CaravanAgentNetwork
public import CaravanModel
internal import CaravanWire

/// What the cloud found of a query.
public struct CloudPage: Sendable, Hashable {
  public struct Record: Sendable, Hashable {
    public var zone: String
    public var entry: CaravanModel.Entry
    public var fields: RecordFields
  }

  public var records: [Record]
  /// Names of the records' fields.
  public var type: CaravanModel.RecordType
  /// Of the next page; empty: there is none.
  public var cursor: [UInt8]
  /// Where that was asked.
  public var count: UInt64
}

extension SyncEngine {
  public func query(_ query: CaravanModel.Query) async throws(CaravanError) -> CloudPage {
    guard schedule.permitsSpeaking else {
      throw CaravanError(
        .networkNotPermitted, "the cloud may not be asked over this link: it answers when the link is one it may use")
    }
    try await awaitConnection()
    var request = QueryRequest(query)
    request.database = nil
    // One record comes in any case; more than the link lets pass are for other pages.
    request.pageBytes = UInt32(min(Limits.pageBytes, exchanger.fragment.bytes))
    let question = AskQuery(
      container: query.database.container.text, database: query.database.owner == nil ? .public : .private,
      request: request.encoded())
    let result = try await exchanger.exchange([.query(question)], through: [])[0]
    guard case .query(let found) = result else { throw .unexpected(result, to: "query") }
    return try CloudPage(QueryReply.decode(found.answer))
  }
}

extension CloudPage {
  fileprivate init(_ reply: QueryReply) throws(CaravanError) {
    var records: [Record] = []
    for hit in reply.hits {
      let entry = try required(hit.entry, "entry").model()
      records.append(Record(zone: hit.zone, entry: entry, fields: try RecordFields(body: entry.body)))
    }
    self.init(
      records: records, type: try required(reply.type, "type").model(), cursor: reply.cursor, count: reply.count)
  }
}
