internal import CaravanBus
internal import CaravanCLICore
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStorageClient
internal import CaravanWire

/// `caravan deletion add|cancel|list`: a zone, or all of a user's data, after a time of grace (CK-32).
enum DeletionCommands {
  private static let user = Flag<String>("user", "U", "whose data")
  private static let container = Flag<String?>("container", "C", "only this zone: its container, and")
  private static let environment = Flag<String>(
    "environment", "E", "of that container: development or production", default: Environment.development.rawValue)
  private static let zone = Flag<String?>("zone", "Z", "its name: a table's")
  private static let grace = Flag<String?>("after", "TIME", "how long it can be called off: 30d unless said, 12h, 0")
  private static let json = Flag<Bool>("json", "a JSON array")
  private static let targetFlags: FlagList = [user, container, environment, zone]
  private static let place: FlagList = [Flag<String?>.suiteDirectory] + Deployment.brokerFlags

  private static let usualGrace = "30d"

  static let tools = [
    Tool(
      Command(
        "caravan deletion add", "Has a zone, or everything a user has, deleted when its grace is over.",
        flags: targetFlags + [grace] + place), changesCloud: true
    ) { options, terminal in try await add(options, terminal) },
    Tool(
      Command("caravan deletion cancel", "Calls a deletion off that has not begun.", flags: targetFlags + place),
      changesCloud: true
    ) { options, terminal in try await cancel(options, terminal) },
    Tool(
      Command("caravan deletion list", "Shows what waits to be deleted.", flags: [json] + place)
    ) { options, terminal in try await list(options, terminal) },
  ]

  private static func targeted(by options: Options) throws(CaravanError) -> DelayedAction.Target {
    let user = try UserID(options[user])
    switch (options[container], options[zone]) {
    case (nil, nil): return .user(user.text)
    case (let container?, let zone?):
      let database = DatabaseID(
        container: try ContainerID(container), environment: try Environment(flag: options[environment]), owner: user)
      return .zone(ZoneRef(try ZoneID(database, zone)))
    case (_, _): throw CaravanError(.invalidData, "--container and --zone go together: give both, or neither")
    }
  }

  private static func asking<R: Sendable>(
    _ options: Options, _ terminal: Terminal, _ body: (StorageClient) async throws(CaravanError) -> R
  ) async throws(CaravanError) -> R {
    let bus = try Deployment(options: options, host: terminal.host).bus(.cli)
    return try await bus.with(terminal.host) { bus throws(CaravanError) in
      try await body(StorageClient(bus: bus, host: terminal.host, writer: "@cli"))
    }
  }

  private static func add(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let target = try targeted(by: options)
    let grace = Duration.milliseconds(
      Int64(clamping: try LifetimeText.milliseconds(options[grace] ?? usualGrace)))
    let action = try await asking(options, terminal) { storage throws(CaravanError) in
      try await storage.schedule(target, after: grace, by: "operator")
    }
    terminal.say("\(action.what) will be deleted at \(action.due): until then, the same with 'cancel' calls it off")
  }

  private static func cancel(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let target = try targeted(by: options)
    let action = try await asking(options, terminal) { storage throws(CaravanError) in
      try await storage.cancel(target)
    }
    terminal.say("\(action.what) stays")
  }

  private static func list(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let reply = try await asking(options, terminal) { storage throws(CaravanError) in try await storage.actions() }
    if options[json] { return terminal.say(JSON.array(reply.actions.map(\.json)).encoded()) }
    var table = TextTable(["WHAT", "DUE", "BY", "STATE"])
    for action in reply.actions {
      table.add([action.what, action.due, action.requestedBy, action.begun ? "begun" : "waits"])
    }
    terminal.say(table.isEmpty ? "nothing waits to be deleted" : table.text + (reply.more ? "\n… and more" : ""))
  }
}

extension DelayedAction {
  fileprivate var what: String {
    switch target {
    case .zone(let zone):
      "zone '\(zone.zone)' of '\(zone.database?.container ?? "")' of user '\(zone.database?.owner ?? "")'"
    case .user(let user): "everything of user '\(user)'"
    case nil: "nothing"
    }
  }

  fileprivate var due: String { WallTime(milliseconds: Int64(clamping: dueMilliseconds)).description }

  fileprivate var json: JSON {
    ["what": .string(what), "due": .string(due), "by": .string(requestedBy), "begun": .bool(begun)]
  }
}
