import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentStore

/// Goal: apps see of a table that shows snapshots only what the zone once was, and at once what they change themselves.
/// Method: a store, and pages and chunks as the cloud would send them.
@Suite("Snapshot tables", .timeLimit(.minutes(2)))
struct SnapshotTableTests {
  typealias F = StoreFixture

  private static func with(_ body: (F) async throws -> Void) async throws {
    try await F.with { f in
      try await f.store.updateTable(F.photos, TableChange(consistency: .snapshot))
      try await f.agree()
      try await body(f)
    }
  }

  /// In the table's status, and of the device.
  private static func waiting(_ f: F) async throws -> [Int] {
    [try await f.status().waiting, Int(await f.store.host.metrics.gauge(.waitingRows).value)]
  }

  @Test("UNI-13: what was changed together shows together, after a crash as well, and none of it comes twice")
  func together() async throws {
    try await Self.with { f in
      try await f.apply([F.entry("r1", 1, "a"), F.entry("r2", 2, "b"), F.entry("r3", 3, "c")], point: 3)
      #expect(try await f.names() == ["a", "b", "c"])
      // A batch that comes in two pages: a row anew, one gone, one made.
      try await f.apply([F.entry("r1", 4, "A")], token: [2], end: .more)
      #expect(try await f.names() == ["a", "b", "c"])
      #expect(try await Self.waiting(f) == [1, 1])
      try await f.crash()
      #expect(try await Self.waiting(f) == [1, 1])
      let state = try await f.store.syncState(of: F.photos)
      #expect(state.token == [2] && state.keepsEntries && state.showsSnapshots)
      #expect(try await f.names() == ["a", "b", "c"])
      let held = try await f.store.beginRead(ReadRequest(table: F.photos, pageRows: 1, isHeld: true), owner: f.owner)
      let summary = try await f.apply([F.tombstone("r2", 5), F.entry("r4", 6, "D")], token: [3], point: 6)
      #expect(summary.applied == 2 && summary.removed == 1)
      #expect(try await f.names() == ["A", "c", "D"])
      let rest = try await f.store.nextPage(held.cursor, owner: f.owner)
      #expect(rest.rows.count == 1, "a read that has begun goes on with what it saw")
      await f.store.closeCursor(held.cursor, owner: f.owner)
      #expect(try await f.store.syncState(of: F.photos).keepsEntries == false)
      #expect(try await Self.waiting(f) == [0, 0])
      try await f.apply([F.entry("r1", 7, "a")], token: [4], end: .more)
      try await f.store.dropTable(F.photos, discardingUnsent: true)
      #expect(await f.store.host.metrics.gauge(.waitingRows).value == 0)
    }
  }

  @Test("UNI-13: the rows of a point wait for their objects, all of them, and for a page that overtakes one of them")
  func objects() async throws {
    try await Self.with { f in
      let (first, second) = (F.noise(90_000, seed: 1), F.noise(90_000, seed: 2))
      try await f.apply([F.entry("r1", 1, "a", photo: first), F.entry("r2", 2, "b")], point: 2)
      #expect(try await f.names().isEmpty)
      try await f.crash()
      #expect(try await f.store.missingChunks(of: F.photos, limit: 9).map(\.hash) == F.chunks(first).map(\.hash))
      try await f.store.stage(F.chunks(first), for: F.photos)
      #expect(try await f.names() == ["a", "b"])
      // The next point lacks an object when one of its rows is overtaken: it will never be seen.
      let next = [F.entry("r1", 3, "A", photo: second), F.entry("r2", 4, "B")]
      try await f.apply(next, token: [2], end: .more, point: 4)
      try await f.apply([F.entry("r2", 5, "BB")], token: [3], end: .more)
      try await f.store.stage(F.chunks(second), for: F.photos)
      #expect(try await f.names() == ["a", "b"])
      try await f.apply([F.entry("r3", 6, "C")], token: [4], point: 6)
      #expect(try await f.names() == ["A", "BB", "C"])
      #expect(try await f.photo("r1") == second)
    }
  }

