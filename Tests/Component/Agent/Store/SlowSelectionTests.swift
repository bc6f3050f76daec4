import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentStore

/// Selections that take long, by a row that takes long to be compared: a long text and a pattern that nearly fits at
/// every place in it.
@Suite("Selections that take long", .timeLimit(.minutes(5)))
struct SlowSelectionTests {
  private static let other = TableID(app: ContainerID(unchecked: "meek"), name: "t")
  private static let text = String(repeating: "a", count: 900_000)
  /// About 0.3 s for every row.
  private static let slow = Selection("name LIKE ?", [.text("%" + String(repeating: "a", count: 300) + "b")])

  private static func with(
    rows: Int, isClosed: Bool = false, _ body: @Sendable (LocalStore) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { directory in
      let store = try await LocalStore.open(directory, host: Host.live(logLevel: .error))
      let schema = try SchemaText(parsing: "name TEXT, date INTEGER, photo OBJECT")
      for table in [StoreFixture.photos, other] { try await store.createTable(table, schema: schema, localOnly: true) }
      for _ in 0..<rows { try await store.write(StoreFixture.photos, cells: [CellValue("name", .text(text))]) }
      try await body(store)
      guard !isClosed else { return }
      #expect(try await store.problems() == [])
      await store.close()
    }
  }

  private static func runs(on store: LocalStore) async throws {
    try await eventually("a selection runs beside the store") { await store.runningSelections == 1 }
  }

  /// What ends first, ends first here.
  private actor Order {
    private(set) var ends: [String] = []
    func note(_ end: String) { ends.append(end) }
  }

