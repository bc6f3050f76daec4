internal import CaravanCLICore
internal import CaravanClient
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// `query`: what the cloud has, on this device or not.
enum AppCloudCommand {
  private static let columns = Flag<[String]>("columns", "A,B", "columns to show; all without it", default: [])
  private static let selection = Flag<String?>(
    "where", "TEXT", "which: a=? AND (b>? OR c MATCH 'snow'), arguments follow as operands")
  private static let order = Flag<String?>(
    "order-by", "COLUMNS", "COLUMN [asc|desc], or COLUMN near LATITUDE LONGITUDE, several with commas")
  private static let limit = Flag<Int?>("limit", "N", "most rows shown")
  private static let zone = Flag<String?>("zone", "ZONE", "only rows of this zone: of a table, its name")
  private static let isPublic = Flag<Bool>("public", "the database that all users of the app share")
  private static let count = Flag<Bool>("count", "how many there are")

  static let tool = AppSession.tool(
    "query", "Finds rows in the cloud, whether or not this device has them.",
    .init("TABLE [ARGUMENT ...]", 1...AppCommands.operandLimit), details: QueryLanguage.help,
    flags: [selection, order, columns, limit, zone, isPublic, count]
  ) { session in try await query(session) }

  private static func query(_ session: AppSession) async throws {
    let schema = try await session.schema()
    let arguments = session.operands.dropFirst()
    let text = session.options[selection]
    guard text != nil || arguments.isEmpty else {
      throw CaravanError(.invalidData, "'\(arguments.first ?? "")' is an argument of no --where")
    }
    let values = try text.map { text throws(CaravanError) in try Self.values(text, Array(arguments), schema) } ?? []
    let selected = Table.Selection(text, values)
    let database: CloudDatabase = session.options[isPublic] ? .public : .private
    guard !session.options[count] else {
      let found = try await session.table.countInCloud(selected, in: database, zone: session.options[zone])
      return session.say("\(found)", json: ["count": .int(Int64(clamping: found))])
    }
    let most = session.options[limit]
    guard most.map({ $0 > 0 }) ?? true else {
      throw CaravanError(.invalidData, "--limit \(most ?? 0): give 1 or more")
    }
    let keys = try session.options[order].map(SortText.keys) ?? []
    let rows = session.table.queryCloud(
      selected, in: database, columns: session.options[columns],
      orderBy: keys.map { CloudOrder($0.field, isDescending: $0.isDescending, near: $0.near) },
      zone: session.options[zone], limit: most)
    try await show(rows, schema, session)
  }

  /// A table that this device does not have has columns of which nothing is known here.
  static func values(
    _ text: String, _ arguments: [String], _ schema: SchemaText?
  ) throws(CaravanError) -> [Value] {
    guard let schema else { return arguments.map(TypedText.guess) }
    let type = RecordType(id: 1, definition: 1, name: "TABLE", fields: schema.fields { UInt32($0 + 1) })
    return try WhereText(text).values(of: type, arguments)
  }

  private static func show(_ rows: CloudRows, _ schema: SchemaText?, _ session: AppSession) async throws {
    var list = JSONList(session.terminal)
    var found: [CloudRow] = []
    var iterator = rows.makeAsyncIterator()
    while let row = try await iterator.next() {
      guard session.asJSON else {
        found.append(row)
        continue
      }
      list.add(["zone": .string(row.zone), "row": row.row.json(row.row.columns)])
    }
    guard !session.asJSON else { return list.finish() }
    let names = session.options[columns]
    let shown =
      !names.isEmpty ? names : schema?.columns.map(\.name) ?? Set(found.flatMap(\.row.columns)).sorted()
    var table = TextTable(["ZONE", "ROW"] + shown)
    for row in found { table.add([row.zone, row.row.id] + shown.map { row.row.shown($0, schema) }) }
    session.terminal.say(table.isEmpty ? "nothing found" : table.text)
  }
}
