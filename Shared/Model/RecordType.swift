public enum FieldKind: String, Sendable, Hashable, CaseIterable {
  case text
  case integer
  case real
  case data
  case object
}

public struct FieldDefinition: Sendable, Hashable {
  /// Grows by one a field within its record type and is never used again (CK-91).
  public var id: UInt32
  public var name: String
  public var kind: FieldKind

  public init(id: UInt32, name: String, kind: FieldKind) {
    self.id = id
    self.name = name
    self.kind = kind
  }
}

/// An immutable record type (CK-90): a change makes another `id` under the same `definition`.
public struct RecordType: Sendable, Hashable {
  public var id: UInt32
  public var definition: UInt32
  public var name: String
  public var fields: [FieldDefinition]

  public init(id: UInt32, definition: UInt32, name: String, fields: [FieldDefinition]) {
    self.id = id
    self.definition = definition
    self.name = name
    self.fields = fields
  }

  public func field(named name: String) -> FieldDefinition? { fields.first { $0.name == name } }
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

extension FieldDefinition {
  /// - Throws: `schemaViolation` when `value` is of another kind. Integers are accepted where reals are expected.
  public func check(_ value: Value) throws(CaravanError) {
    switch (kind, value) {
    case (_, .null), (.text, .text), (.integer, .integer), (.real, .real), (.real, .integer), (.data, .data),
      (.object, .asset), (.object, .assetList):
      return
    case (.text, _), (.integer, _), (.real, _), (.data, _), (.object, _):
      throw CaravanError(
        .schemaViolation, "field '\(name)' is \(kind.rawValue), not \(value.kindName): give it a \(kind.rawValue) value"
      )
    }
  }
}
