import CaravanModel
import CaravanSchemaCore
import Testing

/// Changes of several types at once, as a table over what is registered.
@Suite struct SchemaPlanTests {
  private static func field(
    _ name: String, _ kind: FieldKind, id: UInt32 = 0, _ indexes: FieldIndexes? = nil
  ) -> FieldDefinition {
    FieldDefinition(id: id, name: name, kind: kind, indexes: indexes)
  }

  private static func type(
    _ name: String, _ fields: [FieldDefinition], id: UInt32 = 0, definition: UInt32 = 0,
    _ settings: TypeSettings? = nil, _ grants: TypeGrants? = nil
  ) -> RecordType {
    RecordType(
      id: id, definition: definition, name: name,
      fields: zip((1 as UInt32)..., fields).map { number, field in
        var field = field
        if field.id == 0, id > 0 { field.id = number }
        return field
      }, settings: settings, grants: grants)
  }

  private static func schema(_ types: [RecordType], id: UInt32 = 1) -> RegisteredSchema {
    let names = Dictionary(grouping: types) { $0.name.lowercased() }.mapValues { NameHistory($0) }
    return RegisteredSchema(id: id, count: types.map(\.id).max() ?? 0, names: names)
  }

  private func plan(
    _ schema: RegisteredSchema, in environment: Environment,
    _ change: (inout SchemaPlan) throws(CaravanError) -> Void
  ) throws(CaravanError) -> SchemaPlan {
    var plan = SchemaPlan(schema, in: environment) { TypeNumbers(after: $0) }
    try change(&plan)
    return plan
  }

  private func refusal(_ body: () throws(CaravanError) -> Void) -> CaravanError? {
    do { try body() } catch { return error }
    return nil
  }

  /// What a registry has after a plan.
  private func applied(_ plan: SchemaPlan) -> RegisteredSchema {
    var names = plan.schema.names
    for name in plan.removed {
      names[name.lowercased()] = NameHistory(plan.schema.history(of: name).versions, isRemoved: true)
    }
    for type in plan.added {
      names[type.name.lowercased()] = (names[type.name.lowercased()] ?? NameHistory()).adding(type)
    }
    return RegisteredSchema(
      id: plan.schema.id + 1, count: plan.schema.count + UInt32(plan.added.count), names: names)
  }

  private static let photos = type("photos", [field("name", .text), field("date", .integer)], id: 1, definition: 1)
  private static let notes = type("notes", [field("text", .text)], id: 2, definition: 2)

  // MARK: Promotion

  @Test("CK-94: promotion makes types of production's own numbers, and again changes nothing")
  func promotes() throws {
    let development = Self.schema([Self.photos, Self.notes])
    let made = try plan(RegisteredSchema(), in: .production) { (plan) throws(CaravanError) in
      try plan.promote([], of: development)
    }
    #expect(made.added.map(\.name) == ["notes", "photos"] && made.added.map(\.id) == [1, 2])
    #expect(made.differences.map(\.description) == ["+ notes: text text", "+ photos: name text, date integer"])
    let again = try plan(applied(made), in: .production) { (plan) throws(CaravanError) in
      try plan.promote([], of: development)
    }
    #expect(again.isEmpty && again.differences.isEmpty)
  }

  @Test("CK-94: a subset is promoted alone, and a name that development does not have is said")
  func promotesSome() throws {
    let development = Self.schema([Self.photos, Self.notes])
    let made = try plan(RegisteredSchema(), in: .production) { (plan) throws(CaravanError) in
      try plan.promote(["notes"], of: development)
    }
    #expect(made.added.map(\.name) == ["notes"])
    let unknown = refusal { () throws(CaravanError) in
      _ = try plan(RegisteredSchema(), in: .production) { (plan) throws(CaravanError) in
        try plan.promote(["notes", "songs"], of: development)
      }
    }
    #expect(unknown?.code == .tableNotFound && unknown?.message.contains("'songs'") == true)
  }

