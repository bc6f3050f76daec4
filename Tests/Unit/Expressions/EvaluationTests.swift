import CaravanModel
import CaravanQuery
import Testing

private typealias Value = CaravanModel.Value

let photos = RecordType(
  id: 1, definition: 1, name: "photos",
  fields: [
    FieldDefinition(id: 1, name: "name", kind: .text), FieldDefinition(id: 2, name: "date", kind: .integer),
    FieldDefinition(id: 3, name: "size", kind: .real), FieldDefinition(id: 4, name: "hash", kind: .data),
    FieldDefinition(id: 5, name: "taken", kind: .date), FieldDefinition(id: 6, name: "album", kind: .reference),
    FieldDefinition(id: 7, name: "photo", kind: .object), FieldDefinition(id: 8, name: "place", kind: .location),
    FieldDefinition(id: 9, name: "tags", kind: .text, isList: true),
    FieldDefinition(id: 10, name: "secret", kind: .text, isEncrypted: true),
  ])

func bound(_ text: String, _ arguments: [CaravanModel.Value] = []) throws -> CaravanQuery.Expression<Condition> {
  try ExpressionText(text).bound(to: photos) { number, _ in arguments[number] }
}

/// Goal: the evaluator says what SQL says. Method: tables. Random expressions beside two engines are in the store's
/// tests (`ExpressionSemanticsTests`).
@Suite struct EvaluationTests {
  private static let row = RecordFields([
    1: .text("Snow_é%"), 2: .integer(5), 3: .integer(2), 4: .data([1, 0, 255]), 5: .integer(100),
    6: .reference(Reference(to: "summer")), 7: .asset(AssetManifest(parts: [])),
  ])

  /// A row of Ålesund.
  private static let trip: RecordFields = {
    do {
      return RecordFields([
        1: .text("Ångström's e-mail: Straße nach 東京タワー, 2 Wege"),
        8: .location(try Location(latitude: 62.4723, longitude: 6.1549)),
        9: .list([.text("snow"), .text("Fjord"), .text("snö")]),
      ])
    } catch { preconditionFailure("\(error)") }
  }()

