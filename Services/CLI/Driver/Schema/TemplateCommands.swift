internal import CaravanCLICore
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanQuery
internal import CaravanRuntime
internal import CaravanWire

/// `caravan schema template list|set|remove`: what subscriptions are made from (CK-83).
enum TemplateCommands {
  private static let type = Flag<String>("type", "T", "the record type: a table's name")
  private static let selection = Flag<String?>(
    "where", "TEXT", "which rows: a=? AND b>5; its ? are parameters, to which subscriptions give values")
  private static let events = Flag<[String]>(
    "events", "A,B", "what to be told of them: enters, leaves, changes; all without it", default: [])
  private static let common: FlagList = [SchemaChangeCommands.json] + SchemaChangeCommands.common

  static let tools = [
    Tool(
      Command(
        "caravan schema template list", "Shows a container's templates of subscriptions.",
        flags: [SchemaCommands.environment] + common)
    ) { options, terminal in try await list(options, terminal) },
    Tool(
      Command(
        "caravan schema template set",
        "Defines a template in development, in place of the one of its name. Subscriptions that there are stay as they "
          + "were made; 'caravan schema promote' brings it to production.",
        details: QueryLanguage.help, operands: .init("NAME", 1...1),
        flags: [type, selection, events] + ContentFlags.all + [SchemaChangeCommands.isPreview] + common),
      changesCloud: true
    ) { options, terminal in
      let template = CaravanModel.SubscriptionTemplate(
        name: options.operands[0], type: options[type], text: options[selection],
        events: try EventWords.events(options[events]), shows: ContentFlags.content(options))
      try template.shows.check()
      try await SchemaChangeCommands.change(
        .setTemplate(SubscriptionTemplate(template)), in: .development, options, terminal)
    },
    Tool(
      Command(
        "caravan schema template remove",
        "Removes a template from development. Subscriptions that were made from it stay.",
        operands: .init("NAME", 1...1),
        flags: [SchemaChangeCommands.isPreview] + common), changesCloud: true
    ) { options, terminal in
      try await SchemaChangeCommands.change(
        .removeTemplate(RemoveTemplate(name: options.operands[0])), in: .development, options, terminal)
    },
  ]

  private static func list(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let environment = try Environment(flag: options[SchemaCommands.environment])
    let templates = try await SchemaChangeCommands.session(options, terminal) {
      (session) throws(CaravanError) -> [CaravanModel.SubscriptionTemplate] in
      try await session.schema(in: environment).templates
    }
    if options[SchemaChangeCommands.json] { return terminal.say(JSON.array(templates.map(json)).encoded()) }
    var table = TextTable(["TEMPLATE", ">VERSION", "OF", ">PARAMETERS", "EVENTS", "WHERE", "SHOWS"])
    for template in templates {
      table.add([
        template.name, String(template.version), template.type, String(try template.parameters),
        template.events.words.joined(separator: ","), template.text ?? "", ContentFlags.text(template.shows),
      ])
    }
    terminal.say(table.isEmpty ? "\(environment.rawValue) has no templates" : table.text)
  }

  private static func json(_ template: CaravanModel.SubscriptionTemplate) -> JSON {
    [
      "name": .string(template.name), "version": .int(Int64(template.version)), "type": .string(template.type),
      "where": template.text.map { .string($0) } ?? .null,
      "parameters": (try? template.parameters).map { .int(Int64($0)) } ?? .null,
      "events": .array(template.events.words.map(JSON.string)), "shows": ContentFlags.json(template.shows),
    ]
  }
}
