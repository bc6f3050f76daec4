import CaravanModel
import CaravanSchemaCore
import Testing

/// Templates of subscriptions in changes of a schema, as a table over what is registered.
@Suite struct TemplatePlanTests {
  private static func type(_ name: String, _ fields: [FieldDefinition], id: UInt32 = 1) -> RecordType {
    RecordType(
      id: id, definition: id, name: name,
      fields: zip((1 as UInt32)..., fields).map { number, field in
        var field = field
        field.id = number
        return field
      })
  }

  private static let places = type(
    "places",
    [
      FieldDefinition(id: 0, name: "name", kind: .text), FieldDefinition(id: 0, name: "at", kind: .location),
      FieldDefinition(id: 0, name: "size", kind: .real), FieldDefinition(id: 0, name: "photo", kind: .object),
      FieldDefinition(id: 0, name: "secret", kind: .text, isEncrypted: true),
      FieldDefinition(id: 0, name: "tags", kind: .text, isList: true),
      FieldDefinition(id: 0, name: "note", kind: .text, indexes: []),
    ])
  private static let notes = type("notes", [FieldDefinition(id: 0, name: "text", kind: .text)], id: 2)

  private static func template(
    _ name: String = "near", _ type: String = "places", _ text: String? = "at NEAR (?, ?, ?)",
    _ shows: NotificationContent = NotificationContent(), events: StandingQuery.Events = .all, version: UInt32 = 0
  ) -> SubscriptionTemplate {
    SubscriptionTemplate(name: name, type: type, text: text, events: events, shows: shows, version: version)
  }

  private static func schema(
    _ types: [RecordType] = [places, notes], _ templates: [SubscriptionTemplate] = [], removed: [String: UInt32] = [:]
  ) -> RegisteredSchema {
    let names = Dictionary(grouping: types) { $0.name.lowercased() }.mapValues { NameHistory($0) }
    var states: [String: TemplateState] = [:]
    for template in templates {
      states[template.name.lowercased()] = TemplateState(version: template.version, latest: template)
    }
    for (name, version) in removed { states[name] = TemplateState(version: version, latest: nil) }
    return RegisteredSchema(id: 1, count: types.map(\.id).max() ?? 0, names: names, templates: states)
  }

  private func plan(
    _ schema: RegisteredSchema, in environment: Environment = .development,
    _ change: (inout SchemaPlan) throws(CaravanError) -> Void
  ) throws(CaravanError) -> SchemaPlan {
    var plan = SchemaPlan(schema, in: environment) { TypeNumbers(after: $0) }
    try change(&plan)
    return plan
  }

  private func refusal(
    _ schema: RegisteredSchema, in environment: Environment = .development,
    _ change: (inout SchemaPlan) throws(CaravanError) -> Void
  ) -> CaravanError? {
    do throws(CaravanError) { _ = try plan(schema, in: environment, change) } catch { return error }
    return nil
  }

  @Test("CK-83: a template is defined, changed, removed and made again; its version counts on")
  func versions() throws {
    let first = try plan(Self.schema()) { (plan) throws(CaravanError) in try plan.set(Self.template()) }
    #expect(first.templates["near"]?.latest?.version == 1 && !first.isEmpty)
    #expect(first.differences.map(\.description) == ["+ template near: ON places WHERE 'at NEAR (?, ?, ?)'"])
    let registered = Self.schema([Self.places], [Self.template(version: 1)])
    let same = try plan(registered) { (plan) throws(CaravanError) in try plan.set(Self.template(version: 9)) }
    #expect(same.isEmpty && same.differences.isEmpty)
    let changed = Self.template("near", "places", "name = ?")
    let second = try plan(registered) { (plan) throws(CaravanError) in try plan.set(changed) }
    #expect(second.templates["near"]?.version == 2 && second.templates["near"]?.latest?.text == "name = ?")
    let gone = try plan(registered) { (plan) throws(CaravanError) in try plan.removeTemplate(named: "near") }
    #expect(gone.templates == ["near": TemplateState(version: 1, latest: nil)])
    let again = try plan(Self.schema(removed: ["near": 1])) { (plan) throws(CaravanError) in
      try plan.set(Self.template("Near"))
    }
    #expect(again.templates["near"]?.latest?.version == 2 && again.templates["near"]?.latest?.name == "Near")
  }

