import CaravanModel

// How versions of a record type compare, and how one comes from another.

extension FieldDefinition {
  func numbered(_ id: UInt32) -> FieldDefinition {
    var field = self
    field.id = id
    if indexes == possibleIndexes { field.indexes = nil }
    return field
  }

  /// Whether a record's value of the one is one of the other.
  func isSame(_ other: FieldDefinition) -> Bool { id == other.id && name == other.name && shape == other.shape }

  /// This field with what `proposal` says of its indexes, if it says anything.
  func indexed(as proposal: FieldDefinition?) -> FieldDefinition {
    guard let indexes = proposal?.indexes, indexes != effectiveIndexes else { return self }
    var field = self
    field.indexes = indexes == possibleIndexes ? nil : indexes
    return field
  }
}

extension RecordType {
  var shapes: [String: String] {
    Dictionary(fields.map { ($0.name, $0.shape) }, uniquingKeysWith: { first, _ in first })
  }

  var fieldIDs: [UInt32] { fields.map(\.id) }

  /// Whether its records behave as `proposal` wants: one without settings wants nothing.
  func behaves(as proposal: RecordType) -> Bool {
    proposal.settings.map { $0 == settings ?? TypeSettings() } ?? true
      && proposal.grants.map { $0 == grants ?? .standard } ?? true
      && proposal.fields.allSatisfy { wanted in
        wanted.indexes.map { $0 == field(named: wanted.name)?.effectiveIndexes } ?? true
      }
  }

  /// Leaves out what only those say who may.
  mutating func forgetRules() {
    grants = nil
    for index in fields.indices { fields[index].indexes = nil }
  }

  /// This type with everything said of it that is left open where it is as usual.
  var spelledOut: RecordType {
    var type = self
    (type.settings, type.grants) = (settings ?? TypeSettings(), grants ?? .standard)
    for index in type.fields.indices { type.fields[index].indexes = fields[index].effectiveIndexes }
    return type
  }

  /// Whether `other` has all of its fields, as they are.
  func isPart(of other: RecordType) -> Bool {
    fields.allSatisfy { other.field(named: $0.name)?.shape == $0.shape }
  }

  /// This type with the fields of `proposal` that it lacks, under new and higher field ids, and with its settings.
  /// - Parameters:
  ///   - isBranch: what the proposal leaves out it does not know.
  ///   - highest: field id that was given under its name.
  func extended(
    by proposal: RecordType, isBranch: Bool, above highest: UInt32, _ numbers: TypeNumbers
  ) throws(CaravanError) -> RecordType {
    for field in fields {
      guard let proposed = proposal.field(named: field.name) else {
        if isBranch { continue }
        throw CaravanError(
          .schemaNotAdditive,
          "field '\(field.name)' (\(field.shape)) of '\(name)' is missing from the proposal, and fields stay: name it "
            + "too (an app's table is dropped, and created with it)")
      }
      guard proposed.shape == field.shape else {
        throw CaravanError(
          .schemaNotAdditive,
          "field '\(field.name)' of '\(name)' is \(field.shape), proposed is \(proposed.shape): "
            + "keep \(field.shape), or add a field of another name")
      }
    }
    let columns = Dictionary(fields.map { ($0.name.lowercased(), $0.name) }, uniquingKeysWith: { first, _ in first })
    for field in proposal.fields where self.field(named: field.name) == nil {
      // The proposal of a branch does not name what others have added since.
      guard let other = columns[field.name.lowercased()] else { continue }
      throw CaravanError(
        .schemaViolation,
        "'\(name)' has a field '\(other)', and '\(field.name)' differs from it only in case: use that name")
    }
    return try successor(keeping: fields, with: proposal, above: highest, numbers)
  }

  /// This type with exactly the fields of `wanted`. Those that it has keep their ids; one of another kind is another
  /// field.
  func becoming(
    _ wanted: RecordType, above highest: UInt32, _ numbers: TypeNumbers
  ) throws(CaravanError) -> RecordType {
    let kept = fields.filter { wanted.field(named: $0.name)?.shape == $0.shape }
    return try successor(keeping: kept, with: wanted, above: highest, numbers)
  }

  private func successor(
    keeping kept: [FieldDefinition], with proposal: RecordType, above highest: UInt32, _ numbers: TypeNumbers
  ) throws(CaravanError) -> RecordType {
    var successor = RecordType(
      id: numbers.next, definition: definition, name: name,
      fields: kept.map { $0.indexed(as: proposal.field(named: $0.name)) }, settings: proposal.settings ?? settings,
      grants: proposal.grants ?? grants)
    var id = highest + numbers.fieldGap
    for field in proposal.fields where !kept.contains(where: { $0.name == field.name }) {
      id += 1
      successor.fields.append(field.numbered(id))
    }
    guard successor.fields.count <= Limits.fieldsPerType else {
      throw CaravanError(
        .schemaViolation,
        "record type '\(name)' would have \(successor.fields.count) fields, with those that others have added: "
          + "the limit is \(Limits.fieldsPerType), make another type")
    }
    return successor
  }
}
