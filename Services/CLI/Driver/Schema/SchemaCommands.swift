internal import CaravanBus
internal import CaravanCLICore
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSchemaClient

/// `caravan schema list|set`: record types, and how their records behave (UNI-02, CK-30).
enum SchemaCommands {
  static let container = Flag<String>("container", "C", "the container: an app's name")
  private static let type = Flag<String>("type", "T", "the record type: a table's name")
  private static let fields = Flag<String?>(
    "fields", "SCHEMA", "its fields, as apps write them: 'name VARCHAR, tags LIST<VARCHAR>'; registers what is new")
  private static let conflicts = Flag<String?>(
    "conflicts", "POLICY", "what becomes of saves in conflict: \(policies(ConflictPolicy.allCases))")
  private static let fallback = Flag<String?>(
    "fallback", "POLICY", "where an extension does not decide: \(policies(fallbacks))")
  private static let patience = Flag<Duration?>("extension-within", "TIME", "how long an extension may take")
  private static let lifetime = Flag<String?>(
    "ttl", "TIME", "records end so long after their last write: 90s, 12h, 30d; 0 or never: they do not")
  private static let hidesExpired = Flag<Bool?>(
    "hide-expired", "true|false", "whether expired records are out of sight before they are collected")
  private static let chunkSize = Flag<String?>(
    "chunk-size", "SIZE", "most chunks of its objects are about so long: \(chunkSizes.joined(separator: ", "))")
  private static let grants = Flag<[String]>(
    "grant", "ROLE=RIGHTS",
    "who may do what with its records in the public database: world, authenticated, creator, server or a role of "
      + "your own (caravan role), and create, read, write or nothing; repeatable", default: [])
  static let environment = Flag<String>(
    "environment", "E", "development or production, where devices change no type",
    default: Environment.development.rawValue)
  static let credentials = Flag<String?>(
    "creds", "FILE", "as one of the container's owner or developers: credentials of a device of theirs")
  static let json = Flag<Bool>("json", "a JSON array")
  private static let publicShards = Flag<Int?>("public", "N", "shards of the public database's default zone")
  private static let privateShards = Flag<Int?>("private", "N", "shards of each private database's default zone")

  private static let fallbacks: [ConflictPolicy] = [.manual, .fieldMerge, .lastWriterWins]
  static let place: FlagList = [Flag<String?>.suiteDirectory] + Deployment.brokerFlags

  static let tools = [
    Tool(
      Command(
        "caravan schema list", "Shows a container's record types.", flags: [container, environment, json] + place)
    ) { options, terminal in try await list(options, terminal) },
    Tool(
      Command(
        "caravan schema set", "Says how the records of a type behave; what is not said stays as it is.",
        flags: [container, environment, type, fields, conflicts, fallback, patience, lifetime, hidesExpired, chunkSize]
          + [grants, credentials] + place),
      changesCloud: true
    ) { options, terminal in try await set(options, terminal) },
    Tool(
      Command(
        "caravan schema shards",
        "Shows how a container's default zones are divided, or says it: once, before their first record.",
        flags: [container, environment, publicShards, privateShards] + place), changesCloud: true
    ) { options, terminal in try await shards(options, terminal) },
  ]

  private static func policies(_ policies: [ConflictPolicy]) -> String {
    policies.map(\.rawValue).joined(separator: ", ")
  }

  static func place(
    _ options: Options
  ) throws(CaravanError) -> (container: ContainerID, environment: Environment) {
    (try ContainerID(options[container]), try Environment(flag: options[environment]))
  }

  private static func policy(_ text: String, _ flag: String) throws(CaravanError) -> ConflictPolicy {
    guard let policy = ConflictPolicy(rawValue: text) else {
      throw CaravanError(
        .invalidData, "--\(flag) \(text.prefix(40)): there is no such policy, use \(policies(ConflictPolicy.allCases))")
    }
    return policy
  }

  // MARK: Set

