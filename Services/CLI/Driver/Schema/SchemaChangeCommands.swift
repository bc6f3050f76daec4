internal import CaravanCLICore
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// `caravan schema history|diff|promote|reset|export|import|remove|index|template`: a container's schema as a whole
/// (CK-90 to CK-95).
enum SchemaChangeCommands {
  private static let types = Flag<[String]>(
    "type", "T", "only this record type; repeatable; else all", default: [])
  private static let templates = Flag<[String]>(
    "template", "NAME", "only this template of subscriptions; repeatable; without --type too, all", default: [])
  private static let type = Flag<String>("type", "T", "the record type: a table's name")
  private static let field = Flag<String?>("field", "F", "only this field of it")
  static let isPreview = Flag<Bool>("dry-run", "show what would change, and change nothing")
  private static let removes = Flag<Bool>("remove", "what the text leaves out may go")
  private static let last = Flag<Int>("last", "N", "so many changes", default: 20)
  private static let out = Flag<String?>("out", "FILE", "write it there; else it is printed")
  static let json = Flag<Bool>("json", "for programs")
  static let common: FlagList = [SchemaCommands.container, SchemaCommands.credentials] + SchemaCommands.place

  static let tools = [
    Tool(
      Command(
        "caravan schema history", "Shows how a container's schema came to be, the latest change first.",
        flags: [SchemaCommands.environment, last, json] + common)
    ) { options, terminal in try await history(options, terminal) },
    Tool(
      Command(
        "caravan schema diff",
        "Shows in what development differs from production, or a schema's text from development.",
        operands: .init("[FILE]", 0...1), flags: [json] + common)
    ) { options, terminal in try await diff(options, terminal) },
    Tool(
      Command(
        "caravan schema promote",
        "Brings to production what development has more: types, fields, settings, grants, indexes and templates, never "
          + "data.",
        flags: [types, templates, isPreview, json] + common), changesCloud: true
    ) { options, terminal in
      let promotion = PromoteTypes(types: options[types], templates: options[templates])
      try await change(.promote(promotion), in: .production, options, terminal)
    },
    Tool(
      Command(
        "caravan schema reset",
        "Makes development's schema as production's is. Records of what is removed stay, and nobody gets them.",
        flags: [isPreview, json] + common), changesCloud: true
    ) { options, terminal in try await change(.reset(ResetTypes()), in: .development, options, terminal) },
    Tool(
      Command(
        "caravan schema export", "Writes a container's schema as a text, to be kept with its app's source.",
        flags: [SchemaCommands.environment, out] + common)
    ) { options, terminal in try await export(options, terminal) },
    Tool(
      Command(
        "caravan schema import", "Makes development's schema exactly as a text says.", operands: .init("FILE", 1...1),
        flags: [removes, isPreview, json] + common), changesCloud: true
    ) { options, terminal in
      let document = try document(options.operands[0])
      let text = ImportTypes(
        types: document.types.map { RecordType($0) }, removes: options[removes],
        templates: document.templates.map { SubscriptionTemplate($0) })
      try await change(.importTypes(text), in: .development, options, terminal)
    },
    Tool(
      Command(
        "caravan schema remove",
        "Removes a record type or a field from development. Records keep what they have, and nobody gets it.",
        flags: [type, field, isPreview, json] + common), changesCloud: true
    ) { options, terminal in
      let removal = RemoveType(type: options[type], field: options[field] ?? "")
      try await change(.remove(removal), in: .development, options, terminal)
    },
    Tool(
      Command(
        "caravan schema index",
        "Says what queries may do with fields: title=queryable+sortable, note=nothing. In production indexes are only "
          + "dropped: others come by promotion.",
        operands: .init("FIELD=USES…", 1...Limits.fieldsPerType),
        flags: [type, SchemaCommands.environment, isPreview, json] + common), changesCloud: true
    ) { options, terminal in
      var indexes = IndexFields(type: options[type])
      for text in options.operands {
        let (field, uses) = try IndexText.parse(text)
        indexes.fields.append(FieldDefinition(name: field, indexes: UInt32(uses.rawValue)))
      }
      let environment = try Environment(flag: options[SchemaCommands.environment])
      try await change(.index(indexes), in: environment, options, terminal)
    },
  ]

  static func session<R: Sendable>(
    _ options: Options, _ terminal: Terminal, _ body: @Sendable (SchemaSession) async throws(CaravanError) -> R
  ) async throws(CaravanError) -> R {
    try await SchemaSession.with(
      try ContainerID(options[SchemaCommands.container]), credentials: options[SchemaCommands.credentials], options,
      terminal.host, body)
  }

