import CaravanModel

/// A question as its asker means it. It knows nothing of how the product reads, binds or runs one: it is written down
/// as a text or as terms for the product, and answered by the oracle.
indirect enum Asked {
  case leaf(AskedLeaf)
  case not(Asked)
  case all([Asked])
  case any([Asked])
}

/// What is asked of one field.
struct AskedLeaf {
  enum Sign: String, CaseIterable {
    case equal = "="
    case notEqual = "<>"
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case same = "IS"
    case distinct = "IS NOT"
  }

  enum Test {
    case compare(Sign, Value)
    case among([Value])
    case between(Value, Value)
    case like(Value)
    /// Terms alone can say so of data; of texts it is LIKE with one `%`.
    case begins(Value)
    case match(isAny: Bool, SoughtWords)
    case contains(isAny: Bool, [Value])
    case containsLike(String)
    case near([Double])
    case within([Double])
  }

  let field: FieldDefinition
  let test: Test
  /// The word NOT stands before it, which of comparisons nothing says.
  var isNegated = false
}

// MARK: As a text

extension Asked {
  /// A text has 8,192 bytes at most: what is longer than this is an argument.
  private static let longLiteral = 60

  /// The text, and the values of its `?`.
  /// - Parameter isArgument: whether the next value is one.
  func text(isArgument: () -> Bool) -> Query.Text {
    var arguments: [Value] = []
    let text = written { value in
      guard let literal = value.literal, literal.utf8.count < Self.longLiteral, !isArgument() else {
        arguments.append(value)
        return "?"
      }
      return literal
    }
    return Query.Text(text, arguments: arguments)
  }

  private func written(_ value: (Value) -> String) -> String {
    switch self {
    case .leaf(let leaf): leaf.written(value)
    case .not(let part): "NOT (\(part.written(value)))"
    case .all(let parts): parts.map { "(\($0.written(value)))" }.joined(separator: " AND ")
    case .any(let parts): parts.map { "(\($0.written(value)))" }.joined(separator: " OR ")
    }
  }
}

extension AskedLeaf {
  fileprivate func written(_ value: (Value) -> String) -> String {
    let (name, not) = (field.name, isNegated ? "NOT " : "")
    func list(_ values: [Value]) -> String { "(\(values.map(value).joined(separator: ", ")))" }
    func numbers(_ numbers: [Double]) -> String { list(numbers.map { .real($0) }) }
    switch test {
    case .compare(let sign, let operand): return "\(name) \(sign.rawValue) \(value(operand))"
    case .among(let operands): return "\(name) \(not)IN \(list(operands))"
    case .between(let low, let high): return "\(name) \(not)BETWEEN \(value(low)) AND \(value(high))"
    case .like(let pattern): return "\(name) \(not)LIKE \(value(pattern))"
    case .begins: preconditionFailure("no text says of '\(name)' that it begins with something")
    case .match(let isAny, let words): return "\(name) \(not)MATCH \(isAny ? "ANY " : "")\(value(.text(words.text)))"
    case .contains(let isAny, let operands): return "\(name) \(not)CONTAINS \(isAny ? "ANY" : "ALL") \(list(operands))"
    case .containsLike(let pattern): return "\(name) \(not)CONTAINS LIKE \(value(.text(pattern)))"
    case .near(let circle): return "\(name) \(not)NEAR \(numbers(circle))"
    case .within(let box): return "\(name) \(not)WITHIN \(numbers(box))"
    }
  }
}

extension Value {
  /// As the language writes it; nil: it has no word for it.
  fileprivate var literal: String? {
    switch self {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .real(let number): number.isFinite ? "\(number)" : nil
    case .text(let text): Self.quoted(text)
    case .reference(let reference): Self.quoted(reference.target)
    case .data(let bytes):
      "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    case .asset, .assetList, .location, .list: nil
    }
  }
}

extension Value {
  private static func quoted(_ text: String) -> String? {
    guard !text.utf8.contains(0) else { return nil }
    return "'" + text.map { $0 == "'" ? "''" : String($0) }.joined() + "'"
  }
}

// MARK: As terms

extension Asked {
  /// Comparisons and values, of which a question has so many at most.
  var weight: Int {
    switch self {
    case .leaf(let leaf): leaf.weight
    case .not(let part): part.weight + 1
    case .all(let parts), .any(let parts): parts.reduce(1) { $0 + $1.weight }
    }
  }
}

extension AskedLeaf {
  fileprivate var weight: Int {
    switch test {
    case .among(let values), .contains(_, let values): values.count + 1
    case .near, .within: 5
    case .compare, .between, .like, .begins, .match, .containsLike: 2
    }
  }
}

extension Asked {
  /// In postfix order.
  var terms: [Predicate.Term] {
    switch self {
    case .leaf(let leaf): leaf.terms
    case .not(let part): part.terms + [.not]
    case .all(let parts): parts.flatMap(\.terms) + [.all(UInt32(parts.count))]
    case .any(let parts): parts.flatMap(\.terms) + [.any(UInt32(parts.count))]
    }
  }
}

extension AskedLeaf {
  fileprivate var terms: [Predicate.Term] { [term] + (isNegated ? [.not] : []) }

  private var term: Predicate.Term {
    func term(_ comparison: Comparison, _ value: Value) -> Predicate.Term {
      .compare(field: field.name, comparison, value)
    }
    func numbers(_ numbers: [Double]) -> Value { .list(numbers.map { .real($0) }) }
    switch test {
    case .compare(.equal, let value), .compare(.same, let value): return term(.equal, value)
    case .compare(.distinct, let value): return term(.notEqual, value)
    case .compare(.less, let value): return term(.less, value)
    case .compare(.lessOrEqual, let value): return term(.lessOrEqual, value)
    case .compare(.greater, let value): return term(.greater, value)
    case .compare(.greaterOrEqual, let value): return term(.greaterOrEqual, value)
    case .compare(.notEqual, _), .among, .between:
      preconditionFailure("no single term says that of '\(field.name)'")
    case .like(let pattern): return term(.like, pattern)
    case .begins(let value): return term(.prefix, value)
    case .match(let isAny, let words): return term(isAny ? .matchAny : .matchAll, .text(words.text))
    case .contains(let isAny, let values): return term(isAny ? .containsAny : .containsAll, .list(values))
    case .containsLike(let pattern): return term(.containsLike, .text(pattern))
    case .near(let circle): return term(.near, numbers(circle))
    case .within(let box): return term(.within, numbers(box))
    }
  }
}
