/// One change of a container's schema in one environment, as its history keeps it for ever (CK-92).
public struct SchemaChange: Sendable, Hashable {
  /// How it came about.
  public enum Cause: String, Sendable, Hashable, CaseIterable {
    /// An app of a device has made a table, or saved with fields that were new (CK-93).
    case inferred
    /// Somebody has said it of one type.
    case said
    /// A type or a field was removed.
    case removed
    /// It came from development (CK-94).
    case promoted
    /// Development became as production is (CK-94).
    case reset
    /// It came from a text.
    case imported
  }

  /// Who has changed it.
  public struct Author: Sendable, Hashable {
    /// nil: the operator, or a release that did not say.
    public let user: UserID?
    /// The one of theirs on which they did; empty: not known.
    public let device: String

    public init(user: UserID?, device: String = "") {
      self.user = user
      self.device = device
    }
  }

  /// Of the schema that it made: they count on by one in each environment.
  public var id: UInt32
  /// The schema that was changed; 0: the one before the history began.
  public var parent: UInt32
  /// Unix milliseconds, of the registry's clock.
  public var milliseconds: UInt64
  public var author: Author
  public var cause: Cause
  /// Of a promotion, the schema of development; of a reset, that of production. 0: none.
  public var source: UInt32
  /// What is otherwise than in its parent.
  public var differences: [SchemaDifference]

  public init(
    id: UInt32, parent: UInt32, milliseconds: UInt64, author: Author, cause: Cause, source: UInt32 = 0,
    differences: [SchemaDifference]
  ) {
    self.id = id
    self.parent = parent
    self.milliseconds = milliseconds
    self.author = author
    self.cause = cause
    self.source = source
    self.differences = differences
  }
}

/// One thing that is otherwise in one schema than in another.
public struct SchemaDifference: Sendable, Hashable {
  /// The record type's name, or the template's.
  public var type: String
  /// nil: of the type as a whole.
  public var field: String?
  /// `type` or `field`, where that is new or gone; else what of it differs: a setting as `caravan schema set` names it,
  /// `indexes`, or `grant` and a role. `template`: a template is new, gone, or another one.
  public var property: String
  /// Empty: it was not there.
  public var was: String
  /// Empty: it is gone.
  public var now: String

  public init(type: String, field: String? = nil, property: String, was: String, now: String) {
    self.type = type
    self.field = field
    self.property = property
    self.was = was
    self.now = now
  }

  fileprivate static let template = "template"

  /// Whether a type, a field or a template is gone.
  public var isRemoval: Bool { now.isEmpty }
}

extension SchemaDifference: CustomStringConvertible {
  /// A clause for a person: `+ photos.place location`.
  public var description: String {
    let subject = field.map { "\(type).\($0)" } ?? type
    switch (property, was.isEmpty, now.isEmpty) {
    case ("type", true, _), ("field", true, _): return "+ \(subject): \(now)"
    case ("type", _, true), ("field", _, true): return "- \(subject): \(was)"
    case (Self.template, true, _): return "+ template \(subject): \(now)"
    case (Self.template, _, true): return "- template \(subject): \(was)"
    case (Self.template, _, _): return "~ template \(subject): \(was), now \(now)"
    case (_, _, _): return "~ \(subject): \(property) \(was), now \(now)"
    }
  }
}

extension SchemaDifference {
  /// What is otherwise in `new` than in `old`, by type.
  public static func between(_ old: [RecordType], _ new: [RecordType]) -> [SchemaDifference] {
    let before = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let after = Dictionary(new.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    return Set(before.keys).union(after.keys).sorted().flatMap { between(before[$0], after[$0]) }
  }

  /// What is otherwise in one version of a type than in another. nil: the type is not there.
  public static func between(_ old: RecordType?, _ new: RecordType?) -> [SchemaDifference] {
    switch (old, new) {
    case (nil, nil): return []
    case (nil, let new?):
      let rules = RecordType(id: 0, definition: 0, name: new.name, fields: [])
      return [SchemaDifference(type: new.name, property: "type", was: "", now: new.fieldsText)] + ofRules(rules, new)
    case (let old?, nil): return [SchemaDifference(type: old.name, property: "type", was: old.fieldsText, now: "")]
    case (let old?, let new?): return ofFields(old, new) + ofRules(old, new)
    }
  }

  /// A field is another one where its shape is, and also where only its id is: it was removed in between.
  private static func ofFields(_ old: RecordType, _ new: RecordType) -> [SchemaDifference] {
    // Ids of two environments say nothing of each other.
    let isOneHistory = old.definition == new.definition
    func isKept(_ field: FieldDefinition, in other: RecordType) -> Bool {
      guard let same = other.field(named: field.name) else { return false }
      return same.shape == field.shape && (!isOneHistory || same.id == field.id)
    }
    let gone = old.fields.filter { !isKept($0, in: new) }.map {
      SchemaDifference(type: new.name, field: $0.name, property: "field", was: $0.shape, now: "")
    }
    let added = new.fields.filter { !isKept($0, in: old) }.map {
      SchemaDifference(type: new.name, field: $0.name, property: "field", was: "", now: $0.shape)
    }
    return gone + added
  }

  private static func ofRules(_ old: RecordType, _ new: RecordType) -> [SchemaDifference] {
    var list: [SchemaDifference] = []
    for field in new.fields {
      let (was, now) = (
        old.field(named: field.name)?.effectiveIndexes ?? field.possibleIndexes, field.effectiveIndexes
      )
      guard was != now else { continue }
      list.append(
        SchemaDifference(
          type: new.name, field: field.name, property: "indexes", was: was.description, now: now.description))
    }
    for change in (new.settings ?? TypeSettings()).changes(from: old.settings ?? TypeSettings()) {
      list.append(SchemaDifference(type: new.name, property: change.setting, was: change.was, now: change.now))
    }
    let (was, now) = (old.grants ?? .standard, new.grants ?? .standard)
    for role in TypeGrants.roles(of: [was, now]) where was[role] != now[role] {
      list.append(
        SchemaDifference(
          type: new.name, property: "grant \(role)", was: was[role].description, now: now[role].description))
    }
    return list
  }
}

extension SchemaDifference {
  /// What is otherwise of templates in `new` than in `old`, by name.
  public static func between(_ old: [SubscriptionTemplate], _ new: [SubscriptionTemplate]) -> [SchemaDifference] {
    let before = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let after = Dictionary(new.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    return Set(before.keys).union(after.keys).sorted().compactMap { name in
      let (was, now) = (before[name], after[name])
      guard was?.withoutVersion != now?.withoutVersion else { return nil }
      return SchemaDifference(
        type: name, property: template, was: was?.description ?? "", now: now?.description ?? "")
    }
  }
}

extension RecordType {
  /// `name text, date integer`
  fileprivate var fieldsText: String { fields.map { "\($0.name) \($0.shape)" }.joined(separator: ", ") }
}
