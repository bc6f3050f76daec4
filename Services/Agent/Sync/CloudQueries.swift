public import CaravanAgentCore
internal import CaravanAgentNetwork
public import CaravanModel
internal import CaravanWire

/// What an app asks of the cloud itself.
public struct CloudQuestion: Sendable, Hashable {
  public var app: ContainerID
  /// About the app's public database; else about that of the device's user.
  public var isPublic = false
  /// The name of the record type.
  public var type: String
  /// Which records; nil: all.
  public var text: CaravanModel.Query.Text?
  public var sort: [CaravanModel.SortKey] = []
  /// 0: as the cloud likes.
  public var limit = 0
  /// Of the page before; empty: the first page.
  public var cursor: [UInt8] = []
  /// nil: records of all zones.
  public var zone: String?
  /// Names of fields; empty: all.
  public var fields: [String] = []
  /// How many records there are is all that is asked.
  public var isCount = false
  /// It stands for a read of this table: asked over links that the table's registration allows.
  public var readOf: TableID?
  /// How far that table has been pulled: the answer has what the device had then. Empty: nobody says.
  public var token: [UInt8] = []

  public init(app: ContainerID, type: String) {
    self.app = app
    self.type = type
  }
}

/// What the cloud found of a query.
public struct CloudPage: Sendable, Hashable {
  public struct Record: Sendable, Hashable {
    public var zone: String
    public var entry: CaravanModel.Entry
    public var fields: RecordFields

    public init(zone: String, entry: CaravanModel.Entry, fields: RecordFields) {
      self.zone = zone
      self.entry = entry
      self.fields = fields
    }
  }

  public var records: [Record]
  /// Names of the records' fields.
  public var type: CaravanModel.RecordType
  /// Of the next page; empty: there is none.
  public var cursor: [UInt8]
  /// Where that was asked.
  public var count: UInt64

  public init(records: [Record], type: CaravanModel.RecordType, cursor: [UInt8], count: UInt64) {
    self.records = records
    self.type = type
    self.cursor = cursor
    self.count = count
  }
}

/// Carries questions of apps to the query service and its answers back.
struct CloudQueries: Sendable {
  let exchanger: Exchanger
  let device: EnrolledDevice

  /// - Throws: why there is no answer, or what the cloud refused.
  func ask(_ question: CloudQuestion) async throws(CaravanError) -> CloudPage {
    let database = DatabaseID(
      container: question.app, environment: device.environment, owner: question.isPublic ? nil : device.user)
    var request = QueryRequest(CaravanModel.Query(question, of: database))
    // One record comes in any case; more than the link lets pass are for other pages.
    request.pageBytes = UInt32(min(Limits.pageBytes, exchanger.fragment.bytes))
    let own = exchanger.ownWrites.seen(in: question.app.text, isPublic: question.isPublic, zone: question.zone)
    guard !own.isEmpty else { return try await ask(request, question) }
    request.seen = own.map { SeenZone(zone: $0.zone, incarnation: $0.incarnation, seq: $0.seq) }
    do throws(CaravanError) { return try await ask(request, question) } catch {
      guard error.code == .invalidData else { throw error }
      // Perhaps a zone that was written to is gone, or is another one by now.
      exchanger.ownWrites.forget(question.app.text, isPublic: question.isPublic)
      request.seen = []
      return try await ask(request, question)
    }
  }

  private func ask(_ request: QueryRequest, _ question: CloudQuestion) async throws(CaravanError) -> CloudPage {
    let ask = AskQuery(
      container: question.app.text, database: question.isPublic ? .public : .private, request: request.encoded(),
      token: question.token)
    let result = try await exchanger.exchange([.query(ask)], through: [])[0]
    guard case .query(let found) = result else { throw .unexpected(result, to: "query") }
    return try CloudPage(QueryReply.decode(found.answer))
  }
}

extension CaravanModel.Query {
  fileprivate init(_ question: CloudQuestion, of database: DatabaseID) {
    self.init(
      database: database, type: question.type, text: question.text, sort: question.sort, limit: question.limit,
      cursor: question.cursor, zone: question.zone, fields: question.fields, isCount: question.isCount)
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

extension CaravanError {
  static let mayNotAsk = CaravanError(
    .networkNotPermitted, "the cloud may not be asked over this link: it answers when the link is one it may use")
}
