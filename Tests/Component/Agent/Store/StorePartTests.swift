import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanTestKit
import Testing

@testable import CaravanAgentStore

/// Goal: a part of the store can be used without the store. Method: each is made over a context of its own, and asked
/// for what it alone keeps.
@Suite("Parts of the store", .timeLimit(.minutes(1)))
struct StorePartTests {
  private static func with(_ body: (StoreContext) throws -> Void) throws {
    let directory = try TemporaryDirectory()
    let context = try StoreContext(directory.path, host: StoreFixture.host(), options: LocalStoreOptions())
    defer { context.close() }
    try body(context)
  }

  private static func table(_ name: String, in catalog: TableCatalog) throws -> TableID {
    let table = TableID(app: StoreFixture.app, name: name)
    var state = TableState(
      number: Int64(catalog.tables.count) + 1, table: table, schema: try SchemaText(parsing: "name VARCHAR"),
      properties: TableProperties(replication: .full), damage: catalog.context.damage)
    try state.rows.create(catalog.database)
    try state.insert(catalog.database)
    try catalog.beginLog(of: &state)
    catalog.tables[table] = state
    return table
  }

  private static func catalog(_ context: StoreContext) -> TableCatalog {
    TableCatalog(context, batches: Batches(context), tolerances: Tolerances(context))
  }

  @Test("MOB-23: parts of a chunk are put together in their order, and one that does not follow is not kept")
  func partialChunks() throws {
    try Self.with { context in
      let (parts, hash) = (PartialChunks(context: context), ChunkHash(of: [1, 2, 3, 4]))
      try parts.keep([1, 2], of: hash, from: 0)
      try parts.keep([9], of: hash, from: 1)
      try parts.keep([3, 4], of: hash, from: 2)
      #expect(try parts.part(of: hash) == [1, 2, 3, 4])
      try parts.drop(hash)
      #expect(try parts.part(of: hash).isEmpty)
    }
  }

  @Test("MOB-16: an app is its first user's until it is forgotten")
  func bindings() throws {
    try Self.with { context in
      let (apps, app) = (AppBindings(context: context), StoreFixture.app)
      let token = try #require(try apps.authenticate(app: app, token: [], user: 7))
      #expect(try apps.authenticate(app: app, token: token, user: 7) == nil)
      #expect(throws: CaravanError.self) { _ = try apps.authenticate(app: app, token: token, user: 8) }
      try apps.forget(app)
      #expect(try apps.user(of: app) == nil)
    }
  }

  @Test("REC-23: a row that two batches have changed makes them one")
  func batches() throws {
    try Self.with { context in
      let catalog = Self.catalog(context)
      let state = try catalog.state(Self.table("photos", in: catalog))
      let rows = try ["a", "b", "c"].map { (id) throws(CaravanError) in
        var row = StoredRow(key: 0, id: id, head: RowHead(), change: context.nextChange(), extra: [], cells: [.null])
        row.key = try state.rows.insert(row, catalog.database)
        return row
      }
      try catalog.batches.join([rows[0], rows[1]], in: state)
      let first = try catalog.batches.batch(of: rows[0].key, in: state)
      #expect(try catalog.batches.batch(of: rows[2].key, in: state) == nil)
      try catalog.batches.join([rows[1], rows[2]], in: state)
      let all = Set(try rows.map { (row) throws(CaravanError) in try catalog.batches.batch(of: row.key, in: state) })
      #expect(all.count == 1 && !all.contains(first), "\(all)")
      try catalog.batches.leave(rows[0].key, in: state)
      #expect(try catalog.batches.batch(of: rows[0].key, in: state) == nil)
    }
  }

  @Test("a transaction that fails takes back what the catalog knows, a plan that nobody has taken among it")
  func catalog() throws {
    try Self.with { context in
      let catalog = Self.catalog(context)
      let table = try Self.table("photos", in: catalog)
      let plan = PushPlan(op: 1, epoch: 1, table: table, type: 1, mutations: [], isAtomic: false)
      #expect(throws: CaravanError.self) {
        try catalog.change(table) { (state) throws(CaravanError) in
          (state.untaken, state.lastSync) = (plan, 9)
          _ = context.nextChange()
          state.draft.note(.changed, "a")
          throw CaravanError(.invalidData, "no")
        }
      }
      #expect(try catalog.state(table).lastSync == 0 && context.lastChange == 0)
      #expect(catalog.takePlan(of: table) == nil)
      try catalog.change(table) { (state) throws(CaravanError) in
        state.untaken = plan
        state.draft.note(.lost, "b")
      }
      #expect(catalog.takePlan(of: table)?.op == 1)
      #expect(catalog.takePlan(of: table) == nil)
      let upcalls = try EventLogs(context: context).upcalls(of: catalog.state(table), after: 0)
      #expect(upcalls.lost.names == ["b"], "only what was committed is told")
    }
  }

  @Test("an entry waits in the inbox until the last of its chunks is here")
  func inbox() throws {
    try Self.with { context in
      let catalog = Self.catalog(context)
      let (table, inbox) = (try Self.table("photos", in: catalog), Inbox(catalog: catalog))
      let (one, two) = (LocalChunk(containing: [1]), LocalChunk(containing: [2]))
      try catalog.change(table) { (state) throws(CaravanError) in
        let entry = Entry(name: "r", version: 3, created: 0, body: [], writer: "")
        try inbox.keep(entry, role: .waiting, of: state, wanting: [one.hash, two.hash])
        #expect(try inbox.fulfil(one) == [state.number])
        #expect(try inbox.complete(.waiting, of: state).isEmpty)
        #expect(try inbox.fulfil(LocalChunk(containing: [3])).isEmpty, "nobody wants it")
        _ = try inbox.fulfil(two)
        #expect(try inbox.complete(.waiting, of: state).map(\.name) == ["r"])
        #expect(try inbox.drop(named: "r", role: .waiting, of: state))
        #expect(try inbox.count(.waiting, of: state) == 0)
      }
    }
  }
}