  @Test(
    "CK-83: a template whose text fits its type, whatever its parameters will be, is taken",
    arguments: [
      nil, "name = ? AND size > ?", "at NEAR (?, ?, 500)", "at WITHIN (60, 5, ?, ?)", "at WITHIN (?, ?, -50, 20)",
      "tags CONTAINS ANY (?, ?)", "name MATCH ?", "name LIKE ? OR name IN (?, 'x')",
      "at WITHIN (60, 5, ?, ?) OR at WITHIN (?, ?, -50, 20)", "___createTime > ?", "size BETWEEN ? AND ?",
    ])
  func fits(text: String?) throws {
    let made = try plan(Self.schema()) { (plan) throws(CaravanError) in try plan.set(Self.template("a", "places", text))
    }
    #expect(made.templates.count == 1)
  }

  @Test("CK-83: what nobody could subscribe with is refused, and said")
  func refusals() throws {
    let many = Array(repeating: "?", count: 60).joined(separator: ", ")
    let cases: [(SubscriptionTemplate, ErrorCode, String)] = [
      (Self.template("a", "songs"), .schemaViolation, "'songs', which development would not have"),
      (Self.template("a", "Places"), .schemaViolation, "'Places'"),
      (Self.template("a", "places", "nosuch = ?"), .schemaViolation, "'nosuch'"),
      (Self.template("a", "places", "size MATCH ?"), .schemaViolation, "size"),
      (Self.template("a", "places", "name ="), .invalidData, "position"),
      (Self.template("a", "places", "note = ?"), .schemaViolation, "'note' of 'places' is"),
      (Self.template("a", "places", "photo IS NULL"), .schemaViolation, "'photo' is object"),
      (Self.template("a", "places", "secret = ?"), .schemaViolation, "'secret'"),
      (Self.template("a", "places", "at NEAR (200, ?, ?)"), .invalidData, "at"),
      (Self.template("a", "places", nil, events: []), .invalidData, "waits for nothing"),
      (Self.template("a", "places", nil, .init(fields: ["photo"])), .schemaViolation, "'photo' of 'places' is object"),
      (Self.template("a", "places", nil, .init(title: "x", titleArguments: ["name"])), .invalidData, "no key"),
      (Self.template("9"), .schemaViolation, "template name '9'"),
      (Self.template("NEAR"), .schemaViolation, "differs from 'near' only in case"),
      (
        Self.template("a", "places", "name IN (\(many)) OR name IN (\(many))"), .limitExceeded, "120 arguments"
      ),
    ]
    let registered = Self.schema([Self.places], [Self.template(version: 1)])
    for (template, code, words) in cases {
      let error = refusal(registered) { (plan) throws(CaravanError) in try plan.set(template) }
      #expect(error?.code == code && error?.message.contains(words) == true, "\(template): \(error?.message ?? "")")
    }
    let missing = refusal(registered) { (plan) throws(CaravanError) in try plan.removeTemplate(named: "Near") }
    #expect(missing?.code == .noSuchObject)
    let set = refusal(registered, in: .production) { (plan) throws(CaravanError) in try plan.set(Self.template("b")) }
    let removed = refusal(registered, in: .production) { (plan) throws(CaravanError) in
      try plan.removeTemplate(named: "near")
    }
    #expect(set?.code == .schemaNotAdditive && removed?.code == .schemaNotAdditive)
  }

  @Test("CK-83, CK-94: all is promoted, or what is named; a template comes with its type, or where that is already")
  func promotion() throws {
    let development = Self.schema(
      [Self.places, Self.notes], [Self.template(version: 5), Self.template("all", "notes", nil, version: 2)])
    let all = try plan(RegisteredSchema(), in: .production) { (plan) throws(CaravanError) in
      try plan.promote([], of: development)
    }
    #expect(all.added.map(\.name) == ["notes", "places"])
    #expect(all.templates.mapValues(\.version) == ["near": 1, "all": 1], "versions are an environment's own")
    let typesOnly = try plan(RegisteredSchema(), in: .production) { (plan) throws(CaravanError) in
      try plan.promote(["places"], of: development)
    }
    #expect(typesOnly.added.map(\.name) == ["places"] && typesOnly.templates.isEmpty)
    func promote(_ types: [String], _ templates: [String], to production: RegisteredSchema) -> CaravanError? {
      refusal(production, in: .production) { (plan) throws(CaravanError) in
        try plan.promote(types, templates: templates, of: development)
      }
    }
    let alone = promote([], ["near"], to: RegisteredSchema())
    #expect(alone?.code == .schemaViolation && alone?.message.contains("promote it too") == true)
    #expect(promote(["notes"], ["near"], to: RegisteredSchema())?.code == .schemaViolation)
    #expect(promote(["places"], ["near"], to: RegisteredSchema()) == nil)
    #expect(promote([], ["near"], to: Self.schema([Self.places])) == nil)
    #expect(promote([], ["none"], to: RegisteredSchema())?.code == .noSuchObject)
    let production = Self.schema([Self.places], [Self.template(version: 1), Self.template("kept", version: 1)])
    let again = try plan(production, in: .production) { (plan) throws(CaravanError) in
      try plan.promote([], templates: ["near"], of: development)
    }
    #expect(again.isEmpty, "what is the same is no change, and what development lacks stays")
  }