  @Test("UNI-13, CK-51: what the device changes shows at once, stays, and goes up; a conflict shows with its point")
  func ownWrites() async throws {
    try await Self.with { f in
      try await f.apply([F.entry("r1", 1, "a"), F.entry("r2", 2, "b"), F.entry("r3", 3, "c")], point: 3)
      func rename(_ old: String, _ new: String) async throws {
        try await f.store.write(
          F.photos, cells: [CellValue("name", .text(new))], selection: Selection("name = ?", [.text(old)]))
      }
      try await f.apply([F.entry("r1", 4, "A"), F.entry("r2", 5, "B")], token: [2], end: .more)
      try await rename("a", "mine")
      #expect(try await f.names() == ["mine", "b", "c"])
      try await f.apply([F.entry("r3", 6, "C")], token: [3], point: 6)
      #expect(try await f.names() == ["mine", "B", "C"])
      #expect(try await f.rows().map(\.state) == [.conflict, .clean, .clean])
      // In flight while the point comes: the others do not wait for the answer.
      try await rename("B", "mine too")
      let plan = try #require(try await f.collect())
      try await f.apply([F.entry("r2", 7, "BB"), F.entry("r3", 8, "CC")], token: [4], point: 8)
      #expect(try await f.names() == ["mine", "mine too", "CC"])
      // A page that was read before the device wrote takes nothing back.
      #expect(try await Self.waiting(f) == [1, 1])
      try await f.accept(plan, from: 9)
      #expect(try await Self.waiting(f) == [0, 0])
      try await f.apply([F.entry("r3", 10, "CCC")], token: [5], end: .more, point: 10)
      #expect(try await f.names() == ["mine", "mine too", "CCC"])
      #expect(try await f.rows().map(\.state) == [.conflict, .clean, .clean])
    }
  }

  @Test("UNI-13: a row that an app has open, or conflicts that are being decided, hold the whole point up")
  func busy() async throws {
    try await Self.with { f in
      try await f.apply([F.entry("r1", 1, "a"), F.entry("r2", 2, "b")], point: 2)
      let opened = try await f.store.openWrite(
        F.photos, cells: [], objects: ["photo"], selection: Selection("name = 'a'"), owner: f.owner)
      try await f.apply([F.entry("r1", 3, "A"), F.entry("r2", 4, "B")], token: [2], point: 4)
      #expect(try await f.names() == ["a", "b"])
      try await f.store.abandonWrite(opened.handle, owner: f.owner)
      #expect(try await f.names() == ["A", "B"])
      try await f.store.beginResolution(F.photos, owner: f.owner)
      try await f.apply([F.entry("r1", 5, "AA"), F.entry("r3", 6, "C")], token: [3], point: 6)
      #expect(try await f.names() == ["A", "B"])
      try await f.store.endResolution(F.photos, owner: f.owner)
      #expect(try await f.names() == ["AA", "B", "C"])
    }
  }

  @Test("UNI-13, UNI-18: a reset takes nothing away; what is there and what is gone shows with the next point")
  func reset() async throws {
    try await Self.with { f in
      try await f.apply([F.entry("r1", 1, "a"), F.entry("r2", 2, "b"), F.entry("r3", 3, "c")], point: 3)
      try await f.store.write(F.photos, cells: [CellValue("name", .text("mine"))], selection: Selection("name = 'c'"))
      try await f.apply([F.entry("r1", 4, "A")], token: [2], end: .more)
      try await f.store.reset(F.photos)
      let photo = F.noise(90_000)
      try await f.apply([F.entry("r1", 7, "AA", photo: photo)], token: [3], end: .more)
      #expect(try await f.names() == ["a", "b", "mine"])
      // The zone goes on behind the point, and the device may never come to its end (CK-53).
      try await f.apply([F.entry("r4", 8, "D")], token: [4], end: .more, point: 8)
      #expect(try await f.names() == ["a", "b", "mine"])
      #expect(try await f.store.syncState(of: F.photos).isResyncing)
      try await f.crash()
      try await f.store.stage(F.chunks(photo), for: F.photos)
      #expect(try await f.names() == ["AA", "mine", "D"])
      #expect(try await f.rows().map(\.state) == [.clean, .conflict, .clean])
      try await f.crash()
      #expect(try await f.store.syncState(of: F.photos).isResyncing == false)
    }
  }

