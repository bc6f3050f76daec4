import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import Testing

@Suite("Local writes and reads")
struct LocalWriteTests {
  @Test("SIM-13: a row with an object appears as a whole when the write is closed")
  func wholeRow() async throws {
    try await StoreFixture.with { f in
      let photo = StoreFixture.noise(300_000)
      let opened = try await f.store.openWrite(
        StoreFixture.photos, cells: [CellValue("name", .text("Snoopy"))], objects: ["photo"], owner: 1)
      try await f.store.writeObject(opened.handle, row: 0, object: "photo", offset: 0, bytes: photo, owner: 1)
      #expect(try await f.rows().isEmpty)
      let ids = try await f.store.closeWrite(opened.handle, owner: 1)
      #expect(ids == opened.rows)
      let rows = try await f.rows()
      #expect(rows.count == 1 && rows[0].state == .dirty && rows[0].version == 0)
      #expect(rows[0].objects.map(\.size) == [300_000])
      #expect(try await f.photo(ids[0]) == photo)
    }
  }

  @Test("SIM-14: an update changes every row selected, and only what is listed")
  func update() async throws {
    try await StoreFixture.with { f in
      for name in ["a", "b", "c"] { try await f.write(name, photo: [1, 2, 3]) }
      let opened = try await f.store.openWrite(
        StoreFixture.photos, cells: [CellValue("date", .integer(9))], objects: ["photo"],
        selection: Selection("name IN (?, ?)", [.text("a"), .text("b")]), owner: 1)
      #expect(opened.rows.count == 2)
      try await f.store.writeObject(opened.handle, row: 1, object: "photo", offset: 3, bytes: [4], owner: 1)
      try await f.store.truncateObject(opened.handle, row: 0, object: "photo", size: 1, owner: 1)
      try await f.store.closeWrite(opened.handle, owner: 1)
      let rows = try await f.rows()
      #expect(try await f.photo(rows[0].id) == [1])
      #expect(try await f.photo(rows[1].id) == [1, 2, 3, 4])
      #expect(try await f.photo(rows[2].id) == [1, 2, 3])
      #expect(try await f.names(Selection("date = 9")) == ["a", "b"])
    }
  }

  @Test("SIM-29: edits, appends, truncations and gaps of a large object read back right")
  func objectEdits() async throws {
    try await StoreFixture.with { f in
      var photo = StoreFixture.noise(3 << 20)
      let id = try await f.write("big", photo: photo)
      try await f.edit("big", at: 1_500_000, [1, 2, 3])
      photo.replaceSubrange(1_500_000..<1_500_003, with: [1, 2, 3])
      #expect(try await f.photo(id) == photo)
      try await f.edit("big", at: UInt64(photo.count) + 10, [9])
      photo += [UInt8](repeating: 0, count: 10) + [9]
      #expect(try await f.photo(id) == photo)
      let slice = try await f.store.readObject(
        StoreFixture.photos, row: id, object: "photo", offset: 1_499_999, length: 5, owner: 1)
      #expect(slice.bytes == Array(photo[1_499_999..<1_500_004]) && slice.size == UInt64(photo.count))
    }
  }

