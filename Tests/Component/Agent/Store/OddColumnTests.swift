import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: an app's columns may be called as the store's own are. Method: a table with all of those names goes through
/// batches, refusals, conflicts, snapshots of others' rows and reads.
@Suite struct OddColumnTests {
  private typealias F = StoreFixture
  private typealias Selection = CaravanAgentStore.Selection

  private static let table = TableID(app: F.app, name: "rows")
  /// Of the store's own tables, wherever they are joined with an app's.
  private static let names = [
    "batch", "table_id", "row", "op", "version", "id", "name", "change", "changed", "newest", "role", "lacking",
    "deleted", "body", "hash", "refs", "present", "incoming", "entry", "number", "message", "at",
  ]
  private static let type = CaravanModel.RecordType(
    id: 7, definition: 7, name: table.name,
    fields: names.enumerated().map { .init(id: UInt32($0.offset + 1), name: $0.element, kind: .integer) })

  private static func cells(_ value: Int64) -> [CellValue] { names.map { CellValue($0, .integer(value)) } }

  private static func entry(_ id: String, _ version: UInt64, _ value: Int64) -> IncomingEntry {
    let fields = RecordFields(Dictionary(uniqueKeysWithValues: type.fields.map { ($0.id, .integer(value)) }))
    let entry = Entry(name: id, version: version, created: 1, type: type.id, body: fields.body, writer: "elsewhere")
    return IncomingEntry(entry: entry)
  }

  private static func batch(_ f: F, _ values: [Int64]) async throws {
    var held: [UInt64] = []
    for value in values {
      held.append(
        try await f.store.openWrite(table, cells: cells(value), objects: [], owner: f.owner, isHeld: true).handle)
    }
    try await f.store.closeWrites(held, isAtomic: true, owner: f.owner)
  }

  private static func values(_ f: F, _ selection: Selection? = nil) async throws -> [Int64] {
    let order = names.map { ReadRequest.OrderTerm($0) }
    let request = ReadRequest(table: table, selection: selection, order: order)
    return try await f.store.beginRead(request, owner: f.owner).rows.map { row in
      guard case .integer(let value)? = row.cells.first?.value else { return -1 }
      return value
    }
  }

  @Test("SIM-02, REC-23: columns may be called as the store's own")
  func names() async throws {
    try await F.with { f in
      let columns = Self.names.map { "\($0) INTEGER" }.joined(separator: ", ")
      try await f.store.createTable(Self.table, schema: SchemaText(parsing: columns), localOnly: false)
      try await f.store.agree(on: Self.type, for: Self.table)
      func collect() async throws -> PushPlan? {
        try await f.store.collect(Self.table, maximumRows: 400, maximumBytes: 1 << 20, retriesRefused: false)
      }
      // A batch that the cloud refuses rests until a row of it is changed.
      try await Self.batch(f, [1, 2])
      let refused = try #require(try await collect())
      #expect(refused.mutations.count == 2)
      let refusal = CaravanError(.referenceViolation, "what it refers to is not there")
      try await f.store.record([.refused(refusal), .refused(refusal)], of: refused.op)
      #expect(try await collect() == nil)
      for name in Self.names {
        try await f.store.write(
          Self.table, cells: [CellValue(name, .integer(3))], selection: Selection("\(name) = ?", [.integer(1)]))
      }
      let plan = try #require(try await collect())
      #expect(plan.mutations.count == 2)
      try await f.store.record([.accepted(version: 1), .accepted(version: 2)], of: plan.op)
      // Others' rows, and a conflict.
      try await f.store.apply([Self.entry("z", 3, 9)], to: Self.table, token: [1], end: .last)
      let mine = try #require(try await f.rows(Selection("batch = ?", [.integer(2)]), in: Self.table).first?.id)
      try await f.store.write(
        Self.table, cells: [CellValue("batch", .integer(4))], selection: Selection("row = 2 AND batch = 2", []))
      try await f.store.apply([Self.entry(mine, 4, 5)], to: Self.table, token: [2], end: .last)
      #expect(try await f.store.status(of: F.app).first { $0.table == Self.table }?.conflicts == 1)
      #expect(try await Self.values(f, Selection("changed = 9 AND version = 9 AND op = 9", [])) == [9])
      #expect(try await Self.values(f) == [3, 4, 9])
      try await f.store.updateTable(Self.table, TableChange(replication: .recent(RecentWindow(rows: 1))))
      #expect(try await f.store.problems() == [])
    }
  }
}
