internal import CaravanCLICore
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSchemaClient

/// `caravan container create|list|show|allow-developer|remove-developer|invite|uninvite`: whose a container is, who
/// says how its records behave (CK-01), and who may use it.
enum ContainerCommands {
  private static let owner = Flag<String>("owner", "USER", "whose it is: the user develops it, too")
  private static let membersOnly = Flag<Bool>(
    "members-only", "for its owner, developers and whom you invite; else every user of the suite may use it")
  private static let json = Flag<Bool>("json", "for programs")
  private static let flags: FlagList = [Flag<String?>.suiteDirectory, json] + Deployment.brokerFlags

  static let tools = [
    Tool(
      Command(
        "caravan container create", "Registers a container, or says whose one is that its first user has opened.",
        operands: .init("NAME", 1...1), flags: [owner, membersOnly] + flags), changesCloud: true
    ) { options, terminal in
      let (name, owner) = (options.operands[0], try UserID(options[owner]))
      let isForMembers = options[membersOnly]
      try await showOne(options, terminal) { (schema) throws(CaravanError) in
        try await schema.createContainer(name, owner: owner, isForMembers: isForMembers)
      }
    },
    Tool(
      Command("caravan container list", "Shows the containers of the suite.", flags: flags)
    ) { options, terminal in try await list(options, terminal) },
    Tool(
      Command("caravan container show", "Shows one container.", operands: .init("NAME", 1...1), flags: flags)
    ) { options, terminal in
      let name = options.operands[0]
      try await showOne(options, terminal) { (schema) throws(CaravanError) in
        try await schema.container(named: name)
      }
    },
    Tool(
      Command(
        "caravan container allow-developer", "Lets a user say how the records of a container behave.",
        operands: .init("NAME USER", 2...2), flags: flags), changesCloud: true
    ) { options, terminal in
      let (name, user) = (options.operands[0], try UserID(options.operands[1]))
      try await showOne(options, terminal) { (schema) throws(CaravanError) in
        try await schema.allowDeveloper(user, in: name)
      }
    },
    Tool(
      Command(
        "caravan container remove-developer", "Takes that from them. What they have said stays.",
        operands: .init("NAME USER", 2...2), flags: flags), changesCloud: true
    ) { options, terminal in
      let (name, user) = (options.operands[0], try UserID(options.operands[1]))
      try await showOne(options, terminal) { (schema) throws(CaravanError) in
        try await schema.removeDeveloper(user, from: name)
      }
    },
    Tool(
      Command(
        "caravan container invite", "Lets a user use a container that is for members.",
        operands: .init("NAME USER", 2...2), flags: flags), changesCloud: true
    ) { options, terminal in
      let (name, user) = (options.operands[0], try UserID(options.operands[1]))
      try await showOne(options, terminal) { (schema) throws(CaravanError) in
        try await schema.invite(user, to: name)
      }
    },
    Tool(
      Command(
        "caravan container uninvite", "Takes that from them: to them it is not there any more. What they have stays.",
        operands: .init("NAME USER", 2...2), flags: flags), changesCloud: true
    ) { options, terminal in
      let (name, user) = (options.operands[0], try UserID(options.operands[1]))
      try await showOne(options, terminal) { (schema) throws(CaravanError) in
        try await schema.uninvite(user, from: name)
      }
    },
  ]

  private static func asking<R: Sendable>(
    _ options: Options, _ terminal: Terminal, _ ask: @Sendable (SchemaClient) async throws(CaravanError) -> R
  ) async throws(CaravanError) -> R {
    let bus = try Deployment(options: options, host: terminal.host).bus(.cli)
    return try await bus.with(terminal.host) { bus throws(CaravanError) in try await ask(SchemaClient(bus: bus)) }
  }

  private static func showOne(
    _ options: Options, _ terminal: Terminal,
    _ ask: @Sendable (SchemaClient) async throws(CaravanError) -> RegisteredContainer
  ) async throws(CaravanError) {
    let container = try await asking(options, terminal, ask)
    guard !options[json] else { return terminal.say(container.json.encoded()) }
    var table = TextTable(["CONTAINER", container.name])
    for (name, text) in container.lines { table.add([name, text]) }
    terminal.say(table.text)
  }

  private static func list(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let containers = try await asking(options, terminal) { (schema) throws(CaravanError) in
      try await schema.containers()
    }
    if options[json] { return terminal.say(JSON.array(containers.map(\.json)).encoded()) }
    var table = TextTable(["CONTAINER", "ID", "OWNER", ">DEVELOPERS", "ENVIRONMENTS", "FOR"])
    for container in containers {
      table.add([
        container.name, container.id.text, container.ownerText, String(container.developers.count),
        container.environments.map(\.rawValue).joined(separator: ", "), container.usersText,
      ])
    }
    terminal.say(table.isEmpty ? "there are no containers" : table.text)
  }
}

extension RegisteredContainer {
  fileprivate var ownerText: String { owner?.text ?? "(operator)" }
  fileprivate var usersText: String { isForMembers ? "members" : "everybody" }

  fileprivate var lines: [(String, String)] {
    [
      ("id", id.text), ("owner", ownerText), ("developers", developers.map(\.text).joined(separator: ", ")),
      ("environments", environments.map(\.rawValue).joined(separator: ", ")), ("for", usersText),
      ("invited", invited.map(\.text).joined(separator: ", ")),
    ]
  }

  fileprivate var json: JSON {
    [
      "id": .string(id.text), "name": .string(name), "owner": owner.map { .string($0.text) } ?? .null,
      "developers": .array(developers.map { .string($0.text) }),
      "environments": .array(environments.map { .string($0.rawValue) }), "members_only": .bool(isForMembers),
      "invited": .array(invited.map { .string($0.text) }),
    ]
  }
}
