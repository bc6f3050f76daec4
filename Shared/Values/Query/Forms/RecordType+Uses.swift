public import CaravanModel

// What queries may do with the fields of a type (CK-93).
extension RecordType {
  /// - Parameter use: what a query does with the field.
  /// - Throws: `schemaViolation` for a field that is not for this.
  public func check(_ field: FieldDefinition, for use: FieldIndexes) throws(CaravanError) {
    guard !field.possibleIndexes.isEmpty else {
      throw CaravanError(
        .schemaViolation, "field '\(field.name)' is \(field.shape): it cannot be queried or sorted by")
    }
    guard field.effectiveIndexes.isSuperset(of: use) else {
      throw CaravanError(
        .schemaViolation,
        "field '\(field.name)' of '\(name)' is \(field.effectiveIndexes), not \(use): its developer says otherwise "
          + "with caravan schema index")
    }
  }

  /// - Throws: `limitExceeded` for too many comparisons; `schemaViolation` for a field that is not for its one.
  public func check(_ expression: Expression<Condition>) throws(CaravanError) {
    let leaves = expression.leaves
    guard leaves.count <= Limits.predicateTerms else {
      throw CaravanError(
        .limitExceeded, "a query has \(leaves.count) comparisons: the limit is \(Limits.predicateTerms)")
    }
    for condition in leaves {
      guard let field = field(id: condition.field) else { continue }
      let isMatch = if case .match = condition.test { true } else { false }
      try check(field, for: isMatch ? .searchable : .queryable)
    }
  }
}
