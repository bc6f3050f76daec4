package import CaravanModel

extension FieldDefinition {
  /// The column of this field in its table.
  package var column: String { Self.column(id) }

  static func column(_ id: UInt32) -> String { "f\(id)" }

  /// Objects, lists, places and what only devices can read are not indexed. A reference is by its target's name.
  package var isQueryable: Bool {
    guard !isList, !isEncrypted else { return false }
    switch kind {
    case .text, .integer, .real, .data, .date, .reference: return true
    case .object, .location: return false
    }
  }
}

extension RecordType {
  /// - Parameter use: what the query does with the field.
  /// - Throws: `schemaViolation` when there is no such field, or no index of it for this.
  func indexed(_ name: String, for use: FieldIndexes) throws(CaravanError) -> FieldDefinition {
    guard let field = field(named: name) else {
      throw CaravanError(.schemaViolation, "record type '\(self.name)' has no field '\(name.prefix(80))'")
    }
    guard field.isQueryable else {
      throw CaravanError(.schemaViolation, "field '\(name)' is \(field.shape): it cannot be queried or sorted by")
    }
    guard field.effectiveIndexes.isSuperset(of: use) else {
      throw CaravanError(
        .schemaViolation,
        "field '\(name)' of '\(self.name)' is \(field.effectiveIndexes), not \(use): its developer says otherwise with "
          + "caravan schema index")
    }
    return field
  }
}
