import CaravanModel
import CaravanQuery
import CaravanQueryCore
import CaravanRuntime
import CaravanTestKit

/// What the index must agree with: every record looked at, one by one.
struct Naive {
  struct Record {
    let zone: String
    let name: String
    let fields: RecordFields
  }

  let type: RecordType
  var records: [String: Record] = [:]

  mutating func save(_ name: String, in zone: String, _ fields: RecordFields) {
    records["\(zone)/\(name)"] = Record(zone: zone, name: name, fields: fields)
  }

  mutating func delete(_ name: String, in zone: String) { records["\(zone)/\(name)"] = nil }

  func find(_ query: Query) -> [Record] {
    records.values.filter { (query.zone ?? $0.zone) == $0.zone && holds(query.predicate, $0.fields) }
      .sorted { precedes($0, $1, query.sort) }
  }

  private func value(_ field: String, _ record: RecordFields) -> Value {
    type.field(named: field).map { record[$0.id] } ?? .null
  }

  private func holds(_ predicate: Predicate, _ record: RecordFields) -> Bool {
    var stack: [Bool] = []
    for term in predicate.terms {
      switch term {
      case .compare(let field, let comparison, let operand):
        stack.append(holds(field, record, comparison, operand))
      case .all(let count):
        let results = stack.suffix(Int(count))
        stack.removeLast(Int(count))
        stack.append(results.allSatisfy { $0 })
      case .any(let count):
        let results = stack.suffix(Int(count))
        stack.removeLast(Int(count))
        stack.append(results.contains(true))
      case .not: preconditionFailure("no test of the index has a not")
      }
    }
    return stack.last ?? true
  }

  private func holds(_ name: String, _ record: RecordFields, _ comparison: Comparison, _ operand: Value) -> Bool {
    let value = value(name, record)
    let order = Self.order(value, operand)
    switch comparison {
    case .equal: return order == 0
    case .notEqual: return order != 0
    case .less: return value != .null && order < 0
    case .lessOrEqual: return value != .null && order <= 0
    case .greater: return value != .null && order > 0
    case .greaterOrEqual: return value != .null && order >= 0
    case .prefix:
      guard let whole = Self.bytes(value), let prefix = Self.bytes(operand) else { return false }
      return whole.starts(with: prefix)
    case .like:
      guard case .text(let text) = value, case .text(let pattern) = operand else { return false }
      return Self.isLike(text.unicodeScalars[...], pattern.unicodeScalars[...])
    case .matchAll, .matchAny, .containsAll, .containsAny, .containsLike, .near, .within:
      // What these mean is tested with the evaluator.
      let alone = Predicate([.compare(field: name, comparison, operand)])
      let expression = try? Expression(alone) { name throws(CaravanError) in
        guard let field = type.field(named: name) else { throw CaravanError(.schemaViolation, "no '\(name)'") }
        return field
      }
      return expression?.truth(of: record) == .yes
    }
  }

  private static func isLike(
    _ text: Substring.UnicodeScalarView, _ pattern: Substring.UnicodeScalarView
  ) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == "%" { return isLike(text, pattern.dropFirst()) || !text.isEmpty && isLike(text.dropFirst(), pattern) }
    guard let next = text.first, first == "_" || first == next else { return false }
    return isLike(text.dropFirst(), pattern.dropFirst())
  }

  private func precedes(_ a: Record, _ b: Record, _ sort: [SortKey]) -> Bool {
    for key in sort {
      func value(_ record: RecordFields) -> Value {
        let value = self.value(key.field, record)
        guard let near = key.near else { return value }
        guard case .location(let place) = value else { return .null }
        // Along the way to a pole or the equator, degrees are a measure too.
        return .real(max(abs(place.latitude - near.latitude), 0))
      }
      let order = Self.order(value(a.fields), value(b.fields))
      if order != 0 { return key.isDescending ? order > 0 : order < 0 }
    }
    let (x, y) = ([Array(a.zone.utf8), Array(a.name.utf8)], [Array(b.zone.utf8), Array(b.name.utf8)])
    let isAscending = x[0] == y[0] ? x[1].lexicographicallyPrecedes(y[1]) : x[0].lexicographicallyPrecedes(y[0])
    return sort.last?.isDescending == true ? !isAscending && (x != y) : isAscending
  }

  /// Null first, numbers by their value, texts and data by their bytes.
  private static func order(_ a: Value, _ b: Value) -> Int {
    switch (a, b) {
    case (.null, .null): return 0
    case (.null, _): return -1
    case (_, .null): return 1
    case (.integer(let x), .integer(let y)): return x < y ? -1 : x > y ? 1 : 0
    case (.integer, _), (.real, _):
      let (x, y) = (number(a), number(b))
      return x < y ? -1 : x > y ? 1 : 0
    case (.text, _), (.data, _), (.asset, _), (.assetList, _), (.location, _), (.reference, _), (.list, _):
      guard let x = bytes(a), let y = bytes(b) else { return 0 }
      return x == y ? 0 : x.lexicographicallyPrecedes(y) ? -1 : 1
    }
  }

  private static func number(_ value: Value) -> Double {
    switch value {
    case .integer(let number): Double(number)
    case .real(let number): number
    case .null, .text, .data, .asset, .assetList, .location, .reference, .list: 0
    }
  }

  private static func bytes(_ value: Value) -> [UInt8]? {
    switch value {
    case .text(let text): Array(text.utf8)
    case .data(let bytes): bytes
    case .reference(let reference): Array(reference.target.utf8)
    case .null, .integer, .real, .asset, .assetList, .location, .list: nil
    }
  }
}

