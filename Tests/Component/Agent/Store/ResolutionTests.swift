import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanTestKit
import Testing

/// Goal: what an app decided about conflicts takes effect together, or not at all. Method: three rows in conflict, two
/// of them decided; a store that dies at every change of the disk.
@Suite("The end of a conflict resolution", .timeLimit(.minutes(2)))
struct ResolutionTests {
  private static let photos = StoreFixture.photos
  private static let owner: UInt64 = 1

  /// Rows `a`, `b` and `c`, which the cloud has otherwise.
  /// - Returns: their ids.
  private static func conflicts(in store: LocalStore) async throws -> [String] {
    try await store.createTable(
      photos, schema: try SchemaText(parsing: "name VARCHAR, date INTEGER, location FLOAT, photo OBJECT"),
      localOnly: false)
    try await store.agree(on: StoreFixture.type, for: photos)
    for name in ["a", "b", "c"] { try await store.write(photos, cells: [CellValue("name", .text(name))]) }
    let plan = try #require(try await store.collect(photos, maximumRows: 10, maximumBytes: 1 << 20))
    let ids = plan.mutations.map(\.name)
    let outcomes = ids.enumerated().map { number, id in
      Outcome.conflict(server: StoreFixture.entry(id, UInt64(number) + 5, "theirs").entry)
    }
    try await store.record(outcomes, of: plan.op)
    return ids
  }

  private static func decide(_ ids: [String], in store: LocalStore) async throws {
    try await store.beginResolution(photos, owner: owner)
    try await store.resolve(photos, row: ids[0], .mine, owner: owner)
    try await store.resolve(photos, row: ids[1], .new, cells: [CellValue("name", .text("new"))], owner: owner)
  }

  private static func collected(_ store: LocalStore) async throws -> [String] {
    try await store.collect(photos, maximumRows: 10, maximumBytes: 1 << 20)?.mutations.map(\.name) ?? []
  }

  @Test("SIM-28: rows decided leave their conflict with the end, and go up then, not before; the others stay in it")
  func end() async throws {
    try await StoreFixture.with { f in
      let ids = try await Self.conflicts(in: f.store)
      for isAbandoned in [true, false] {
        try await Self.decide(ids, in: f.store)
        #expect(try await f.store.conflicts(Self.photos).map(\.mine.id) == ids.sorted())
        #expect(try await Self.collected(f.store) == [])
        try await f.store.endResolution(Self.photos, isAbandoned: isAbandoned, owner: Self.owner)
      }
      #expect(try await f.store.conflicts(Self.photos).map(\.mine.id) == [ids[2]])
      #expect(Set(try await Self.collected(f.store)) == Set(ids.prefix(2)))
      #expect(try await f.rows(CaravanAgentStore.Selection("name = 'c'")).map(\.state) == [.conflict])
    }
  }

  @Test(
    "SIM-28: wherever a crash comes, all rows decided have left their conflict, or none",
    arguments: FragileStore.Death.allCases)
  func atomic(_ death: FragileStore.Death) async throws {
    var left: [Int] = []
    while left.last != 1 {
      let f = try await FragileStore()
      let ids = try await Self.conflicts(in: f.store)
      try await Self.decide(ids, in: f.store)
      f.disk.die(afterChanges: left.count)
      _ = try? await f.store.endResolution(Self.photos, owner: Self.owner)
      try await f.die(death)
      left.append(try await f.store.conflicts(Self.photos).count)
      #expect(try await Self.collected(f.store).count == 3 - (left.last ?? 0))
      #expect(try await f.store.problems() == [])
      await f.close()
    }
    #expect(left.count > 1 && left.dropLast().allSatisfy { $0 == 3 })
  }
}
