internal import CaravanCLICore
internal import CaravanClient
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// What commands of `caravan app` share: where the agent is, who speaks, and what its tables are.
struct AppSession: Sendable {
  static let socket = Flag<String>("socket", "PATH", "the agent's socket", environment: "CARAVAN_SOCKET")
  static let app = Flag<String>("app", "A", "the app: 1 to 63 of a-z, 0-9 and '-'", environment: "CARAVAN_APP")
  static let json = Flag<Bool>("json", "for programs")
  static let flags: FlagList = [socket, app, json]

  /// An agent without a sign of life for so long is stopped or hangs; no transaction takes so long.
  static let patience: Duration = .seconds(30)

  let client: CaravanClient
  let options: Options
  let terminal: Terminal

  var asJSON: Bool { options[Self.json] }
  var operands: [String] { options.operands }

  /// A command of `caravan app`, of these flags beside those of all.
  static func tool(
    _ words: String, _ summary: String, _ operands: Command.Operands = .none, details: String = "",
    flags: FlagList = [],
    _ work: @escaping @Sendable (AppSession) async throws -> Void
  ) -> Tool {
    let command = Command(
      "caravan app \(words)", summary, details: details, operands: operands, flags: Self.flags + flags)
    return Tool(command) { options, terminal in
      let name = try name(options)
      try await CaravanClient.withConnection(to: options[socket], app: name, within: patience) { client in
        try await work(AppSession(client: client, options: options, terminal: terminal))
      }
    }
  }

  /// - Throws: `invalidData` naming the flag: whoever types it thinks of an app, not of its container.
  private static func name(_ options: Options) throws(CaravanError) -> String {
    do throws(CaravanError) { return try ContainerID(options[app]).text } catch {
      throw CaravanError(error.code, "--app (CARAVAN_APP): \(error.message)")
    }
  }

  /// The table that the first operand names.
  var table: Table { client.table(operands[0]) }

  /// Its columns; nil when there is no such table: whatever is asked of it then, the agent refuses.
  func schema() async throws(CaravanError) -> SchemaText? { try await schema(of: operands[0]) }

  /// The same, of the table of this name.
  func schema(of name: String) async throws(CaravanError) -> SchemaText? {
    guard let table = try await client.status().tables.first(where: { $0.name == name }), !table.schema.isEmpty
    else { return nil }
    return try SchemaText(parsing: table.schema)
  }

  /// Says a result: the line to people, the value to programs.
  func say(_ line: String, json value: @autoclosure () -> JSON) {
    terminal.say(asJSON ? value().encoded() : line)
  }
}
