package import CaravanModel
import CaravanQuery

/// What is registered of a template's name.
package struct TemplateState: Sendable, Hashable {
  /// Of its last state: a template that is removed and made again counts on.
  package let version: UInt32
  /// nil: it is removed.
  package let latest: SubscriptionTemplate?

  package init(version: UInt32, latest: SubscriptionTemplate?) {
    precondition(latest.map { $0.version == version } ?? true, "a template has another version than its name")
    self.version = version
    self.latest = latest
  }
}

// Templates of subscriptions are a part of the schema (CK-83).
extension SchemaPlan {
  /// Defines a template, in place of the one of its name.
  /// - Throws: `schemaNotAdditive` in production; `schemaViolation` where its type is missing or does not fit it;
  ///   `invalidData` for a text that is none; `limitExceeded`.
  package mutating func set(_ template: SubscriptionTemplate) throws(CaravanError) {
    try requireDevelopment("templates of production come from development (caravan schema promote)")
    try Self.checkNames(of: [template])
    try save(template)
    try checkTemplates()
  }

  /// - Throws: `schemaNotAdditive` in production; `noSuchObject`.
  package mutating func removeTemplate(named name: String) throws(CaravanError) {
    try requireDevelopment("templates of production stay, for apps that subscribe with them are in use")
    guard let latest = schema.template(named: name).latest, latest.name == name else {
      throw Self.noTemplate(name, in: environment)
    }
    remove(latest)
  }

  package static func noTemplate(_ name: String, in environment: Environment) -> CaravanError {
    CaravanError(
      .noSuchObject,
      "there is no template '\(name.prefix(80))' in \(environment.rawValue): define it in development (caravan schema "
        + "template set)" + (environment == .production ? " and promote it (caravan schema promote)" : ""))
  }

  // MARK: Steps

  /// - Throws: `schemaViolation` for a name that none can have, or that stands twice; `limitExceeded`.
  static func checkNames(of templates: [SubscriptionTemplate]) throws(CaravanError) {
    guard templates.count <= SchemaLimits.templatesPerContainer else {
      throw CaravanError(
        .limitExceeded, "there are \(templates.count) templates: the limit is \(SchemaLimits.templatesPerContainer)")
    }
    var seen: Set<String> = []
    for template in templates {
      try Registry.checkTemplateName(template.name)
      guard seen.insert(template.name.lowercased()).inserted else {
        throw CaravanError(
          .schemaViolation, "template '\(template.name)' stands twice (case does not count): leave one out")
      }
    }
  }

  mutating func remove(_ template: SubscriptionTemplate) {
    let key = template.name.lowercased()
    precondition(schema.template(named: key).latest != nil, "a template is removed that is not there")
    templates[key] = TemplateState(version: template.version, latest: nil)
    differences += SchemaDifference.between([template], [])
  }

  /// - Throws: `schemaViolation` for a name that is there in another case; `limitExceeded`.
  mutating func save(_ template: SubscriptionTemplate) throws(CaravanError) {
    let key = template.name.lowercased()
    let state = templates[key] ?? schema.template(named: template.name)
    if let latest = state.latest, latest.name != template.name {
      throw CaravanError(
        .schemaViolation, "template '\(template.name)' differs from '\(latest.name)' only in case: use that name")
    }
    guard state.latest?.withoutVersion != template.withoutVersion else { return }
    var new = template
    new.version = state.version + 1
    precondition(new.version > schema.template(named: key).version, "a version of a template is given twice")
    templates[key] = TemplateState(version: new.version, latest: new)
    let (there, ever) = templateCounts
    guard there <= SchemaLimits.templatesPerContainer, ever <= SchemaLimits.templateNamesEver else {
      throw CaravanError(
        .limitExceeded,
        "there would be \(there) templates, and \(ever) with those that were removed: the limits are "
          + "\(SchemaLimits.templatesPerContainer) and \(SchemaLimits.templateNamesEver); change one that is there")
    }
    differences += SchemaDifference.between(state.latest.map { [$0] } ?? [], [new])
  }

  private var templatesThen: [String: TemplateState] {
    schema.templateStates.merging(templates) { _, new in new }
  }

  private var templateCounts: (there: Int, ever: Int) {
    let all = templatesThen
    return (all.values.count { $0.latest != nil }, all.count)
  }

  /// Every template that there is then has its type, and fits it: what nobody could subscribe with is not kept.
  /// - Throws: `schemaViolation` naming the template and what does not fit.
  func checkTemplates() throws(CaravanError) {
    for template in templatesThen.values.compactMap(\.latest).sorted(by: { $0.name < $1.name }) {
      guard let type = typeThen(named: template.type) else {
        throw CaravanError(
          .schemaViolation,
          "template '\(template.name)' is about record type '\(template.type.prefix(80))', which "
            + "\(environment.rawValue) would not have: "
            + (environment == .production ? "promote it too" : "define it first, or keep it"))
      }
      do throws(CaravanError) { try template.check(against: type) } catch {
        guard templates[template.name.lowercased()] == nil else { throw error }
        throw CaravanError(
          .schemaViolation,
          "template '\(template.name)' would not fit its type any more: \(error.message); change the template first"
            + (environment == .production ? ", in development, and promote it" : ", or remove it"))
      }
    }
  }

  private func typeThen(named name: String) -> RecordType? {
    if let new = added.last(where: { $0.name == name }) { return new }
    guard !removed.contains(name), let latest = schema.history(of: name).latest, latest.name == name else { return nil }
    return latest
  }
}

extension RegisteredSchema {
  /// - Throws: `noSuchObject`.
  func chosenTemplates(_ names: [String], isAll: Bool) throws(CaravanError) -> [SubscriptionTemplate] {
    let templates = templates
    guard !isAll else { return templates }
    let wanted = Set(names)
    if let unknown = wanted.subtracting(templates.map(\.name)).min() {
      throw SchemaPlan.noTemplate(unknown, in: .development)
    }
    return templates.filter { wanted.contains($0.name) }
  }
}
