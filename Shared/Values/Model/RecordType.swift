/// What a field holds. Stores and messages keep the raw value: its names never change.
public enum FieldKind: String, Sendable, Hashable, CaseIterable {
  case text
  case integer
  case real
  case data
  case object
  /// Unix milliseconds.
  case date
  case location
  case reference
}

/// One column of a table.
public struct FieldDefinition: Sendable, Hashable {
  /// Grows by one a field within its record type and is never used again (CK-91).
  public var id: UInt32
  /// As apps write it, unique in its type.
  public var name: String
  /// What one value of the field is, or one member of its list.
  public var kind: FieldKind
  /// A list of values of `kind`.
  public var isList: Bool
  /// Travels and lies as data that only devices can read (CK-11); `kind` and `isList` say what is in it.
  public var isEncrypted: Bool
  /// What queries may do with it. nil: all that its kind can have; in a proposal: as registered.
  public var indexes: FieldIndexes?

  public init(
    id: UInt32, name: String, kind: FieldKind, isList: Bool = false, isEncrypted: Bool = false,
    indexes: FieldIndexes? = nil
  ) {
    self.id = id
    self.name = name
    self.kind = kind
    self.isList = isList
    self.isEncrypted = isEncrypted
    self.indexes = indexes
  }

  /// What it holds, in words: `text`, `list of location`, `encrypted date`.
  public var shape: String { (isEncrypted ? "encrypted " : "") + (isList ? "list of " : "") + kind.rawValue }
}

/// An immutable record type (CK-90): a change makes another `id` under the same `definition`.
public struct RecordType: Sendable, Hashable {
  /// Every change of the type gets another one; records carry that with which they were written.
  public var id: UInt32
  /// Stays the same through all changes of the type.
  public var definition: UInt32
  /// The name of the table whose rows these records are.
  public var name: String
  /// In the order in which they were added. In production they are never removed.
  public var fields: [FieldDefinition]
  /// nil in a proposal: as registered.
  public var settings: TypeSettings?
  /// Of its records in the public database. nil: `TypeGrants.standard`; in a proposal: as registered.
  public var grants: TypeGrants?

  public init(
    id: UInt32, definition: UInt32, name: String, fields: [FieldDefinition], settings: TypeSettings? = nil,
    grants: TypeGrants? = nil
  ) {
    self.id = id
    self.definition = definition
    self.name = name
    self.fields = fields
    self.settings = settings
    self.grants = grants
  }

  /// Names are compared exactly; nil: the type has no such field.
  public func field(named name: String) -> FieldDefinition? { fields.first { $0.name == name } }
  /// Records know their fields by this id; nil: a newer type has it.
  public func field(id: UInt32) -> FieldDefinition? { fields.first { $0.id == id } }

  /// Checks a record against this type. Fields this type does not know pass: they are a newer client's (CK-26).
  /// - Throws: `schemaViolation` naming the field, the expected and the actual type.
  public func check(_ record: RecordFields) throws(CaravanError) {
    for (id, value) in record.ascending {
      guard let field = field(id: id) else { continue }
      try field.check(value)
    }
  }
}

/// What becomes of a save that is not based on what the store holds (UNI-02).
public enum ConflictPolicy: String, Sendable, Hashable, CaseIterable {
  /// A conflict: the server's copy comes back, and the app decides.
  case manual
  /// Field by field the later write wins; a delete wins over updates (DIF step 6, UNI-09).
  case fieldMerge
  /// The later write wins as a whole.
  case lastWriterWins
  /// The write of the smaller device id wins, whenever it comes (CK-35).
  case deterministic
  /// A program of the app decides (CK-36).
  case serverExtension
}

/// How the records of a type behave.
public struct TypeSettings: Sendable, Hashable {
  /// What becomes of a save that another device's save has overtaken.
  public var conflicts: ConflictPolicy
  /// Applied when a server extension does not answer in time.
  public var fallback: ConflictPolicy
  /// How long a server extension may take.
  public var extensionMilliseconds: UInt32
  /// Records end this long after their last write; 0: never (CK-30).
  public var ttlMilliseconds: UInt64
  /// Expired records are out of sight before they are collected.
  public var hidesExpired: Bool
  /// Most chunks of its objects are about so long (SIM-93): shorter ones where little of an object changes at a time,
  /// longer ones for the longest objects. One of `chunkSizes`; nil: 64 KiB.
  public var chunkBytes: UInt32?

