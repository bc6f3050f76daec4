internal import CaravanCLICore
internal import CaravanClient
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// `conflicts` and `resolve`.
enum AppConflictCommands {
  static let tools = [
    AppSession.tool("conflicts", "Shows rows that were changed here and elsewhere.", .init("TABLE", 1...1)) {
      session in try await show(session)
    },
    AppSession.tool(
      "resolve", "Ends a row's conflict: keeps mine, takes theirs, or puts new values on top of mine.",
      .init("TABLE ROW mine|theirs|COLUMN=VALUE ...", 3...AppCommands.operandLimit)
    ) { session in try await resolve(session) },
  ]

  // MARK: Show

  private static func show(_ session: AppSession) async throws {
    let schema = try await session.schema()
    let conflicts = try await session.table.withConflictResolution { try await $0.conflicts() }
    if session.asJSON {
      var list = JSONList(session.terminal)
      for conflict in conflicts { list.add(json(conflict, columns(conflict, schema))) }
      return list.finish()
    }
    guard !conflicts.isEmpty else { return session.terminal.say("no conflicts") }
    let blocks = conflicts.map { text($0, columns($0, schema), schema) }
    session.terminal.say(blocks.joined(separator: "\n\n"))
  }

  private static func columns(_ conflict: Conflict, _ schema: SchemaText?) -> [String] {
    if let schema { return schema.columns.map(\.name) }
    return Set(conflict.mine.columns + (conflict.theirs?.columns ?? []) + (conflict.ancestor?.columns ?? [])).sorted()
  }

  private static func text(_ conflict: Conflict, _ columns: [String], _ schema: SchemaText?) -> String {
    var table = TextTable(["COLUMN", "MINE", "THEIRS", "BEFORE"])
    for column in columns {
      table.add([
        column, conflict.isMineDeleted ? "(deleted)" : conflict.mine.shown(column, schema),
        conflict.theirs?.shown(column, schema) ?? "(deleted)", conflict.ancestor?.shown(column, schema) ?? "",
      ])
    }
    return "row \(conflict.mine.id)\n\(table.text)"
  }

  private static func json(_ conflict: Conflict, _ columns: [String]) -> JSON {
    [
      "row": .string(conflict.mine.id), "mine_deleted": .bool(conflict.isMineDeleted),
      "mine": conflict.mine.json(columns), "theirs": conflict.theirs?.json(columns) ?? .null,
      "ancestor": conflict.ancestor?.json(columns) ?? .null,
    ]
  }

  // MARK: Resolve

  private static func resolve(_ session: AppSession) async throws {
    let row = session.operands[1]
    let resolution = try resolution(session.operands.dropFirst(2), schema: try await session.schema())
    try await session.table.withConflictResolution { try await $0.resolve(row, resolution) }
    session.say("row \(row) is resolved", json: ["row": .string(row)])
  }

  private static func resolution(
    _ words: some Collection<String>, schema: SchemaText?
  ) throws(CaravanError) -> Resolution {
    if words.count == 1, words.first == "mine" { return .mine }
    if words.count == 1, words.first == "theirs" { return .theirs }
    var cells: [String: Value] = [:]
    for assignment in try Assignment.list(words, schema: schema) {
      guard case .value(let value) = assignment.source else {
        throw CaravanError(
          .invalidData, "'\(assignment.column)': resolve with mine or theirs first, then give it a file with update")
      }
      cells[assignment.column] = value
    }
    return .new(cells)
  }
}
