internal import CLICore
internal import Client
internal import Encoding
internal import Model
internal import Runtime

/// `caravan app`: by hand what an app does with `CaravanClient`.
enum AppCommands {
  /// Flags with a value that may stand before the command's word.
  static let leadingFlags: Set<String> = ["socket", "app"]

  static let tools: [Tool] =
    tables + AppRowCommands.tools + AppSyncCommands.tools + AppConflictCommands.tools + AppDeviceCommands.tools

  /// Operands of the longest command line.
  static let operandLimit = 1_000

  // MARK: Tables

  private static let localOnly = Flag<Bool>("local-only", "keep the table on this device")

  private static let tables = [
    AppSession.tool(
      "create-table", "Makes a table, or confirms that it is there.", .init("TABLE SCHEMA", 2...2), flags: [localOnly]
    ) { session in
      let table = session.operands[0]
      try await session.client.createTable(table, session.operands[1], isLocalOnly: session.options[localOnly])
      session.say("table '\(table)' is there", json: ["table": .string(table)])
    },
    AppSession.tool("drop-table", "Removes a table with its rows and objects.", .init("TABLE", 1...1)) { session in
      let table = session.operands[0]
      try await session.client.dropTable(table)
      session.say("table '\(table)' is gone", json: ["table": .string(table)])
    },
  ]
}
