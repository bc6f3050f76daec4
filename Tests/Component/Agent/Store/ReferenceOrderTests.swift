import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanTestKit
import Testing

/// Goal: no row goes to the cloud before one that it refers to, in whatever order they were changed (CK-27, CK-28).
/// Method: the store itself, its plans, and what a cloud may answer.
@Suite("Rows that refer to others, on their way up", .timeLimit(.minutes(1))) struct ReferenceOrderTests {
  typealias F = StoreFixture
  typealias Kind = CaravanModel.Reference.Kind

  private static let tree = TableID(app: F.app, name: "tree")

  private static func with(_ body: (StoreFixture) async throws -> Void) async throws {
    try await F.with { f in
      let schema = try SchemaText(parsing: "name VARCHAR, parent REFERENCE, others LIST<REFERENCE>")
      try await f.store.createTable(tree, schema: schema, localOnly: false)
      let fields = schema.fields { UInt32($0) + 1 }
      try await f.store.agree(
        on: CaravanModel.RecordType(id: 7, definition: 7, name: "tree", fields: fields), for: tree)
      try await body(f)
    }
  }

  private static func write(_ f: F, _ name: String, bytes: Int = 0) async throws -> String {
    let text = name + String(repeating: ".", count: bytes)
    return try await f.store.write(tree, cells: [CellValue("name", .text(text))])[0]
  }

  private static func refer(_ f: F, _ row: String, to target: String?, _ kind: Kind = .owning) async throws {
    let value = target.map { CaravanModel.Value.reference(CaravanModel.Reference(to: $0, kind)) } ?? .null
    try await f.store.write(tree, cells: [CellValue("parent", value)], selection: try await selection(f, row))
  }

  /// Apps know their rows by what is in them.
  private static func selection(_ f: F, _ row: String) async throws -> Selection {
    let view = try #require(try await f.rows(in: tree).first { $0.id == row })
    return Selection("name = ?", [view.cells[0].value])
  }

  private static func touch(_ f: F, _ row: String) async throws {
    let selection = try await selection(f, row)
    try await f.store.write(tree, cells: [CellValue("name", selection.arguments[0])], selection: selection)
  }

  private static func delete(_ f: F, _ row: String) async throws {
    try await f.store.delete(tree, selection: try await selection(f, row))
  }

  private static func collect(_ f: F, rows: Int = 400, bytes: Int = 1 << 20, room: Int? = nil) async throws -> PushPlan?
  {
    try await f.store.collect(tree, maximumRows: rows, maximumBytes: bytes, room: room)
  }

  private static func accept(_ f: F, _ plan: PushPlan?, from version: UInt64) async throws {
    let plan = try #require(plan)
    try await f.store.record(
      plan.mutations.indices.map { .accepted(version: version + UInt64($0)) }, of: plan.op)
  }

  private static func names(_ plan: PushPlan?) -> [String] { plan?.mutations.map(\.name) ?? [] }

  @Test("CK-27: who is referred to goes first, also when it was changed last, and when a plan has room for one row")
  func order() async throws {
    for rows in [400, 1] {
      try await Self.with { f in
        let (a, b, c) = (try await Self.write(f, "a"), try await Self.write(f, "b"), try await Self.write(f, "c"))
        try await Self.refer(f, b, to: a)
        try await Self.refer(f, c, to: b, .validating)
        for row in [b, a] { try await Self.touch(f, row) }
        var sent: [String] = []
        while let plan = try await Self.collect(f, rows: rows) {
          #expect(plan.mutations.count <= rows && !plan.isAtomic)
          sent += Self.names(plan)
          try await Self.accept(f, plan, from: UInt64(sent.count))
        }
        #expect(sent == [a, b, c])
      }
    }
  }

  @Test("CK-27: plain references, and those to rows that the cloud has, change no order")
  func free() async throws {
    try await Self.with { f in
      let (a, b, c) = (try await Self.write(f, "a"), try await Self.write(f, "b"), try await Self.write(f, "c"))
      try await Self.refer(f, b, to: a, .plain)
      for row in [c, a] { try await Self.touch(f, row) }
      let plan = try await Self.collect(f)
      #expect(Self.names(plan) == [b, c, a])
      try await Self.accept(f, plan, from: 1)
      try await Self.refer(f, b, to: c)
      try await Self.touch(f, c)
      #expect(Self.names(try await Self.collect(f)) == [b, c])
    }
  }

  @Test("CK-28: a row whose target is too large for today waits for it, and so does one in a list; others go")
  func tooLarge() async throws {
    try await Self.with { f in
      let (big, b, c) = (
        try await Self.write(f, "big", bytes: 50_000), try await Self.write(f, "b"), try await Self.write(f, "c")
      )
      let list = CaravanModel.Value.list([.reference(CaravanModel.Reference(to: big, .validating))])
      try await f.store.write(Self.tree, cells: [CellValue("others", list)], selection: Selection("name = 'b'"))
      let plan = try await Self.collect(f, room: 10_000)
      #expect(Self.names(plan) == [c])
      try await Self.accept(f, plan, from: 1)
      #expect(try await Self.collect(f, room: 10_000) == nil)
      #expect(Self.names(try await Self.collect(f)) == [big, b])
    }
  }

  @Test("CK-27: a row waits as long as its target was refused, and goes right after it")
  func refusedTarget() async throws {
    try await Self.with { f in
      let a = try await Self.write(f, "a")
      let first = try #require(try await Self.collect(f))
      try await f.store.record([.refused(CaravanError(.quotaExceeded, "full"))], of: first.op)
      let b = try await Self.write(f, "b")
      try await Self.refer(f, b, to: a)
      #expect(
        try await f.store.collect(Self.tree, maximumRows: 400, maximumBytes: 1 << 20, retriesRefused: false) == nil)
      try await Self.touch(f, a)
      #expect(Self.names(try await Self.collect(f)) == [a, b])
    }
  }

  @Test("CK-27: new rows that need each other go in one commit, all or none, with what needs them after it")
  func circle() async throws {
    try await Self.with { f in
      let (a, b, c) = (try await Self.write(f, "a"), try await Self.write(f, "b"), try await Self.write(f, "c"))
      try await Self.refer(f, a, to: b, .validating)
      try await Self.refer(f, b, to: a)
      try await Self.refer(f, c, to: a)
      let plan = try #require(try await Self.collect(f))
      #expect(Set(Self.names(plan)) == [a, b] && plan.isAtomic)
      try await Self.accept(f, plan, from: 1)
      let next = try await Self.collect(f)
      #expect(Self.names(next) == [c] && next?.isAtomic == false)
    }
  }

  @Test("CK-27: a batch waits for what its rows refer to, and what refers to them waits for the batch")
  func batches() async throws {
    try await Self.with { f in
      var held: [UInt64] = []
      var rows: [String] = []
      for name in ["a", "b"] {
        let opened = try await f.store.openWrite(
          Self.tree, cells: [CellValue("name", .text(name))], objects: [], owner: f.owner, isHeld: true)
        held.append(opened.handle)
        rows += opened.rows
      }
      let before = try await Self.write(f, "before")
      let after = try await Self.write(f, "after")
      try await f.store.closeWrites(held, isAtomic: true, owner: f.owner)
      try await Self.refer(f, rows[1], to: before)
      try await Self.refer(f, after, to: rows[0])
      try await Self.touch(f, before)
      var sent: [[String]] = []
      while let plan = try await Self.collect(f) {
        sent.append(Self.names(plan).sorted())
        try await Self.accept(f, plan, from: UInt64(10 * sent.count))
      }
      #expect(sent == [[before], rows.sorted(), [after]])
    }
  }

  @Test("CK-28: of rows that are deleted together, the one that validates another goes first")
  func deletions() async throws {
    try await Self.with { f in
      let (a, b, c) = (try await Self.write(f, "a"), try await Self.write(f, "b"), try await Self.write(f, "c"))
      try await Self.refer(f, b, to: a, .validating)
      try await Self.refer(f, c, to: b, .validating)
      try await Self.accept(f, try await Self.collect(f), from: 1)
      try await f.store.delete(Self.tree, selection: nil)
      #expect(Self.names(try await Self.collect(f)) == [c, b, a])
    }
  }

  @Test("CK-28: a deletion that was refused goes again once nobody validates its row any more, and not before")
  func refusedDeletion() async throws {
    try await Self.with { f in
      let (a, b) = (try await Self.write(f, "a"), try await Self.write(f, "b"))
      try await Self.refer(f, b, to: a, .validating)
      try await Self.accept(f, try await Self.collect(f), from: 1)
      try await Self.delete(f, a)
      let first = try #require(try await Self.collect(f))
      try await f.store.record([.refused(CaravanError(.referenceViolation, "b refers to it"))], of: first.op)
      try await f.crash()
      func again() async throws -> PushPlan? {
        try await f.store.collect(Self.tree, maximumRows: 400, maximumBytes: 1 << 20, retriesRefused: false)
      }
      #expect(try await again() == nil)
      try await Self.refer(f, b, to: nil)
      let second = try #require(try await again())
      #expect(Self.names(second) == [b])
      try await Self.accept(f, second, from: 9)
      #expect(Self.names(try await again()) == [a])
    }
  }
}
