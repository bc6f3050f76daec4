import CaravanCLICore
import CaravanModel
import CaravanQuery
import Testing

/// Goal: what people type becomes what they mean, or is refused where it is wrong. Method: tables.
@Suite("Selections as people type them")
struct SelectionTests {
  static let type = RecordType(
    id: 1, definition: 1, name: "photos",
    fields: [
      FieldDefinition(id: 1, name: "name", kind: .text), FieldDefinition(id: 2, name: "date", kind: .integer),
      FieldDefinition(id: 3, name: "location", kind: .real), FieldDefinition(id: 4, name: "thumb", kind: .data),
      FieldDefinition(id: 5, name: "photo", kind: .object),
    ])

  static func predicate(_ text: String, _ arguments: [String] = []) throws -> [Predicate.Term] {
    let query = try WhereText(text).query(of: type, arguments)
    let expression = try ExpressionText(query.text).bound(to: type) { number, _ in query.arguments[number] }
    return try Predicate(expression, of: type).terms
  }

  @Test("comparisons, literals and arguments")
  func comparisons() throws {
    let table: [(String, [String], Predicate.Term)] = [
      ("name=?", ["x"], .compare(field: "name", .equal, .text("x"))),
      ("name == 'it''s'", [], .compare(field: "name", .equal, .text("it's"))),
      ("name = ?", ["12"], .compare(field: "name", .equal, .text("12"))),
      ("date>=?", ["-12"], .compare(field: "date", .greaterOrEqual, .integer(-12))),
      ("date<-3", [], .compare(field: "date", .less, .integer(-3))),
      ("date <= 3", [], .compare(field: "date", .lessOrEqual, .integer(3))),
      ("location>1.5e2", [], .compare(field: "location", .greater, .real(150))),
      ("location is not ?", ["7"], .compare(field: "location", .notEqual, .real(7))),
      ("not location is 7", [], .compare(field: "location", .notEqual, .real(7))),
      ("date<5.5", [], .compare(field: "date", .lessOrEqual, .integer(5))),
      ("5 > DATE", [], .compare(field: "date", .less, .integer(5))),
      ("thumb=x'0aff'", [], .compare(field: "thumb", .equal, .data([10, 255]))),
      ("thumb=?", ["0x0aff"], .compare(field: "thumb", .equal, .data([10, 255]))),
      ("name LIKE 'Sno%'", [], .compare(field: "name", .prefix, .text("Sno"))),
      ("name like ?", ["Sno%"], .compare(field: "name", .prefix, .text("Sno"))),
      ("name like '%x'", [], .compare(field: "name", .like, .text("%x"))),
      ("name match any ?", ["sn* y"], .compare(field: "name", .matchAny, .text("sn* y"))),
      ("date IS NULL", [], .compare(field: "date", .equal, .null)),
      ("date is not null", [], .compare(field: "date", .notEqual, .null)),
      ("\"name\"='x'", [], .compare(field: "name", .equal, .text("x"))),
    ]
    for (text, arguments, term) in table {
      #expect(try Self.predicate(text, arguments) == [term], "\(text)")
    }
  }

  @Test("AND binds more tightly than OR; parentheses more than both")
  func structure() throws {
    func shape(_ text: String) throws -> String {
      try Self.predicate(text).map { term in
        switch term {
        case .compare(_, _, .integer(let number)): "\(number)"
        case .compare: "?"
        case .all(let count): "and\(count)"
        case .any(let count): "or\(count)"
        case .not: "not"
        }
      }.joined(separator: " ")
    }
    #expect(try shape("date=1 AND date=2 AND date=3") == "1 2 3 and3")
    #expect(try shape("date=1 or date=2 and date=3") == "1 2 3 and2 or2")
    #expect(try shape("(date=1 or date=2) and date=3") == "1 2 or2 3 and2")
    #expect(try shape("((date=1))") == "1")
    #expect(try shape("date=1 or (date=2 or date=3) or date=4") == "1 2 3 4 or4")
    #expect(try shape("date between 1 and 2 and date in (3, 4)") == "1 2 3 4 or2 and3")
    #expect(try shape("not (date<1 or date>2) and date=3") == "1 2 3 and3")
    // Null is not unlike anything, as in SQL.
    #expect(try shape("date!=1") == "1 ? and2")
    #expect(try shape("date not in (1, 2)") == "1 2 ? and3")
    #expect(try shape("name not like 'Sno%'") == "? ? or2")
  }

