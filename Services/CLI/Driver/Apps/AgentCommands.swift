internal import CaravanCLICore
internal import CaravanClient
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// `caravan agent apps|allow|forget`: the device's owner decides who may be which app.
enum AgentCommands {
  private static let socket = Flag<String>(
    "socket", "PATH", "the agent's socket", environment: "CARAVAN_SOCKET", default: "/run/caravan/agent.sock")
  private static let user = Flag<Int>("uid", "UID", "the user's number (id -u)", in: 0...Int(UInt32.max) - 1)
  private static let app = Command.Operands("APP", 1...1)

  static let tools = [
    tool("apps", "Lists the apps of the device, and those that wait to be allowed.", flags: [AppSession.json]) {
      owner, options, terminal in
      let apps = try await owner.apps()
      terminal.say(options[AppSession.json] ? JSON.array(apps.map(json)).encoded() : text(apps))
    },
    tool(
      "allow", "Has a user be an app. If the app has lost its token, it gets another.", app, flags: [user]
    ) { owner, options, terminal in
      let (app, user) = (try ContainerID(options.operands[0]), UInt32(options[user]))
      try await owner.allow(app, user: user)
      terminal.say("app '\(app)' is user \(user)'s, and may come")
    },
    tool("forget", "Ends an app's connections and has nobody be it. Its tables stay.", app) {
      owner, options, terminal in
      let app = try ContainerID(options.operands[0])
      let tables = try await owner.forget(app)
      let left = tables == 0 ? "it has no tables" : "its tables (\(tables)) stay, for whoever is this app next"
      terminal.say("app '\(app)' is forgotten: \(left)")
    },
  ]

  private static func tool(
    _ word: String, _ summary: String, _ operands: Command.Operands = .none, flags: FlagList = [],
    _ work: @escaping @Sendable (DeviceOwner, Options, Terminal) async throws -> Void
  ) -> Tool {
    Tool(Command("caravan agent \(word)", summary, operands: operands, flags: [socket] + flags)) { options, terminal in
      try await DeviceOwner.withConnection(to: options[socket], within: AppSession.patience) { owner in
        try await work(owner, options, terminal)
      }
    }
  }

  static func text(_ apps: [DeviceOwner.App]) -> String {
    guard !apps.isEmpty else { return "no app has come yet" }
    var table = TextTable(["APP", ">UID", "STATE"])
    for app in apps { table.add([app.name, String(app.user), state(of: app)]) }
    return table.text
  }

  private static func state(of app: DeviceOwner.App) -> String {
    switch app.standing {
    case .bound: "known"
    case .allowed: "allowed, has not come yet"
    case .waiting: "waits: caravan agent allow \(app.name) --uid \(app.user)"
    }
  }

  private static func json(_ app: DeviceOwner.App) -> JSON {
    ["app": .string(app.name), "uid": .int(Int64(app.user)), "state": .string(app.standing.rawValue)]
  }
}
