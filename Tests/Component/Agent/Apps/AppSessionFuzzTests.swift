import CaravanAgentApps
import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanTestKit
import CaravanWire
import Testing

/// Requests of every kind with fields drawn from little, so that they often meet: whatever an app sends, the agent
/// answers, and its store stays sound.
@Suite("Apps that send anything", .timeLimit(.minutes(2)))
struct AppSessionFuzzTests {
  private struct Draw {
    var generator: SplitMix64

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
    mutating func of<T>(_ list: [T]) -> T { list[below(list.count)] }
    mutating func bytes() -> [UInt8] { (0..<below(40_000)).map { UInt8(truncatingIfNeeded: $0 &* 31) } }
    mutating func table() -> String { of(["t", "t", "t", "u", "", "T", "none"]) }
    mutating func column() -> String { of(["name", "date", "photo", "PHOTO", "_id", "\"", ""]) }
    mutating func offset() -> UInt64 { of([0, 1, 5_000, 300_000, 1 << 30, .max]) }
    mutating func handle() -> UInt64 { UInt64(below(40)) }

    mutating func cells() -> [Cell] {
      (0..<below(3)).map { _ in
        Cell(column: column(), value: of([nil, .text("x"), .integer(-1), .real(.infinity), .data([0])]))
      }
    }

    mutating func selection() -> CaravanWire.Selection? {
      let texts = ["", "1", "name = ?", "photo IS NULL", "date > 0 AND", "name LIKE '%x%'", "(((", "?"]
      let arguments = (0..<below(2)).map { _ in Cell(value: of([nil, .text("x"), .data([1])])) }
      return of([nil, CaravanWire.Selection(text: of(texts), arguments: arguments)])
    }

    private mutating func handles() -> [UInt64] {
      switch below(4) {
      case 0: []
      case 1: [handle(), handle()]
      default: [handle()]
      }
    }

    mutating func object() -> AppRequest.Kind {
      switch below(5) {
      case 0:
        .beginWrite(
          BeginWrite(
            table: table(), cells: cells(), objects: [column()], selection: selection(),
            contents: of([[], [ObjectContent(object: column(), data: bytes())]]), hold: below(3) == 0))
      case 1:
        .writeObject(
          WriteObject(
            write: handle(), row: UInt32(below(3)), object: column(), offset: offset(), data: bytes()))
      case 2: .truncateObject(TruncateObject(write: handle(), object: column(), size: offset()))
      case 3:
        .readObject(
          ReadObject(
            table: table(), row: "row-\(below(4))", object: column(), offset: offset(), length: of([0, 9, .max]),
            cursor: handle(), copy: of([.mine, .theirs, .ancestor])))
      default: .closeWrite(CloseWrite(writes: handles(), abandon: below(3) == 0, atomic: below(2) == 0))
      }
    }

    mutating func row() -> AppRequest.Kind {
      switch below(9) {
      case 0:
        .beginWrite(
          BeginWrite(
            table: table(), cells: of([[], cells()]), selection: selection(), hold: below(2) == 0,
            deletion: below(3) == 0))
      case 1:
        .beginRead(
          Select(
            table: table(), columns: [column()], selection: selection(), order: [OrderBy(column: column())],
            pageRows: UInt32(below(3)), hold: below(2) == 0))
      case 2: .nextPage(CursorRef(cursor: handle()))
      case 3: .closeCursor(CursorRef(cursor: handle()))
      case 4: .deleteRows(DeleteRows(table: table(), selection: selection()))
      case 5: .beginResolution(TableName(table: table()))
      case 6:
        .resolveConflict(
          ResolveConflict(
            table: table(), row: "row-\(below(4))", choice: of([.mine, .theirs, .new, .unspecified]), cells: cells(),
            fromTheirs: of([[], [column()]])))
      case 7: .endResolution(EndResolution(table: table(), abandon: below(2) == 0))
      default: .conflictedRows(ConflictedRows(table: table(), after: of(["", "row-1"])))
      }
    }

    mutating func properties() -> CaravanWire.TableProperties {
      CaravanWire.TableProperties(
        replication: of([nil, nil, Replication(sync: .full), Replication(sync: .recent, recentRows: 2)]),
        mode: of([.unspecified, .copyOnWrite, .inPlace]),
        fetch: of([[], [ObjectFetch(column: column(), policy: of([.eager, .lazy, .none]))]]))
    }

    mutating func other() -> AppRequest.Kind? {
      switch below(14) {
      case 0: nil
      case 12:
        .beginLive(
          BeginLive(
            table: table(), columns: [column()], selection: selection(), order: [OrderBy(column: column())],
            limit: UInt32(below(3)), live: UInt64(below(40))))
      case 13: .endLive(LiveRef(live: UInt64(below(40))))
      case 9: .resetDevice(Empty())
      case 10: .listen(TableName(table: table()))
      case 8: .updateTable(UpdateTable(table: table(), properties: properties()))
      case 1: .hello(AppHello(app: "x"))
      case 2: .status(Empty())
      case 3 where below(2) == 0: .taken(TakenUpcalls(table: table(), number: of([0, 1, .max])))
      case 3: .watch(Watch(table: table(), after: of([0, 1, .max]), saysTaken: below(2) == 0))
      case 4: .registerSync(RegisterSync(table: table(), read: below(2) == 0, link: of([.none, .wifi])))
      case 5: .unregisterSync(UnregisterSync(table: table(), read: below(2) == 0))
      case 6: .syncNow(SyncNow(table: table(), write: true))
      case 7:
        below(8) == 0
          ? .dropTable(DropLocalTable(table: "u", discardUnsent: below(2) == 0)) : .setLink(SetLink(link: .wired))
      default:
        .createTable(
          CreateTable(
            table: table(),
            schema: of([
              "name TEXT, date INT, photo OBJECT", "name TEXT, date INT, photo OBJECT, location FLOAT", "x", "",
            ]),
            sync: of([.full, .full, .localOnly])))
      }
    }
  }