  @Test("what is wrong is said with its place")
  func refusals() throws {
    let table: [(String, [String], ErrorCode, String)] = [
      ("", [], .invalidData, "position 1: a field's name expected, found the end"),
      ("name", [], .invalidData, "position 5"),
      ("name=", [], .invalidData, "position 6"),
      ("name=x", [], .invalidData, "position 6"),
      ("name='x", [], .invalidData, "position 6: the text that begins here has no end"),
      ("name=? name=?", ["a", "b"], .invalidData, "position 8: AND, OR or the end expected, found 'name'"),
      ("(name=?", ["a"], .invalidData, "')' expected"),
      ("name=?)", ["a"], .invalidData, "found ')'"),
      ("name=?", [], .invalidData, "1 '?' and 0 arguments"),
      ("name=?", ["a", "b"], .invalidData, "1 '?' and 2 arguments"),
      ("name ~ 'x'", [], .invalidData, "found '~'"),
      ("name=!'x'", [], .invalidData, "position 6: '?', a number, or a text in single quotes expected, found '!'"),
      ("name is", [], .invalidData, "position 8: NULL, or a value expected, found the end"),
      ("name is 3", [], .schemaViolation, "'name' is text, not integer"),
      ("date='3'", [], .schemaViolation, "'date' is integer, not text"),
      ("name in ()", [], .invalidData, "position 10"),
      ("name='x' -- hidden", [], .invalidData, "position 10: comments"),
      ("nme=?", ["x"], .schemaViolation, "no field 'nme': it has name, date"),
      ("date=?", ["x"], .schemaViolation, "'date' takes a whole number, not 'x'"),
      ("location=?", ["x"], .schemaViolation, "'location' takes a number"),
      ("thumb=?", ["x"], .schemaViolation, "'thumb' takes bytes"),
      ("photo=?", ["x"], .schemaViolation, "'photo' takes an object"),
      (String(repeating: "(", count: 70) + "date=1", [], .limitExceeded, "simplify"),
    ]
    for (text, arguments, code, message) in table {
      let error = #expect(throws: CaravanError.self, "\(text)") { try Self.predicate(text, arguments) }
      #expect(error?.code == code, "\(text)")
      #expect(error?.message.contains(message) == true, "\(text) → \(error?.message ?? "")")
    }
  }

  static let schema = try? SchemaText(
    parsing: "name VARCHAR, date INTEGER, location FLOAT, thumb BLOB, photo OBJECT")

  @Test("an app's arguments are of the kind of the column they are compared with")
  func argumentKinds() throws {
    let table: [(String, [String], [Value])] = [
      ("name=?", ["12"], [.text("12")]), ("date=?", ["12"], [.integer(12)]),
      ("NAME = ? AND Date > ?", ["1", "2"], [.text("1"), .integer(2)]),
      ("date BETWEEN ? AND ?", ["1", "2"], [.integer(1), .integer(2)]),
      ("name IN (?, ?)", ["1", "2"], [.text("1"), .text("2")]),
      ("name='?' or date=?", ["3"], [.integer(3)]),
      ("? < 4", ["3"], [.integer(3)]), ("? = 'x'", ["x"], [.text("x")]), ("location=?", ["3"], [.real(3)]),
    ]
    for (text, arguments, values) in table {
      #expect(try ArgumentKinds(text, schema: Self.schema).values(arguments) == values, "\(text)")
    }
    #expect(try ArgumentKinds("name=?", schema: nil).values(["12"]) == [.integer(12)])
    #expect(throws: CaravanError.self) { try ArgumentKinds("date=?", schema: Self.schema).values(["x"]) }
  }

  @Test("assignments: values of the column's kind, files for objects and bytes")
  func assignments() throws {
    let table: [(String, Assignment.Source)] = [
      ("name=x", .value(.text("x"))), ("name=a=b", .value(.text("a=b"))), ("name=", .value(.text(""))),
      ("name=2024", .value(.text("2024"))), ("name=@home", .value(.text("@home"))), ("date=5", .value(.integer(5))),
      ("date=-5", .value(.integer(-5))), ("date=", .value(.null)), ("location=1", .value(.real(1))),
      ("photo=@a b.jpg", .file("a b.jpg", isObject: true)), ("photo=", .value(.null)),
      ("thumb=@t.png", .file("t.png", isObject: false)), ("thumb=0x00", .value(.data([0]))),
      ("unknown=@f", .file("f", isObject: true)), ("unknown=5", .value(.integer(5))),
      ("date=TRUE", .value(.integer(1))), ("date=false", .value(.integer(0))), ("name=true", .value(.text("true"))),
    ]
    for (text, source) in table {
      #expect(try Assignment(text, schema: Self.schema).source == source, "\(text)")
    }
  }

  @Test("assignments that are none are refused", arguments: ["name", "=x", "", "date=x", "photo=x", "thumb=x"])
  func badAssignments(text: String) {
    #expect(throws: CaravanError.self) { try Assignment(text, schema: Self.schema) }
  }

  @Test("a column given twice is refused")
  func twice() {
    #expect(throws: CaravanError.self) { try Assignment.list(["name=a", "name=b"], schema: Self.schema) }
  }

  @Test("orders")
  func orders() throws {
    #expect(try SortText.keys("date desc, name") == [SortKey("date", isDescending: true), SortKey("name")])
    #expect(try SortText.keys("name ASC") == [SortKey("name")])
    for text in ["", "date down", "a,,b", "a b c"] {
      #expect(throws: CaravanError.self, "\(text)") { try SortText.keys(text) }
    }
  }
}
