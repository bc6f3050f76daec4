import CaravanAgentApps
import CaravanAgentCore
import CaravanAgentStore
import CaravanClient
import CaravanModel
import CaravanTestKit
import CaravanWire
import Testing

import struct CaravanClient.Table
import struct CaravanClient.Upcall

/// Goal: each connection hears everything that happens to the tables it watches, once, in the order of its numbers, and
/// goes on where it was (SIM-23, SIM-24, SIM-44). Method: apps on a socket, and pages from the cloud by hand.
@Suite("Upcalls", .timeLimit(.minutes(1))) struct UpcallTests {
  typealias F = StoreFixture

  private static let photos = TableID(app: ContainerID(unchecked: "album"), name: "photos")

  private static func with(_ body: @Sendable (AppFixture) async throws -> Void) async throws {
    try await AppFixture.with { f in
      try await f.app { client in try await client.createTable("photos", AppFixture.schema) }
      try await f.store.agree(on: F.type, for: photos)
      try await body(f)
    }
  }

  private static func next(_ client: CaravanClient) async throws -> Upcall {
    guard let upcall = try await client.nextUpcall() else { throw Missing("an upcall") }
    return upcall
  }

  private static func contest(_ f: AppFixture, _ table: Table, _ id: String, _ version: UInt64)
    async throws
  {
    try await table.update(.init("_id = ?", [.text(id)]), ["date": .integer(Int64(version))])
    try await f.apply([F.entry(id, version, "theirs \(version)")])
  }

  @Test("SIM-24, TRU-16: a second conflict is told although the first was resolved meanwhile")
  func secondConflict() async throws {
    try await Self.with { f in
      try await f.apply([F.entry("row-1", 1, "a"), F.entry("row-2", 2, "b")])
      try await f.app { client in
        let table = client.table("photos")
        try await table.watch()
        #expect(try await Self.next(client).kind == .newData)
        for (id, version) in [("row-1", UInt64(3)), ("row-2", 4)] {
          try await Self.contest(f, table, id, version)
          let upcall = try await Self.next(client)
          #expect(upcall.kind == .conflict && upcall.rows == 1 && upcall.rowIDs == [id])
          try await table.withConflictResolution { try await $0.resolve(id, .theirs) }
        }
      }
    }
  }

  @Test("SIM-23, TRU-16: two connections of one app both hear everything")
  func both() async throws {
    try await Self.with { f in
      try await f.app { one in
        try await f.app { two in
          for client in [one, two] { try await client.table("photos").watch() }
          for number in UInt64(1)...20 {
            try await f.apply([F.entry("row-\(number)", number, "\(number)")])
            for client in [one, two] {
              let upcall = try await Self.next(client)
              #expect(upcall.kind == .newData && upcall.rows == 1 && upcall.rowIDs == ["row-\(number)"])
            }
          }
        }
      }
    }
  }

  @Test("SIM-44, TRU-16: an app that was away hears what happened meanwhile, once, with the rows' ids")
  func away() async throws {
    try await F.with { f in
      try await f.agree()
      func heard(_ meanwhile: () async throws -> Void = {}) async throws -> [[String]] {
        let session = AppSession(app: F.app, owner: 7, store: f.store, sync: ScriptedSync())
        #expect(await session.answer(.watch(Watch(table: "photos"))) == .done(Empty()))
        var heard = await session.takeUpcalls().map(\.rowIds)
        try await meanwhile()
        heard += await session.takeUpcalls().map(\.rowIds)
        await session.end()
        return heard
      }
      #expect(try await heard { try await f.apply([F.entry("row-1", 1, "a")]) } == [["row-1"]])
      try await f.apply([F.entry("row-2", 2, "b")])
      try await f.apply([F.entry("row-3", 3, "c")])
      try await f.crash()
      #expect(try await heard() == [["row-2", "row-3"]])
      try await f.crash()
      #expect(try await heard { try await f.apply([F.entry("row-4", 4, "d")]) } == [["row-4"]], "once")
    }
  }

  @Test("SIM-44, TRU-16: what was sent to an app that died before it took it is told to the next connection")
  func notTaken() async throws {
    try await F.with { f in
      try await f.agree()
      func session() async -> AppSession {
        let session = AppSession(app: F.app, owner: 7, store: f.store, sync: ScriptedSync())
        #expect(await session.answer(.watch(Watch(table: "photos", saysTaken: true))) == .done(Empty()))
        return session
      }
      let first = await session()
      try await f.apply([F.entry("row-1", 1, "a")])
      let sent = await first.takeUpcalls()
      #expect(sent.map(\.rowIds) == [["row-1"]])
      #expect(await first.takeUpcalls().isEmpty, "one connection hears it once")
      await first.end()
      let second = await session()
      #expect(await second.takeUpcalls().map(\.rowIds) == [["row-1"]])
      _ = await second.answer(.taken(TakenUpcalls(table: "photos", number: sent[0].number)))
      await second.end()
      #expect(await session().takeUpcalls().isEmpty)
    }
  }

  @Test("TRU-16: a connection goes on behind the number that the last one had, whatever others have heard")
  func resumed() async throws {
    try await Self.with { f in
      var number: UInt64 = 0
      try await f.app { client in
        try await client.table("photos").watch()
        try await f.apply([F.entry("row-1", 1, "a")])
        number = try await Self.next(client).number
      }
      #expect(number > 0)
      try await f.apply([F.entry("row-2", 2, "b"), F.entry("row-3", 3, "c")])
      let after = number
      for _ in 0..<2 {
        try await f.app { client in
          try await client.table("photos").watch(after: after)
          let upcall = try await Self.next(client)
          #expect(upcall.rowIDs == ["row-2", "row-3"] && upcall.number > after)
        }
      }
    }
  }

  @Test("TRU-16: who fell off the log, or asks for what a table of the same name had, is told to look anew")
  func fellOff() async throws {
    try await Self.with { f in
      var number: UInt64 = 0
      try await f.app { client in
        let table = client.table("photos")
        try await table.watch()
        try await f.apply([F.entry("row-0", 1, "a")])
        number = try await Self.next(client).number
        try await Self.contest(f, table, "row-0", 2)
      }
      for version in UInt64(3)..<UInt64(3 + 2 * StoreLimits.eventsKept) {
        try await f.apply([F.entry("row-1", version, "b")])
      }
      let after = number
      try await f.app { client in
        try await client.table("photos").watch(after: after)
        #expect(try await Self.next(client).kind == .lookAnew)
        let rest = [try await Self.next(client), try await Self.next(client)]
        #expect(rest.contains { $0.kind == .conflict && $0.rows == 1 }, "what is still so is said as well")
        try await client.dropTable("photos", discardingUnsent: true)
        try await client.createTable("photos", AppFixture.schema)
        try await client.table("photos").watch(after: rest[1].number)
        #expect(try await Self.next(client).kind == .lookAnew)
      }
    }
  }

  @Test("TRU-16: events survive a restart of the agent, with their numbers")
  func restarted() async throws {
    try await F.with { f in
      try await f.agree()
      try await f.apply([F.entry("row-1", 1, "a")])
      let first = try await f.store.takeUpcalls(F.photos)
      try await f.apply([F.entry("row-2", 2, "b")])
      try await f.crash()
      let again = try await f.store.upcalls(of: F.photos, after: first.number)
      #expect(again.changed == EventRows(count: 1, names: ["row-2"]) && !again.isCutOff)
      #expect(try await f.store.upcalls(of: F.photos, after: again.number).changed == EventRows())
      #expect(try await f.store.upcalls(of: F.photos, after: again.number + 1).isCutOff, "a number from the future")
    }
  }

  @Test("TRU-16: an app that has taken some upcalls of one number goes on before them")
  func queued() {
    var queue = UpcallQueue()
    queue.add(CaravanWire.Upcall(kind: .newData, table: "a", rows: 1, number: 10, after: 4))
    queue.add(CaravanWire.Upcall(kind: .conflict, table: "a", rows: 1, number: 10, after: 4))
    queue.add(CaravanWire.Upcall(kind: .newData, table: "b", rows: 1, number: 7, after: 2))
    #expect(queue.next()?.number == 4, "the conflict would be lost")
    queue.add(CaravanWire.Upcall(kind: .newData, table: "a", rows: 2, number: 12, after: 10))
    #expect(queue.next()?.number == 10)
    #expect(queue.next()?.number == 7)
    #expect(queue.next()?.number == 12)
  }
}