  @Test("UNI-13: a row that was deleted here does not come back with what was told before")
  func deleted() async throws {
    try await Self.with { f in
      try await f.apply([F.entry("r1", 1, "a"), F.entry("r2", 2, "b")], point: 2)
      _ = try await f.store.delete(F.photos, selection: Selection("name = 'a'"))
      let plan = try #require(try await f.collect())
      try await f.apply([F.entry("r1", 3, "A"), F.entry("r2", 4, "B")], token: [2], end: .more)
      try await f.accept(plan, from: 5)
      // Read before the deletion, and here after it.
      try await f.apply([F.entry("r1", 3, "A")], token: [3], end: .more)
      try await f.crash()
      try await f.apply([], token: [4], point: 5)
      #expect(try await f.names() == ["B"])
    }
  }

  @Test("UNI-13: only tables that keep all rows show snapshots; one that shows rows again shows all that waits")
  func properties() async throws {
    try await Self.with { f in
      for replication in [Replication.localOnly, .query(RowQuery("date > 3")), .recent(RecentWindow(rows: 3))] {
        await #expect {
          try await f.store.updateTable(F.photos, TableChange(replication: replication))
        } throws: { ($0 as? CaravanError)?.code == .invalidData }
      }
      try await f.crash()
      try await f.apply([F.entry("r1", 1, "a")], end: .more)
      #expect(try await f.names().isEmpty)
      try await f.store.updateTable(F.photos, TableChange(consistency: .row))
      #expect(try await f.names() == ["a"])
      try await f.apply([F.entry("r2", 2, "b")], token: [2], end: .more)
      #expect(try await f.names() == ["a", "b"])
      try await f.store.updateTable(F.photos, TableChange(replication: .recent(RecentWindow(rows: 3))))
      await #expect {
        try await f.store.updateTable(F.photos, TableChange(consistency: .snapshot))
      } throws: { ($0 as? CaravanError)?.message.contains("keeps all rows") == true }
    }
  }

  @Test("UNI-13: many rows show in one transaction, and the app hears of them once")
  func many() async throws {
    try await Self.with { f in
      let rows = 3_000
      for start in stride(from: 0, to: rows, by: 500) {
        let page = (start..<start + 500).map { F.entry("r\($0)", UInt64($0 + 1), "n\($0)") }
        try await f.apply(page, token: [UInt8(start / 500 + 1)], end: .more)
        #expect(try await f.names().isEmpty)
      }
      let summary = try await f.apply([], token: [99], point: UInt64(rows))
      #expect(summary.applied == rows)
      #expect(try await f.store.takeUpcalls(F.photos).changed.count == rows)
    }
  }

  @Test("UNI-13: an echo of the device's own waits for no point")
  func echo() async throws {
    try await Self.with { f in
      try await f.apply([F.entry("r1", 1, "a")], point: 1)
      try await f.store.write(F.photos, cells: [CellValue("name", .text("mine"))])
      let plan = try #require(try await f.collect())
      try await f.accept(plan, from: 2)
      let name = plan.mutations[0].name
      let echo = Entry(name: name, version: 2, created: 2, type: 42, body: [], writer: "me")
      try await f.apply([IncomingEntry(entry: echo, isOwn: true)], token: [2], end: .more)
      #expect(try await f.store.syncState(of: F.photos).keepsEntries == false)
      try await f.apply([], token: [3], point: 2)
      #expect(try await f.names().sorted() == ["a", "mine"])
    }
  }

  @Test("UNI-13, UNI-02: what a merge tells of a row gives way to a point that is yet to show, and to what is newer")
  func merged() async throws {
    try await Self.with { f in
      /// The cloud merges what is written here with what it has.
      func merge(_ old: String, at version: UInt64, meanwhile: () async throws -> Void = {}) async throws {
        try await f.store.write(
          F.photos, cells: [CellValue("name", .text("mine"))], selection: Selection("name = ?", [.text(old)]))
        let plan = try #require(try await f.collect())
        try await meanwhile()
        let there = F.entry("r1", version, "merged \(version)").entry
        try await f.store.record([.merged(version: version, server: there)], of: plan.op)
      }
      let photo = F.noise(90_000)
      try await f.apply([F.entry("r1", 1, "a"), F.entry("r2", 2, "b")], point: 2)
      try await f.apply([F.entry("r1", 3, "A"), F.entry("r2", 4, "B", photo: photo)], token: [2], point: 4)
      try await merge("a", at: 5)
      #expect(try await f.names() == ["mine", "b"])
      try await f.store.stage(F.chunks(photo), for: F.photos)
      #expect(try await f.names() == ["A", "B"], "the point shows whole")
      // A page that came while the push was on its way tells of something newer.
      try await merge("A", at: 7) { try await f.apply([F.entry("r1", 9, "AA")], token: [3], end: .more) }
      try await f.apply([], token: [4], point: 9)
      #expect(try await f.names() == ["AA", "B"])
      // Nothing is to be shown: the merge is what waits.
      try await f.apply([F.entry("r1", 10, "AAA")], token: [5], end: .more)
      try await merge("AA", at: 11)
      try await f.apply([], token: [6], point: 11)
      #expect(try await f.names() == ["merged 11", "B"])
    }
  }

  @Test("UNI-13, UNI-18: after a reset, what is newer than the point does not say that its row was there at it")
  func newerThanReset() async throws {
    try await Self.with { f in
      try await f.apply([F.entry("r1", 1, "a"), F.entry("r2", 2, "b")], point: 2)
      try await f.store.reset(F.photos)
      let photo = F.noise(90_000)
      try await f.apply([F.entry("r2", 7, "B", photo: photo)], token: [2], end: .more, point: 8)
      // Gone since, and made anew.
      try await f.apply([F.entry("r1", 9, "A")], token: [3], end: .more)
      #expect(try await f.names() == ["a", "b"])
      try await f.store.stage(F.chunks(photo), for: F.photos)
      #expect(try await f.names() == ["B"])
      try await f.apply([], token: [4], point: 9)
      #expect(try await f.names().sorted() == ["A", "B"])
    }
  }

  @Test("UNI-13, SIM-78: of what a salvaged store had kept aside nothing shows: there may have been more of it")
  func salvaged() async throws {
    try await Self.with { f in
      let photo = F.noise(90_000)
      let news = [F.entry("r1", 3, "A", photo: photo), F.entry("r2", 4, "B")]
      try await f.apply([F.entry("r1", 1, "a"), F.entry("r2", 2, "b")], point: 2)
      try await f.apply(news, token: [2], point: 4)
      try await f.crash { Files.write([], to: "\($0)/agent.db-damaged") }
      #expect(try await f.store.syncState(of: F.photos).mustStartOver)
      try await f.store.stage(F.chunks(photo), for: F.photos)
      #expect(try await f.names() == ["a", "b"])
      try await f.store.reset(F.photos)
      try await f.apply(news, token: [3], point: 4)
      try await f.store.stage(F.chunks(photo), for: F.photos)
      #expect(try await f.names() == ["A", "B"])
    }
  }
}