  private static func set(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let (container, environment) = try place(options)
    let name = options[type]
    let change = try change(options)
    let proposed = try options[fields].map { text throws(CaravanError) in try SchemaText(parsing: text) }
    if let file = options[credentials] {
      let said = options.isGiven(Self.environment) ? environment : nil
      let session = try DeveloperSession(file, options, said, terminal.host)
      guard let proposed else {
        throw CaravanError(.invalidData, "--creds needs --fields: all of the type's, 'name VARCHAR, count INTEGER'")
      }
      let type = RecordType(id: 0, definition: 0, name: name, fields: proposed.fields())
      let registered = try await session.declare(type, in: container, change)
      return tell(registered, container, terminal)
    }
    let bus = try Deployment(options: options, host: terminal.host).bus(.cli)
    let registered = try await bus.with(terminal.host) { bus throws(CaravanError) in
      let schema = SchemaClient(bus: bus)
      var type: RecordType
      if let proposed {
        type = RecordType(id: 0, definition: 0, name: name, fields: proposed.fields())
        let registered = try await known(name, of: container, in: environment, schema)
        (type.settings, type.grants) = (registered?.settings, registered?.grants)
      } else {
        type = try await schema.type(named: name, of: container, in: environment)
      }
      try change(&type)
      return try await schema.propose(type, to: container, in: environment, by: nil)
    }
    tell(registered, container, terminal)
  }

  private static func tell(_ type: RecordType, _ container: ContainerID, _ terminal: Terminal) {
    terminal.say("'\(type.name)' of '\(container)': \(type.behaviour)")
  }

  private static func known(
    _ name: String, of container: ContainerID, in environment: Environment, _ schema: SchemaClient
  ) async throws(CaravanError) -> RecordType? {
    do { return try await schema.type(named: name, of: container, in: environment) } catch {
      guard error.code == .tableNotFound else { throw error }
      return nil
    }
  }

  /// What is said of a type, whose other settings and grants stay as they are.
  private static func change(
    _ options: Options
  ) throws(CaravanError) -> @Sendable (inout RecordType) throws(CaravanError) -> Void {
    var granted: [(role: TypeGrants.Role, rights: TypeGrants.Rights)] = []
    for text in options[grants] { granted.append(try GrantText.parse(text)) }
    let settings = try settings(options)
    return { [granted] (type) throws(CaravanError) in
      var all = type.settings ?? TypeSettings()
      settings(&all)
      type.settings = all
      guard !granted.isEmpty else { return }
      var grants = type.grants ?? .standard
      for (role, rights) in granted {
        if case .own(let name) = role, rights.isEmpty, grants[role].isEmpty {
          throw CaravanError(
            .invalidData,
            "'\(type.name)' grants role '\(name)' nothing as it is: roles that every container has are "
              + TypeGrants.Role.standard.map { "\($0)" }.joined(separator: ", "))
        }
        try grants.grant(rights, to: role)
      }
      type.grants = grants
    }
  }

  private static func settings(
    _ options: Options
  ) throws(CaravanError) -> @Sendable (inout TypeSettings) -> Void {
    let conflicts = try options[conflicts].map { text throws(CaravanError) in try policy(text, "conflicts") }
    let fallback = try options[fallback].map { text throws(CaravanError) in try policy(text, "fallback") }
    let patience = options[patience].map { UInt32(clamping: $0.wholeMilliseconds) }
    let lifetime = try options[lifetime].map { text throws(CaravanError) in
      text == "never" ? 0 : try LifetimeText.milliseconds(text)
    }
    let hidesExpired = options[hidesExpired]
    let chunkBytes = try options[chunkSize].map { text throws(CaravanError) in try size(text) }
    return { settings in
      if let conflicts { settings.conflicts = conflicts }
      if let fallback { settings.fallback = fallback }
      if let patience { settings.extensionMilliseconds = patience }
      if let lifetime { settings.ttlMilliseconds = lifetime }
      if let hidesExpired { settings.hidesExpired = hidesExpired }
      if let chunkBytes { settings.chunkBytes = chunkBytes }
    }
  }

  private static let chunkSizes = TypeSettings.chunkSizes.map { "\($0 >> 10)K" }

  private static func size(_ text: String) throws(CaravanError) -> UInt32 {
    guard let index = chunkSizes.firstIndex(of: text.uppercased()) else {
      throw CaravanError(
        .invalidData, "--chunk-size \(text.prefix(40)): use one of \(chunkSizes.joined(separator: ", "))")
    }
    return TypeSettings.chunkSizes[index]
  }

