import CaravanAgentCore
import CaravanAgentStore
import CaravanClient
import CaravanModel
import CaravanSQLite
import CaravanTestKit
import Testing

import struct CaravanClient.Table

/// Goal: an app can see how each of its rows stands (SIM-83). Method: a store behind its socket, what the cloud says
/// given to the store by hand.
@Suite("Standing of rows", .timeLimit(.minutes(2)))
struct RowStandingTests {
  private static let photos = StoreFixture.photos

  /// A table that was agreed on, with these rows.
  private static func with(
    _ names: [String], _ body: @Sendable (AppFixture, CaravanClient, Table) async throws -> Void
  ) async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        let table = try await client.createTable("photos", AppFixture.schema)
        try await f.store.agree(on: StoreFixture.type, for: Self.photos)
        for name in names { try await table.write(["name": .text(name)]) }
        try await body(f, client, table)
      }
    }
  }

  private static func push(_ f: AppFixture, _ outcomes: [Outcome]) async throws {
    let plan = try #require(try await f.store.collect(photos, maximumRows: 10, maximumBytes: 1 << 20))
    try await f.store.record(outcomes, of: plan.op)
  }

  private static func refusals(_ table: Table) async throws -> [String: String] {
    let rows = try await table.rows(.all).all()
    let pairs = rows.filter { !$0.refused.isEmpty }.map { row -> (String, String) in
      guard case .text(let name) = row["name"] else { return ("", row.refused) }
      return (name, row.refused)
    }
    return Dictionary(pairs, uniquingKeysWith: { $1 })
  }

  @Test("SIM-83: a row that the cloud refuses says why, and no other, until it is changed or taken")
  func refused() async throws {
    try await Self.with(["a", "b", "c"]) { f, _, table in
      let no = Outcome.refused(CaravanError(.referenceViolation, "no such owner"))
      try await Self.push(f, [no, .accepted(version: 1), no])
      #expect(try await Self.refusals(table) == ["a": "no such owner", "c": "no such owner"])
      #expect(try await table.rows(.all).all().map(\.state) == [.dirty, .clean, .dirty])
      try await table.update(.init("name = 'a'"), ["date": .integer(1)])
      #expect(try await Self.refusals(table) == ["c": "no such owner"])
      try await Self.push(f, [.refused(CaravanError(.invalidData, "still not"))])
      #expect(try await Self.refusals(table) == ["a": "still not", "c": "no such owner"])
      // What was refused longest ago goes first.
      try await Self.push(f, [.accepted(version: 2), .refused(CaravanError(.invalidData, "never"))])
      #expect(try await Self.refusals(table) == ["a": "never"])
      try await Self.push(f, [.accepted(version: 3)])
      #expect(try await Self.refusals(table) == [:])
    }
  }

  @Test("SIM-83: what was changed while it was on its way is not what the cloud refused")
  func changedMeanwhile() async throws {
    try await Self.with(["a"]) { f, _, table in
      let plan = try #require(try await f.store.collect(Self.photos, maximumRows: 10, maximumBytes: 1 << 20))
      try await table.update(.all, ["date": .integer(1)])
      try await f.store.record(
        [.refused(CaravanError(.referenceViolation, "no such owner"))], of: plan.op)
      #expect(try await Self.refusals(table) == [:])
      #expect(try await table.rows(.all).all().map(\.state) == [.dirty])
    }
  }

  @Test("SIM-83, TRU-19: 5,000 refusals outlive the agent, and go with their rows")
  func kept() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let all = 5_000
      for number in 0..<all { try await f.write("\(number)") }
      try await f.refuse(rows: all)
      let everyThird = CaravanAgentStore.Selection("name LIKE '%3'")
      for isFirst in [true, false] {
        #expect(try await f.rows().allSatisfy { $0.refused == "no" })
        #expect(try await f.rows(CaravanAgentStore.Selection("name = '0'")).map(\.refused) == ["no"])
        #expect(try await f.collect(retriesRefused: false) == nil)
        if isFirst { try await f.store.delete(Self.photos, selection: everyThird) }
        try await f.crash {
          let database = try Connection(.file("\($0)/agent.db"), ConnectionOptions())
          defer { database.close() }
          let known = try database.first("SELECT count(*) FROM refusals") { row in row.integer(0) }
          #expect(known == Int64(all - all / 10))
        }
      }
      try await f.write("new")
      #expect(try f.names(of: try await f.collect(retriesRefused: false)) == ["new"], "it does not wait for the others")
    }
  }

  @Test("SIM-83, TRU-19: what was refused longest ago goes first, behind what was changed since")
  func inTurn() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      for number in 0..<9 { try await f.write("\(number)") }
      try await f.refuse(rows: 6)
      try await f.refuse(rows: 3)
      try await f.store.write(
        Self.photos, cells: [CellValue("date", .integer(1))], selection: CaravanAgentStore.Selection("name = '4'"))
      try await f.crash()
      var seen: [String] = []
      while let plan = try await f.store.collect(Self.photos, maximumRows: 2, maximumBytes: 1 << 20) {
        seen += try f.names(of: plan)
        try await f.accept(plan, from: UInt64(seen.count))
      }
      #expect(seen == ["4", "0", "1", "2", "3", "5", "6", "7", "8"])
      #expect(try await f.rows().allSatisfy { $0.refused.isEmpty && $0.state == .clean })
    }
  }

  @Test("SIM-83, REC-23: a batch that was refused rests whole, also with the next agent, until a row of it is changed")
  func refusedBatch() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      var held: [UInt64] = []
      for name in ["a", "b"] {
        held.append(
          try await f.store.openWrite(
            Self.photos, cells: [CellValue("name", .text(name))], objects: [], owner: f.owner, isHeld: true
          ).handle)
      }
      try await f.store.closeWrites(held, isAtomic: true, owner: f.owner)
      let plan = try #require(try await f.collect(retriesRefused: false))
      #expect(plan.isAtomic)
      try await f.store.record([.refused(CaravanError(.referenceViolation, "no")), .aborted], of: plan.op)
      for _ in 0...1 {
        #expect(try await f.collect(retriesRefused: false) == nil)
        try await f.crash()
      }
      try await f.write("new")
      let others = try #require(try await f.collect(retriesRefused: false))
      #expect(try f.names(of: others) == ["new"])
      try await f.accept(others, from: 1)
      let again = try #require(try await f.collect())
      #expect(try f.names(of: again) == ["a", "b"] && again.isAtomic, "with nothing else to go")
      try await f.store.record([.refused(CaravanError(.referenceViolation, "no")), .aborted], of: again.op)
      try await f.store.write(
        Self.photos, cells: [CellValue("date", .integer(1))], selection: CaravanAgentStore.Selection("name = 'b'"))
      #expect(try f.names(of: try await f.collect(retriesRefused: false)) == ["a", "b"])
    }
  }

  @Test("SIM-82, SIM-44: an app hears which rows its device has lost, also of the time it was away, once")
  func lost() async throws {
    try await Self.with([]) { f, _, table in
      let photo = StoreFixture.noise(300_000, seed: 1)
      for name in ["bad", "good"] {
        try await table.write(["name": .text(name)], objects: ["photo"]) {
          try await $0.write(photo, to: "photo", at: 0)
        }
        if name == "bad" { try await table.write(["name": .text("other")]) }
      }
      let ids = try await table.rows(.init("photo IS NOT NULL")).all().map(\.id)
      let folder = "\(f.socket.dropLast("agent.sock".count))store"
      Rot.turnBitInPlace(of: Array(photo[150_000..<150_064]), in: folder)
      for id in ids {
        _ = try? await f.store.readObject(Self.photos, row: id, object: "photo", offset: 0, length: 300_000, owner: 9)
      }
      try await f.store.repairDamage()
      for isFirst in [true, false] {
        try await f.app { client in
          try await client.table("photos").watch()
          if !isFirst { try await f.apply([StoreFixture.entry("row-9", 9, "new")]) }
          var upcall = try await client.nextUpcall()
          if isFirst, upcall?.kind == .newData { upcall = try await client.nextUpcall() }
          #expect(upcall?.kind == (isFirst ? .rowsLost : .newData))
          #expect(upcall?.rows == (isFirst ? 2 : 1) && upcall?.lost == (isFirst ? ids : []))
          // The agent answers a connection in order, so it knows by then what this one has taken.
          _ = try await client.status()
        }
      }
    }
  }

  @Test("SIM-83: rows that are damaged on the disk are named in their table's status until they are whole")
  func torn() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let photo = StoreFixture.noise(200, seed: 1)
      let torn = try await f.synced("torn", photo: photo, version: 1)
      _ = try await f.synced("sound", photo: [4, 5, 6], version: 2)
      #expect(try await f.status().tornRows == [])
      try await f.crash {
        try Rot.flags(RowFlags(objectDirty: true, openObjects: 1), ofRow: torn, in: $0)
        try Rot.turnBit(of: photo, in: $0)
      }
      #expect(try await f.status().tornRows == [torn])
      try await f.store.stage(StoreFixture.chunks(photo), for: Self.photos)
      #expect(try await f.status().tornRows == [])
    }
  }
}

extension StoreFixture {
  fileprivate func collect(retriesRefused: Bool) async throws -> PushPlan? {
    try await store.collect(Self.photos, maximumRows: 400, maximumBytes: 1 << 20, retriesRefused: retriesRefused)
  }

  /// What goes next, at most so many rows, is what the cloud does not take.
  fileprivate func refuse(rows: Int) async throws {
    let plan = try #require(try await store.collect(Self.photos, maximumRows: rows, maximumBytes: 1 << 24))
    #expect(plan.mutations.count == rows)
    let no = Outcome.refused(CaravanError(.referenceViolation, "no"))
    try await store.record(plan.mutations.map { _ in no }, of: plan.op)
  }
}
