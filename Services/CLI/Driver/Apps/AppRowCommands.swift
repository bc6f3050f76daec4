internal import CaravanCLICore
internal import CaravanClient
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// `write`, `read`, `update`, `delete`.
enum AppRowCommands {
  private static let columns = Flag<[String]>("columns", "A,B", "columns to show; all without it", default: [])
  private static let order = Flag<String?>(
    "order-by", "COLUMNS", "COLUMN [asc|desc], several with commas; also ___createTime, ___modTime")
  private static let limit = Flag<Int?>("limit", "N", "most rows shown")
  private static let out = Flag<String?>("out", "DIR", "write the rows' objects to DIR/<row>.<column>")
  private static let aside = Flag<Bool>(
    "aside", "what was not sent before the cloud said that the table's zone does not exist")
  private static let within = Flag<Seconds?>("within", "S", "send it within so many seconds, whatever is registered")
  private static let mayBeLost = Flag<Bool>("may-be-lost", "it only goes along with other data, or is lost")
  private static let never = Flag<Bool>("never-lost", "it is not lost, whatever is registered")
  private static let life = Flag<Seconds?>("ttl", "S", "a row that may be lost is not sent later than this")

  private static func operands(_ text: String, from least: Int) -> Command.Operands {
    .init(text, least...AppCommands.operandLimit)
  }

  static let tools = [
    AppSession.tool(
      "write", "Adds a row; objects come from files.", operands("TABLE COLUMN=VALUE|COLUMN=@FILE ...", from: 2),
      details: TypedText.help,
      flags: [within, mayBeLost, never, life]
    ) { session in try await write(session) },
    AppSession.tool(
      "read", "Shows rows.", operands("TABLE [ARGUMENT ...]", from: 1), details: TypedText.help,
      flags: [AppSelection.flag, columns, order, limit, out, aside]
    ) { session in try await read(session) },
    AppSession.tool(
      "update", "Changes every row selected.", operands("TABLE [ARGUMENT ...] COLUMN=VALUE|COLUMN=@FILE ...", from: 2),
      details: TypedText.help,
      flags: AppSelection.flags
    ) { session in try await update(session) },
    AppSession.tool(
      "delete", "Removes every row selected.", operands("TABLE [ARGUMENT ...]", from: 1),
      flags: AppSelection.flags
    ) { session in try await delete(session) },
  ]

  // MARK: Write

  private static func write(_ session: AppSession) async throws {
    let schema = try await session.schema()
    let content = try RowContent(Assignment.list(session.operands.dropFirst(), schema: schema))
    let written = try await session.table.write(
      content.cells, objects: content.objects, intent: try intent(session.options)
    ) { try await content.fill($0) }
    session.say(written.row, json: ["row": .string(written.row), "promise": .string(written.promise.rawValue)])
  }

  private static func intent(_ options: Options) throws(CaravanError) -> WriteIntent {
    guard !options[mayBeLost] || !options[never] else {
      throw CaravanError(.invalidData, "--may-be-lost or --never-lost: which?")
    }
    return WriteIntent(
      within: options[within]?.duration,
      loss: options[mayBeLost] ? .tolerated : options[never] ? .never : .asRegistered,
      timeToLive: options[life]?.duration)
  }

  private static func update(_ session: AppSession) async throws {
    let schema = try await session.schema()
    let selected = try selection(session, schema)
    let content = try RowContent(Assignment.list(try selected.requireMore(), schema: schema))
    let rows = try await session.table.update(selected.selection, content.cells, objects: content.objects) {
      try await content.fill($0)
    }
    session.say(Self.counted(rows.count, "changed"), json: ["rows": .array(rows.map(JSON.string))])
  }

  private static func delete(_ session: AppSession) async throws {
    let selected = try selection(session, try await session.schema())
    try selected.requireNothingElse()
    let count = try await session.table.delete(selected.selection)
    session.say(Self.counted(Int(clamping: count), "removed"), json: ["rows": .int(Int64(clamping: count))])
  }

  private static func selection(_ session: AppSession, _ schema: SchemaText?) throws(CaravanError) -> AppSelection {
    try AppSelection(required: session.options, session.operands.dropFirst(), schema: schema)
  }

  private static func counted(_ count: Int, _ what: String) -> String {
    "\(count) row\(count == 1 ? "" : "s") \(what)"
  }

  // MARK: Read

  private static func read(_ session: AppSession) async throws {
    let schema = try await session.schema()
    let selected = try AppSelection(session.options[AppSelection.flag], session.operands.dropFirst(), schema: schema)
    try selected.requireNothingElse()
    let most = session.options[limit] ?? .max
    guard most > 0 else { throw CaravanError(.invalidData, "--limit \(most): give 1 or more") }
    let names = session.options[columns]
    let shown = names.isEmpty ? schema?.columns.map(\.name) ?? [] : names
    let keys = try session.options[order].map(SortText.keys) ?? []
    guard keys.allSatisfy({ $0.near == nil }) else {
      throw CaravanError(.invalidData, "--order-by: distances are for the cloud: caravan app query")
    }
    guard !session.options[aside] || keys.isEmpty else {
      throw CaravanError(.invalidData, "--aside has no order: leave --order-by out")
    }
    let rows =
      session.options[aside]
      ? session.table.rowsAside(selected.selection, columns: names)
      : session.table.rows(
        selected.selection, columns: names, orderBy: keys.map { (column: $0.field, descending: $0.isDescending) },
        authorship: session.asJSON)
    let folder = try session.options[out].map { path throws(CaravanError) in try OutFolder(path) }
    var list = JSONList(session.terminal)
    var table = TextTable(["ROW", "STATE"] + shown)
    var left = most
    do {
      for try await row in rows {
        guard left > 0 else { break }
        left -= 1
        let files = try await folder?.save(row, of: session.table) ?? []
        if session.asJSON {
          list.add(json(row, shown, files))
        } else {
          table.add([row.id, row.standing] + shown.map { row.shown($0, schema) })
        }
      }
    } catch {
      list.cutShort()
      throw error
    }
    if session.asJSON { return list.finish() }
    session.terminal.say(table.isEmpty ? "no rows" : table.text)
  }

  private static func json(
    _ row: AppRow, _ columns: [String], _ files: [(column: String, path: String)]
  ) -> JSON {
    guard !files.isEmpty, var object = row.json(columns).objectValue else { return row.json(columns) }
    var paths = JSON.Object()
    for file in files { paths[file.column] = .string(file.path) }
    object["files"] = .object(paths)
    return .object(object)
  }
}
