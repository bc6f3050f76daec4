package import CaravanModel
import CaravanQuery

/// An index that a query can use.
package struct IndexNeed: Sendable, Hashable {
  package enum Use: UInt8, Sendable, Hashable, CaseIterable {
    /// Compare and sort by the field's key.
    case key = 1
    /// Find lists by a member.
    case members = 2
    /// Find texts by their words.
    case words = 3
  }

  package let field: UInt32
  /// Of the field, or of a member of its list.
  package let kind: FieldKind
  package let use: Use

  package init(_ field: UInt32, _ kind: FieldKind, _ use: Use) {
    self.field = field
    self.kind = kind
    self.use = use
  }

  /// nil: no index helps.
  init?(_ condition: Condition) {
    switch condition.test {
    case .match: self.init(condition.field, condition.kind, .words)
    case .contains: self.init(condition.field, condition.kind, .members)
    case .containsLike: return nil
    case .compare, .among, .prefix, .like, .inside:
      guard !condition.isList else { return nil }
      self.init(condition.field, condition.kind, .key)
    }
  }
}

extension RecordType {
  /// - Parameter use: what the query does with the field.
  /// - Throws: `schemaViolation` when there is no such field, or no index of it for this.
  func indexed(_ name: String, for use: FieldIndexes) throws(CaravanError) -> FieldDefinition {
    let field =
      if let system = SystemField(rawValue: name), field(named: name) == nil { system.definition } else {
        try shown(name)
      }
    try check(field, for: use)
    return field
  }

  /// - Throws: `schemaViolation` when there is no such field.
  func shown(_ name: String) throws(CaravanError) -> FieldDefinition {
    guard let field = field(named: name) else {
      throw CaravanError(.schemaViolation, "record type '\(self.name)' has no field '\(name.prefix(80))'")
    }
    return field
  }

  /// What a query asks of records.
  /// - Returns: nil: nothing.
  /// - Throws: `invalidData` for what cannot be read; `schemaViolation`, as `indexed`; `limitExceeded`.
  func expression(_ query: Query) throws(CaravanError) -> Expression<Condition>? {
    let expression =
      if let text = query.text { try bound(text) } else {
        try Expression(query.predicate) { name throws(CaravanError) in try indexed(name, for: []) }
      }
    if let expression { try check(expression) }
    return expression
  }

  private func bound(_ text: Query.Text) throws(CaravanError) -> Expression<Condition> {
    let read = try ExpressionText(text.text)
    guard read.arguments == text.arguments.count else {
      throw CaravanError(
        .invalidData, "the query has \(read.arguments) '?' and \(text.arguments.count) arguments: give one for each")
    }
    return try read.bound(to: self) { number, _ in text.arguments[number] }
  }

  func term(_ key: SortKey) throws(CaravanError) -> SortTerm {
    guard let centre = key.near else {
      let field = try indexed(key.field, for: [])
      guard !field.isList, field.kind != .location else {
        throw CaravanError(
          .schemaViolation,
          "field '\(key.field)' is \(field.shape): it has no order"
            + (field.isList ? "" : ", only distances from a place")
        )
      }
      try check(field, for: .sortable)
      return .field(field.id, field.kind)
    }
    let field = try indexed(key.field, for: .queryable)
    guard field.kind == .location, !field.isList else {
      throw CaravanError(
        .schemaViolation, "field '\(key.field)' is \(field.shape): only places have a distance")
    }
    return .distance(field.id, from: centre)
  }
}
