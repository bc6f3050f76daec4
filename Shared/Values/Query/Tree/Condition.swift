public import CaravanModel

/// A leaf that is bound to a field. What the field holds that is of another kind is null; an integer in a real field is
/// the real next to it.
public struct Condition: Sendable, Hashable, Negatable {
  public let field: UInt32
  public let kind: FieldKind
  /// The field holds lists of this kind.
  public let isList: Bool
  /// Its operands are null or of `kind`; the pattern of LIKE and what MATCH looks for are texts, the numbers of a
  /// region are reals.
  public private(set) var test: Test<Value>
  /// What MATCH looks for, read once.
  public let words: WordQuery?
  /// It is a part of a MATCH of all searchable fields: one without a text has none of the words, and that is known.
  public let isOfAllFields: Bool

  /// What a text that LIKE is true of begins with; nil: it is no LIKE, or it begins with any.
  public var head: String? {
    guard case .like(.text(let pattern), isNegated: false) = test else { return nil }
    let head = Pattern(pattern).head
    return head.isEmpty ? nil : head
  }

  public var negated: Condition {
    var other = self
    other.test = test.negated
    return other
  }

  /// - Throws: `schemaViolation` naming the field, when it cannot be compared so; `limitExceeded` beyond
  ///   `Limits.queryPatternBytes` and `Limits.queryListItems`; `invalidData` for a pattern, a text query or a region
  ///   that is none.
  public init(
    _ field: FieldDefinition, _ test: Test<Value>, isOfAllFields: Bool = false
  ) throws(CaravanError) {
    self.isOfAllFields = isOfAllFields
    self.field = field.id
    kind = field.kind
    isList = field.isList
    self.test = try field.bound(test)
    if case .match(let quantity, .text(let text), _) = test {
      words = try WordQuery(text, quantity)
    } else {
      words = nil
    }
  }

  /// For filters, which know fields by id and kind alone and have checked the value.
  init(field: UInt32, kind: FieldKind, _ test: Test<Value>) {
    self.field = field
    self.kind = kind
    isList = false
    self.test = test
    words = nil
    isOfAllFields = false
  }
}

extension FieldDefinition {
  /// Whether only its presence can be asked for: it holds an object, a place, a list, or what only devices can read.
  private var hasNoOrder: Bool { isList || isEncrypted || kind == .object || kind == .location }

  fileprivate func bound(_ test: Test<Value>) throws(CaravanError) -> Test<Value> {
    switch test {
    case .compare(let relation, let value): return try compared(relation, value)
    case .among(let values, let isNegated):
      return .among(try each(values) { value throws(CaravanError) in try listed(value) }, isNegated: isNegated)
    case .prefix(let value, let isNegated): return .prefix(try begun(value), isNegated: isNegated)
    case .like(let value, let isNegated): return try like(value, isNegated)
    case .match(let quantity, let value, let isNegated): return .match(quantity, try words(value), isNegated: isNegated)
    case .contains(let quantity, let values, let isNegated):
      return .contains(
        quantity, try each(values) { value throws(CaravanError) in try contained(value) }, isNegated: isNegated)
    case .containsLike(let value, let isNegated):
      guard isList, !isEncrypted, kind == .text || kind == .reference else {
        throw CaravanError(.schemaViolation, "field '\(name)' is \(shape): only lists of texts CONTAIN LIKE a pattern")
      }
      return .containsLike(try pattern(value), isNegated: isNegated)
    case .inside(let region, let numbers, let isNegated):
      return .inside(region, try place(region, numbers), isNegated: isNegated)
    }
  }

  private func each(
    _ values: [Value], _ bind: (Value) throws(CaravanError) -> Value
  ) throws(CaravanError) -> [Value] {
    guard values.count <= Limits.queryListItems else {
      throw CaravanError(
        .limitExceeded,
        "field '\(name)' is compared with a list of \(values.count): the limit is \(Limits.queryListItems)")
    }
    var list: [Value] = []
    for value in values { list.append(try bind(value)) }
    return list
  }

  private func compared(_ relation: Relation, _ value: Value) throws(CaravanError) -> Test<Value> {
    if case .integer = kind, !hasNoOrder, case .real(let number) = value { return try whole(relation, number) }
    return .compare(relation, try operand(value))
  }

  private func listed(_ value: Value) throws(CaravanError) -> Value {
    if case .real(let number) = value, kind == .integer, let whole = Int64(exactly: number) { return .integer(whole) }
    return try operand(value)
  }

  /// The value as it is of the field's kind.
  private func operand(_ value: Value) throws(CaravanError) -> Value {
    guard value != .null else { return value }
    guard !hasNoOrder else {
      throw CaravanError(.schemaViolation, "field '\(name)' is \(shape): it can only be compared with NULL, by IS")
    }
    switch (kind, value) {
    case (.text, .text), (.data, .data), (.integer, .integer), (.date, .integer), (.reference, .reference): return value
    case (.reference, .text(let target)): return .reference(Reference(to: target))
    case (.real, .integer(let number)): return .real(Double(number))
    case (.real, .real(let number)):
      guard !number.isNaN else { throw notANumber }
      return value
    case (_, _):
      throw CaravanError(
        .schemaViolation,
        "field '\(name)' is \(kind.rawValue), not \(value.kindName): compare it with a value of kind \(kind.rawValue)")
    }
  }

