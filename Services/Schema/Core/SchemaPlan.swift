package import CaravanModel

/// The whole schema of a container in one environment, as the registry has it.
package struct RegisteredSchema: Sendable {
  /// What makes the latest one; 0: the history had not begun.
  package let id: UInt32
  /// Types registered so far, in all of their versions.
  package let count: UInt32
  /// By name in lower case.
  package let names: [String: NameHistory]
  /// By name in lower case, with those that are removed.
  package let templateStates: [String: TemplateState]

  package init(
    id: UInt32 = 0, count: UInt32 = 0, names: [String: NameHistory] = [:], templates: [String: TemplateState] = [:]
  ) {
    self.id = id
    self.count = count
    self.names = names
    templateStates = templates
  }

  /// The latest version of every type, by name.
  package var types: [RecordType] { names.values.compactMap(\.latest).sorted { $0.name < $1.name } }

  package func history(of name: String) -> NameHistory { names[name.lowercased()] ?? NameHistory() }

  /// Those that there are, by name.
  package var templates: [SubscriptionTemplate] {
    templateStates.values.compactMap(\.latest).sorted { $0.name < $1.name }
  }

  package func template(named name: String) -> TemplateState {
    templateStates[name.lowercased()] ?? TemplateState(version: 0, latest: nil)
  }
}