  @Test("CK-83, CK-94: a reset makes templates as production's, an import as the text says, with what may go")
  func become() throws {
    let development = Self.schema([Self.places], [Self.template("mine", version: 3), Self.template(version: 1)])
    let production = Self.schema([Self.places], [Self.template("near", "places", "name = ?", version: 8)])
    let reset = try plan(development) { (plan) throws(CaravanError) in try plan.reset(to: production) }
    #expect(reset.templates["mine"] == TemplateState(version: 3, latest: nil))
    #expect(reset.templates["near"]?.latest?.text == "name = ?" && reset.templates["near"]?.version == 2)
    func imported(
      _ templates: [SubscriptionTemplate], over production: RegisteredSchema = RegisteredSchema(), removes: Bool
    ) throws(CaravanError) -> SchemaPlan {
      try plan(development) { (plan) throws(CaravanError) in
        try plan.import([Self.places], templates: templates, promotableTo: production, removes: removes)
      }
    }
    #expect(try imported(development.templates, removes: false).templates.isEmpty)
    #expect(throws: CaravanError.self) { try imported([Self.template()], removes: false) }
    #expect(try imported([Self.template()], removes: true).templates.keys.sorted() == ["mine"])
    let lost = #expect(throws: CaravanError.self) { try imported([], over: production, removes: true) }
    #expect(lost?.code == .schemaNotAdditive && lost?.message.contains("near") == true)
    let twice = [Self.template("a"), Self.template("A")]
    #expect(throws: CaravanError.self) { try imported(twice, removes: true) }
  }

  @Test("CK-83, CK-90: a type, a field or an index that a template needs does not go before it")
  func needed() throws {
    let named = Self.template("named", "places", "name = ?", .init(fields: ["size"]), version: 1)
    let schema = Self.schema([Self.places, Self.notes], [named])
    let changes: [(String, (inout SchemaPlan) throws(CaravanError) -> Void)] = [
      ("type", { (plan) throws(CaravanError) in try plan.remove(nil, of: "places") }),
      ("compared", { (plan) throws(CaravanError) in try plan.remove("name", of: "places") }),
      ("shown", { (plan) throws(CaravanError) in try plan.remove("size", of: "places") }),
      ("index", { (plan) throws(CaravanError) in try plan.index([("name", [])], of: "places") }),
    ]
    for (what, change) in changes {
      let error = refusal(schema, change)
      #expect(error?.code == .schemaViolation && error?.message.contains("'named'") == true, "\(what)")
    }
    #expect(refusal(schema) { (plan) throws(CaravanError) in try plan.remove("tags", of: "places") } == nil)
    #expect(refusal(schema) { (plan) throws(CaravanError) in try plan.remove(nil, of: "notes") } == nil)
    let inProduction = refusal(schema, in: .production) { (plan) throws(CaravanError) in
      try plan.index([("name", [])], of: "places")
    }
    #expect(inProduction?.message.contains("in development, and promote it") == true)
  }

  @Test("CK-83: templates of a container, and names that they have had, are bounded")
  func bounds() throws {
    let full = (0..<SchemaLimits.templatesPerContainer).map { Self.template("t\($0)", version: 1) }
    let schema = Self.schema([Self.places], full)
    let more = Self.template("more")
    #expect(refusal(schema) { (plan) throws(CaravanError) in try plan.set(more) }?.code == .limitExceeded)
    let other = Self.template("t0", "places", "name = ?")
    #expect(refusal(schema) { (plan) throws(CaravanError) in try plan.set(other) } == nil)
    let names = Dictionary(
      uniqueKeysWithValues: (0..<SchemaLimits.templateNamesEver).map { ("r\($0)", 1 as UInt32) })
    let used = Self.schema([Self.places], removed: names)
    #expect(refusal(used) { (plan) throws(CaravanError) in try plan.set(more) }?.code == .limitExceeded)
    #expect(refusal(used) { (plan) throws(CaravanError) in try plan.set(Self.template("r7")) } == nil)
  }
}
