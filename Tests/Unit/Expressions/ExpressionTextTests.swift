import CaravanModel
import CaravanQuery
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: one way to read a text, and forms that mean the same. Method: tables, then random trees over random rows.
@Suite struct ExpressionTextTests {
  @Test(
    "what is wrong is said with its place",
    arguments: [
      ("", "position 1: a field's name expected, found the end"), ("name", "position 5: =, !=,"),
      ("name=", "position 6"), ("name='x", "position 6: the text that begins here has no end"),
      ("hash=x'0'", "position 6: data are written"), ("date=1 date=2", "position 8: AND, OR or the end expected"),
      ("(date=1", "')' expected"), ("date=1)", "found ')'"), ("name ~ 'x'", "found '~'"),
      ("date not 5", "IN, LIKE, BETWEEN, MATCH, CONTAINS, NEAR, WITHIN or NULL expected"),
      ("date in 5", "'(' expected"),
      ("date in (5", "',' or ')' expected"), ("date between 1 or 2", "AND expected"), ("date = -'1'", "found '1'"),
      ("date = 9223372036854775808", "a smaller number expected"), ("5 = 6", "a field's name expected"),
      ("date = 1 /* all */", "comments"), ("date = 1;", "found ';'"), ("length(name) = 1", "found '('"),
      ("date = 1 AND", "position 13"), ("NOT", "position 4"), ("date\u{0}= 1", "NUL"),
    ])
  func refused(text: String, message: String) {
    let error = #expect(throws: CaravanError.self) { try ExpressionText(text) }
    #expect(error?.code == .invalidData)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test("a predicate, and a tree without NOT, hold of the same rows as what they are made of", arguments: 1...4)
  func forms(seed: UInt64) throws {
    var random = Trees(SplitMix64(seed: seed))
    var predicates = 0
    for _ in 0..<500 {
      let expression = random.tree(3)
      let rows = (0..<10).map { _ in random.row() }
      for row in rows { #expect(expression.withoutNot.truth(of: row) == expression.truth(of: row)) }
      guard let made = try? Predicate(expression, of: photos) else { continue }
      let predicate = Predicate(try made.terms.map { try PredicateTerm(decoding: PredicateTerm($0).encoded()).model() })
      let again = try #require(
        try CaravanQuery.Expression(predicate) { name throws(CaravanError) in
          guard let field = photos.field(named: name) else { throw CaravanError(.schemaViolation, "no field") }
          return field
        })
      predicates += 1
      for row in rows {
        #expect((again.truth(of: row) == .yes) == (expression.truth(of: row) == .yes), "\(expression) of \(row)")
      }
    }
    #expect(predicates > 100)
  }

  @Test("what a text is weakened to excludes no row of which the text holds", arguments: 1...4)
  func weakening(seed: UInt64) throws {
    let texts = [
      "date < 5 AND length(name) > 3", "NOT (date < 5 OR length(name) = 3)", "NOT (name = 'a' AND NOT date IN (1, 2))",
      "size >= 0.5 AND NOT size = 1.5", "date NOT BETWEEN 1 AND 3 OR name IS NULL", "hash <> x'01' AND date IS NOT 2",
    ]
    var random = Trees(SplitMix64(seed: seed))
    var excluded = 0
    for text in texts {
      let partial = try #require(PartialText(text))
      let filter = RowFilter(weakening: partial, parameters: []) { photos.field(named: $0) }
      guard let filter = filter.map(BodyFilter.init) else { continue }
      for _ in 0..<300 {
        let row = random.row()
        // What cannot be read here may be anything.
        let may = try partial.expression.withoutNot.map { phrase in try Self.condition(phrase) }.truth(of: row)
        let isOut = filter.excludes(row.body)
        if isOut { excluded += 1 }
        #expect(!isOut || may != .yes, "\(text) of \(row)")
      }
    }
    #expect(excluded > 300)
  }

  private static func condition(_ phrase: Phrase?) throws -> CaravanQuery.Expression<Condition> {
    guard let phrase else { return .all([]) }
    let field = try #require(photos.field(named: phrase.name))
    let test: CaravanQuery.Test<CaravanModel.Value>
    switch phrase.test {
    case .compare(let relation, .literal(let value)): test = .compare(relation, value)
    case .among(let operands, let isNegated):
      test = .among(operands.map { if case .literal(let value) = $0 { value } else { .null } }, isNegated: isNegated)
    case .compare, .like, .prefix, .match, .contains, .containsLike, .inside:
      throw CaravanError(.invalidData, "none of these texts has one")
    }
    return .leaf(try Condition(field, test))
  }
}

/// Random trees over the fields of `photos`, and rows that their values meet.
struct Trees {
  private var random: SplitMix64

