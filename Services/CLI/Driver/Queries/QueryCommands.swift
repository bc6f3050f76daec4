internal import CaravanBus
internal import CaravanCLICore
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSchemaClient
internal import CaravanWire

/// `caravan query`: records of one type, as the query service finds them.
enum QueryCommands {
  private static let user = Flag<String?>("user", "U", "whose private database; without it the container's public one")
  private static let container = Flag<String>("container", "C", "the container: an app's name")
  private static let environment = Flag<String>(
    "environment", "E", "development or production", default: Environment.development.rawValue)
  private static let type = Flag<String>("type", "T", "the record type: a table's name")
  private static let selection = Flag<String?>(
    "where", "TEXT",
    "which: a=? AND (b>? OR c MATCH 'snow'), arguments follow as operands")
  private static let order = Flag<String?>(
    "order-by", "FIELDS", "FIELD [asc|desc], or FIELD near LATITUDE LONGITUDE, several with commas")
  private static let fields = Flag<[String]>("fields", "A,B", "fields to show; all without it", default: [])
  private static let zone = Flag<String?>("zone", "ZONE", "only records of this zone")
  private static let count = Flag<Bool>("count", "how many there are")
  private static let limit = Flag<Int?>("limit", "N", "most records shown, 1 or more")
  private static let json = Flag<Bool>("json", "a JSON array")

  static let tools = [
    Tool(
      Command(
        "caravan query", "Finds records in the cloud.", details: QueryLanguage.help,
        operands: .init("[ARGUMENT ...]", 0...Limits.predicateTerms),
        flags: [Flag<String?>.suiteDirectory] + Deployment.brokerFlags
          + [user, container, environment, type, selection, order, fields, limit, zone, count, json])
    ) { options, terminal in try await find(options, terminal) }
  ]

  private static let deadline: Duration = .seconds(10)
  private static let pageRows = 200

  private static func find(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let container = try ContainerID(options[container])
    let text = try options[selection].map { text throws(CaravanError) in try WhereText(text) }
    guard text != nil || options.operands.isEmpty else {
      throw CaravanError(.invalidData, "'\(options.operands[0])' is an argument of no --where")
    }
    if let limit = options[limit], limit < 1 {
      throw CaravanError(.invalidData, "--limit \(limit) would show nothing: give 1 or more")
    }
    var query = CaravanModel.Query(
      database: DatabaseID(
        container: container, environment: try Environment(flag: options[environment]),
        owner: try options[user].map { name throws(CaravanError) in try UserID(name) }),
      type: options[type])
    query.sort = try options[order].map(SortText.keys) ?? []
    (query.fields, query.zone, query.isCount) = (options[fields], options[zone], options[count])
    let bus = try Deployment(options: options, host: terminal.host).bus(.cli)
    try await bus.with(terminal.host) { bus throws(CaravanError) in
      let type = try await SchemaClient(bus: bus).type(named: query.type, of: container, in: query.database.environment)
      query.text = try text?.query(of: type, options.operands)
      if query.isCount {
        let found = try await ask(query, bus).count
        terminal.say(options[json] ? JSON.object(["count": .int(Int64(clamping: found))]).encoded() : "\(found)")
      } else if options[json] {
        try await printJSON(query, options[limit], bus, terminal)
      } else {
        try await printTable(query, type, options[limit], bus, terminal)
      }
    }
  }

  private static func ask(_ query: CaravanModel.Query, _ bus: any MessageBus) async throws(CaravanError) -> QueryReply {
    try await bus.call(
      QueryRequest(query), to: .partitioned(.query, Partition(of: query.database), method: "find"), deadline: deadline)
  }

  /// Hands over the hits page by page.
  private static func pages(
    _ query: CaravanModel.Query, _ limit: Int?, _ bus: any MessageBus,
    _ take: (QueryReply) throws(CaravanError) -> Void
  ) async throws(CaravanError) {
    var query = query
    var left = limit ?? .max
    while left > 0 {
      query.limit = min(left, pageRows)
      let reply = try await ask(query, bus)
      try take(reply)
      left -= reply.hits.count
      guard !reply.cursor.isEmpty, !reply.hits.isEmpty else { return }
      query.cursor = reply.cursor
    }
  }

  private static func printTable(
    _ query: CaravanModel.Query, _ type: CaravanModel.RecordType, _ limit: Int?, _ bus: any MessageBus,
    _ terminal: Terminal
  ) async throws(CaravanError) {
    let shown = query.fields.isEmpty ? type.fields : type.fields.filter { query.fields.contains($0.name) }
    var table = TextTable(["ZONE", "RECORD"] + shown.map(\.name))
    try await pages(query, limit, bus) { reply throws(CaravanError) in
      for hit in reply.hits {
        let fields = try RecordFields(body: hit.entry?.body ?? [])
        table.add([hit.zone, hit.entry?.name ?? ""] + shown.map { fields[$0.id].shown(of: $0.kind) })
      }
    }
    let place = query.database.owner == nil ? " in the public database: --user U asks a user's own" : ""
    terminal.say(table.isEmpty ? "nothing found\(place)" : table.text)
  }

  private static func printJSON(
    _ query: CaravanModel.Query, _ limit: Int?, _ bus: any MessageBus, _ terminal: Terminal
  ) async throws(CaravanError) {
    var list = JSONList(terminal)
    try await pages(query, limit, bus) { reply throws(CaravanError) in
      let type = try required(reply.type, "type").model()
      for hit in reply.hits {
        let entry = try required(hit.entry, "entry").model()
        let fields = try RecordFields(body: entry.body)
        var values = JSON.Object()
        for field in type.fields where query.fields.isEmpty || query.fields.contains(field.name) {
          values[field.name] = fields[field.id].json
        }
        list.add([
          "zone": .string(hit.zone), "record": .string(entry.name), "version": .int(Int64(clamping: entry.version)),
          "fields": .object(values), "created": act(entry.authorship.created, by: entry.authorship.creator),
          "modified": act(entry.authorship.modified, by: entry.writer),
        ])
      }
    }
    list.finish()
  }

  /// When and by whom, as `caravan app read --json` shows it; null: it is from before the store kept that.
  private static func act(_ milliseconds: Int64, by writer: String) -> JSON {
    guard milliseconds > 0 else { return .null }
    // What sync has settled for a device is that device's.
    guard let device = try? EnrolledDevice(writer.hasPrefix("@sync/") ? String(writer.dropFirst(6)) : writer) else {
      return ["time": .int(milliseconds), "user": .null, "device": .string(writer)]
    }
    return [
      "time": .int(milliseconds), "user": .string(device.user.text), "device": .string(device.device.text),
    ]
  }
}