  @Test(
    "CK-80: words, members of lists, places",
    arguments: [
      "name MATCH 'angstrom'", "name MATCH 'STRASSE e-mail'",
      "name MATCH 'stra*'", "name MATCH '\"mail strasse\"'", "name MATCH '東京'", "name MATCH '京タ'",
      "name MATCH '2 wege'",
      "name MATCH ANY 'nowhere wege'", "name NOT MATCH 'wege nowhere'", "name NOT MATCH '\"strasse mail\"'",
      "name NOT MATCH 'angst'", "name MATCH 'Ångström'", "name MATCH 'nach*'",
      "tags CONTAINS 'snow'", "tags CONTAINS ALL ('snow', 'Fjord')", "tags CONTAINS ANY ('rain', 'Fjord')",
      "tags NOT CONTAINS 'fjord'", "tags CONTAINS LIKE 'Fj%'", "tags NOT CONTAINS LIKE 'fj%'",
      "tags NOT CONTAINS ALL ('snow', 'rain')", "tags IS NOT NULL", "place IS NOT NULL",
      "place NEAR (62.4723, 6.1549, 0)", "place NEAR (59.9139, 10.7522, 380000)",
      "place NOT NEAR (59.9139, 10.7522, 370000)", "place WITHIN (62, 6, 63, 7)", "place NOT WITHIN (62, 6.2, 63, 7)",
      "place WITHIN (-90, 170, 90, 7)", "place NOT WITHIN (-90, 7, 90, 6)",
    ])
  func shapes(text: String) throws { #expect(try bound(text).truth(of: Self.trip) == .yes) }

  @Test(
    "CK-80: of a null field nothing of that is known, and arguments are taken as they are meant",
    arguments: ["name MATCH ?", "name MATCH ANY ?", "tags CONTAINS ?", "tags CONTAINS LIKE ?", "place NEAR (1, 2, 3)"])
  func shapesOfNull(text: String) throws {
    let arguments: [Value] = text.contains("?") ? [.text("a")] : []
    #expect(try bound(text, arguments).truth(of: RecordFields()) == .unknown)
    #expect(try bound("NOT \(text)", arguments).truth(of: RecordFields()) == .unknown)
  }

  @Test(
    "CK-80: what is no text query, list or place is refused with its reason",
    arguments: [
      ("name MATCH '\"a'", "without its end"), ("name MATCH ' - '", "has no word"),
      ("name MATCH 5", "words stand in a text"),
      ("tags MATCH 'a'", "only texts MATCH"), ("name CONTAINS 'a'", "only lists"),
      ("tags CONTAINS NULL", "lists hold none"),
      ("tags CONTAINS 5", "'tags' is text, not integer"), ("name CONTAINS LIKE 'a'", "only lists of texts"),
      ("name NEAR (1, 2, 3)", "only places are NEAR"), ("place NEAR (1, 2)", "takes 3 numbers"),
      ("place NEAR (91, 2, 3)", "a latitude of -90 to 90"), ("place NEAR (1, 2, -3)", "0 metres or more"),
      ("place WITHIN (3, 0, 2, 1)", "south is not greater"), ("place WITHIN ('a', 0, 2, 1)", "write finite numbers"),
      ("secret MATCH 'a'", "only texts MATCH"), ("tags CONTAINS ALL 'a'", "'(' expected"),
    ])
  func refusedShapes(text: String, message: String) {
    let error = #expect(throws: CaravanError.self) { try bound(text) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test(
    "distances are those of the great circle",
    arguments: [
      // Quito and Singapore by their coordinates; a quarter of a meridian; both sides of the 180th.
      ((-0.2, -78.5), (1.3, 103.85), 19_716_000.0), ((0, 0), (90, 0), 10_007_557.2),
      ((10, 179.9), (10, -179.9), 21_901.0),
    ])
  func distances(from: (Double, Double), to: (Double, Double), metres: Double) throws {
    let row = RecordFields([8: .location(try Location(latitude: to.0, longitude: to.1))])
    for (share, truth) in [(0.999, Truth.no), (1.001, .yes)] {
      #expect(try bound("place NEAR (\(from.0), \(from.1), \(metres * share))").truth(of: row) == truth)
    }
  }

  @Test(
    "CK-80: what holds of a row",
    arguments: [
      "name = 'Snow_é%'", "name > 'Snow'", "name < 'Snowé'", "name <> 'snow_é%'", "'Snow' < name",
      "name LIKE 'Snow%'", "name LIKE '%é_'", "name LIKE 'S_ow__%'", "name LIKE '%%%'", "name LIKE 'Snow_é%'",
      "NOT name LIKE 'snow%'", "name NOT LIKE '_______ %'", "name NOT LIKE 'Snow'", "date = 5", "date < 5.5",
      "date > 4.5", "date <> 5.5", "date IS NOT 5.5", "date <= 5.0", "date > -1e300", "NOT date > 1e300",
      "date IN (1, 5)", "date IN (NULL, 5)", "date NOT IN (1, 2)", "date BETWEEN 5 AND 5", "date NOT BETWEEN 6 AND 9",
      "size = 2", "size < 2.5", "hash = x'0100ff'", "hash > x'01'", "taken >= 100", "album = 'summer'",
      "album LIKE 'sum%'", "photo IS NOT NULL", "photo NOTNULL", "place IS NULL", "tags ISNULL", "secret IS NULL",
      "NAME IS 'Snow_é%'", "\"date\" NOT NULL", "place IS NOT NULL OR date = 5 AND NOT size = 3",
      "(date = 5 OR date = 6) AND date <> 6", "NOT NOT date = 5",
      "date > -9223372036854775808",
    ])
  func yes(text: String) throws { #expect(try bound(text).truth(of: Self.row) == .yes) }

  @Test(
    "CK-80: what does not",
    arguments: [
      "name = 'snow_é%'", "name LIKE 'snow%'", "name LIKE 'Snow'", "name LIKE '%é'", "name LIKE '______'",
      "date = 5.5", "date IN (1, 2)", "date NOT IN (5, NULL)", "date BETWEEN 6 AND 9", "hash < x'0100'",
      "place IS NOT NULL", "NOT date = 5", "date IS 5.5", "date = 4 OR place NOT NULL",
      "place IS NULL AND date IS NOT 5",
    ])
  func no(text: String) throws { #expect(try bound(text).truth(of: Self.row) == .no) }

  @Test(
    "CK-80: what is compared with null is unknown, and so is its opposite; IS is never",
    arguments: [
      "name = 'a'", "name <> 'a'", "name LIKE 'a%'", "name LIKE '_'", "name NOT LIKE 'a%'", "date < 5", "date < 5.5",
      "date = 5.5", "date <> 5.5", "date > 1e300", "date IN (1)", "date NOT IN (1, NULL)", "date BETWEEN 1 AND 2",
      "NOT date = 1", "date = NULL", "name LIKE NULL", "date = 1 AND name = 'a'", "date = 1 OR hash IS NOT NULL",
    ])
  func unknown(text: String) throws {
    let expression = try bound(text)
    #expect(expression.truth(of: RecordFields()) == .unknown)
    #expect(Expression.not(expression).truth(of: RecordFields()) == .unknown)
    for other in ["date IS NULL", "date IS NOT 5", "date IS NOT 5.5", "(\(text)) OR date IS NULL"] {
      #expect(try bound(other).truth(of: RecordFields()) == .yes)
    }
    #expect(try bound("(\(text)) AND date IS NOT NULL").truth(of: RecordFields()) == .no)
  }

  @Test("what is of another kind, and what is not a number, is null; a text with a NUL is like prefixes only")
  func odd() throws {
    let other = RecordFields([2: .text("5"), 3: .real(.nan)])
    #expect(try bound("date IS NULL AND size IS NULL").truth(of: other) == .yes)
    let row = RecordFields([1: .text("a\u{0}b")])
    #expect(try bound("name LIKE 'a%'").truth(of: row) == .yes)
    #expect(try bound("name LIKE 'a%b'").truth(of: row) == .no)
    #expect(try bound("name LIKE 'a_b'").truth(of: row) == .no)
  }

  @Test(
    "what cannot be compared is refused with its field",
    arguments: [
      ("name = 5", "'name' is text, not integer"), ("date = '5'", "'date' is integer, not text"),
      ("hash = 'x'", "'hash' is data"), ("photo = 'x'", "only be compared with NULL"), ("tags = 'x'", "list of text"),
      ("secret LIKE 'x'", "only texts are LIKE"), ("date LIKE '5%'", "only texts are LIKE"), ("name LIKE 5", "pattern"),
      ("nme = 'x'", "no field 'nme': it has name, date"), ("taken = 1.5", "'taken' is date, not real"),
      ("date IN (1, 1.5)", "'date' is integer, not real"),
    ])
  func refused(text: String, message: String) {
    let error = #expect(throws: CaravanError.self) { try bound(text) }
    #expect(error?.code == .schemaViolation)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test("limits are named: bytes, arguments, depth, lists, patterns")
  func limits() throws {
    let list = Array(repeating: "1", count: Limits.queryListItems + 1).joined(separator: ",")
    let texts = [
      "name = '\(String(repeating: "a", count: Limits.queryTextBytes))'", "date IN (\(list))",
      Array(repeating: "date = ?", count: Limits.queryArguments + 1).joined(separator: " OR "),
      String(repeating: "(", count: Limits.queryDepth + 1) + "date = 1",
      String(repeating: "NOT ", count: Limits.queryDepth + 1) + "date = 1",
      "name LIKE '%\(String(repeating: "a", count: Limits.queryPatternBytes))%'",
      "name MATCH '\(String(repeating: "a ", count: Limits.queryPatternBytes))'",
      "tags CONTAINS ALL (\(Array(repeating: "'a'", count: Limits.queryListItems + 1).joined(separator: ",")))",
    ]
    for text in texts {
      let error = #expect(throws: CaravanError.self) { try bound(text) }
      #expect(error?.code == .limitExceeded, "\(error?.message ?? "")")
    }
    #expect(throws: CaravanError.self) { try bound("size = ?", [.real(.nan)]) }
    #expect(throws: CaravanError.self) { try bound("name LIKE ?", [.text("a\u{0}%b")]) }
  }

  @Test("a pattern of many wildcards costs no more than its length times the text's")
  func hostile() throws {
    let pattern = String(repeating: "%a", count: 120) + "%b"
    let row = RecordFields([1: .text(String(repeating: "a", count: 20_000))])
    #expect(try bound("name LIKE '\(pattern)'").truth(of: row) == .no)
  }
}