  init(_ random: SplitMix64) { self.random = random }

  private mutating func pick<Element>(_ list: [Element]) -> Element {
    list[Int.random(in: 0..<list.count, using: &random)]
  }

  mutating func value(_ kind: CaravanModel.FieldKind) -> CaravanModel.Value {
    switch kind {
    case .text: .text(pick(["", "a", "ab", "b", "é", "%", "a\u{1}"]))
    case .integer, .date: .integer(pick([.min, -1, 0, 1, 2, 3, .max]))
    case .real: .real(pick([-1.5, 0, 0.5, 1, .infinity]))
    case .data: .data(pick([[], [0], [1], [255], [255, 255]]))
    case .reference: .reference(Reference(to: pick(["a", "ab"])))
    case .object, .location: .null
    }
  }

  mutating func row() -> RecordFields {
    var row = RecordFields()
    for field in photos.fields where field.id < 7 && Int.random(in: 0..<4, using: &random) > 0 {
      row[field.id] = value(field.kind)
    }
    if Bool.random(using: &random) { row[8] = .location(place()) }
    if Bool.random(using: &random) {
      row[9] = .list((0..<Int.random(in: 0..<4, using: &random)).map { _ in value(.text) })
    }
    return row
  }

  private mutating func place() -> CaravanModel.Location {
    let (latitude, longitude) = (pick([-90.0, 0, 0.001, 45]), pick([-180.0, -0.001, 0, 179.9]))
    do {
      return try CaravanModel.Location(latitude: latitude, longitude: longitude)
    } catch { preconditionFailure("\(error)") }
  }

  mutating func tree(_ depth: Int) -> CaravanQuery.Expression<Condition> {
    guard depth > 0 else { return leaf() }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .not(tree(depth - 1))
    case 1, 2: return .all([tree(depth - 1), tree(depth - 1)])
    case 3, 4: return .any([tree(depth - 1), tree(depth - 1), tree(depth - 1)])
    default: return leaf()
    }
  }

  private mutating func leaf() -> CaravanQuery.Expression<Condition> {
    let isNegated = Bool.random(using: &random)
    if Int.random(in: 0..<5, using: &random) == 0 { return shape(isNegated) }
    let field = photos.fields[Int.random(in: 0..<6, using: &random)]
    let test: CaravanQuery.Test<CaravanModel.Value> =
      switch Int.random(in: 0..<8, using: &random) {
      case 0: .compare(pick(Relation.allCases), .null)
      case 1: .among([value(field.kind), pick([.null, value(field.kind)])], isNegated: isNegated)
      case 2 where [.text, .data, .reference].contains(field.kind): .prefix(value(field.kind), isNegated: isNegated)
      case 3 where field.kind == .text: .like(.text(pick(["a%", "%b", "_", "a_", "%"])), isNegated: isNegated)
      case 4 where field.kind == .integer: .compare(pick(Relation.allCases), .real(pick([0.5, -1e300, .infinity])))
      default: .compare(pick(Relation.allCases), value(field.kind))
      }
    do { return .leaf(try Condition(field, test)) } catch { preconditionFailure("\(error)") }
  }