  // Goal: no app waits for another's selection.
  // Method: one app reads, changes or deletes by a selection of about a second; another writes and reads meanwhile, and
  // is through long before.
  @Test("SIM-43: another app is served while a selection runs", arguments: ["read", "write", "delete", "open"])
  func beside(operation: String) async throws {
    try await Self.with(rows: 3) { store in
      let order = Order()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          switch operation {
          case "read":
            let request = ReadRequest(table: StoreFixture.photos, selection: Self.slow)
            #expect(try await store.beginRead(request, owner: 1).rows.isEmpty)
          case "write":
            let cells = [CellValue("date", .integer(1))]
            #expect(try await store.write(StoreFixture.photos, cells: cells, selection: Self.slow).isEmpty)
          case "delete": #expect(try await store.delete(StoreFixture.photos, selection: Self.slow) == 0)
          default:
            let opened = try await store.openWrite(
              StoreFixture.photos, cells: [], objects: ["photo"], selection: Self.slow, owner: 1)
            #expect(opened.rows.isEmpty)
            try await store.abandonWrite(opened.handle, owner: 1)
          }
          await order.note("slow")
        }
        try await Self.runs(on: store)
        for n in 0..<5 {
          try await store.write(Self.other, cells: [CellValue("name", .text("\(n)"))])
          let page = try await store.beginRead(ReadRequest(table: Self.other), owner: 2)
          #expect(page.rows.count == n + 1)
        }
        await order.note("quick")
        try await group.waitForAll()
      }
      #expect(await order.ends == ["quick", "slow"])
    }
  }

  // Goal: what an update or delete selects is what matches when it is carried out, also where rows changed while its
  // selection ran (an app reads its own writes, and no acknowledged one is passed over).
  // Method: while an update runs whose selection every row meets in the end, rows come, change so that they meet it or
  // do no more, and go.
  @Test("SIM-13: rows that change while a selection runs are looked at again")
  func touched() async throws {
    try await Self.with(rows: 2) { store in
      let table = StoreFixture.photos
      func write(_ name: String, _ date: Int64) async throws -> String {
        try await store.write(table, cells: [CellValue("name", .text(name)), CellValue("date", .integer(date))])[0]
      }
      func set(_ id: String, _ date: Int64) async throws {
        let cells = [CellValue("date", .integer(date))]
        try await store.write(table, cells: cells, selection: Selection("_id = ?", [.text(id)]))
      }
      let (stays, joins, leaves, goes) = (
        try await write("stays", 1), try await write("joins", 0), try await write("leaves", 1),
        try await write("goes", 1)
      )
      let selection = Selection("date = 1 OR " + Self.slow.text, Self.slow.arguments)
      try await withThrowingTaskGroup(of: Set<String>.self) { group in
        group.addTask {
          Set(try await store.write(table, cells: [CellValue("date", .integer(2))], selection: selection))
        }
        try await Self.runs(on: store)
        let comes = try await write("comes", 1)
        try await set(joins, 1)
        try await set(leaves, 0)
        try await store.delete(table, selection: Selection("_id = ?", [.text(goes)]))
        #expect(try await group.next() == [stays, joins, comes])
      }
      let page = try await store.beginRead(
        ReadRequest(table: table, columns: ["name"], selection: Selection("date = 2")), owner: 1)
      #expect(page.rows.map { $0.cells.first?.value } == ["stays", "joins", "comes"].map { .text($0) })
    }
  }

  // Goal: a read that turns out to be slow in its middle goes on in its snapshot, each row once.
  // Method: pages of a table whose first rows are quick to compare and whose last are not; rows are added and changed
  // after the first page.
  @Test("SIM-15: pages are of one moment, whatever thread makes them")
  func pages() async throws {
    try await withTemporaryDirectory { directory in
      let store = try await LocalStore.open(directory, host: Host.live(logLevel: .error))
      let table = StoreFixture.photos
      try await store.createTable(
        table, schema: try SchemaText(parsing: "name TEXT, date INTEGER, photo OBJECT"), localOnly: true)
      let long = String(repeating: "a", count: 300_000)
      for n in 0..<60 {
        let name = n < 20 ? "short" : long
        try await store.write(table, cells: [CellValue("name", .text(name)), CellValue("date", .integer(Int64(n)))])
      }
      let costly = (0..<40).map { _ in "length(upper(lower(upper(name)))) = 7" }.joined(separator: " OR ")
      let request = ReadRequest(
        table: table, columns: ["date"], selection: Selection("date >= 0 OR \(costly)"), pageRows: 7, isHeld: true)
      let slowRequest = ReadRequest(
        table: table, columns: ["date"], selection: Selection("NOT (\(costly))"), pageRows: 7, isHeld: true)
      for request in [request, slowRequest] {
        var page = try await store.beginRead(request, owner: 1)
        var dates = page.rows.map { $0.cells.first?.value }
        try await store.write(table, cells: [CellValue("date", .integer(1_000))], selection: Selection("date = 30"))
        while page.hasMore {
          page = try await store.nextPage(page.cursor, owner: 1)
          dates += page.rows.map { $0.cells.first?.value }
        }
        await store.closeCursor(page.cursor, owner: 1)
        #expect(dates == (0..<60).map { .integer(Int64($0)) })
        try await store.write(table, cells: [CellValue("date", .integer(30))], selection: Selection("date = 1000"))
      }
      await store.close()
    }
  }

  // Goal: a selection that takes too long, or a pattern that may, is refused with an error that says what to do.
  // Method: more rows than can be compared in the time there is; a pattern beyond the limit.
  @Test("SIM-43: LIKE and GLOB on long texts end")
  func bounded() async throws {
    try await Self.with(rows: 60) { store in
      func refusal(_ selection: Selection) async -> CaravanError? {
        do {
          _ = try await store.beginRead(ReadRequest(table: StoreFixture.photos, selection: selection), owner: 1)
          return nil
        } catch { return error }
      }
      for kind in ["LIKE", "GLOB"] {
        let (any, pattern) = (kind == "LIKE" ? "%" : "*", String(repeating: "a", count: 900))
        let slow = await refusal(Selection("name \(kind) ?", [.text(any + pattern + "b")]))
        #expect(slow?.code == .limitExceeded && slow?.message.contains("takes too long") == true)
        let long = await refusal(Selection("name \(kind) ?", [.text(any + pattern + pattern)]))
        #expect(long?.code == .invalidData && long?.message.contains("pattern") == true)
      }
    }
  }

  // Goal: a store that closes, or an app that goes, waits for no selection, and nothing of it is used afterwards.
  // Method: both while one runs that would take three times as long as there is time to end it.
  @Test("SIM-43: closing ends selections that run")
  func closing() async throws {
    try await Self.with(rows: 60, isClosed: true) { store in
      let clock = Host.live().clock
      let slow = ReadRequest(table: StoreFixture.photos, selection: Self.slow)
      for isGone in [true, false] {
        let result = try await withThrowingTaskGroup(of: ErrorCode?.self) { group in
          group.addTask {
            do throws(CaravanError) {
              _ = try await store.beginRead(slow, owner: 7)
              return nil
            } catch { return error.code }
          }
          try await Self.runs(on: store)
          let told = clock.now
          if isGone { await store.release(owner: 7) } else { await store.close() }
          defer { #expect(clock.now - told < .seconds(6)) }
          return try await group.next() ?? nil
        }
        #expect(result == .cancelled)
      }
    }
  }
}

extension LocalStore {
  fileprivate var runningSelections: Int { slow.count }
}