  @Test("any sequence of requests, with a cloud answering in between", arguments: [1, 2, 3] as [UInt64])
  func anything(seed: UInt64) async throws {
    try await StoreFixture.with { f in
      let table = TableID(app: StoreFixture.app, name: "t")
      try await f.store.createTable(
        table, schema: try SchemaText(parsing: "name TEXT, date INT, photo OBJECT"), localOnly: false)
      try await f.store.agree(on: StoreFixture.type, for: table)
      var draw = Draw(generator: SplitMix64(seed: seed))
      var session = AppSession(app: StoreFixture.app, owner: 1, store: f.store, sync: ScriptedSync())
      var owner: UInt64 = 1
      var version: UInt64 = 1
      var refused = 0
      var live = try await LiveFollower(f.store, LiveRequest(table: table, order: [.init("name")]), owner: 99)
      for number in 0..<1_500 {
        let request: AppRequest.Kind? =
          switch draw.below(5) {
          case 0, 1: draw.object()
          case 2, 3: draw.row()
          default: draw.other()
          }
        if case .failure(let failure) = await session.answer(request) {
          refused += 1
          #expect(
            failure.model().code != .internalError, "\(failure.message) for \(String(describing: request).prefix(200))")
        }
        if draw.below(12) == 0 { try await cloud(f.store, table, &draw, &version) }
        if number.isMultiple(of: 3) { try await follow(&live, table) }
        guard draw.below(150) == 0 else { continue }
        await session.end()
        owner += 1
        session = AppSession(app: StoreFixture.app, owner: owner, store: f.store, sync: ScriptedSync())
      }
      await session.end()
      #expect((200..<1_400).contains(refused), "\(refused): the requests are too good or too bad to test anything")
    }
  }

  /// UNI-15: whatever happened, a live query shows what a read shows.
  private func follow(_ live: inout LiveFollower, _ table: TableID) async throws {
    try await live.poll()
    func shown(_ row: RowView) -> RowView {
      var plain = RowView(
        id: row.id, version: row.version, state: row.state, cells: row.cells.filter { $0.value != .null },
        objects: row.objects)
      plain.refused = row.refused
      return plain
    }
    let read = try await live.store.beginRead(ReadRequest(table: table), owner: live.owner)
    #expect(!read.hasMore)
    let expected = read.rows.map(shown).sorted { one, two in
      let (first, second) = (LiveFollower.name(one), LiveFollower.name(two))
      return first == second ? one.id < two.id : first < second
    }
    #expect(live.shown.map { shown($0.view) } == expected)
  }

  /// One thing a cloud may do to the table.
  private func cloud(_ store: LocalStore, _ table: TableID, _ draw: inout Draw, _ version: inout UInt64) async throws {
    version += 10
    let name = "row-\(draw.below(4))"
    let plans = try await store.plansInFlight()
    switch draw.below(6) {
    case 0: _ = try await store.collect(table, maximumRows: 3, maximumBytes: 100_000)
    case 1:
      guard let plan = plans.first else { return }
      var outcomes: [CaravanModel.Outcome] = []
      for mutation in plan.mutations {
        let server = StoreFixture.entry(mutation.name, version + 1, "server").entry
        outcomes.append(
          draw.of([.accepted(version: version), .conflict(server: nil), .conflict(server: server), .aborted]))
      }
      try await store.record(outcomes, of: plan.op)
    case 2:
      let page = draw.of([
        StoreFixture.entry(name, version, "x"),
        StoreFixture.entry(name, version, "y", photo: [1, 2, UInt8(draw.below(9))]),
        StoreFixture.tombstone(name, version),
      ])
      try await store.apply([page], to: table, token: [1], end: draw.below(2) == 0 ? .last : .more)
    case 3:
      let chunks = (0..<9).flatMap { StoreFixture.chunks([1, 2, UInt8($0)]) }
      try await store.stage(chunks, for: table)
    case 4:
      guard plans.isEmpty else { return }
      if draw.below(2) == 0 {
        try await store.reset(table)
      } else {
        do throws(CaravanError) {
          try await store.reset(table, draw.of([.keepLocal, .takeServer]), discardingUnsent: draw.below(2) == 0)
        } catch {
          // What is unsent is not discarded by a reset that does not say so.
          #expect(error.code == .invalidData)
        }
      }
    default: if let plan = plans.first { try await store.abort(plan.op) }
    }
  }
}
