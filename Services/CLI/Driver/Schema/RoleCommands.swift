internal import CaravanCLICore
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// `caravan role list|add|remove`: which users have roles of a container's own, in whose name record types grant rights
/// in its public database (CK-04).
enum RoleCommands {
  private static let role = Flag<String?>("role", "ROLE", "only this role")
  private static let common: FlagList =
    [SchemaCommands.environment, SchemaChangeCommands.json]
    + SchemaChangeCommands.common

  static let tools = [
    Tool(
      Command(
        "caravan role list", "Shows a container's own roles and which users have them.", flags: [role] + common)
    ) { options, terminal in try await list(options, terminal) },
    Tool(
      Command(
        "caravan role add",
        "Gives a user a role of a container's own. There is one where a record type grants it something (caravan "
          + "schema set --grant ROLE=RIGHTS).",
        operands: .init("ROLE USER", 2...2), flags: common), changesCloud: true
    ) { options, terminal in try await change(options, terminal, isMember: true) },
    Tool(
      Command(
        "caravan role remove",
        "Takes a role from a user: when this ends, nothing more is written with it, and within a second nothing is "
          + "read.",
        operands: .init("ROLE USER", 2...2), flags: common), changesCloud: true
    ) { options, terminal in try await change(options, terminal, isMember: false) },
  ]

  private static func change(
    _ options: Options, _ terminal: Terminal, isMember: Bool
  ) async throws(CaravanError) {
    let member = CaravanModel.RoleMember(role: options.operands[0], user: try UserID(options.operands[1]))
    try OwnRole.check(member.role)
    let environment = try Environment(flag: options[SchemaCommands.environment])
    let isChanged = try await SchemaChangeCommands.session(options, terminal) { (session) throws(CaravanError) in
      try await session.change(member, isMember: isMember, in: environment)
    }
    if options[SchemaChangeCommands.json] {
      return terminal.say(JSON.object(["changed": .bool(isChanged)]).encoded())
    }
    let (user, role) = (member.user, member.role)
    switch (isMember, isChanged) {
    case (true, true): terminal.say("user '\(user)' has the role '\(role)' in \(environment.rawValue)")
    case (true, false): terminal.say("user '\(user)' had the role '\(role)' in \(environment.rawValue) already")
    case (false, true): terminal.say("user '\(user)' has the role '\(role)' in \(environment.rawValue) no more")
    case (false, false): terminal.say("user '\(user)' had no role '\(role)' in \(environment.rawValue)")
    }
  }

  private static func list(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let environment = try Environment(flag: options[SchemaCommands.environment])
    let wanted = options[role]
    let found = try await SchemaChangeCommands.session(options, terminal) { (session) throws(CaravanError) in
      try await session.members(of: wanted, in: environment)
    }
    let named = Set(found.roles).union(found.members.map(\.role)).filter { wanted == nil || wanted == $0 }
    let users = Dictionary(grouping: found.members, by: \.role)
    if options[SchemaChangeCommands.json] {
      let roles = named.sorted().map { role -> JSON in
        [
          "role": .string(role), "granted": .bool(found.roles.contains(role)),
          "users": .array((users[role] ?? []).map { .string($0.user.text) }),
        ]
      }
      return terminal.say(JSON.array(roles).encoded())
    }
    var table = TextTable(["ROLE", "USERS", ""])
    for role in named.sorted() {
      let note = found.roles.contains(role) ? "" : "no record type grants it anything"
      table.add([role, (users[role] ?? []).map(\.user.text).joined(separator: ", "), note])
    }
    terminal.say(
      table.isEmpty
        ? "no record type of \(environment.rawValue) grants anything to a role of the container's own" : table.text)
  }
}
