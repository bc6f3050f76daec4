import CaravanModel
import Testing

@Suite("Schema text")
struct SchemaTextTests {
  @Test("SIM-10: the paper's schema is read, kinds and order kept")
  func paper() throws {
    let schema = try SchemaText(parsing: "name VARCHAR, date INTEGER, location FLOAT, photo OBJECT")
    #expect(schema.columns.map(\.name) == ["name", "date", "location", "photo"])
    #expect(schema.columns.map(\.kind) == [.text, .integer, .real, .object])
    #expect(schema.primaryKey == nil)
  }

  @Test(
    "every type name means one kind, in any case",
    arguments: [
      ("varchar", FieldKind.text), ("Text", .text), ("STRING", .text), ("VARCHAR(80)", .text), ("INT", .integer),
      ("bigint", .integer), ("BOOLEAN", .integer), ("REAL", .real), ("double", .real), ("FLOAT(10, 2)", .real),
      ("BLOB", .data), ("object", .object), ("Date", .date), ("TIMESTAMP(3)", .date), ("datetime", .date),
      ("location", .location), ("Reference", .reference),
    ])
  func types(word: String, kind: FieldKind) throws {
    #expect(try SchemaText(parsing: "a \(word)").columns == [.init(name: "a", kind: kind)])
    guard kind != .object else { return }
    let list = try SchemaText(parsing: "a List < \(word) >, b INT")
    #expect(list.columns.first == .init(name: "a", kind: kind, isList: true))
    #expect(list.description == "a LIST<\(kind.schemaWord)>, b INTEGER")
  }

  @Test("CK-07: columns of every kind and lists of them are read, and written in one spelling")
  func kinds() throws {
    let text = "at LOCATION, tags LIST<VARCHAR>, since DATE, parent REFERENCE, ways LIST<LOCATION>, photo OBJECT"
    let schema = try SchemaText(parsing: text)
    #expect(schema.description == text)
    #expect(schema.columns.map(\.kind) == [.location, .text, .date, .reference, .location, .object])
    #expect(schema.columns.map(\.isList) == [false, true, false, false, true, false])
    #expect(
      try SchemaText(parsing: "list INT, date DATE, location LOCATION").columns.map(\.name)
        == ["list", "date", "location"], "words of types are names, too")
  }

  @Test("SIM-33: one primary key, of text or integer")
  func primaryKey() throws {
    #expect(try SchemaText(parsing: "id int primary key, x text").primaryKey?.name == "id")
    #expect(throws: CaravanError.self) { try SchemaText(parsing: "a INT PRIMARY KEY, b INT PRIMARY KEY") }
    #expect(throws: CaravanError.self) { try SchemaText(parsing: "a OBJECT PRIMARY KEY") }
    for type in ["FLOAT", "DATE", "LOCATION", "REFERENCE", "LIST<VARCHAR>", "LIST<INTEGER>"] {
      let error = #expect(throws: CaravanError.self) { try SchemaText(parsing: "a \(type) PRIMARY KEY") }
      #expect(error?.message.contains("position \(type.count + 4): column 'a' is \(type): only VARCHAR") == true)
    }
  }

  @Test(
    "malformed text is refused with the place and what is expected there",
    arguments: [
      ("", "position 1: expected a column name"), ("name", "position 5: expected a type for column 'name'"),
      ("name NUMBER", "position 6: expected a type"), ("name TEXT,", "position 11: expected a column name"),
      ("name TEXT date INTEGER", "position 11: expected PRIMARY KEY"),
      ("\"a\" TEXT", "position 1: expected a column name"),
      ("_id TEXT", "reserved"), ("a TEXT, A INTEGER", "position 9: column 'A' stands twice"),
      ("a TEXT; DROP", "found ';'"),
      ("a LIST", "position 7: expected '<' after LIST of column 'a'"), ("a LIST VARCHAR", "position 8: expected '<'"),
      ("a LIST<>", "position 8: expected what the lists of column 'a' hold (VARCHAR, INTEGER"),
      ("a LIST<OBJECT>", "position 8: column 'a' is a list of OBJECT"),
      ("a LIST<LIST<INT>>", "position 8: expected what"),
      ("a LIST<INT", "position 11: expected '>'"), ("a LIST<INT>>", "position 12: expected ','"),
      ("a VARCHAR(", "expected a length"), ("a VARCHAR(8", "expected ')'"), ("a INT PRIMARY", "expected KEY"),
      ("1a TEXT", "expected a column name"), ("ä TEXT", "outside ASCII"), ("rowid TEXT", "the store needs"),
    ])
  func malformed(text: String, says: String) {
    #expect {
      _ = try SchemaText(parsing: text)
    } throws: { error in
      guard let error = error as? CaravanError else { return false }
      return error.code == .schemaViolation && error.message.contains(says)
    }
  }

  @Test("limits: columns, bytes, names")
  func limits() {
    let many = (0...Limits.fieldsPerType).map { "c\($0) INT" }.joined(separator: ",")
    #expect(throws: CaravanError.self) { try SchemaText(parsing: many) }
    #expect(throws: CaravanError.self) { try SchemaText(parsing: "a TEXT" + String(repeating: " ", count: 40_000)) }
    #expect(throws: CaravanError.self) { try SchemaText(parsing: String(repeating: "n", count: 65) + " TEXT") }
  }

  @Test("random texts are either refused or render to a text that means the same")
  func fuzz() {
    var generator = SystemRandomNumberGenerator()
    let words = [
      "name", "a", "TEXT", "INT", "OBJECT", "LIST", "<", ">", "DATE", "REFERENCE", "PRIMARY", "KEY", ",", "(", ")", "8",
      " ", "'", "_x", ";", "é", "\u{0}",
    ]
    var accepted = 0
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 0...9, using: &generator)).map { _ in words.randomElement(using: &generator) ?? ""
      }
      .joined(separator: " ")
      guard let schema = try? SchemaText(parsing: text) else { continue }
      accepted += 1
      #expect((try? SchemaText(parsing: schema.description)) == schema, "\(text)")
    }
    #expect(accepted > 0)
  }
}
