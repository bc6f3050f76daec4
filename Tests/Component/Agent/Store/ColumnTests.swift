import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a table gains columns, and nothing that was in it is lost, sent or not (CK-26). Method: a store, in each state
/// that a table can be in when its app asks for more columns; what the cloud would answer is written by hand.
@Suite("Tables that gain columns", .timeLimit(.minutes(1))) struct ColumnTests {
  typealias F = StoreFixture

  private static let wider = "name VARCHAR, date INTEGER, location FLOAT, photo OBJECT, note VARCHAR, scan OBJECT"
  /// As the cloud answers to it.
  private static let type = CaravanModel.RecordType(
    id: 43, definition: 40, name: "photos",
    fields: F.type.fields + [.init(id: 11, name: "note", kind: .text), .init(id: 12, name: "scan", kind: .object)],
    settings: F.type.settings)

  private static func extend(_ f: StoreFixture) async throws {
    try await f.store.createTable(F.photos, schema: SchemaText(parsing: wider), localOnly: false)
  }

  private static func agree(_ f: StoreFixture) async throws { try await f.store.agree(on: type, for: F.photos) }

  private static func note(_ f: StoreFixture, _ name: String) async throws -> CaravanModel.Value? {
    let row = try await f.rows(CaravanAgentStore.Selection("name = ?", [.text(name)])).first
    return row?.cells.first { $0.column == "note" }?.value
  }

  private static func fields(_ mutation: CaravanModel.Mutation?) throws -> RecordFields {
    guard case .save(_, let body, _)? = mutation?.change else { throw Missing("a save") }
    return try RecordFields(body: body)
  }

  @Test("CK-26, TRU-15: rows that were not sent go after the extension, with the new column; over a restart")
  func unsent() async throws {
    try await F.with { f in
      try await f.agree()
      _ = try await f.synced("sent", version: 1)
      try await f.write("unsent", photo: [1, 2])
      try await Self.extend(f)
      try await f.crash()
      #expect(try await f.names() == ["sent", "unsent"])
      try await f.store.write(
        F.photos, cells: [CellValue("note", .text("new"))], selection: Selection("name = ?", [.text("unsent")]))
      #expect(try await f.store.syncState(of: F.photos).type == nil, "the cloud is to be asked")
      await #expect(throws: CaravanError.self) { try await f.collect() }
      try await f.crash()
      try await Self.agree(f)
      let plan = try #require(try await f.collect())
      #expect(plan.mutations.count == 1 && plan.type == 43)
      let fields = try Self.fields(plan.mutations.first)
      #expect(fields[3] == .text("unsent") && fields[11] == .text("new") && fields[9] != .null)
      try await f.accept(plan, from: 2)
      #expect(try await f.photo(try await f.rows()[1].id) == [1, 2])
      try await f.crash()
      #expect(try await Self.note(f, "unsent") == .text("new"))
    }
  }

  @Test("CK-26, TRU-15: what a newer device wrote before shows at once, but where the app has written since")
  func adopted() async throws {
    try await F.with { f in
      try await f.agree()
      func entry(_ id: String, _ version: UInt64, _ name: String, _ note: String) -> IncomingEntry {
        var fields = RecordFields([3: .text(name), 11: .text(note), 77: .text("newer still")])
        fields[12] = .asset(F.manifest([7, 7]))
        let body = fields.body
        return IncomingEntry(
          entry: Entry(name: id, version: version, created: 1, type: 43, body: body, writer: "elsewhere"))
      }
      try await f.apply([entry("row-1", 1, "a", "theirs"), entry("row-2", 2, "b", "theirs")])
      try await f.store.stage(F.chunks([7, 7]), for: F.photos)
      try await Self.extend(f)
      try await f.store.write(
        F.photos, cells: [CellValue("note", .text("mine"))], selection: Selection("name = ?", [.text("b")]))
      #expect(try await Self.note(f, "a") == .null)
      try await Self.agree(f)
      #expect(try await Self.note(f, "a") == .text("theirs"))
      #expect(try await Self.note(f, "b") == .text("mine"))
      let fields = try Self.fields(try await f.collect()?.mutations.first)
      #expect(fields[11] == .text("mine") && fields[77] == .text("newer still") && fields[12] != .null)
      try await f.store.abort(try #require(try await f.store.plansInFlight().first).op)
      let row = try await f.rows()[0]
      #expect(row.objects.map(\.column) == ["scan"])
      #expect(try await f.store.problems() == [])
    }
  }

  @Test("CK-26, TRU-15: an older device's save keeps the fields that it does not know")
  func older() async throws {
    try await F.with { f in
      try await f.agree()
      let body = RecordFields([3: .text("a"), 11: .text("theirs")]).body
      let entry = Entry(name: "row-1", version: 1, created: 1, type: 43, body: body, writer: "elsewhere")
      try await f.apply([IncomingEntry(entry: entry)])
      try await f.store.write(F.photos, cells: [CellValue("date", .integer(5))], selection: Selection("1"))
      let fields = try Self.fields(try await f.collect()?.mutations.first)
      #expect(fields[11] == .text("theirs") && fields[5] == .integer(5))
      try await f.store.abort(try #require(try await f.store.plansInFlight().first).op)
    }
  }

  @Test("TRU-15: what is on its way when the table gains columns is recorded; so is a batch")
  func underWay() async throws {
    try await F.with { f in
      try await f.agree()
      let opened = [
        try await f.store.openWrite(
          F.photos, cells: [CellValue("name", .text("a"))], objects: [], owner: 1, isHeld: true),
        try await f.store.openWrite(
          F.photos, cells: [CellValue("name", .text("b"))], objects: ["photo"], owner: 1, isHeld: true),
      ]
      try await f.store.writeObject(
        opened[1].handle, row: 0, object: "photo", offset: 0, bytes: F.noise(300_000), owner: 1)
      // A write that is open is closed after the extension.
      try await Self.extend(f)
      let ids = try await f.store.closeWrites(opened.map(\.handle), isAtomic: true, owner: 1)
      try await Self.agree(f)
      let plan = try #require(try await f.collect())
      #expect(plan.isAtomic && plan.mutations.count == 2)
      let widest = "\(Self.wider), rating INTEGER"
      try await f.store.createTable(F.photos, schema: SchemaText(parsing: widest), localOnly: false)
      try await f.store.write(
        F.photos, cells: [CellValue("rating", .integer(5))], selection: Selection("name = 'a'"))
      try await f.crash()
      try await f.accept(plan, from: 1)
      #expect(try await f.photo(ids[1]) == F.noise(300_000))
      var type = Self.type
      type.id = 44
      type.fields.append(.init(id: 13, name: "rating", kind: .integer))
      try await f.store.agree(on: type, for: F.photos)
      let next = try #require(try await f.collect())
      #expect(next.mutations.map(\.name) == [ids[0]])
      #expect(try Self.fields(next.mutations.first)[13] == .integer(5))
      try await f.accept(next, from: 3)
    }
  }

  @Test("TRU-15: an open conflict keeps all three copies, and is resolved with the new column")
  func conflict() async throws {
    try await F.with { f in
      try await f.agree()
      let id = try await f.synced("base", photo: [1], version: 1)
      try await f.edit("base", at: 0, [2])
      var fields = RecordFields([3: .text("theirs"), 11: .text("their note")])
      fields[9] = .asset(F.manifest([3]))
      let theirs = Entry(name: id, version: 2, created: 1, type: 43, body: fields.body, writer: "elsewhere")
      try await f.apply([IncomingEntry(entry: theirs)])
      try await f.store.stage(F.chunks([3]), for: F.photos)
      try await Self.extend(f)
      try await Self.agree(f)
      let conflict = try #require(try await f.store.conflicts(F.photos).first)
      #expect(conflict.theirs?.cells.first { $0.column == "note" }?.value == .text("their note"))
      #expect(conflict.ancestor?.cells.first { $0.column == "name" }?.value == .text("base"))
      try await f.store.beginResolution(F.photos, owner: 1)
      try await f.store.resolve(F.photos, row: id, .new, fromTheirs: ["note"], owner: 1)
      try await f.store.endResolution(F.photos, owner: 1)
      #expect(try await Self.note(f, "base") == .text("their note"))
      #expect(try await f.photo(id) == [2])
      try await f.accept(try #require(try await f.collect()), from: 3)
    }
  }

  @Test("UNI-13, TRU-15: in a table of snapshots, what waits shows with the new column")
  func snapshot() async throws {
    try await F.with { f in
      try await f.agree()
      try await f.store.updateTable(F.photos, TableChange(consistency: .snapshot))
      let body = RecordFields([3: .text("waits"), 11: .text("theirs")]).body
      let entry = Entry(name: "row-1", version: 1, created: 1, type: 43, body: body, writer: "elsewhere")
      try await f.apply([IncomingEntry(entry: entry)], end: .more)
      try await f.write("mine")
      try await Self.extend(f)
      try await f.crash()
      try await Self.agree(f)
      try await f.apply([], point: 1)
      #expect(try await Self.note(f, "waits") == .text("theirs"))
      #expect(try await f.collect()?.mutations.count == 1)
      try await f.store.abort(try #require(try await f.store.plansInFlight().first).op)
    }
  }

  @Test("UNI-17, TRU-15: objects that are overwritten in place stay what they are; new ones are written beside")
  func inPlace() async throws {
    try await F.with { f in
      try await f.agree()
      try await f.store.updateTable(F.photos, TableChange(mode: .inPlace))
      let photo = F.noise(200_000)
      let id = try await f.synced("a", photo: photo, version: 1)
      try await Self.extend(f)
      try await f.crash()
      try await f.edit("a", at: 100, [1, 2, 3])
      var expected = photo
      expected.replaceSubrange(100..<103, with: [1, 2, 3])
      #expect(try await f.photo(id) == expected)
      try await f.store.write(
        F.photos, cells: [], contents: [ObjectValue("scan", [9, 9])], selection: Selection("name = 'a'"))
      try await Self.agree(f)
      let fields = try Self.fields(try await f.collect()?.mutations.first)
      #expect(fields[12] != .null && fields[9] != .null)
      try await f.store.abort(try #require(try await f.store.plansInFlight().first).op)
    }
  }

  @Test("TRU-15: a column that would vanish or change, or a late primary key, is refused; nothing changes")
  func refused() async throws {
    try await F.with { f in
      try await f.agree()
      try await f.write("unsent")
      let before = try await f.status()
      let schemas = [
        ("name VARCHAR, date INTEGER, location FLOAT", "the column 'photo OBJECT'"),
        ("name VARCHAR, date FLOAT, location FLOAT, photo OBJECT", "column 'date' of table 'photos' is INTEGER"),
        ("name VARCHAR, date INTEGER, location FLOAT, photo OBJECT, key VARCHAR PRIMARY KEY", "cannot become one"),
        ("name VARCHAR PRIMARY KEY, date INTEGER, location FLOAT, photo OBJECT", "not the primary key"),
      ]
      for (schema, reason) in schemas {
        let error = await #expect(throws: CaravanError.self) {
          try await f.store.createTable(F.photos, schema: SchemaText(parsing: schema), localOnly: false)
        }
        #expect(error?.code == .schemaNotAdditive && error?.message.contains(reason) == true, "\(schema): \(error!)")
      }
      #expect(try await f.status() == before)
      #expect(try await f.names() == ["unsent"])
      let reordered = "photo OBJECT, NAME VARCHAR, date INTEGER, location FLOAT"
      try await f.store.createTable(F.photos, schema: SchemaText(parsing: reordered), localOnly: false)
      #expect(try await f.status() == before, "the same columns in another order are the same table")
    }
  }

  @Test("SIM-78, TRU-15: a damaged database is salvaged with rows from before and after the extension")
  func salvaged() async throws {
    try await F.with { f in
      try await f.agree()
      try await f.write("before")
      try await Self.extend(f)
      try await f.store.write(F.photos, cells: [CellValue("name", .text("after")), CellValue("note", .text("n"))])
      try await f.crash { directory in
        guard var file = Files.read("\(directory)/agent.db") else { throw Missing("the database") }
        file.replaceSubrange(0..<100, with: F.noise(100))
        Files.write(file, to: "\(directory)/agent.db")
      }
      #expect(try await f.names() == ["before", "after"])
      #expect(try await Self.note(f, "after") == .text("n"))
      #expect(try await f.status().dirty == 2)
    }
  }
}