  /// Chunk lengths that a type may have, in bytes: 4 to 128 KiB, powers of two.
  public static let chunkSizes: [UInt32] = (12...17).map { 1 << $0 }
  /// How long a server extension may take where nobody says otherwise, in milliseconds.
  public static let extensionMilliseconds: UInt32 = 1_000

  public init(
    conflicts: ConflictPolicy = .manual, fallback: ConflictPolicy = .manual,
    extensionMilliseconds: UInt32 = Self.extensionMilliseconds, ttlMilliseconds: UInt64 = 0,
    hidesExpired: Bool = false, chunkBytes: UInt32? = nil
  ) {
    self.conflicts = conflicts
    self.fallback = fallback
    self.extensionMilliseconds = extensionMilliseconds
    self.ttlMilliseconds = ttlMilliseconds
    self.hidesExpired = hidesExpired
    self.chunkBytes = chunkBytes
  }
}

/// One setting of a record type that is not what it was.
public struct SettingChange: Sendable, Hashable, CustomStringConvertible {
  /// As `caravan schema set` names it.
  public var setting: String
  /// The value before, as a person would write it.
  public var was: String
  /// The value from now on, as a person would write it.
  public var now: String

  public init(_ setting: String, was: String, now: String) {
    self.setting = setting
    self.was = was
    self.now = now
  }

  /// One clause for a message or a log line.
  public var description: String { "\(setting) was \(was), is \(now)" }
}

extension TypeSettings {
  /// What is otherwise than in `old`.
  public func changes(from old: TypeSettings) -> [SettingChange] {
    func text(ttl milliseconds: UInt64) -> String { milliseconds == 0 ? "never" : "\(milliseconds)ms" }
    func text(chunk bytes: UInt32?) -> String { "\((bytes ?? 1 << 16) >> 10)K" }
    let all = [
      SettingChange("conflicts", was: old.conflicts.rawValue, now: conflicts.rawValue),
      SettingChange("fallback", was: old.fallback.rawValue, now: fallback.rawValue),
      SettingChange(
        "extension-within", was: "\(old.extensionMilliseconds)ms", now: "\(extensionMilliseconds)ms"),
      SettingChange("ttl", was: text(ttl: old.ttlMilliseconds), now: text(ttl: ttlMilliseconds)),
      SettingChange("hide-expired", was: "\(old.hidesExpired)", now: "\(hidesExpired)"),
      SettingChange("chunk-size", was: text(chunk: old.chunkBytes), now: text(chunk: chunkBytes)),
    ]
    return all.filter { $0.was != $0.now }
  }
}

extension FieldDefinition {
  /// - Throws: `schemaViolation` when `value` is of another kind. Integers are accepted where reals are expected.
  public func check(_ value: Value) throws(CaravanError) {
    guard !accepts(value) else { return }
    throw CaravanError(
      .schemaViolation, "field '\(name)' is \(shape), not \(value.kindName): give it a \(shape) value")
  }

  private func accepts(_ value: Value) -> Bool {
    switch value {
    case .null: true
    case .data where isEncrypted: true
    case .text, .integer, .real, .data, .asset, .assetList, .location, .reference, .list:
      !isEncrypted && kind.accepts(value, isList: isList)
    }
  }
}

extension FieldKind {
  /// Whether a value is null, of this kind or, with `isList`, a list of values of this kind. Integers pass where reals
  /// are expected.
  public func accepts(_ value: Value, isList: Bool) -> Bool {
    switch value {
    case .null: true
    case .list(let items): isList && items.allSatisfy { accepts($0) }
    case .text, .integer, .real, .data, .asset, .assetList, .location, .reference: !isList && accepts(value)
    }
  }

  /// Whether one value, no list, is of this kind.
  private func accepts(_ value: Value) -> Bool {
    switch (self, value) {
    case (.text, .text), (.integer, .integer), (.real, .real), (.real, .integer), (.data, .data), (.object, .asset),
      (.object, .assetList), (.date, .integer), (.location, .location), (.reference, .reference):
      true
    case (.text, _), (.integer, _), (.real, _), (.data, _), (.object, _), (.date, _), (.location, _), (.reference, _):
      false
    }
  }
}