  // MARK: Shards

  private static func shards(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let (container, environment) = try place(options)
    var wanted: ContainerSettings?
    if options[publicShards] != nil || options[privateShards] != nil {
      var settings = ContainerSettings()
      if let count = options[publicShards] { settings.publicShards = UInt32(clamping: count) }
      if let count = options[privateShards] { settings.privateShards = UInt32(clamping: count) }
      try settings.check()
      wanted = settings
    }
    let bus = try Deployment(options: options, host: terminal.host).bus(.cli)
    let saying = wanted
    let settings = try await bus.with(terminal.host) { bus throws(CaravanError) in
      try await SchemaClient(bus: bus).settings(of: container, in: environment, saying: saying)
    }
    guard let settings else {
      return terminal.say(
        "default zones of '\(container)' are not divided yet: from their first record on \(ContainerSettings().text)")
    }
    terminal.say("default zones of '\(container)': \(settings.text)")
  }

  // MARK: List

  private static func list(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let (container, environment) = try place(options)
    let bus = try Deployment(options: options, host: terminal.host).bus(.cli)
    let types = try await bus.with(terminal.host) { bus throws(CaravanError) in
      try await SchemaClient(bus: bus).types(of: container, in: environment)
    }
    if options[json] { return terminal.say(JSON.array(types.map(\.json)).encoded()) }
    var table = TextTable(["TYPE", ">ID", "FIELDS", "BEHAVIOUR"])
    for type in types {
      table.add([
        type.name, String(type.id), type.fields.map { "\($0.name) \($0.shape)" }.joined(separator: ", "),
        type.behaviour,
      ])
    }
    terminal.say(table.isEmpty ? "'\(container)' has no record types" : table.text)
  }
}

extension Environment {
  /// - Parameter text: what `--environment` was given.
  init(flag text: String) throws(CaravanError) {
    guard let environment = Environment(rawValue: text) else {
      throw CaravanError(.invalidData, "--environment \(text.prefix(40)): say development or production")
    }
    self = environment
  }
}

extension RecordType {
  /// How its records behave, and who may do what with public ones where not what is usual.
  fileprivate var behaviour: String {
    let text = (settings ?? TypeSettings()).text
    guard let grants, grants != .standard else { return text }
    return "\(text); public: \(GrantText.text(grants))"
  }

  fileprivate var json: JSON {
    let settings = settings ?? TypeSettings()
    return [
      "name": .string(name), "id": .int(Int64(id)),
      "fields": .array(fields.map { ["name": .string($0.name), "kind": .string($0.shape)] }),
      "conflicts": .string(settings.conflicts.rawValue), "fallback": .string(settings.fallback.rawValue),
      "extension_milliseconds": .int(Int64(settings.extensionMilliseconds)),
      "ttl_milliseconds": .int(Int64(clamping: settings.ttlMilliseconds)),
      "hide_expired": .bool(settings.hidesExpired),
      "chunk_bytes": settings.chunkBytes.map { .int(Int64($0)) } ?? .null,
      "grants": .object(
        JSON.Object(
          sorting: Dictionary(
            uniqueKeysWithValues: (grants ?? .standard).roles.map { role in
              ("\(role)", JSON.string((grants ?? .standard)[role].description))
            }))),
    ]
  }
}

extension ContainerSettings {
  fileprivate var text: String {
    func shards(_ count: UInt32) -> String { count == 1 ? "1 shard" : "\(count) shards" }
    return "\(shards(publicShards)) in the public database, \(shards(privateShards)) in each private one"
  }
}

extension TypeSettings {
  fileprivate var text: String {
    var parts = ["conflicts \(conflicts.rawValue)"]
    if conflicts == .serverExtension {
      parts.append("within \(extensionMilliseconds) ms, else \(fallback.rawValue)")
    }
    if ttlMilliseconds > 0 {
      parts.append("ends after \(LifetimeText.text(ttlMilliseconds))\(hidesExpired ? ", hidden then" : "")")
    }
    if let chunkBytes { parts.append("chunks of about \(Size.text(UInt64(chunkBytes)))") }
    return parts.joined(separator: "; ")
  }
}
