import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanTestKit
import Testing

/// Goal: a zone that the cloud says does not exist takes its rows out of sight at once, and what was not sent only when
/// that is certain. Method: a store with a clock that is moved by hand.
@Suite("Zones that do not exist", .timeLimit(.minutes(1))) struct AbsenceTests {
  typealias F = StoreFixture

  private static func with(_ body: (StoreFixture, ManualClock) async throws -> Void) async throws {
    let clock = ManualClock()
    try await F.with(clock: clock) { f in
      try await f.agree()
      _ = try await f.synced("sent", version: 1)
      try await f.write("unsent", photo: [1, 2, 3])
      try await body(f, clock)
    }
  }

  private static func aside(_ f: StoreFixture) async throws -> [RowView] {
    try await f.store.beginRead(ReadRequest(table: F.photos, isAside: true), owner: 1).rows
  }

  @Test(
    "TRU-14: rows are hidden at once, what was not sent is readable aside and counted, and nothing is written")
  func hidden() async throws {
    try await Self.with { f, _ in
      let snapshot = try await f.store.beginRead(ReadRequest(table: F.photos, isHeld: true), owner: 1)
      #expect(try await f.store.zoneIsGone(F.photos) == .hidden)
      #expect(try await f.rows().isEmpty)
      await #expect(throws: CaravanError.self) { try await f.store.nextPage(snapshot.cursor, owner: 1) }
      let aside = try await Self.aside(f)
      #expect(aside.map(\.cells[0].value) == [.text("unsent")])
      #expect(try await f.photo(aside[0].id) == [1, 2, 3])
      let status = try await f.status()
      #expect(status.zoneIsGone && status.aside == 1 && status.rows == 0)
      await #expect { try await f.write("more") } throws: { ($0 as? CaravanError)?.code == .zoneDoesNotExist }
      await #expect { try await f.edit("unsent", at: 0, [1]) } throws: {
        ($0 as? CaravanError)?.code == .zoneDoesNotExist
      }
      await #expect { try await f.store.delete(F.photos, selection: nil) } throws: {
        ($0 as? CaravanError)?.code == .zoneDoesNotExist
      }
      #expect(try await f.collect() == nil, "nothing goes")
      await #expect(throws: CaravanError.self) { try await f.store.dropTable(F.photos) }
    }
  }

  @Test("TRU-14: when the zone is there again, everything shows and what was not sent goes")
  func back() async throws {
    try await Self.with { f, clock in
      _ = try await f.store.takeUpcalls(F.photos)
      _ = try await f.store.zoneIsGone(F.photos)
      clock.advance(by: .seconds(590))
      #expect(try await f.store.zoneIsGone(F.photos) == .hidden)
      try await f.crash()
      #expect(try await f.rows().isEmpty, "a restart shows nothing")
      try await f.store.zoneIsThere(F.photos)
      #expect(try await f.names() == ["sent", "unsent"])
      #expect(try await Self.aside(f).isEmpty)
      #expect(try await f.status().aside == 0)
      #expect(try await f.store.takeUpcalls(F.photos).changed.count == 4, "two rows went, and came back")
      #expect(try await f.collect()?.mutations.count == 1)
      clock.advance(by: .seconds(3_600))
      try await f.store.abort(try #require(try await f.store.plansInFlight().first).op)
      #expect(try await f.store.zoneIsGone(F.photos) == .hidden, "it is counted anew")
    }
  }

  @Test("TRU-14: only a second answer ten minutes later discards, whatever the wall clock does and restarts hide")
  func discarded() async throws {
    try await Self.with { f, clock in
      #expect(try await f.store.zoneIsGone(F.photos) == .hidden)
      clock.adjustWallTime(by: .seconds(86_400 * 365))
      #expect(try await f.store.zoneIsGone(F.photos) == .hidden, "a wall clock that jumps shortens nothing")
      clock.advance(by: .seconds(400))
      #expect(try await f.store.zoneIsGone(F.photos) == .hidden)
      // What nobody was there to see counts for nothing.
      try await f.crash { _ in clock.advance(by: .seconds(86_400)) }
      #expect(try await f.store.zoneIsGone(F.photos) == .hidden)
      clock.advance(by: .seconds(199))
      #expect(try await f.store.zoneIsGone(F.photos) == .hidden)
      #expect(try await Self.aside(f).count == 1)
      let id = try await Self.aside(f)[0].id
      _ = try await f.store.takeUpcalls(F.photos)
      clock.advance(by: .seconds(1))
      #expect(try await f.store.zoneIsGone(F.photos) == .discarded)
      #expect(try await f.store.takeUpcalls(F.photos).lost == EventRows(count: 1, names: [id]), "the app is told")
      #expect(try await f.status().rows == 0)
      #expect(try await f.store.storedChunks() == 0)
      #expect(try await f.store.zoneIsGone(F.photos) == .neverThere)
      try await f.write("anew")
      #expect(try await f.names() == ["anew"])
    }
  }

  @Test("TRU-14: a table that the cloud never had anything of keeps its rows, whatever is said of its zone")
  func never() async throws {
    try await F.with { f in
      try await f.write("unsent")
      #expect(try await f.store.zoneIsGone(F.photos) == .neverThere)
      #expect(try await f.names() == ["unsent"])
    }
  }

  @Test("TRU-14: an answer while a push is on its way or a write is open discards nothing")
  func busy() async throws {
    try await Self.with { f, clock in
      let plan = try #require(try await f.collect())
      _ = try await f.store.zoneIsGone(F.photos)
      clock.advance(by: .seconds(700))
      #expect(try await f.store.zoneIsGone(F.photos) == .hidden)
      try await f.store.abort(plan.op)
      #expect(try await Self.aside(f).count == 1)
      #expect(try await f.store.zoneIsGone(F.photos) == .discarded)
    }
  }
}