  private var notANumber: CaravanError {
    CaravanError(.schemaViolation, "field '\(name)' is compared with a value that is not a number: leave that out")
  }

  /// An integer field compared with a real: so as to need integers only, which every engine compares exactly.
  private func whole(_ relation: Relation, _ number: Double) throws(CaravanError) -> Test<Value> {
    guard !number.isNaN else { throw notANumber }
    if let exact = Int64(exactly: number) { return .compare(relation, .integer(exact)) }
    // True of no integer, of every integer; unknown of null.
    let (never, always): (Test<Value>, Test<Value>) = (
      .compare(.less, .integer(.min)), .compare(.greaterOrEqual, .integer(.min))
    )
    switch relation {
    case .equal: return never
    case .notEqual: return always
    case .same: return .among([])
    case .distinct: return .among([], isNegated: true)
    case .less, .lessOrEqual:
      guard let below = Int64(exactly: number.rounded(.down)) else { return number < 0 ? never : always }
      return .compare(.lessOrEqual, .integer(below))
    case .greater, .greaterOrEqual:
      guard let above = Int64(exactly: number.rounded(.up)) else { return number < 0 ? always : never }
      return .compare(.greaterOrEqual, .integer(above))
    }
  }

  private func begun(_ value: Value) throws(CaravanError) -> Value {
    guard !hasNoOrder, kind == .text || kind == .data || kind == .reference, value != .null else {
      throw CaravanError(
        .schemaViolation,
        "field '\(name)' is \(shape), and begins with \(value.kindName): only texts and data begin with something")
    }
    return try operand(value)
  }

  private func like(_ value: Value, _ isNegated: Bool) throws(CaravanError) -> Test<Value> {
    guard !hasNoOrder, kind == .text || kind == .reference else {
      throw CaravanError(.schemaViolation, "field '\(name)' is \(shape): only texts are LIKE a pattern")
    }
    guard value != .null else { return .like(.null, isNegated: isNegated) }
    let pattern = try pattern(value)
    guard case .text(let text) = pattern, let prefix = Pattern(text).prefix else {
      return .like(pattern, isNegated: isNegated)
    }
    return .prefix(try operand(.text(prefix)), isNegated: isNegated)
  }

  private func pattern(_ value: Value) throws(CaravanError) -> Value {
    guard case .text(let pattern) = value else {
      throw CaravanError(
        .schemaViolation, "field '\(name)' is LIKE \(value.kindName): a pattern is a text in single quotes")
    }
    guard pattern.utf8.count <= Limits.queryPatternBytes else {
      throw CaravanError(
        .limitExceeded, "a pattern has \(pattern.utf8.count) bytes: the limit is \(Limits.queryPatternBytes)")
    }
    guard !pattern.utf8.contains(0) else {
      throw CaravanError(.invalidData, "the pattern for field '\(name)' has a NUL character: leave that out")
    }
    return value
  }

  // MARK: Words, lists and places

  private func words(_ value: Value) throws(CaravanError) -> Value {
    guard kind == .text, !isList, !isEncrypted else {
      throw CaravanError(.schemaViolation, "field '\(name)' is \(shape): only texts MATCH words")
    }
    guard case .text = value else {
      throw CaravanError(
        .schemaViolation, "field '\(name)' is to MATCH \(value.kindName): words stand in a text in single quotes")
    }
    return value
  }

  private func contained(_ value: Value) throws(CaravanError) -> Value {
    guard isList, !isEncrypted, kind != .object, kind != .location else {
      throw CaravanError(
        .schemaViolation,
        "field '\(name)' is \(shape): only lists of what can be compared CONTAIN values, a text MATCHes words")
    }
    guard value != .null else {
      throw CaravanError(.schemaViolation, "field '\(name)' is to CONTAIN NULL: lists hold none, leave it out")
    }
    return try FieldDefinition(id: id, name: name, kind: kind).listed(value)
  }

  private func place(_ region: Region, _ values: [Value]) throws(CaravanError) -> [Value] {
    guard kind == .location, !isList, !isEncrypted else {
      throw CaravanError(
        .schemaViolation, "field '\(name)' is \(shape): only places are \(region.word) something")
    }
    var numbers: [Double] = []
    for value in values {
      switch value {
      case .integer(let number): numbers.append(Double(number))
      case .real(let number) where number.isFinite: numbers.append(number)
      default:
        throw CaravanError(
          .schemaViolation, "field '\(name)' is \(region.word) \(value.kindName): write finite numbers")
      }
    }
    if let problem = region.problem(numbers) {
      throw CaravanError(.invalidData, "field '\(name)': \(region.word) \(problem)")
    }
    return numbers.map { .real($0) }
  }
}