/// A change of a container's schema that concerns several types, decided before anything of it is written.
package struct SchemaPlan: Sendable {
  /// New versions, in the order of their ids.
  package private(set) var added: [RecordType] = []
  /// Names of types that are no more.
  package private(set) var removed: [String] = []
  /// States of templates that are new, in the order of their names, and of those that are removed.
  package internal(set) var templates: [String: TemplateState] = [:]
  /// What is otherwise then.
  package internal(set) var differences: [SchemaDifference] = []

  package let schema: RegisteredSchema
  let environment: Environment
  /// What a new version gets after so many.
  private let numbers: @Sendable (UInt32) -> TypeNumbers

  package init(
    _ schema: RegisteredSchema, in environment: Environment, numbers: @escaping @Sendable (UInt32) -> TypeNumbers
  ) {
    self.schema = schema
    self.environment = environment
    self.numbers = numbers
  }

  package var isEmpty: Bool { added.isEmpty && removed.isEmpty && templates.isEmpty }

  // MARK: Changes

  /// Brings types of development to production: what they have more there is added, what development lacks stays, and
  /// their settings, grants and indexes become those of development (CK-94). Templates come as they are.
  /// - Parameters:
  ///   - wanted: names of types.
  ///   - wantedTemplates: their names; of neither any: all of both.
  /// - Throws: `tableNotFound` for a type that development does not have, and `noSuchObject` for a template;
  ///   `schemaNotAdditive` where a field has become of another kind, or is another one now; `schemaViolation` for a
  ///   template whose type would be missing or does not fit; `limitExceeded`.
  package mutating func promote(
    _ wanted: [String], templates wantedTemplates: [String] = [], of development: RegisteredSchema
  ) throws(CaravanError) {
    precondition(environment == .production, "only production takes types over")
    let isAll = wanted.isEmpty && wantedTemplates.isEmpty
    let types = isAll || !wanted.isEmpty ? try development.chosen(wanted) : []
    for type in types {
      let history = schema.history(of: type.name)
      let proposal = type.spelledOut
      if let latest = history.latest { try Registry.checkCase(of: proposal, latest) }
      try add(after: history) { (latest, numbers) throws(CaravanError) in
        try latest?.extended(by: proposal, isBranch: true, above: history.highestField, numbers)
          ?? Registry.first(proposal, above: history.highestField, numbers)
      }
    }
    for template in try development.chosenTemplates(wantedTemplates, isAll: isAll) { try save(template) }
    try checkTemplates()
  }

  /// Makes development as production is (CK-94).
  /// - Throws: `invalidData` while production has no types: there is nothing to go back to.
  package mutating func reset(to production: RegisteredSchema) throws(CaravanError) {
    let types = production.types
    guard !types.isEmpty else {
      throw CaravanError(
        .invalidData, "production has no record types that development could go back to: promote some first")
    }
    try become(types.map(\.spelledOut), production.templates)
  }

  /// Makes development exactly as a text says.
  /// - Parameters:
  ///   - templates: that the text has.
  ///   - production: what it has, the text has to have as well: it could not be promoted otherwise.
  ///   - removes: whether what the text leaves out may go.
  /// - Throws: `schemaNotAdditive` naming what would be lost; `schemaViolation` for wrong names, fields or settings.
  package mutating func `import`(
    _ types: [RecordType], templates: [SubscriptionTemplate] = [], promotableTo production: RegisteredSchema,
    removes: Bool
  ) throws(CaravanError) {
    guard types.count <= SchemaLimits.typesPerChange else {
      throw CaravanError(
        .limitExceeded, "the text has \(types.count) record types: the limit is \(SchemaLimits.typesPerChange)")
    }
    var seen: Set<String> = []
    for type in types {
      try Registry.check(type)
      guard seen.insert(type.name.lowercased()).inserted else {
        throw CaravanError(
          .schemaViolation, "record type '\(type.name)' stands twice (case does not count): leave one out")
      }
    }
    try Self.checkNames(of: templates)
    let lost =
      SchemaDifference.between(production.types.map(\.withoutIDs), types.map(\.withoutIDs)).filter(\.isRemoval)
      + SchemaDifference.between(production.templates, templates).filter(\.isRemoval)
    guard lost.isEmpty else {
      throw CaravanError(
        .schemaNotAdditive,
        "production has what the text has no more, and keeps it: \(Self.text(lost)): leave it in the text")
    }
    try become(types.map(\.spelledOut), templates)
    let removals = differences.filter(\.isRemoval)
    guard removes || removals.isEmpty else {
      throw CaravanError(
        .schemaNotAdditive,
        "the text leaves out what development has: \(Self.text(removals)): add it to the text, or say that it may go "
          + "(--remove)")
    }
  }

  /// Removes a type or a field of one: records keep its bytes, and nobody gets to see them (CK-90, CK-91).
  /// - Parameter field: nil: the whole type.
  /// - Throws: `tableNotFound`; `noSuchObject` for the field; `invalidData` for the last one.
  package mutating func remove(_ field: String?, of name: String) throws(CaravanError) {
    try requireDevelopment("types and fields of production stay, for apps that know them are in use")
    let (history, latest) = try existing(name)
    guard let field else {
      remove(latest)
      return try checkTemplates()
    }
    guard latest.field(named: field) != nil else {
      throw CaravanError(.noSuchObject, "record type '\(name)' has no field '\(field.prefix(80))'")
    }
    guard latest.fields.count > 1 else {
      throw CaravanError(.invalidData, "'\(field)' is the only field of '\(name)': remove the record type instead")
    }
    var wanted = latest
    wanted.fields.removeAll { $0.name == field }
    try add(becoming: wanted, after: history)
    try checkTemplates()
  }

  /// Says what queries may do with fields. In production indexes can only be dropped: others come by promotion (CK-93).
  /// - Throws: `tableNotFound`; `noSuchObject` for a field; `schemaViolation` for what its kind cannot have.
  package mutating func index(
    _ fields: [(name: String, indexes: FieldIndexes)], of name: String
  ) throws(CaravanError) {
    let (history, latest) = try existing(name)
    guard fields.count <= Limits.fieldsPerType else {
      throw CaravanError(
        .limitExceeded, "\(fields.count) fields are named: a record type has \(Limits.fieldsPerType) at most")
    }
    var wanted = latest
    for (field, indexes) in fields {
      guard let index = wanted.fields.firstIndex(where: { $0.name == field }) else {
        throw CaravanError(.noSuchObject, "record type '\(name)' has no field '\(field.prefix(80))'")
      }
      guard environment == .development || indexes.isSubset(of: wanted.fields[index].effectiveIndexes) else {
        throw CaravanError(
          .schemaViolation,
          "field '\(field)' of '\(name)' is \(wanted.fields[index].effectiveIndexes) in production, where indexes are "
            + "dropped only: others come from development (caravan schema promote)")
      }
      wanted.fields[index].indexes = indexes
    }
    try Registry.check(wanted)
    try add(becoming: wanted, after: history)
    try checkTemplates()
  }

  // MARK: Steps

  func requireDevelopment(_ reason: String) throws(CaravanError) {
    guard environment == .production else { return }
    throw CaravanError(.schemaNotAdditive, reason)
  }

  private func existing(_ name: String) throws(CaravanError) -> (history: NameHistory, latest: RecordType) {
    let history = schema.history(of: name)
    guard let latest = history.latest, latest.name == name else {
      throw CaravanError(.tableNotFound, "there is no record type '\(name.prefix(80))' in \(environment.rawValue)")
    }
    return (history, latest)
  }

  private mutating func become(
    _ types: [RecordType], _ templates: [SubscriptionTemplate]
  ) throws(CaravanError) {
    try requireDevelopment("production changes by promotion only (caravan schema promote)")
    let wanted = Dictionary(types.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
    for latest in schema.types where wanted[latest.name.lowercased()]?.name != latest.name { remove(latest) }
    for type in types {
      let history = schema.history(of: type.name)
      // A name in another case is another type, which takes the place of the one that was removed.
      let isThere = history.versions.isEmpty || history.latest?.name == type.name
      try add(becoming: type, after: isThere ? history : NameHistory(history.versions, isRemoved: true))
    }
    let names = Set(templates.map(\.name))
    for template in schema.templates where !names.contains(template.name) { remove(template) }
    for template in templates { try save(template) }
    try checkTemplates()
  }

  private mutating func remove(_ type: RecordType) {
    removed.append(type.name)
    differences += SchemaDifference.between(type, nil)
  }

  private mutating func add(becoming wanted: RecordType, after history: NameHistory) throws(CaravanError) {
    try add(after: history) { (latest, numbers) throws(CaravanError) in
      try latest?.becoming(wanted, above: history.highestField, numbers)
        ?? Registry.first(wanted, above: history.highestField, numbers)
    }
  }

  /// - Throws: `limitExceeded`.
  private mutating func add(
    after history: NameHistory, _ make: (_ latest: RecordType?, TypeNumbers) throws(CaravanError) -> RecordType
  ) throws(CaravanError) {
    let numbers = numbers(schema.count + UInt32(added.count))
    var version = try make(history.latest, numbers)
    let changes = SchemaDifference.between(history.latest, version)
    guard history.latest == nil || !changes.isEmpty else { return }
    try Registry.checkRoom(for: version.name, history, numbers, by: .developer)
    Registry.checkInvariants(of: version, after: history, numbers)
    try Registry.checkFields(of: version, after: history)
    guard !added.contains(where: { $0.id == version.id }) else {
      throw CaravanError(
        .serverBusy, "two new record types got one number, which was drawn: ask again", retryAfterMilliseconds: 100)
    }
    guard added.count < SchemaLimits.typesPerChange else {
      throw CaravanError(
        .limitExceeded,
        "this changes more than \(SchemaLimits.typesPerChange) record types: change fewer at a time (--type)")
    }
    version.omitDefaults()
    added.append(version)
    differences += changes
  }

  private static let named = 5

  private static func text(_ differences: [SchemaDifference]) -> String {
    let names = differences.prefix(named).map { $0.field == nil ? $0.type : "\($0.type).\($0.field ?? "")" }
    return names.joined(separator: ", ") + (differences.count > named ? " and others" : "")
  }
}

extension RegisteredSchema {
  /// - Throws: `tableNotFound`.
  fileprivate func chosen(_ names: [String]) throws(CaravanError) -> [RecordType] {
    let types = types
    let wanted = Set(names)
    if let unknown = wanted.subtracting(types.map(\.name)).min() {
      throw CaravanError(.tableNotFound, "development has no record type '\(unknown.prefix(80))'")
    }
    return names.isEmpty ? types : types.filter { wanted.contains($0.name) }
  }
}

extension RecordType {
  /// As a text says it: ids say nothing of those of another environment.
  fileprivate var withoutIDs: RecordType {
    var type = self
    (type.id, type.definition) = (0, 0)
    for index in type.fields.indices { type.fields[index].id = 0 }
    return type
  }

  fileprivate mutating func omitDefaults() {
    if settings == TypeSettings() { settings = nil }
    if grants == .standard { grants = nil }
  }
}