  @Test("CK-93, CK-94: production keeps what development lost, under its own ids; settings, grants and indexes move")
  func promotesAdditively() throws {
    var grants = TypeGrants.standard
    try grants.grant([], to: .world)
    let wanted = Self.type(
      "photos", [Self.field("date", .integer, id: 7, .queryable), Self.field("place", .location, id: 9)], id: 5,
      definition: 5, TypeSettings(conflicts: .fieldMerge), grants)
    let made = try plan(Self.schema([Self.photos]), in: .production) { (plan) throws(CaravanError) in
      try plan.promote([], of: Self.schema([wanted]))
    }
    let expected = Self.type(
      "photos",
      [
        Self.field("name", .text, id: 1), Self.field("date", .integer, id: 2, .queryable),
        Self.field("place", .location, id: 3),
      ], id: 2, definition: 1, TypeSettings(conflicts: .fieldMerge), grants)
    #expect(made.added == [expected])
    #expect(
      made.differences.map(\.description) == [
        "+ photos.place: location", "~ photos.date: indexes queryable+sortable, now queryable",
        "~ photos: conflicts manual, now fieldMerge", "~ photos: grant world read, now nothing",
      ])
  }

  @Test("CK-93: a field that is of another kind in development does not come to production")
  func refusesOtherKinds() throws {
    let changed = Self.type("photos", [Self.field("date", .text)], id: 3, definition: 3)
    let refused = refusal { () throws(CaravanError) in
      _ = try plan(Self.schema([Self.photos]), in: .production) { (plan) throws(CaravanError) in
        try plan.promote([], of: Self.schema([changed]))
      }
    }
    #expect(refused?.code == .schemaNotAdditive && refused?.message.contains("'date'") == true)
  }

  // MARK: Removal

  @Test("CK-91: a field that was removed gets another id when its name is used again")
  func removesFields() throws {
    let removed = try plan(Self.schema([Self.photos]), in: .development) { (plan) throws(CaravanError) in
      try plan.remove("date", of: "photos")
    }
    #expect(
      removed.added.first?.fields.map(\.id) == [1]
        && removed.differences.map(\.description) == [
          "- photos.date: integer"
        ])
    let history = applied(removed).history(of: "photos")
    // An app that has the field was agreed on before, and is not given what was.
    guard
      case .add(let again) = try Registry.decide(
        Self.type("photos", [Self.field("name", .text), Self.field("date", .integer)]), history: history,
        numbers: TypeNumbers(after: 2), in: .development, by: .user)
    else {
      Issue.record("a field that was removed is agreed on as it was")
      return
    }
    #expect(again.fields.map(\.id) == [1, 3] && again.definition == 1)
    #expect(
      SchemaDifference.between(Self.photos, again).map(\.description)
        == ["- photos.date: integer", "+ photos.date: integer"])
  }

  @Test("CK-90: a type that was removed is made again as another one, whose field ids begin above the old ones")
  func removesTypes() throws {
    let removed = try plan(Self.schema([Self.photos, Self.notes]), in: .development) { (plan) throws(CaravanError) in
      try plan.remove(nil, of: "photos")
    }
    #expect(removed.removed == ["photos"] && removed.added.isEmpty)
    let schema = applied(removed)
    #expect(schema.types == [Self.notes] && schema.history(of: "photos").retired == [1])
    guard
      case .add(let again) = try Registry.decide(
        Self.type("photos", [Self.field("name", .text)]), history: schema.history(of: "photos"),
        numbers: TypeNumbers(after: 2), in: .development, by: .user)
    else {
      Issue.record("a type that was removed is there still")
      return
    }
    #expect(again.id == 3 && again.definition == 3 && again.fields.map(\.id) == [3])
    #expect(schema.history(of: "photos").adding(again).retired == [1])
  }

  @Test("CK-93: nothing is removed from production, and the last field of a type stays")
  func refusesRemovals() throws {
    let schema = Self.schema([Self.photos, Self.notes])
    for (environment, field, name, code) in [
      (.production, nil, "photos", .schemaNotAdditive), (.production, "date", "photos", .schemaNotAdditive),
      (.development, "text", "notes", .invalidData), (.development, "nothing", "notes", .noSuchObject),
      (.development, nil, "songs", .tableNotFound), (.development, nil, "Photos", .tableNotFound),
    ] as [(Environment, String?, String, ErrorCode)] {
      let refused = refusal { () throws(CaravanError) in
        _ = try plan(schema, in: environment) { (plan) throws(CaravanError) in try plan.remove(field, of: name) }
      }
      #expect(refused?.code == code, "\(environment) \(name) \(field ?? "")")
    }
  }

  // MARK: Reset and import

  @Test("CK-94: development becomes as production is: types go, fields of another kind are others, settings are back")
  func resets() throws {
    let production = Self.schema([Self.photos])
    let development = Self.schema([
      Self.type(
        "photos", [Self.field("name", .integer, id: 1), Self.field("date", .integer, id: 2)], id: 4, definition: 4,
        TypeSettings(conflicts: .lastWriterWins)),
      Self.type("songs", [Self.field("title", .text)], id: 5, definition: 5),
    ])
    let made = try plan(development, in: .development) { (plan) throws(CaravanError) in try plan.reset(to: production) }
    #expect(made.removed == ["songs"])
    #expect(made.added.first?.fields == [Self.field("date", .integer, id: 2), Self.field("name", .text, id: 3)])
    #expect(made.added.first?.settings == nil && made.added.first?.definition == 4)
    let again = try plan(applied(made), in: .development) { (plan) throws(CaravanError) in
      try plan.reset(to: production)
    }
    #expect(again.isEmpty)
    let empty = refusal { () throws(CaravanError) in
      _ = try plan(development, in: .development) { (plan) throws(CaravanError) in
        try plan.reset(to: RegisteredSchema())
      }
    }
    #expect(empty?.code == .invalidData)
  }

  @Test("CK-92: a text is imported once, removes only what may go, and nothing that production has")
  func imports() throws {
    let text = [Self.type("photos", [Self.field("name", .text), Self.field("place", .location)])]
    let schema = Self.schema([Self.photos, Self.notes])
    func `import`(_ schema: RegisteredSchema, production: [RecordType], removes: Bool) throws(CaravanError)
      -> SchemaPlan
    {
      try plan(schema, in: .development) { (plan) throws(CaravanError) in
        try plan.import(text, promotableTo: Self.schema(production), removes: removes)
      }
    }
    let refused = refusal { () throws(CaravanError) in _ = try `import`(schema, production: [], removes: false) }
    #expect(refused?.code == .schemaNotAdditive && refused?.message.contains("notes, photos.date") == true)
    let kept = refusal { () throws(CaravanError) in _ = try `import`(schema, production: [Self.notes], removes: true) }
    #expect(kept?.code == .schemaNotAdditive && kept?.message.contains("production") == true)
    let made = try `import`(schema, production: [], removes: true)
    #expect(made.removed == ["notes"] && made.added.first?.fields.map(\.name) == ["name", "place"])
    #expect(try `import`(applied(made), production: [], removes: false).isEmpty)
  }

  @Test("A text that says a type twice, or a name that is none, is refused before anything of it counts")
  func badImports() throws {
    let field = Self.field("name", .text)
    for (types, word) in [
      ([Self.type("a", [field]), Self.type("A", [field])], "twice"), ([Self.type("1a", [field])], "not allowed"),
      ([Self.type("a", [Self.field("name", .object, .queryable)])], "can be nothing"),
    ] {
      let refused = refusal { () throws(CaravanError) in
        _ = try plan(RegisteredSchema(), in: .development) { (plan) throws(CaravanError) in
          try plan.import(types, promotableTo: RegisteredSchema(), removes: true)
        }
      }
      #expect(refused?.code == .schemaViolation && refused?.message.contains(word) == true, "\(word)")
    }
  }

  @Test("TRU-03: fields that come and go have an end, and so have a text's types, each with its reason")
  func bounds() throws {
    var history = NameHistory([Self.type("a", [Self.field("kept", .text)], id: 1, definition: 1)])
    var refused: CaravanError?
    for round in 0..<10 where refused == nil {
      let fields = (0..<200).map { Self.field("f\(round)_\($0)", .text) }
      let schema = RegisteredSchema(id: 1, count: UInt32(history.versions.count), names: ["a": history])
      refused = refusal { () throws(CaravanError) in
        let made = try plan(schema, in: .development) { (plan) throws(CaravanError) in
          try plan.import(
            [Self.type("a", [Self.field("kept", .text)] + fields)], promotableTo: RegisteredSchema(), removes: true)
        }
        history = applied(made).history(of: "a")
      }
    }
    #expect(refused?.code == .limitExceeded && refused?.message.contains("make it anew") == true)
    #expect(history.versions.count == 6, "1,024 fields are five times 200, and a few")
    let many = (0...SchemaLimits.typesPerChange).map { Self.type("t\($0)", [Self.field("x", .text)]) }
    let tooMany = refusal { () throws(CaravanError) in
      _ = try plan(RegisteredSchema(), in: .development) { (plan) throws(CaravanError) in
        try plan.import(many, promotableTo: RegisteredSchema(), removes: true)
      }
    }
    #expect(tooMany?.code == .limitExceeded)
    let numbered = zip(1 as UInt32..<1_000, many).map { number, type in
      var type = type
      (type.id, type.definition) = (number, number)
      return type
    }
    let promoted = refusal { () throws(CaravanError) in
      _ = try plan(RegisteredSchema(), in: .production) { (plan) throws(CaravanError) in
        try plan.promote([], of: Self.schema(numbered))
      }
    }
    #expect(promoted?.code == .limitExceeded && promoted?.message.contains("--type") == true)
  }

  @Test("UNI-18: two new types never have one number, also where numbers are drawn")
  func drawnTwice() throws {
    let types = [Self.type("a", [Self.field("x", .text)]), Self.type("b", [Self.field("x", .text)])]
    var plan = SchemaPlan(RegisteredSchema(), in: .development) { TypeNumbers(afterRestore: $0) { _ in 5 } }
    do throws(CaravanError) {
      try plan.import(types, promotableTo: RegisteredSchema(), removes: true)
      Issue.record("two types have one number: \(plan.added.map(\.id))")
    } catch {
      #expect(error.code == .serverBusy)
    }
  }

  // MARK: Indexes

  @Test("CK-91, CK-93: indexes are said by field; in production they are dropped only")
  func indexes() throws {
    let schema = Self.schema([Self.photos])
    func index(_ environment: Environment, _ fields: [(name: String, indexes: FieldIndexes)]) throws(CaravanError)
      -> SchemaPlan
    {
      try plan(schema, in: environment) { (plan) throws(CaravanError) in try plan.index(fields, of: "photos") }
    }
    let dropped = try index(.production, [("name", .queryable), ("date", [])])
    #expect(dropped.added.first?.fields.map(\.indexes) == [.queryable, []])
    #expect(try index(.development, [("date", [.queryable, .sortable])]).isEmpty, "it is so already")
    var few = Self.photos
    few.fields[0].indexes = []
    let narrow = Self.schema([few])
    let refused = refusal { () throws(CaravanError) in
      _ = try plan(narrow, in: .production) { (plan) throws(CaravanError) in
        try plan.index([("name", .queryable)], of: "photos")
      }
    }
    #expect(refused?.code == .schemaViolation && refused?.message.contains("promote") == true)
    let impossible = refusal { () throws(CaravanError) in _ = try index(.development, [("date", .searchable)]) }
    #expect(impossible?.code == .schemaViolation)
  }

  @Test("CK-91: a device says nothing of indexes, and what its proposal repeats is no wish")
  func devicesSayNoIndexes() throws {
    var few = Self.photos
    few.fields[0].indexes = .queryable
    let history = NameHistory([few])
    let plain = Self.type("photos", [Self.field("name", .text), Self.field("date", .integer)])
    #expect(
      try Registry.decide(
        plain, history: history, numbers: TypeNumbers(after: 1), in: .development, by: .user) == .existing(few))
    var wanting = plain
    wanting.fields[0].indexes = []
    let refused = refusal { () throws(CaravanError) in
      _ = try Registry.decide(
        wanting, history: history, numbers: TypeNumbers(after: 1), in: .development, by: .user)
    }
    #expect(refused?.code == .accessDenied)
  }
}
