import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import Testing

/// Goal: writes that are closed together change their rows together or not at all. Method: the store itself.
@Suite("Writes closed together (REC-23)")
struct HeldWriteTests {
  private func hold(_ f: StoreFixture, _ name: String, photo: [UInt8]? = nil) async throws -> OpenedWrite {
    let opened = try await f.store.openWrite(
      StoreFixture.photos, cells: [CellValue("name", .text(name))], objects: photo == nil ? [] : ["photo"],
      owner: f.owner, isHeld: true)
    if let photo { try await f.store.fill(opened, [ObjectValue("photo", photo)], owner: f.owner) }
    return opened
  }

  private func holdUpdate(_ f: StoreFixture, _ name: String, date: Int64) async throws -> OpenedWrite {
    try await f.store.openWrite(
      StoreFixture.photos, cells: [CellValue("date", .integer(date))], objects: [],
      selection: Selection("name = ?", [.text(name)]), owner: f.owner, isHeld: true)
  }

  private func holdDeletion(_ f: StoreFixture, _ name: String) async throws -> OpenedWrite {
    try await f.store.openDeletion(
      StoreFixture.photos, selection: Selection("name = ?", [.text(name)]), owner: f.owner)
  }

  @Test("REC-23: what is held is neither seen nor sent before it is closed, and then all of it is, whatever crashes")
  func together() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      for name in ["old", "gone"] { try await f.write(name) }
      let photo = StoreFixture.noise(300_000)
      let held = [
        try await hold(f, "new", photo: photo), try await holdUpdate(f, "old", date: 7),
        try await holdDeletion(f, "gone"),
      ]
      #expect(try await f.names() == ["old", "gone"])
      #expect(try await f.collect()?.mutations.count == 2)
      let ids = try await f.store.closeWrites(held.map(\.handle), isAtomic: true, owner: f.owner)
      #expect(ids == held.flatMap(\.rows) && ids.count == 3)
      try await f.crash()
      #expect(try await f.names() == ["old", "new"])
      #expect(try await f.names(Selection("date = 7")) == ["old"])
      #expect(try await f.photo(ids[0]) == photo)
    }
  }

  @Test("a crash before that, or an app that dies, leaves nothing of what was held", arguments: [true, false])
  func forgotten(crashes: Bool) async throws {
    try await StoreFixture.with { f in
      try await f.write("old")
      _ = try await hold(f, "new", photo: StoreFixture.noise(300_000))
      _ = try await holdUpdate(f, "old", date: 7)
      _ = try await holdDeletion(f, "old")
      if crashes { try await f.crash() } else { await f.store.release(owner: f.owner) }
      #expect(try await f.names() == ["old"])
      #expect(try await f.names(Selection("date = 7")) == [])
    }
  }

  @Test("one that cannot be carried out keeps all of them from it, and they are still open")
  func allOrNone() async throws {
    try await StoreFixture.with { f in
      let schema = try SchemaText(parsing: "name VARCHAR PRIMARY KEY, date INTEGER")
      let table = TableID(app: StoreFixture.app, name: "keys")
      try await f.store.createTable(table, schema: schema, localOnly: false)
      var held: [UInt64] = []
      for name in ["a", "b", "c"] {
        held.append(
          try await f.store.openWrite(
            table, cells: [CellValue("name", .text(name))], objects: [], owner: f.owner, isHeld: true
          ).handle)
      }
      try await f.write("c", in: table)
      let error = try await refusal { try await f.store.closeWrites(held, isAtomic: true, owner: f.owner) }
      #expect(error.code == .objectExists)
      #expect(try await f.rows(in: table).count == 1)
      try await f.store.closeWrites(Array(held.prefix(2)), isAtomic: true, owner: f.owner)
      try await f.store.abandonWrites([held[2]], owner: f.owner)
      #expect(try await f.rows(in: table).count == 3)
      #expect(try await refusal { try await f.store.closeWrites(held, owner: f.owner) }.code == .invalidData)
    }
  }

  @Test("what was selected and is gone is not what is made in its place, under its key, by the same batch")
  func sameKey() async throws {
    try await StoreFixture.with { f in
      let table = TableID(app: StoreFixture.app, name: "keys")
      let schema = try SchemaText(parsing: "name VARCHAR PRIMARY KEY, date INTEGER")
      try await f.store.createTable(table, schema: schema, localOnly: false)
      try await f.write("a", in: table)
      let made = try await f.store.openWrite(
        table, cells: [CellValue("name", .text("a"))], objects: [], owner: f.owner, isHeld: true)
      let changed = try await f.store.openWrite(
        table, cells: [CellValue("date", .integer(7))], objects: [], selection: Selection("name = 'a'"), owner: f.owner,
        isHeld: true)
      try await f.store.delete(table, selection: nil)
      let error = try await refusal {
        try await f.store.closeWrites([made.handle, changed.handle], isAtomic: true, owner: f.owner)
      }
      #expect(error.code == .noSuchObject)
      #expect(try await f.rows(in: table).isEmpty)
      try await f.store.closeWrites([made.handle], owner: f.owner)
      #expect(try await f.rows(in: table).count == 1)
      try await f.store.abandonWrites([changed.handle], owner: f.owner)
    }
  }

  @Test("they are carried out in the order in which they are named")
  func order() async throws {
    try await StoreFixture.with { f in
      try await f.write("a")
      let first = try await holdUpdate(f, "a", date: 1)
      let second = try await holdUpdate(f, "a", date: 2)
      try await f.store.closeWrites([second.handle, first.handle], owner: f.owner)
      #expect(try await f.names(Selection("date = 1")) == ["a"])
      let (update, deletion) = (try await holdUpdate(f, "a", date: 3), try await holdDeletion(f, "a"))
      let error = try await refusal {
        try await f.store.closeWrites([deletion.handle, update.handle], owner: f.owner)
      }
      #expect(error.code == .noSuchObject)
      try await f.store.closeWrites([update.handle, deletion.handle], owner: f.owner)
      #expect(try await f.rows().isEmpty)
    }
  }

  @Test("what arrives for a row that is held waits until it is closed")
  func arrivals() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let id = try await f.synced("a", version: 1)
      let held = try await holdUpdate(f, "a", date: 7)
      try await f.apply([StoreFixture.entry(id, 2, "theirs")])
      #expect(try await f.names() == ["a"])
      try await f.store.abandonWrites([held.handle], owner: f.owner)
      #expect(try await f.names() == ["theirs"])
    }
  }

  @Test("handles of another session, of two tables, named twice or none at all are refused")
  func badHandles() async throws {
    try await StoreFixture.with { f in
      let other = TableID(app: StoreFixture.app, name: "other")
      try await f.store.createTable(other, schema: try SchemaText(parsing: "name VARCHAR"), localOnly: true)
      let a = try await hold(f, "a").handle
      let b = try await f.store.openWrite(other, cells: [], objects: [], owner: f.owner, isHeld: true).handle
      for handles in [[], [a, a], [a, b], [a, 99]] {
        #expect(try await refusal { try await f.store.closeWrites(handles, owner: f.owner) }.code == .invalidData)
      }
      #expect(try await refusal { try await f.store.closeWrites([a], owner: 2) }.code == .invalidData)
      try await f.store.closeWrites([a], owner: f.owner)
      try await f.store.closeWrites([b], isAtomic: true, owner: f.owner)
      #expect(try await f.names() == ["a"])
    }
  }

  @Test("held writes are bounded by number and by rows, and leave ordinary ones their own")
  func bounds() async throws {
    try await StoreFixture.with { f in
      for n in 0..<11 { try await f.write("n\(n)") }
      for _ in 0..<900 { _ = try await holdUpdate(f, "n0", date: 1) }
      for _ in 0..<100 {
        _ = try await f.store.openDeletion(StoreFixture.photos, selection: Selection("name < 'n2'"), owner: f.owner)
      }
      let full = try await refusal { _ = try await hold(f, "more") }
      #expect(full.code == .limitExceeded && full.message.contains("1000 writes"))
      try await f.write("x", photo: [1])
      await f.store.release(owner: f.owner)
      let all = try await f.store.openDeletion(StoreFixture.photos, selection: nil, owner: f.owner)
      #expect(all.rows.count == 12)
      for _ in 0..<832 { _ = try await f.store.openDeletion(StoreFixture.photos, selection: nil, owner: f.owner) }
      let many = try await refusal {
        _ = try await f.store.openDeletion(StoreFixture.photos, selection: nil, owner: f.owner)
      }
      #expect(many.code == .limitExceeded && many.message.contains("10008 rows"))
    }
  }

  @Test("what is held, and what it comes to, has no more bytes than the cloud commits at once")
  func bytes() async throws {
    try await StoreFixture.with { f in
      let text = String(repeating: "x", count: 900_000)
      func hold() async throws -> OpenedWrite { try await self.hold(f, text) }
      for _ in 0..<37 { _ = try await hold() }
      let full = try await refusal { _ = try await hold() }
      #expect(full.code == .limitExceeded && full.message.contains("38 rows"))
      await f.store.release(owner: f.owner)
      for n in 0..<40 { try await f.write("\(n)") }
      let held = try await f.store.openWrite(
        StoreFixture.photos, cells: [CellValue("name", .text(text))], objects: [], selection: Selection("1"),
        owner: f.owner, isHeld: true)
      let error = try await refusal { try await f.store.closeWrites([held.handle], isAtomic: true, owner: f.owner) }
      #expect(error.code == .limitExceeded && error.message.contains("40 rows"))
      try await f.store.closeWrites([held.handle], owner: f.owner)
      #expect(try await f.rows(Selection("length(name) = 900000")).count > 0)
    }
  }

  @Test("MOB-05: rows that are written together are not lost")
  func neverLost() async throws {
    try await StoreFixture.with { f in
      let registration = SyncRegistration(periodMilliseconds: 1_000, delayToleranceMilliseconds: 0, link: .wifi)
      try await f.store.register(
        StoreFixture.photos, .write, registration, loss: LossTolerance(maximumPermille: 1_000))
      let held = try await hold(f, "a")
      #expect(held.promise == .durable)
      let error = try await refusal {
        _ = try await f.store.openWrite(
          StoreFixture.photos, cells: [], objects: [], intent: WriteIntent(loss: .tolerated), owner: f.owner,
          isHeld: true)
      }
      #expect(error.code == .invalidData)
    }
  }
}
