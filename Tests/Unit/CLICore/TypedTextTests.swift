import CaravanCLICore
import CaravanModel
import Testing

/// Goal: a value of every kind can be typed, and reads as it is typed (CK-07). Method: tables, in both directions.
@Suite("Values as people type them")
struct TypedTextTests {
  private static let schema = try? SchemaText(
    parsing: "name VARCHAR, at LOCATION, since DATE, parent REFERENCE, tags LIST<VARCHAR>, days LIST<DATE>, "
      + "way LIST<LOCATION>, links LIST<REFERENCE>, marks LIST<FLOAT>, counts LIST<INTEGER>, keys LIST<BLOB>")

  private static func reference(_ name: String, _ kind: Reference.Kind = .plain) -> Value {
    .reference(Reference(to: name, kind))
  }

  private static func place(_ latitude: Double, _ longitude: Double) throws -> Value {
    .location(try Location(latitude: latitude, longitude: longitude))
  }

  @Test("CK-07: values of every kind are typed, and shown as they can be typed again")
  func values() throws {
    let table: [(typed: String, Value, shown: String)] = [
      ("at=52.5,13.4", try Self.place(52.5, 13.4), "52.5,13.4"), ("at=-1, -2", try Self.place(-1, -2), "-1.0,-2.0"),
      ("since=2026-11-27T10:00:00Z", .integer(1_795_773_600_000), "2026-11-27T10:00:00Z"),
      ("since=2026-11-27", .integer(1_795_737_600_000), "2026-11-27T00:00:00Z"),
      ("since=1795773600001", .integer(1_795_773_600_001), "2026-11-27T10:00:00.001Z"),
      ("since=-1", .integer(-1), "1969-12-31T23:59:59.999Z"),
      ("since=9000000000000000", .integer(9_000_000_000_000_000), "9000000000000000"), ("since=", .null, ""),
      ("parent=r", Self.reference("r"), "r"), ("parent=owning:r", Self.reference("r", .owning), "owning:r"),
      ("parent=validating:a:b", Self.reference("a:b", .validating), "validating:a:b"),
      ("parent=plain:owning:r", Self.reference("owning:r"), "plain:owning:r"), ("parent=", .null, ""),
      (#"tags=["a","5",""]"#, .list([.text("a"), .text("5"), .text("")]), #"["a","5",""]"#),
      ("tags=[]", .list([]), "[]"),
      ("tags=", .null, ""),
      (
        #"days=["2026-11-27",5]"#, .list([.integer(1_795_737_600_000), .integer(5)]),
        #"["2026-11-27T00:00:00Z","1970-01-01T00:00:00.005Z"]"#
      ),
      (#"way=["1,2"]"#, .list([try Self.place(1, 2)]), #"["1.0,2.0"]"#),
      (#"links=["owning:r","s"]"#, .list([Self.reference("r", .owning), Self.reference("s")]), #"["owning:r","s"]"#),
      ("marks=[1,2.5]", .list([.real(1), .real(2.5)]), "[1.0,2.5]"),
      ("counts=[1,\"2\"]", .list([.integer(1), .integer(2)]), "[1,2]"),
      (#"keys=["0x00ff"]"#, .list([.data([0, 255])]), #"["0x00ff"]"#),
    ]
    for (typed, value, shown) in table {
      let assignment = try Assignment(typed, schema: Self.schema)
      #expect(assignment.source == .value(value), "\(typed)")
      let column = try #require(Self.schema?.column(named: assignment.column))
      #expect(value.shown(of: column.kind) == shown, "\(typed)")
      let again = try TypedText.value(shown, column.name, column.kind, isList: column.isList)
      #expect(again == value, "\(typed)")
    }
  }

  @Test("CK-07: what is none of a column's is refused, and the refusal says how it is typed")
  func refusals() throws {
    let table = [
      ("at=here", "latitude,longitude"), ("at=1", "latitude,longitude"), ("at=91,0", "no place"),
      ("since=tomorrow", "2026-11-27T10:00:00Z"), ("since=2026-02-30", "a date"), ("tags=a", "a list"),
      ("tags=[1]", "a list of text"), ("tags=[null]", "a list of text"), ("links=[\"\"]", "a list of reference"),
      ("counts=[\"x\"]", "a whole number"), ("counts=[1.5]", "a whole number"), ("counts=[true]", "a list of integer"),
      ("way=[[1,2]]", "a list of location"),
    ]
    for (typed, says) in table {
      let error = #expect(throws: CaravanError.self, "\(typed)") { try Assignment(typed, schema: Self.schema) }
      #expect(error?.message.contains(says) == true, "\(typed): \(error?.message ?? "")")
    }
  }

  @Test("CK-07: arguments are typed like values, those that are compared with a list like one of its values")
  func arguments() throws {
    let kinds = try ArgumentKinds("since > ? AND parent = ? AND tags = ?", schema: Self.schema)
    #expect(
      try kinds.values(["1970-01-02", "owning:r", "a"]) == [
        .integer(86_400_000), Self.reference("r", .owning), .text("a"),
      ])
  }
}
