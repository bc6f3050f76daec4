public import CaravanModel

// A predicate is how a query travels to the query service.
extension Expression where Leaf == Condition {
  /// nil: the predicate is empty, and every record satisfies it.
  /// - Parameter find: the field of a name.
  /// - Throws: `invalidData` or `schemaViolation`, naming the term or the field; `limitExceeded` for too many terms.
  public init?(
    _ predicate: Predicate, find: (String) throws(CaravanError) -> FieldDefinition
  ) throws(CaravanError) {
    guard predicate.terms.count <= Limits.predicateTerms else {
      throw CaravanError(
        .limitExceeded, "a predicate has \(predicate.terms.count) terms: the limit is \(Limits.predicateTerms)")
    }
    guard !predicate.terms.isEmpty else { return nil }
    var postfix = Postfix<Condition>("predicate")
    for term in predicate.terms {
      switch term {
      case .compare(let name, let comparison, let value):
        let field = try find(name)
        guard value != .null || comparison == .equal || comparison == .notEqual else {
          throw CaravanError(
            .schemaViolation,
            "field '\(name)' is compared (\(comparison.rawValue)) with null: only equal and notEqual can be")
        }
        guard let test = Test(comparison, value) else {
          throw CaravanError(
            .invalidData, "field '\(name)' is compared (\(comparison.rawValue)) with \(value.kindName): give it a list")
        }
        postfix.add(.leaf(try Condition(field, test)))
      case .all(let count): try postfix.combineAll(count)
      case .any(let count): try postfix.combineAny(count)
      case .not: try postfix.negate()
      }
    }
    self = try postfix.whole()
  }
}

extension Test<Value> {
  /// A predicate's comparison: a null field equals null only, and differs from everything else.
  /// - Returns: nil: it takes a list of values.
  init?(_ comparison: Comparison, _ value: Value) {
    let values: [Value]
    switch (comparison, value) {
    case (.containsAll, .list(let items)), (.containsAny, .list(let items)), (.near, .list(let items)),
      (.within, .list(let items)):
      values = items
    case (.containsAll, _), (.containsAny, _), (.near, _), (.within, _): return nil
    case (_, _): values = []
    }
    self =
      switch comparison {
      case .equal: .compare(value == .null ? .same : .equal, value)
      case .notEqual: .compare(.distinct, value)
      case .less: .compare(.less, value)
      case .lessOrEqual: .compare(.lessOrEqual, value)
      case .greater: .compare(.greater, value)
      case .greaterOrEqual: .compare(.greaterOrEqual, value)
      case .prefix: .prefix(value)
      case .like: .like(value)
      case .matchAll: .match(.all, value)
      case .matchAny: .match(.any, value)
      case .containsAll: .contains(.all, values)
      case .containsAny: .contains(.any, values)
      case .containsLike: .containsLike(value)
      case .near: .inside(.circle, values)
      case .within: .inside(.rectangle, values)
      }
  }
}

extension Predicate {
  /// What holds of the same records.
  /// - Parameter type: what the expression is bound to.
  /// - Throws: `limitExceeded` beyond `Limits.predicateTerms`.
  public init(_ expression: Expression<Condition>, of type: RecordType) throws(CaravanError) {
    let terms = try Self.terms(expression.withoutNot, type)
    guard terms.count <= Limits.predicateTerms else {
      throw CaravanError(
        .limitExceeded,
        "the query comes to \(terms.count) comparisons and combinations: the limit is \(Limits.predicateTerms)")
    }
    self.init(terms)
  }

  private static func terms(_ expression: Expression<Condition>, _ type: RecordType) throws(CaravanError) -> [Term] {
    switch expression {
    case .leaf(let condition): return try terms(condition, type)
    case .not: preconditionFailure("an expression without not has one")
    case .all(let parts): return joined(try each(parts, type), Term.all)
    case .any(let parts): return joined(try each(parts, type), Term.any)
    }
  }

  private static func each(_ parts: [Expression<Condition>], _ type: RecordType) throws(CaravanError) -> [[Term]] {
    var list: [[Term]] = []
    for part in parts { list.append(try terms(part, type)) }
    return list
  }

  private static func joined(_ parts: [[Term]], _ combine: (UInt32) -> Term) -> [Term] {
    parts.count == 1 ? parts[0] : parts.flatMap(\.self) + [combine(UInt32(parts.count))]
  }

  private static func terms(_ condition: Condition, _ type: RecordType) throws(CaravanError) -> [Term] {
    guard let name = type.field(id: condition.field)?.name ?? SystemField(id: condition.field)?.rawValue else {
      preconditionFailure("a condition of a field that '\(type.name)' has not")
    }
    func term(_ comparison: Comparison, _ value: Value) -> [Term] { [.compare(field: name, comparison, value)] }
    func opposite(_ terms: [Term], _ isNegated: Bool) -> [Term] { isNegated ? terms + [.not] : terms }
    let (absent, present) = (term(.equal, .null), term(.notEqual, .null))
    let (never, always) = (joined([absent, present], Term.all), joined([absent, present], Term.any))
    switch condition.test {
    case .compare(.same, let value): return term(.equal, value)
    case .compare(.distinct, let value): return term(.notEqual, value)
    case .compare(_, .null), .like(.null, _): return never
    case .compare(.equal, let value): return term(.equal, value)
    case .compare(.notEqual, let value): return joined([term(.notEqual, value), present], Term.all)
    case .compare(.less, let value): return term(.less, value)
    case .compare(.lessOrEqual, let value): return term(.lessOrEqual, value)
    case .compare(.greater, let value): return term(.greater, value)
    case .compare(.greaterOrEqual, let value): return term(.greaterOrEqual, value)
    case .among([], let isNegated): return isNegated ? always : never
    case .among(let values, isNegated: false):
      let known = values.filter { $0 != .null }
      return known.isEmpty ? never : joined(known.map { term(.equal, $0) }, Term.any)
    case .among(let values, isNegated: true):
      return values.contains(.null) ? never : joined(values.map { term(.notEqual, $0) } + [present], Term.all)
    case .prefix(let value, isNegated: false): return term(.prefix, value)
    case .prefix(let value, isNegated: true):
      guard let bound = PrefixRange.upperBound(value) else { return term(.less, value) }
      return joined([term(.less, value), term(.greaterOrEqual, bound)], Term.any)
    case .like(let value, let isNegated): return opposite(term(.like, value), isNegated)
    case .match(let quantity, let value, let isNegated):
      return opposite(term(quantity == .all ? .matchAll : .matchAny, value), isNegated)
    case .contains(let quantity, let values, let isNegated):
      return opposite(term(quantity == .all ? .containsAll : .containsAny, .list(values)), isNegated)
    case .containsLike(let value, let isNegated): return opposite(term(.containsLike, value), isNegated)
    case .inside(.circle, let numbers, let isNegated): return opposite(term(.near, .list(numbers)), isNegated)
    case .inside(.rectangle, let numbers, let isNegated): return opposite(term(.within, .list(numbers)), isNegated)
    }
  }
}
