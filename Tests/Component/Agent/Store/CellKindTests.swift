import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a column of every kind keeps what it is given, is found by it, and takes nothing else (CK-07). Method: the
/// store itself; what a cloud would answer is written by hand.
@Suite("Cells of every kind", .timeLimit(.minutes(1))) struct CellKindTests {
  typealias F = StoreFixture
  typealias Value = CaravanModel.Value

  private static let places = TableID(app: F.app, name: "places")
  private static let schema = """
    name VARCHAR, at LOCATION, since DATE, parent REFERENCE, tags LIST<VARCHAR>, marks LIST<FLOAT>, \
    links LIST<REFERENCE>, days LIST<DATE>, way LIST<LOCATION>, keys LIST<BLOB>, counts LIST<INTEGER>
    """

  private static func type(_ schema: String = schema) throws -> CaravanModel.RecordType {
    let fields = try SchemaText(parsing: schema).fields { UInt32($0) + 1 }
    return CaravanModel.RecordType(id: 7, definition: 7, name: "places", fields: fields)
  }

  private static func with(_ schema: String = schema, _ body: (StoreFixture) async throws -> Void) async throws {
    try await F.with { f in
      try await f.store.createTable(places, schema: try SchemaText(parsing: schema), localOnly: false)
      try await f.store.agree(on: try type(schema), for: places)
      try await body(f)
    }
  }

  private static func reference(_ name: String, _ kind: CaravanModel.Reference.Kind = .plain) -> Value {
    .reference(CaravanModel.Reference(to: name, kind))
  }

  private static func place(_ latitude: Double, _ longitude: Double) throws -> Value {
    .location(try CaravanModel.Location(latitude: latitude, longitude: longitude))
  }

  private static func full() throws -> [String: Value] {
    [
      "at": try place(52.5, -13.25), "since": .integer(-1), "parent": reference("row é", .owning),
      "tags": .list([.text("a"), .text("")]), "marks": .list([.real(0.5), .real(-0.0)]),
      "links": .list([reference("x", .validating), reference("y")]), "days": .list([.integer(0), .integer(.max)]),
      "way": .list([try place(0, 0), try place(-90, 180)]), "keys": .list([.data([]), .data([0, 1])]),
      "counts": .list([]),
    ]
  }

  private static func cells(_ row: RowView?) -> [String: Value] {
    Dictionary((row?.cells ?? []).map { ($0.column, $0.value) }, uniquingKeysWith: { a, _ in a })
      .filter { $0.key != "name" && $0.value != .null }
  }

  private static func write(_ f: F, _ name: String, _ cells: [String: Value]) async throws -> String {
    let values = cells.sorted { $0.key < $1.key }.map { CellValue($0.key, $0.value) }
    return try await f.store.write(places, cells: [CellValue("name", .text(name))] + values)[0]
  }

  private static func names(_ f: F, _ text: String, _ arguments: [Value] = []) async throws -> [Value] {
    try await f.rows(Selection(text, arguments), in: places).compactMap { row in
      row.cells.first { $0.column == "name" }?.value
    }
  }

  private static func collect(_ f: F) async throws -> PushPlan? {
    try await f.store.collect(places, maximumRows: 400, maximumBytes: 1 << 20)
  }

  private static func fields(_ mutation: CaravanModel.Mutation?) throws -> RecordFields {
    guard case .save(_, let body, _)? = mutation?.change else { throw Missing("a save") }
    return try RecordFields(body: body)
  }

  @Test("CK-07: a row with every kind of cell reads back as written, over a restart, and goes to the cloud as it is")
  func roundTrip() async throws {
    try await Self.with { f in
      let full = try Self.full()
      let id = try await Self.write(f, "full", full)
      _ = try await Self.write(f, "empty", [:])
      for _ in 0..<2 {
        let rows = try await f.rows(in: Self.places)
        #expect(Self.cells(rows.first) == full && Self.cells(rows.last).isEmpty)
        try await f.crash()
      }
      let plan = try #require(try await Self.collect(f))
      let body = try Self.fields(plan.mutations.first)
      try Self.type().check(body)
      for field in try Self.type().fields where field.name != "name" { #expect(body[field.id] == full[field.name]) }
      try await f.store.record(plan.mutations.indices.map { .accepted(version: UInt64($0) + 1) }, of: plan.op)

      // The same from elsewhere, and then nothing at all.
      let entry = Entry(name: "other", version: 9, created: 9, type: 7, body: body.body, writer: "elsewhere")
      try await f.store.apply([IncomingEntry(entry: entry)], to: Self.places, token: [1], end: .last)
      #expect(Self.cells(try await f.rows(in: Self.places).first { $0.id == "other" }) == full)
      let nulls = full.keys.sorted().map { CellValue($0, .null) }
      try await f.store.write(Self.places, cells: nulls, selection: Selection("name = 'full'"))
      #expect(Self.cells(try await f.rows(in: Self.places).first { $0.id == id }).isEmpty)
      #expect(try Self.fields(try await Self.collect(f)?.mutations.first).ascending.map(\.id) == [1])
    }
  }

  @Test("CK-07: rows are found by dates as by numbers, by references as by names, and by cells that are null")
  func selections() async throws {
    try await Self.with { f in
      _ = try await Self.write(
        f, "a", ["since": .integer(1_000), "parent": Self.reference("p", .owning), "at": try Self.place(1, 2)])
      _ = try await Self.write(
        f, "b", ["since": .integer(2_000), "parent": Self.reference("p"), "tags": .list([.text("x")])])
      _ = try await Self.write(f, "c", ["parent": Self.reference("q", .validating), "counts": .list([])])
      for _ in 0..<2 {
        let found: [(String, [Value], [String])] = [
          ("since >= ?", [.integer(2_000)], ["b"]), ("since < 2000", [], ["a"]), ("since IS NULL", [], ["c"]),
          ("parent = ?", [.text("p")], ["a", "b"]), ("parent = ?", [Self.reference("q")], ["c"]),
          ("parent IN ('p', 'x') AND since > 1000", [], ["b"]), ("parent > 'p'", [], ["c"]),
          ("parent LIKE 'q'", [], ["c"]), ("\"parent\" = 'pp'", [], []), ("length(parent) = 1", [], ["a", "b", "c"]),
          ("at IS NULL", [], ["b", "c"]), ("tags IS NOT NULL", [], ["b"]), ("counts IS NULL", [], ["a", "b"]),
        ]
        for (text, arguments, names) in found {
          #expect(try await Self.names(f, text, arguments) == names.map { .text($0) }, "\(text)")
        }
        try await f.crash()
      }
      var request = ReadRequest(table: Self.places, columns: ["name"])
      request.order = [.init("parent", isDescending: true), .init("since", isDescending: true)]
      let ordered = try await f.store.beginRead(request, owner: f.owner).rows
      #expect(ordered.map { $0.cells[0].value } == [.text("c"), .text("b"), .text("a")])
      for column in ["at", "tags"] {
        request.order = [.init(column)]
        let error = await #expect(throws: CaravanError.self) { try await f.store.beginRead(request, owner: f.owner) }
        #expect(error?.message.contains("has no order") == true)
      }
      await #expect(throws: CaravanError.self) { try await Self.names(f, "at = ?", [try Self.place(1, 2)]) }
    }
  }

  @Test("CK-07, UNI-15: a table keeps the rows of a query over a reference, a date and a place that is null")
  func query() async throws {
    try await Self.with { f in
      let query = RowQuery("parent = ? AND since < 5 AND at IS NULL", [Self.reference("p")])
      try await f.store.updateTable(Self.places, TableChange(replication: .query(query)))
      func entry(_ name: String, _ version: UInt64, _ fields: [UInt32: Value]) -> IncomingEntry {
        var record = RecordFields(fields)
        record[1] = .text(name)
        return IncomingEntry(
          entry: Entry(name: name, version: version, created: 1, type: 7, body: record.body, writer: "elsewhere"))
      }
      let entries = [
        entry("in", 1, [4: Self.reference("p", .validating), 3: .integer(4)]),
        entry("late", 2, [4: Self.reference("p"), 3: .integer(5)]),
        entry("other", 3, [4: Self.reference("pp"), 3: .integer(4)]),
        entry("placed", 4, [4: Self.reference("p"), 3: .integer(4), 2: try Self.place(0, 0)]),
      ]
      try await f.store.apply(entries, to: Self.places, token: [1], end: .last)
      #expect(try await f.rows(in: Self.places).map(\.id) == ["in"])
      try await f.crash()
      #expect(
        try await f.store.status(of: F.app).first { $0.table == Self.places }?.properties.query?.parameters == [
          Self.reference("p")
        ])
    }
  }

  @Test("CK-07: what is none of a column's is refused, naming the column and what to do, and nothing is written")
  func refusals() async throws {
    try await Self.with { f in
      let many = Value.list([Value](repeating: .integer(1), count: Limits.listItems + 1))
      let crowd = Value.list((0...Limits.referencesPerRecord).map { Self.reference("r\($0)", .owning) })
      let table: [(String, Value, ErrorCode, String)] = [
        ("at", .text("here"), .schemaViolation, "is LOCATION, not text: give it a location"),
        ("since", .text("today"), .schemaViolation, "an integer of Unix milliseconds"),
        ("since", .real(1), .schemaViolation, "is DATE, not real"),
        ("parent", .text("row"), .schemaViolation, "is REFERENCE, not text: give it a reference"),
        ("parent", Self.reference(""), .schemaViolation, "refers to no row"),
        ("parent", Self.reference("a\nb"), .schemaViolation, "refers to no row"),
        ("tags", .text("a"), .schemaViolation, "is LIST<VARCHAR>, not text: give it a list of text"),
        ("tags", .list([.integer(1)]), .schemaViolation, "is LIST<VARCHAR>"),
        ("tags", .list([.text("a"), .null]), .schemaViolation, "with null in it"),
        ("tags", .list([.text("a"), .integer(1)]), .schemaViolation, "a list of text with integer in it"),
        ("tags", .list([.list([])]), .schemaViolation, "with list in it"),
        ("tags", .list([.text("a\u{0}")]), .schemaViolation, "NUL"),
        ("marks", .list([.real(.nan)]), .schemaViolation, "NaN"),
        ("counts", many, .limitExceeded, "the limit is \(Limits.listItems)"),
        ("links", crowd, .limitExceeded, "owning or validating references"),
        ("keys", .list([.data([UInt8](repeating: 1, count: Limits.recordBytes))]), .limitExceeded, "use an OBJECT"),
      ]
      for (column, value, code, says) in table {
        let error = await #expect(throws: CaravanError.self, "\(column) \(says)") {
          try await Self.write(f, "bad", [column: value])
        }
        #expect(error?.code == code && error?.message.contains(says) == true, "\(error.map { "\($0)" } ?? "")")
        #expect(error?.message.contains("'\(column)'") == true || code == .limitExceeded)
      }
      #expect(try await f.rows(in: Self.places).isEmpty)
      _ = try await Self.write(f, "whole", ["marks": .list([.integer(1), .integer(2)])])
      #expect(Self.cells(try await f.rows(in: Self.places)[0]) == ["marks": .list([.real(1), .real(2)])])
    }
  }

  @Test("CK-07, CK-26: a table from before gains columns of all kinds, and finds in them what newer devices wrote")
  func extended() async throws {
    try await Self.with("name VARCHAR") { f in
      let full = try Self.full()
      var body = RecordFields([1: .text("theirs")])
      for field in try Self.type().fields where field.name != "name" { body[field.id] = full[field.name] ?? .null }
      let entry = Entry(name: "row-1", version: 3, created: 3, type: 7, body: body.body, writer: "elsewhere")
      try await f.store.apply([IncomingEntry(entry: entry)], to: Self.places, token: [1], end: .last)
      _ = try await Self.write(f, "mine", [:])
      // An app that knows none of that changes the row, and all of it goes back.
      try await f.store.write(
        Self.places, cells: [CellValue("name", .text("changed"))], selection: Selection("name = 'theirs'"))
      let sent = try Self.fields(try await Self.collect(f)?.mutations.last)
      var expected = body
      expected[1] = .text("changed")
      #expect(sent == expected)
      try await f.crash()
      try await f.store.createTable(Self.places, schema: try SchemaText(parsing: Self.schema), localOnly: false)
      try await f.store.agree(on: try Self.type(), for: Self.places)
      for _ in 0..<2 {
        #expect(Self.cells(try await f.rows(in: Self.places).first { $0.id == "row-1" }) == full)
        #expect(try await Self.names(f, "parent = ?", [.text("row é")]) == [.text("changed")])
        try await f.crash()
      }
      let other = Self.schema.replacingOne("tags LIST<VARCHAR>", by: "tags VARCHAR")
      let error = await #expect(throws: CaravanError.self) {
        try await f.store.createTable(Self.places, schema: try SchemaText(parsing: other), localOnly: false)
      }
      #expect(error?.code == .schemaNotAdditive && error?.message.contains("is LIST<VARCHAR>") == true)
    }
  }

  @Test("CK-07: what a newer device wrote and is none of the column's stays, until an app writes the column")
  func foreign() async throws {
    try await Self.with { f in
      let body = RecordFields([1: .text("a"), 2: .list([.text("new")]), 5: .text("one")])
      let entry = Entry(name: "row-1", version: 3, created: 3, type: 7, body: body.body, writer: "elsewhere")
      try await f.store.apply([IncomingEntry(entry: entry)], to: Self.places, token: [1], end: .last)
      #expect(Self.cells(try await f.rows(in: Self.places).first).isEmpty)
      let tags = Value.list([.text("mine")])
      try await f.store.write(Self.places, cells: [CellValue("tags", tags)], selection: Selection("1"))
      let sent = try Self.fields(try await Self.collect(f)?.mutations.first)
      #expect(sent == RecordFields([1: .text("a"), 2: .list([.text("new")]), 5: tags]))
    }
  }

  @Test(
    "CK-07, CK-34: a conflict of such cells shows three copies, and is resolved with columns of theirs and new ones")
  func conflict() async throws {
    try await Self.with { f in
      let full = try Self.full()
      let id = try await Self.write(f, "row", full)
      let first = try #require(try await Self.collect(f))
      try await f.store.record([.accepted(version: 1)], of: first.op)
      let mine: [CellValue] = [CellValue("tags", .list([.text("mine")])), CellValue("at", .null)]
      try await f.store.write(Self.places, cells: mine, selection: Selection("1"))
      let plan = try #require(try await Self.collect(f))
      var theirs = try Self.fields(first.mutations.first)
      theirs[4] = Self.reference("theirs", .validating)
      theirs[5] = .list([.text("theirs")])
      let copy = Entry(name: id, version: 2, created: 1, type: 7, body: theirs.body, writer: "elsewhere")
      try await f.store.record([.conflict(server: copy)], of: plan.op)
      let shown = try #require(try await f.store.conflicts(Self.places).first)
      #expect(Self.cells(shown.ancestor) == full)
      #expect(Self.cells(shown.mine)["tags"] == .list([.text("mine")]) && Self.cells(shown.mine)["at"] == nil)
      #expect(Self.cells(shown.theirs)["parent"] == Self.reference("theirs", .validating))
      try await f.store.beginResolution(Self.places, owner: f.owner)
      try await f.store.resolve(
        Self.places, row: id, .new, cells: [CellValue("at", try Self.place(3, 4))], fromTheirs: ["parent"],
        owner: f.owner)
      try await f.store.endResolution(Self.places, owner: f.owner)
      let row = Self.cells(try await f.rows(in: Self.places).first)
      #expect(row["parent"] == Self.reference("theirs", .validating) && row["tags"] == .list([.text("mine")]))
      #expect(row["at"] == (try Self.place(3, 4)))
    }
  }

  @Test("CK-07, SIM-82: what is carried over from a damaged database has its cells, those of later columns too")
  func carriedOver() async throws {
    try await Self.with("name VARCHAR, first REFERENCE") { f in
      let full = try Self.full()
      let wider =
        "name VARCHAR, first REFERENCE, " + Self.schema.split(separator: ", ").dropFirst().joined(separator: ", ")
      _ = try await Self.write(f, "narrow", ["first": Self.reference("x", .validating)])
      try await f.store.createTable(Self.places, schema: try SchemaText(parsing: wider), localOnly: false)
      _ = try await Self.write(f, "wide", full)
      try await f.crash { directory in
        var file = try #require(Files.read("\(directory)/agent.db"))
        file.replaceSubrange(0..<100, with: [UInt8](repeating: 0xa5, count: 100))
        Files.write(file, to: "\(directory)/agent.db")
      }
      let rows = try await f.rows(in: Self.places)
      #expect(rows.map { Self.cells($0) } == [["first": Self.reference("x", .validating)], full])
      #expect(try await Self.names(f, "parent = 'row é' OR first = 'x'") == [.text("narrow"), .text("wide")])
    }
  }

  @Test("CK-07, UNI-14: a record type in which a column is a list, and here it is none, is not agreed on")
  func otherShape() async throws {
    try await Self.with("name VARCHAR") { f in
      let type = try Self.type("name LIST<VARCHAR>")
      let error = await #expect(throws: CaravanError.self) { try await f.store.agree(on: type, for: Self.places) }
      #expect(error?.message.contains("'name' of 'album/places' is VARCHAR, in its record type list of text") == true)
    }
  }
}

extension String {
  fileprivate func replacingOne(_ part: String, by other: String) -> String {
    split(separator: part, maxSplits: 1, omittingEmptySubsequences: false).joined(separator: other)
  }
}