  @Test("SIM-93: a one-byte edit of a large object makes at most two new chunks, and a new list of all")
  func fewChunks() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      try await f.write("big", photo: StoreFixture.noise(4 << 20))
      let first = try #require(try await f.collect())
      #expect(try await f.store.unsentChunks(of: first.op).count > 20)
      try await f.accept(first, from: 1)
      try await f.edit("big", at: 2_000_000, [0])
      let second = try #require(try await f.collect())
      #expect((2...3).contains(try await f.store.unsentChunks(of: second.op).count))
    }
  }

  @Test("an object beyond what is kept in memory is written in parts and is whole at the end")
  func longStream() async throws {
    try await StoreFixture.with { f in
      let photo = StoreFixture.noise(11 << 20)
      let opened = try await f.store.openWrite(StoreFixture.photos, cells: [], objects: ["photo"], owner: 1)
      for start in stride(from: 0, to: photo.count, by: 256 << 10) {
        let piece = Array(photo[start..<min(start + (256 << 10), photo.count)])
        try await f.store.writeObject(
          opened.handle, row: 0, object: "photo", offset: UInt64(start), bytes: piece, owner: 1)
      }
      let id = try await f.store.closeWrite(opened.handle, owner: 1)[0]
      #expect(try await f.photo(id) == photo)
    }
  }

  @Test("SIM-43: an app that dies in the middle of a write leaves the last closed version and no chunk behind")
  func abandoned() async throws {
    try await StoreFixture.with { f in
      let id = try await f.write("a", photo: [1, 2, 3])
      let chunks = try await f.store.storedChunks()
      let opened = try await f.store.openWrite(
        StoreFixture.photos, cells: [CellValue("name", .text("b"))], objects: ["photo"],
        selection: Selection("name = 'a'"), owner: 1)
      try await f.store.writeObject(
        opened.handle, row: 0, object: "photo", offset: 0, bytes: StoreFixture.noise(5 << 20), owner: 1)
      #expect(await f.store.chunkFileBytes() > 4 << 20, "part of it is on the disk already")
      await f.store.release(owner: 1)
      #expect(try await f.photo(id) == [1, 2, 3])
      #expect(try await f.names() == ["a"])
      #expect(try await f.store.storedChunks() == chunks)
      #expect(await f.store.chunkFileBytes() == 0)
      let error = try await refusal { try await f.store.closeWrite(opened.handle, owner: 1) }
      #expect(error.code == .invalidData)
    }
  }

  @Test("SIM-106: after a crash in the middle of a write the last closed version is there")
  func crash() async throws {
    try await StoreFixture.with { f in
      let id = try await f.write("a", photo: StoreFixture.noise(100_000))
      let opened = try await f.store.openWrite(
        StoreFixture.photos, cells: [], objects: ["photo"], selection: Selection("name = 'a'"), owner: 1)
      try await f.store.writeObject(
        opened.handle, row: 0, object: "photo", offset: 0, bytes: StoreFixture.noise(5 << 20, seed: 8), owner: 1)
      try await f.crash()
      #expect(try await f.photo(id) == StoreFixture.noise(100_000))
      #expect(try await f.status().dirty == 1)
    }
  }

  @Test("two open writes cannot have the same object; a row deleted meanwhile is not brought back")
  func contention() async throws {
    try await StoreFixture.with { f in
      try await f.write("a", photo: [1])
      let all = Selection("name = 'a'")
      let first = try await f.store.openWrite(
        StoreFixture.photos, cells: [], objects: ["photo"], selection: all, owner: 1)
      let error = try await refusal {
        _ = try await f.store.openWrite(StoreFixture.photos, cells: [], objects: ["photo"], selection: all, owner: 1)
      }
      #expect(error.code == .serverBusy)
      try await f.store.delete(StoreFixture.photos, selection: nil)
      #expect(try await refusal { try await f.store.closeWrite(first.handle, owner: 1) }.code == .noSuchObject)
      try await f.store.abandonWrite(first.handle, owner: 1)
      #expect(try await f.rows().isEmpty)
      #expect(try await f.store.storedChunks() == 0)
    }
  }

  @Test("SIM-33: rows of a primary key have derived ids, are unique, and come back after a delete")
  func primaryKey() async throws {
    try await StoreFixture.with { f in
      let notes = TableID(app: StoreFixture.app, name: "notes")
      try await f.store.createTable(
        notes, schema: try SchemaText(parsing: "key INTEGER PRIMARY KEY, body TEXT"), localOnly: false)
      let id = try await f.store.write(notes, cells: [CellValue("key", .integer(5))])[0]
      let twin = try await refusal { try await f.store.write(notes, cells: [CellValue("key", .integer(5))]) }
      #expect(twin.code == .objectExists)
      let keyless = try await refusal { try await f.store.write(notes, cells: [CellValue("body", .text("x"))]) }
      #expect(keyless.code == .schemaViolation)
      let moved = try await refusal {
        try await f.store.write(notes, cells: [CellValue("key", .integer(6))], selection: Selection("1"))
      }
      #expect(moved.code == .schemaViolation)
      try await f.store.delete(notes, selection: nil)
      #expect(try await f.store.write(notes, cells: [CellValue("key", .integer(5))])[0] == id)
    }
  }

  @Test("bad input: unknown column, wrong type, object given a value, NUL, NaN, twice, no table, too large")
  func badInput() async throws {
    try await StoreFixture.with { f in
      func code(_ cells: [CellValue]) async throws -> ErrorCode {
        try await refusal { _ = try await f.store.write(StoreFixture.photos, cells: cells) }.code
      }
      #expect(try await code([CellValue("nmae", .text("x"))]) == .schemaViolation)
      #expect(try await code([CellValue("_id", .text("x"))]) == .schemaViolation)
      #expect(try await code([CellValue("date", .text("x"))]) == .schemaViolation)
      #expect(try await code([CellValue("photo", .data([1]))]) == .schemaViolation)
      #expect(try await code([CellValue("name", .text("a\u{0}b"))]) == .schemaViolation)
      #expect(try await code([CellValue("location", .real(.nan))]) == .schemaViolation)
      #expect(try await code([CellValue("name", .text("a")), CellValue("NAME", .text("b"))]) == .invalidData)
      let long = String(repeating: "x", count: Limits.recordBytes)
      #expect(try await code([CellValue("name", .text(long))]) == .limitExceeded)
      let missing = TableID(app: StoreFixture.app, name: "none")
      #expect(try await refusal { try await f.store.write(missing, cells: []) }.code == .tableNotFound)
      #expect(try await f.rows().isEmpty)
      let open = try await f.store.openWrite(StoreFixture.photos, cells: [], objects: ["photo"], owner: 1)
      let huge = try await refusal {
        try await f.store.writeObject(open.handle, row: 0, object: "photo", offset: 1 << 40, bytes: [1], owner: 1)
      }
      #expect(huge.code == .limitExceeded)
      let other = try await refusal { try await f.store.closeWrite(open.handle, owner: 2) }
      #expect(other.code == .invalidData, "another session's handle")
    }
  }

  @Test("SIM-15, MOB-07, MOB-10: order, projection and pages over one consistent set")
  func pages() async throws {
    try await StoreFixture.with { f in
      for n in 0..<25 {
        try await f.store.write(
          StoreFixture.photos, cells: [CellValue("name", .text("n\(n)")), CellValue("date", .integer(Int64(n % 5)))])
      }
      var request = ReadRequest(
        table: StoreFixture.photos, columns: ["name"], order: [.init("date", isDescending: true), .init("name")])
      request.pageRows = 10
      var page = try await f.store.beginRead(request, owner: 1)
      #expect(page.rows.count == 10 && page.hasMore && page.rows[0].cells == [CellValue("name", .text("n14"))])
      try await f.store.delete(StoreFixture.photos, selection: nil)
      var total = page.rows.count
      while page.hasMore {
        page = try await f.store.nextPage(page.cursor, owner: 1)
        total += page.rows.count
      }
      #expect(total == 25, "deleted after the read began")
      #expect(try await f.rows().isEmpty)
      #expect(try await refusal { _ = try await f.store.nextPage(1, owner: 1) }.code == .leaseExpired)
    }
  }

  @Test("SIM-03: an object read through its cursor is the one of the row in hand")
  func heldCursor() async throws {
    try await StoreFixture.with { f in
      let id = try await f.write("a", photo: [1, 1])
      let page = try await f.store.beginRead(ReadRequest(table: StoreFixture.photos, isHeld: true), owner: 1)
      try await f.edit("a", at: 0, [2, 2])
      let old = try await f.store.readObject(
        StoreFixture.photos, row: id, object: "photo", offset: 0, length: 9, cursor: page.cursor, owner: 1)
      #expect(old.bytes == [1, 1])
      #expect(try await f.photo(id) == [2, 2])
      await f.store.closeCursor(page.cursor, owner: 1)
    }
  }

  @Test("MOB-18: two apps with a table of the same name share nothing")
  func isolation() async throws {
    try await StoreFixture.with { f in
      let other = TableID(app: ContainerID(unchecked: "notes"), name: "photos")
      try await f.store.createTable(other, schema: try SchemaText(parsing: "name TEXT"), localOnly: false)
      try await f.write("mine", photo: [1])
      try await f.store.write(other, cells: [CellValue("name", .text("theirs"))])
      #expect(try await f.names() == ["mine"])
      #expect(try await f.rows(in: other).count == 1)
      try await f.store.dropTable(other, discardingUnsent: true)
      #expect(try await f.names() == ["mine"])
      #expect(await f.store.tableNames(of: StoreFixture.app) == ["photos"])
    }
  }
}
