import AgentCore
import AgentDriver
import Client
import Model
import TestKit
import Testing

/// Goal: an app can see how each of its rows stands (SIM-83). Method: a store behind its socket, what the cloud says
/// given to the store by hand.
@Suite("Standing of rows", .timeLimit(.minutes(2)))
struct RowStandingTests {
  private static let photos = StoreFixture.photos

  /// A table that was agreed on, with these rows.
  private static func with(
    _ names: [String], _ body: @Sendable (AppFixture, CaravanClient, Client.Table) async throws -> Void
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

  private static func refusals(_ table: Client.Table) async throws -> [String: String] {
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

  @Test("SIM-83: refusals outlive the agent, and the oldest beyond the limit are forgotten")
  func kept() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let limit = StoreLimits.refusedRows
      for number in 0...limit { try await f.write("\(number)") }
      let plan = try #require(try await f.store.collect(Self.photos, maximumRows: limit + 1, maximumBytes: 1 << 20))
      let no = Outcome.refused(CaravanError(.referenceViolation, "no"))
      try await f.store.record(plan.mutations.map { _ in no }, of: plan.op)
      for _ in 0...1 {
        let marks =
          try await f.rows().map(\.refused) + f.rows(AgentDriver.Selection("name = '\(limit)'")).map(\.refused)
        #expect(marks.first == "" && marks.dropFirst().allSatisfy { $0 == "no" })
        try await f.crash()
      }
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
      try await f.store.mendDamage()
      for isFirst in [true, false] {
        try await f.app { client in
          try await client.table("photos").watch()
          if !isFirst { try await f.apply([StoreFixture.entry("row-9", 9, "new")]) }
          var upcall = try await client.nextUpcall()
          if isFirst, upcall?.kind == .newData { upcall = try await client.nextUpcall() }
          #expect(upcall?.kind == (isFirst ? .rowsLost : .newData))
          #expect(upcall?.rows == (isFirst ? 2 : 1) && upcall?.lost == (isFirst ? ids : []))
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
