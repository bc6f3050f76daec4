internal import CaravanCLICore
internal import CaravanClient
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// `caravan app`: by hand what an app does with `CaravanClient`.
enum AppCommands {
  /// Flags with a value that may stand before the command's word.
  static let leadingFlags: Set<String> = ["socket", "app"]

  static let tools: [Tool] =
    tables + AppRowCommands.tools + [AppCloudCommand.tool, AppLiveCommand.tool] + AppRecordCommands.tools
    + [AppBatchCommand.tool] + AppSyncCommands.tools + AppSubscriptionCommands.tools + AppPushCommands.tools
    + AppConflictCommands.tools + AppDeviceCommands.tools

  /// Operands of the longest command line.
  static let operandLimit = 1_000

  // MARK: Tables

  private static let localOnly = Flag<Bool>("local-only", "keep the table on this device")
  private static let full = Flag<Bool>("full", "keep all of the table's rows here and in the cloud")
  private static let recentRows = Flag<Int?>("recent-rows", "N", "keep the N rows that changed last here")
  private static let recentAge = Flag<Seconds?>("recent-age", "S", "keep rows here that are not older, in seconds")
  private static let mode = Flag<String?>(
    "store-mode", "MODE", "how objects are overwritten: copy-on-write or in-place")
  private static let eager = Flag<[String]>("eager", "COLUMNS", "objects that come with their rows", default: [])
  private static let lazy = Flag<[String]>("lazy", "COLUMNS", "objects that come when they are read", default: [])
  private static let never = Flag<[String]>("never-fetch", "COLUMNS", "objects that stay in the cloud", default: [])
  private static let query = Flag<String?>(
    "query", "WHERE", "keep the rows that this finds here, and no others; with '?' for the arguments, which follow")
  private static let consistency = Flag<String?>(
    "consistency", "WHAT", "what is seen of rows that others change: row (each by itself) or snapshot (all as of once)")
  private static let propertyFlags: FlagList = [
    full, localOnly, recentRows, recentAge, query, mode, eager, lazy, never, consistency,
  ]

  private static let discardUnsent = Flag<Bool>(
    "discard-unsent", "changes that the cloud does not have may be lost")

  private static let tables = [
    AppSession.tool(
      "create-table", "Makes a table; one that is there gains the columns that it lacks.",
      .init("TABLE SCHEMA [ARGUMENT ...]", 2...operandLimit),
      details: """
        SCHEMA is 'name VARCHAR, since DATE, tags LIST<VARCHAR>': columns of VARCHAR, INTEGER, FLOAT, BLOB, DATE,
        LOCATION, REFERENCE, OBJECT, or LIST<...> of all of these but OBJECT. A REFERENCE is to a row of the same table.
        One VARCHAR or INTEGER may be PRIMARY KEY.
        """, flags: propertyFlags
    ) { session in
      let table = session.operands[0]
      let wanted = try Self.properties(
        session.options, session.operands.dropFirst(2), schema: try? SchemaText(parsing: session.operands[1]))
      try await session.client.createTable(
        table, session.operands[1], isLocalOnly: session.options[localOnly],
        properties: wanted == TableProperties() ? nil : wanted)
      session.say("table '\(table)' is there", json: ["table": .string(table)])
    },
    AppSession.tool(
      "update-table", "Changes what is done with a table; its rows stay.",
      .init("TABLE [ARGUMENT ...]", 1...operandLimit), flags: propertyFlags
    ) { session in
      let table = session.operands[0]
      let arguments = session.operands.dropFirst()
      let schema = arguments.isEmpty ? nil : try await session.schema()
      try await session.client.updateTable(table, properties(session.options, arguments, schema: schema))
      session.say("table '\(table)' is changed", json: ["table": .string(table)])
    },
    AppSession.tool(
      "reset", "Ends a table's error, and has its sync start over.",
      .init("TABLE \(ResetChoice.allCases.map(\.rawValue).joined(separator: "|"))", 2...2), flags: [discardUnsent]
    ) { session in
      guard let choice = ResetChoice(rawValue: session.operands[1]) else {
        throw CaravanError(
          .invalidData, "what becomes of changes that are not at the cloud? Say keep-local or take-server")
      }
      let table = session.operands[0]
      try await session.client.resetTable(table, choice, discardingUnsent: session.options[discardUnsent])
      session.say("table '\(table)' starts over", json: ["table": .string(table)])
    },
    AppSession.tool(
      "drop-table", "Removes a table with its rows and objects.", .init("TABLE", 1...1), flags: [discardUnsent]
    ) { session in
      let table = session.operands[0]
      try await session.client.dropTable(table, discardingUnsent: session.options[discardUnsent])
      session.say("table '\(table)' is gone", json: ["table": .string(table)])
    },
  ]

  /// - Parameter arguments: of the query.
  private static func properties(
    _ options: Options, _ arguments: some Sequence<String>, schema: SchemaText?
  ) throws(CaravanError) -> TableProperties {
    let found = try AppSelection(options[query], arguments, schema: schema, flag: "--query")
    try found.requireNothingElse()
    var wanted = TableProperties()
    let isRecent = options[recentRows] != nil || options[recentAge] != nil
    guard [options[full], options[localOnly], isRecent, options[query] != nil].count(where: { $0 }) <= 1 else {
      throw CaravanError(.invalidData, "--full, --local-only, --recent-… or --query: which?")
    }
    if let text = found.selection.text { wanted.replication = .query(text, found.selection.arguments) }
    if options[full] { wanted.replication = .full }
    if options[localOnly] { wanted.replication = .localOnly }
    if isRecent {
      wanted.replication = .recent(
        rows: options[recentRows].map { UInt64(max(0, $0)) }, age: options[recentAge]?.duration)
    }
    if let text = options[mode] {
      guard let mode = TableProperties.StoreMode(rawValue: text) else {
        throw CaravanError(.invalidData, "--store-mode '\(text)' is none: say copy-on-write or in-place")
      }
      wanted.mode = mode
    }
    if let text = options[consistency] {
      guard let consistency = TableProperties.Consistency(rawValue: text) else {
        throw CaravanError(.invalidData, "--consistency '\(text)' is none: say row or snapshot")
      }
      wanted.consistency = consistency
    }
    for (columns, policy) in [(eager, TableProperties.Fetch.eager), (lazy, .lazy), (never, .never)] {
      for column in options[columns] { wanted.fetch[column] = policy }
    }
    return wanted
  }
}