  /// A leaf about words, a list or a place.
  private mutating func shape(_ isNegated: Bool) -> CaravanQuery.Expression<Condition> {
    let (name, test): (String, CaravanQuery.Test<CaravanModel.Value>) =
      switch Int.random(in: 0..<5, using: &random) {
      case 0:
        ("name", .match(pick(Quantity.allCases), .text(pick(["a", "b*", "e ab", "\"a b\""])), isNegated: isNegated))
      case 1: ("tags", .contains(pick(Quantity.allCases), [value(.text), value(.text)], isNegated: isNegated))
      case 2: ("tags", .containsLike(.text(pick(["a%", "%b", "_"])), isNegated: isNegated))
      case 3: ("place", .inside(.circle, [.real(0), .integer(0), .real(pick([0.0, 150, 1e7]))], isNegated: isNegated))
      default:
        (
          "place",
          .inside(.rectangle, [.real(-90), .real(pick([0.0, 170])), .real(1), .real(1)], isNegated: isNegated)
        )
      }
    guard let field = photos.field(named: name) else { preconditionFailure("photos has no '\(name)'") }
    do { return .leaf(try Condition(field, test)) } catch { preconditionFailure("\(error)") }
  }
}

/// Goal: words are looked for in all fields that are to be searched, and a field without a text hides nothing (CK-80).
/// Method: table.
@Suite("All searchable fields") struct WholeRecordTests {
  private static let type = RecordType(
    id: 1, definition: 1, name: "notes",
    fields: [
      FieldDefinition(id: 1, name: "title", kind: .text), FieldDefinition(id: 2, name: "body", kind: .text),
      FieldDefinition(id: 3, name: "secret", kind: .text, indexes: [.queryable]),
      FieldDefinition(id: 4, name: "tags", kind: .text, isList: true),
    ])

  private static func truth(_ text: String, _ fields: RecordFields, _ arguments: [Value] = []) throws -> Truth {
    try ExpressionText(text).bound(to: type) { number, _ in arguments[number] }.truth(of: fields)
  }

  @Test(
    "CK-80: each word may be in another field; what is not searchable is not looked at; null has no words",
    arguments: [
      ("self MATCH 'snow fjord'", Truth.yes), ("self MATCH 'snow rain'", .no), ("self MATCH ANY 'snow rain'", .yes),
      ("self MATCH 'FJÖRD*'", .yes), ("self MATCH '\"on the fjord\"'", .yes), ("self MATCH '\"snow on\"'", .no),
      ("self MATCH 'hidden'", .no), ("self NOT MATCH 'rain'", .yes), ("NOT self MATCH 'snow fjord'", .no),
      ("SELF MATCH 'snow' AND title = 'Snow'", .yes),
    ])
  func whole(text: String, answer: Truth) throws {
    let both = RecordFields([1: .text("Snow"), 2: .text("On the fjord"), 3: .text("hidden")])
    #expect(try Self.truth(text, both) == answer)
    #expect(try Self.truth("self MATCH ?", both, [.text("snow fjord")]) == .yes)
    // With nothing in the second field.
    let one = RecordFields([1: .text("Snow")])
    #expect(try Self.truth("self MATCH 'snow'", one) == .yes)
    #expect(try Self.truth("self MATCH 'fjord'", one) == .no)
    #expect(try Self.truth("self NOT MATCH 'fjord'", one) == .yes)
  }

  @Test("CK-80: a type without such a field is told so; one that has a field of the name means that field")
  func refused() throws {
    var type = Self.type
    type.fields = [FieldDefinition(id: 1, name: "n", kind: .integer)]
    let text = try ExpressionText("self MATCH 'x'")
    let error = #expect(throws: CaravanError.self) { try text.check(against: type) }
    #expect(error?.code == .schemaViolation && error?.message.contains("no field of 'notes' is searchable") == true)
    #expect(throws: CaravanError.self) { try ExpressionText("self = 'x'").check(against: Self.type) }
    type.fields.append(FieldDefinition(id: 2, name: "self", kind: .text))
    let own = try text.bound(to: type) { _, _ in .null }
    #expect(own.leaves.map(\.field) == [2])
    let kinds: [CaravanModel.FieldKind] = Array(repeating: .text, count: 40)
    let many = kinds.enumerated().map { FieldDefinition(id: UInt32($0 + 1), name: "f\($0)", kind: $1) }
    type.fields = many
    let tooMany = #expect(throws: CaravanError.self) { try ExpressionText("self MATCH 'a b'").check(against: type) }
    #expect(tooMany?.code == .limitExceeded)
  }
}
