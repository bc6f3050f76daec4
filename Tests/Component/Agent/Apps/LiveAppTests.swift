import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanClient

/// Goal: an app sees the answer to a query, and then every change of it, once, whoever made it. Method: clients at a
/// socket, beside what a read shows; pages and answers of the cloud are given to the store by hand.
@Suite("Live queries of apps", .timeLimit(.minutes(2))) struct LiveAppTests {
  typealias Live = LiveRows.AsyncIterator

  static let photos = TableID(app: ContainerID(unchecked: "album"), name: "photos")
  private static let byDate = [(column: "date", descending: true)]

  private static func names(_ rows: [LiveRow]) -> [String] { rows.map { $0.row["name"].textValue ?? "" } }

  /// The next difference, applied.
  @discardableResult
  static func next(_ live: inout Live, _ shown: inout [LiveRow]) async throws -> LiveDifference {
    let difference = try #require(try await live.next())
    try difference.apply(to: &shown)
    return difference
  }

  private static func with(_ body: @Sendable (AppFixture, CaravanClient, Table) async throws -> Void) async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        try await body(f, client, try await client.createTable("photos", AppFixture.schema))
      }
    }
  }

  @Test("UNI-15: the answer at once, then rows that come, change, move and go, as soon as they were written")
  func changes() async throws {
    try await Self.with { _, _, table in
      let first = try await table.write(["name": .text("a"), "date": .integer(5)])
      var shown: [LiveRow] = []
      var live = table.live(.init("date > 0"), orderBy: Self.byDate).makeAsyncIterator()
      var change = try await Self.next(&live, &shown)
      #expect(change.insertions.map(\.row.id) == [first] && change.isComplete && change.refusal == nil)
      #expect(shown.map(\.row.state) == [.dirty] && shown.allSatisfy(\.isHere))

      try await table.write(["name": .text("b"), "date": .integer(9)])
      change = try await Self.next(&live, &shown)
      #expect(change.insertions.map(\.index) == [0] && change.deletions.isEmpty && change.updates.isEmpty)
      #expect(Self.names(shown) == ["b", "a"])

      try await table.update(.init("name = 'a'"), ["name": .text("A")])
      change = try await Self.next(&live, &shown)
      #expect(change.updates.map(\.index) == [1] && change.moves.isEmpty && Self.names(shown) == ["b", "A"])

      try await table.update(.init("name = 'A'"), ["date": .integer(10)])
      change = try await Self.next(&live, &shown)
      #expect(change.moves.count == 1 && change.updates.map(\.row.id) == [first] && Self.names(shown) == ["A", "b"])

      // It leaves the selection, and comes back.
      try await table.update(.init("name = 'b'"), ["date": .integer(-1)])
      change = try await Self.next(&live, &shown)
      #expect(change.deletions.map(\.index) == [1] && Self.names(shown) == ["A"])
      try await table.update(.init("name = 'b'"), ["date": .integer(11)])
      try await Self.next(&live, &shown)
      #expect(Self.names(shown) == ["b", "A"])

      try await table.delete(.init("name = 'A'"))
      change = try await Self.next(&live, &shown)
      #expect(change.deletions.map(\.id) == [first] && Self.names(shown) == ["b"])
    }
  }

  @Test("UNI-15: what happens while nobody asks comes as one difference; rows that never belong to it wake nobody")
  func slow() async throws {
    try await Self.with { f, _, table in
      var shown: [LiveRow] = []
      var live = table.live(.init("date >= 0"), orderBy: Self.byDate).makeAsyncIterator()
      try await Self.next(&live, &shown)
      for number in 0..<300 {
        try await table.write(["name": .text("\(number)"), "date": .integer(Int64(number % 7))])
      }
      try await table.delete(.init("date < 3"))
      try await table.write(["name": .text("hidden"), "date": .integer(-1)])
      var change = try await Self.next(&live, &shown)
      let count = try await table.rows(.init("date >= 0")).all().count
      #expect(change.insertions.count == count && change.deletions.isEmpty && shown.count == count)
      // Of a row that comes and goes, and of others, nothing is told: the next that is told is the last.
      try await table.update(.init("name = 'hidden'"), ["name": .text("still")])
      let gone = try await table.write(["name": .text("gone"), "date": .integer(50)])
      try await table.delete(.init("name = 'gone'"))
      try await table.write(["name": .text("last"), "date": .integer(99)])
      change = try await Self.next(&live, &shown)
      #expect(change.insertions.count == 1 && change.updates.isEmpty && Self.names(shown)[0] == "last")
      #expect(!shown.contains { $0.id == gone })
    }
  }

  @Test("UNI-15: of many rows the first ones, in the order of a read; a row moves up where one of them goes")
  func limited() async throws {
    try await Self.with { _, _, table in
      for number in 0..<9 { try await table.write(["name": .text("\(number)"), "date": .integer(Int64(number))]) }
      var shown: [LiveRow] = []
      var live = table.live(.all, columns: ["name"], orderBy: Self.byDate, limit: 3).makeAsyncIterator()
      try await Self.next(&live, &shown)
      #expect(Self.names(shown) == ["8", "7", "6"] && shown.allSatisfy { $0.row.cells.count == 1 })
      try await table.delete(.init("name IN ('7', '8')"))
      var change = try await Self.next(&live, &shown)
      #expect(Self.names(shown) == ["6", "5", "4"] && change.deletions.count == 2 && change.insertions.count == 2)
      try await table.write(["name": .text("new"), "date": .integer(5)])
      change = try await Self.next(&live, &shown)
      #expect(change.deletions.count == 1 && change.insertions.count == 1)
      // Rows of equal rank come by their ids.
      #expect(shown[1].id < shown[2].id && Set(Self.names(shown)) == ["6", "5", "new"])
      try await table.update(.init("name = '6'"), ["date": .integer(0)])
      try await Self.next(&live, &shown)
      #expect(Set(Self.names(shown)) == ["5", "new", "4"])
    }
  }

  @Test("UNI-15: rows of the cloud, what it took, a conflict and its end show as a read would show them")
  func fromTheCloud() async throws {
    typealias F = StoreFixture
    try await Self.with { f, client, table in
      var shown: [LiveRow] = []
      var live = table.live(orderBy: [("name", false)]).makeAsyncIterator()
      try await Self.next(&live, &shown)
      try await f.store.agree(on: F.type, for: Self.photos)
      try await f.store.apply([F.entry("r1", 5, "a"), F.entry("r2", 6, "c")], to: Self.photos, token: [1], end: .last)
      try await Self.next(&live, &shown)
      #expect(Self.names(shown) == ["a", "c"] && shown.map(\.row.version) == [5, 6])

      func plan() async throws -> PushPlan {
        guard let plan = try await f.store.collect(Self.photos, maximumRows: 400, maximumBytes: 1 << 20) else {
          throw NotYet(what: "something to send")
        }
        return plan
      }
      // Taken: the row stays, and is the cloud's.
      try await table.write(["name": .text("b")])
      try await Self.next(&live, &shown)
      let first = try await plan()
      try await f.store.record([.accepted(version: 7)], of: first.op)
      var seen = try await Self.next(&live, &shown)
      while shown[1].row.state != .clean { seen = try await Self.next(&live, &shown) }
      #expect(seen.updates.map(\.index) == [1] && seen.insertions.isEmpty && shown[1].row.version == 7)

      // Refused: somebody else was first. The app's copy shows until the conflict is resolved.
      try await table.update(.init("name = 'a'"), ["name": .text("mine")])
      try await Self.next(&live, &shown)
      #expect(Self.names(shown) == ["b", "c", "mine"])
      let second = try await plan()
      try await f.store.record([.conflict(server: F.entry("r1", 8, "z").entry)], of: second.op)
      while shown[2].row.state != .conflict { try await Self.next(&live, &shown) }
      #expect(shown[2].id == "r1" && Self.names(shown) == ["b", "c", "mine"])
      try await table.withConflictResolution { session in
        for conflict in try await session.conflicts() { try await session.resolve(conflict.mine.id, .theirs) }
      }
      try await Self.next(&live, &shown)
      #expect(Self.names(shown) == ["b", "c", "z"] && shown[2].row.state == .clean && shown[2].row.version == 8)

      // Taken back as a whole.
      try await table.write(["name": .text("zz")])
      try await Self.next(&live, &shown)
      #expect(shown.count == 4)
      try await f.store.reset(Self.photos, .takeServer, discardingUnsent: true)
      try await f.store.apply([F.entry("r1", 8, "z"), F.entry("r3", 9, "y")], to: Self.photos, token: [2], end: .last)
      while Self.names(shown) != ["y", "z"] { try await Self.next(&live, &shown) }
      let read = try await table.rows(orderBy: [("name", false)]).all()
      #expect(shown == read.map { LiveRow(row: $0, isHere: true) })
    }
  }

  @Test("UNI-15: two processes of an app see each other's writes; another app sees none of them")
  func two() async throws {
    try await Self.with { f, _, table in
      try await f.app("other") { other in
        let theirs = try await other.createTable("photos", AppFixture.schema)
        var (none, shown): ([LiveRow], [LiveRow]) = ([], [])
        var apart = theirs.live().makeAsyncIterator()
        try await Self.next(&apart, &none)
        try await f.app { second in
          var live = second.table("photos").live().makeAsyncIterator()
          try await Self.next(&live, &shown)
          try await table.write(["name": .text("first")])
          try await Self.next(&live, &shown)
          #expect(Self.names(shown) == ["first"])
        }
        try await theirs.write(["name": .text("theirs")])
        let change = try await Self.next(&apart, &none)
        #expect(change.insertions.count == 1 && Self.names(none) == ["theirs"])
      }
    }
  }

  @Test("UNI-15: the sequence ends with why: no table, no such column, no selection, too many rows or queries")
  func refusals() async throws {
    try await Self.with { f, client, table in
      func refusal(_ rows: LiveRows) async throws -> ErrorCode? {
        var live = rows.makeAsyncIterator()
        let result: ErrorCode?
        do throws(CaravanError) {
          _ = try await live.next()
          return nil
        } catch { result = error.code }
        #expect(try await live.next() == nil, "it is over")
        return result
      }
      #expect(try await refusal(client.table("none").live()) == .tableNotFound)
      #expect(try await refusal(table.live(.init("nobody = 1"))) == .invalidData)
      #expect(try await refusal(table.live(.init("name = ?"))) == .invalidData)
      #expect(try await refusal(table.live(columns: ["nobody"])) == .schemaViolation)
      #expect(try await refusal(table.live(orderBy: [("photo", false)])) == .schemaViolation)
      #expect(try await refusal(table.live(limit: 0)) == .invalidData)
      #expect(try await refusal(table.live(limit: StoreLimits.liveRows + 1)) == .limitExceeded)

      var open: [Live] = []
      for _ in 0..<StoreLimits.liveQueriesPerApp {
        open.append(table.live().makeAsyncIterator())
        _ = try await open[open.count - 1].next()
      }
      #expect(try await refusal(table.live()) == .limitExceeded)
      open.removeLast()
      #expect(try await refusal(table.live()) == nil, "one was let go of")

      try await client.dropTable("photos", discardingUnsent: true)
      for index in open.indices {
        let error = await #expect(throws: CaravanError.self) { _ = try await open[index].next() }
        #expect(error?.code == .tableNotFound)
        #expect(try await open[index].next() == nil, "it is over")
      }
      // Another table of its name is another one.
      let again = try await client.createTable("photos", "title VARCHAR")
      #expect(try await refusal(again.live(.init("title = 'x'"))) == nil)
    }
  }

  @Test("UNI-15: an answer of more rows, or of larger ordering values, than one may have ends its sequence")
  func tooLarge() async throws {
    typealias F = StoreFixture
    try await Self.with { f, _, table in
      try await f.store.agree(on: F.type, for: Self.photos)
      let count = StoreLimits.liveRows
      let page = (0..<count).map { F.entry("r\($0)", UInt64($0 + 1), "\($0)") }
      try await f.store.apply(page, to: Self.photos, token: [1], end: .last)
      var shown: [LiveRow] = []
      var live = table.live(orderBy: [("name", false)]).makeAsyncIterator()
      var change = try await Self.next(&live, &shown)
      #expect(change.insertions.count == count && Set(shown.map(\.id)).count == count)
      #expect(Self.names(shown) == (0..<count).map(String.init).sorted())
      // One row of ten thousand: one row is told.
      try await table.update(.init("name = '77'"), ["date": .integer(1)])
      change = try await Self.next(&live, &shown)
      #expect(change.updates.count == 1 && change.insertions.isEmpty && change.moves.isEmpty)
      try await table.write(["name": .text("one more")])
      let error = await #expect(throws: CaravanError.self) { try await Self.next(&live, &shown) }
      #expect(error?.code == .limitExceeded)
      var first = table.live(orderBy: [("name", false)], limit: 2).makeAsyncIterator()
      #expect(try await first.next()?.insertions.count == 2)

      try await table.delete(.all)
      for _ in 0...StoreLimits.liveBytesPerApp / 900_000 {
        try await table.write(["name": .text(String(repeating: "x", count: 900_000))])
      }
      var long = table.live(orderBy: [("name", false)]).makeAsyncIterator()
      let tooLong = await #expect(throws: CaravanError.self) { _ = try await long.next() }
      #expect(tooLong?.code == .limitExceeded)
      var short = table.live(columns: ["date"], orderBy: [("date", false)]).makeAsyncIterator()
      #expect((try await short.next()?.insertions.count ?? 0) > 10)
    }
  }

  @Test("UNI-15: a task that is cancelled gets the end, and the agent forgets the query")
  func cancelled() async throws {
    try await Self.with { _, _, table in
      for _ in 0..<StoreLimits.liveQueriesPerApp * 2 {
        await withTaskGroup(of: Bool.self) { group in
          group.addTask {
            var live = table.live().makeAsyncIterator()
            _ = try? await live.next()
            return (try? await live.next()) == nil
          }
          group.cancelAll()
          #expect(await group.next() == true)
        }
      }
      var (live, shown): (Live, [LiveRow]) = (table.live().makeAsyncIterator(), [])
      let change = try await Self.next(&live, &shown)
      #expect(change.isEmpty && change.isComplete)
    }
  }

  @Test("UNI-15: without the agent the sequence throws; what a new one begins with is told from what is shown")
  func again() async throws {
    try await AppFixture.with { f in
      var shown: [LiveRow] = []
      let kept = try await f.app { client in
        let table = try await client.createTable("photos", AppFixture.schema)
        let kept = try await table.write(["name": .text("kept")])
        try await table.write(["name": .text("gone")])
        var live = table.live(orderBy: [("name", false)]).makeAsyncIterator()
        try await Self.next(&live, &shown)
        client.connection.shutDown()
        let error = await #expect(throws: CaravanError.self) { _ = try await live.next() }
        #expect(error?.code == .networkNotConnected)
        return kept
      }
      try await f.app { client in
        let table = client.table("photos")
        try await table.delete(.init("name = 'gone'"))
        try await table.write(["name": .text("new")])
        var live = table.live(orderBy: [("name", false)], after: shown).makeAsyncIterator()
        let change = try await Self.next(&live, &shown)
        #expect(change.deletions.count == 1 && change.insertions.count == 1 && change.updates.isEmpty)
        #expect(shown.map(\.id).contains(kept) && Self.names(shown) == ["kept", "new"])
        try await table.write(["name": .text("next")])
        try await Self.next(&live, &shown)
        #expect(Self.names(shown) == ["kept", "new", "next"])
      }
    }
  }

  @Test("UNI-15: selections that take long, and words of the query language, are live as well")
  func selections() async throws {
    try await Self.with { _, client, _ in
      let trees = try await client.createTable("trees", "name VARCHAR, tags LIST<VARCHAR>, parent REFERENCE")
      var (liked, words): ([LiveRow], [LiveRow]) = ([], [])
      var like = trees.live(.init("name LIKE ?", [.text("%oak%")])).makeAsyncIterator()
      var match = trees.live(.init("name MATCH 'oak' AND tags CONTAINS 'tall'"), orderBy: [("parent", true)])
        .makeAsyncIterator()
      try await Self.next(&like, &liked)
      try await Self.next(&match, &words)
      let oak = try await trees.write(["name": .text("an oak"), "tags": .list([.text("tall")])])
      try await trees.write([
        "name": .text("oak two"), "tags": .list([.text("tall")]), "parent": .reference(Reference(to: oak)),
      ])
      try await trees.write(["name": .text("fir")])
      while liked.count < 2 { try await Self.next(&like, &liked) }
      while words.count < 2 { try await Self.next(&match, &words) }
      #expect(Self.names(words) == ["oak two", "an oak"])
      // A column more is a row's as soon as the table has it.
      try await client.createTable("trees", "name VARCHAR, tags LIST<VARCHAR>, parent REFERENCE, year INTEGER")
      try await trees.update(.init("name = 'an oak'"), ["year": .integer(1900)])
      try await Self.next(&like, &liked)
      #expect(liked.contains { $0.row["year"] == .integer(1900) })
    }
  }

  @Test("UNI-15: one at a time waits for a query's differences, and no number names two queries")
  func frames() async throws {
    try await AppFixture.with { f in
      try await f.app { client in try await client.createTable("photos", AppFixture.schema) }
      let peer = try await f.raw("album", isNew: false)
      func ask(_ id: UInt64, _ kind: AppRequest.Kind) async { await peer.send(AppRequest(id: id, kind: kind)) }
      func failure(_ reply: AppReply?) -> String? {
        if case .failure(let failure)? = reply?.kind { failure.code } else { nil }
      }
      await ask(2, .beginLive(BeginLive(table: "photos", live: 5)))
      #expect(try await peer.receive()?.kind == .done(Empty()))
      await ask(3, .beginLive(BeginLive(table: "photos", live: 5)))
      #expect(failure(try await peer.receive()) == ErrorCode.invalidData.rawValue)
      await ask(4, .nextLive(LiveRef(live: 6)))
      #expect(failure(try await peer.receive()) == ErrorCode.leaseExpired.rawValue)
      await ask(5, .nextLive(LiveRef(live: 5)))
      guard case .livePart(let part)? = try await peer.receive()?.kind else { throw NotYet(what: "a part") }
      #expect(part.steps.isEmpty && part.complete && !part.more)
      for id: UInt64 in 6...7 { await ask(id, .nextLive(LiveRef(live: 5))) }
      let busy = try await peer.receive()
      #expect(busy?.id == 7 && failure(busy) == ErrorCode.serverBusy.rawValue)
      await ask(8, .endLive(LiveRef(live: 5)))
      let replies = [try await peer.receive(), try await peer.receive()]
      #expect(Set(replies.map { $0?.id }) == [6, 8] && replies.contains { failure($0) != nil })
      await ask(9, .beginLive(BeginLive(table: "photos", live: 5)))
      #expect(try await peer.receive()?.kind == .done(Empty()))
    }
  }
}