  // MARK: Changes

  static func change(
    _ wanted: ChangeSchemaRequest.Change, in environment: CaravanModel.Environment, _ options: Options,
    _ terminal: Terminal
  ) async throws(CaravanError) {
    let isPreview = options[isPreview]
    let made = try await session(options, terminal) { (session) throws(CaravanError) in
      try await session.change(wanted, in: environment, isPreview: isPreview)
    }
    if options[json] { return terminal.say((made?.json ?? .null).encoded()) }
    guard let made else { return terminal.say("\(environment.rawValue) is so already: nothing changes") }
    terminal.say(SchemaChangeText.lines(made.differences))
    terminal.say(
      isPreview
        ? "that would make \(environment.rawValue) schema \(made.id); nothing was changed"
        : "that makes \(environment.rawValue) schema \(made.id)")
  }

  // MARK: Looks

  private static func history(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let environment = try Environment(flag: options[SchemaCommands.environment])
    let count = options[last]
    guard count > 0 else { throw CaravanError(.invalidData, "--last \(count): ask for one change at least") }
    let changes = try await session(options, terminal) { (session) throws(CaravanError) in
      try await session.history(in: environment, last: count)
    }
    if options[json] { return terminal.say(JSON.array(changes.map(\.json)).encoded()) }
    guard !changes.isEmpty else {
      return terminal.say("\(environment.rawValue) has no history: its schema has not changed since it is kept")
    }
    for change in changes {
      terminal.say(SchemaChangeText.heading(change, environment, at: change.time.description))
      terminal.say(SchemaChangeText.lines(change.differences))
    }
  }

  private static func diff(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let text = try options.operands.first.map { (file) throws(CaravanError) in try document(file) }
    let (old, new) = try await session(options, terminal) {
      (session) throws(CaravanError) -> (SchemaDocument, SchemaDocument) in
      let development = try await whole(session, .development)
      if let text { return (development, text) }
      return (try await whole(session, .production), development)
    }
    let differences = new.differences(from: old)
    if options[json] { return terminal.say(JSON.array(differences.map(\.json)).encoded()) }
    let what = text == nil ? "development and production" : "the text and development"
    terminal.say(differences.isEmpty ? "\(what) are the same" : SchemaChangeText.lines(differences))
  }

  private static func export(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let environment = try Environment(flag: options[SchemaCommands.environment])
    let document = try await session(options, terminal) { (session) throws(CaravanError) -> SchemaDocument in
      try await whole(session, environment)
    }
    let text = document.description
    guard let file = options[out] else { return terminal.say(String(text.dropLast())) }
    try LocalFile(writing: file).write(Array(text.utf8))
    terminal.say(
      "\(document.types.count) record types and \(document.templates.count) templates of \(environment.rawValue): "
        + file
    )
  }

  private static func whole(
    _ session: SchemaSession, _ environment: CaravanModel.Environment
  ) async throws(CaravanError) -> SchemaDocument {
    let schema = try await session.schema(in: environment)
    return SchemaDocument(schema.types, templates: schema.templates)
  }

  private static func document(_ file: String) throws(CaravanError) -> SchemaDocument {
    do throws(CaravanError) { return try SchemaDocument(parsing: TextFile.read(file)) } catch {
      guard error.code == .schemaViolation || error.code == .featureDisabled else { throw error }
      throw CaravanError(error.code, "\(file), \(error.message)")
    }
  }
}

extension CaravanModel.SchemaChange {
  fileprivate var time: WallTime { WallTime(milliseconds: Int64(clamping: milliseconds)) }

  fileprivate var json: JSON {
    [
      "schema": .int(Int64(id)), "parent": .int(Int64(parent)), "time": .string(time.description),
      "user": author.user.map { .string($0.text) } ?? .null,
      "device": author.device.isEmpty ? .null : .string(author.device), "cause": .string(cause.rawValue),
      "source": source == 0 ? .null : .int(Int64(source)), "differences": .array(differences.map(\.json)),
    ]
  }
}

extension CaravanModel.SchemaDifference {
  fileprivate var json: JSON {
    [
      "type": .string(type), "field": field.map { .string($0) } ?? .null, "property": .string(property),
      "was": was.isEmpty ? .null : .string(was), "now": now.isEmpty ? .null : .string(now),
    ]
  }
}