/// Random records and questions about them; values come from small sets, so that they meet.
struct Generator {
  let random: SeededRandom
  let type: RecordType

  private func pick<T>(_ choices: [T]) -> T { choices[Int(random.below(UInt64(choices.count)))] }

  func record() -> RecordFields {
    var record = RecordFields()
    for field in type.fields where random.below(5) > 0 && !field.possibleIndexes.isEmpty {
      record[field.id] = field.isList ? .list((0..<random.below(4)).map { _ in value(field.kind) }) : value(field.kind)
    }
    return record
  }

  private func value(_ kind: FieldKind) -> Value {
    switch kind {
    case .text:
      .text(pick(["", "a", "ab", "abc", "b", "é", "é2", "z\u{10ffff}", "it's; --", "Snow on a hill", "snow"]))
    case .integer, .date: .integer(pick([.min, -1, 0, 1, 2, 3, 7, .max]))
    case .real: random.below(3) == 0 ? .integer(pick([0, 1, 2])) : .real(pick([-1.5, 0, 0.5, 1, 2, .infinity]))
    case .reference: .reference(Reference(to: pick(["a", "ab", "b"]), pick([.plain, .owning])))
    case .location: place.map { .location($0) } ?? .null
    case .data, .object: .data(pick([[], [0], [1], [1, 0xff], [0xff], [0xff, 0xff, 1]]))
    }
  }

  /// On one meridian, so that distances are plain to see.
  private var place: CaravanModel.Location? {
    try? CaravanModel.Location(latitude: pick([-90, -10, 0, 10, 10.001, 60, 90]), longitude: 20)
  }

  func query() -> Query {
    let fields = type.fields.filter { !$0.possibleIndexes.isEmpty }
    var terms: [Predicate.Term] = []
    var depth: UInt32 = 0
    for _ in 0..<random.below(6) {
      if depth >= 2 && random.below(3) == 0 {
        let count = UInt32(random.below(UInt64(depth))) + 1
        terms.append(random.below(2) == 0 ? .all(count) : .any(count))
        depth -= count - 1
      } else {
        terms.append(comparison(pick(fields)))
        depth += 1
      }
    }
    if depth > 1 { terms.append(random.below(2) == 0 ? .all(depth) : .any(depth)) }
    var sort: [SortKey] = []
    for field in fields where random.below(4) == 0 && !field.isList {
      let near = field.kind == .location ? try? CaravanModel.Location(latitude: 10, longitude: 20) : nil
      sort.append(SortKey(field.name, isDescending: random.below(2) == 0, near: near))
    }
    return Query(
      database: album, type: type.name, predicate: Predicate(terms), sort: sort, limit: Int(random.below(20)) + 1,
      zone: random.below(6) == 0 ? "photos" : nil)
  }

  private func comparison(_ field: FieldDefinition) -> Predicate.Term {
    if random.below(8) == 0 { return .compare(field: field.name, pick([.equal, .notEqual]), .null) }
    if field.isList {
      let values = (0..<random.below(3)).map { _ in value(field.kind) }
      return .compare(field: field.name, pick([.containsAll, .containsAny]), .list(values))
    }
    if field.kind == .location {
      let metres: [Double] = [0, 100, 200_000, 5_000_000, 12_000_000, 30_000_000]
      let circle: [Double] = [pick([10, 90, -60]), pick([20, 20.5, -160]), pick(metres)]
      let box: [Double] = [
        pick([-90, -10, 10]), pick([-180, 20, 170]), pick([10, 60, 90]), pick([20, 30, 180, -170]),
      ]
      return random.below(2) == 0
        ? .compare(field: field.name, .near, .list(circle.map { .real($0) }))
        : .compare(field: field.name, .within, .list(box.map { .real($0) }))
    }
    if field.kind == .text, random.below(4) == 0 {
      return .compare(
        field: field.name, pick([.matchAll, .matchAny]), .text(pick(["snow", "\"a hill\" SNOW", "e* it", "2"])))
    }
    if field.kind == .text, random.below(8) == 0 {
      return .compare(field: field.name, .like, .text(pick(["a%", "%b", "_", "a_c", "%é%", "%", "it's%-"])))
    }
    var comparisons: [Comparison] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
    if field.kind == .text || field.kind == .data { comparisons.append(.prefix) }
    return .compare(field: field.name, pick(comparisons), value(field.kind))
  }
}
