import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanSQLite
import CaravanStorageDriver
import CaravanStore
import CaravanStorePostgres
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Testing

/// A store whose records can be damaged from outside, as a disk does it.
struct BodyDamage: Sendable {
  let bench: StoreBench
  let engine: BackupTests.Engine
  /// A directory, or PostgreSQL's address.
  let address: String

  static func with(_ engine: BackupTests.Engine, _ body: (BodyDamage) async throws -> Void) async throws {
    switch engine {
    case .sqlite:
      try await withTemporaryDirectory { path in
        let bench = StoreBench(.sqlite(ChunkDamage.options(.file, "\(path)/store")))
        try await run(BodyDamage(bench: bench, engine: engine, address: "\(path)/store"), body)
      }
    case .postgres:
      try await PostgresServer.shared.get().withSchema { address in
        var options = PostgresOptions(try ConnectionString(address))
        (options.writers, options.readers) = (2, 2)
        try await run(BodyDamage(bench: StoreBench(.postgres(options)), engine: engine, address: address), body)
      }
    }
  }

  private static func run(_ damage: BodyDamage, _ body: (BodyDamage) async throws -> Void) async throws {
    try await damage.bench.open()
    do { try await body(damage) } catch {
      await damage.bench.close()
      throw error
    }
    await damage.bench.close()
  }

  /// Changes columns of rows of one table behind the store's back.
  /// - Parameter table: as SQLite calls it.
  func change(_ table: String = "entries", _ sqlite: String, _ postgres: String, of name: String) async throws {
    switch engine {
    case .sqlite:
      let db = try CaravanSQLite.Connection(.file("\(address)/store-0.db"))
      try db.statement(text: "UPDATE \(table) SET \(sqlite) WHERE name = ?").run(name)
      #expect(db.changedRows == 1)
      db.close()
    case .postgres:
      let db = try CaravanPostgreSQL.Connection(CaravanPostgreSQL.ConnectionOptions(ConnectionString(address)))
      let table = table == "entries" ? "caravan_records" : "caravan_superseded"
      try db.execute("UPDATE \(table) SET \(postgres) WHERE name = convert_to('\(name)', 'UTF8')")
      db.close()
    }
  }

  func flip(_ name: String, in table: String = "entries") async throws {
    try await change(table, "body = x'090909'", "body = '\\x090909'", of: name)
  }

  var damaged: [String] {
    get async throws { try await bench.store.damagedBodies(.everything, atMost: 100).map(\.name) }
  }

  var damagedCount: UInt64 { get async throws { try await bench.store.status().damagedRecords } }
}

/// Goal: a flipped byte of a record is never shown to anybody as if it were whole, stops nothing else, and is known
/// (TRU-10). Method: rows are changed behind the store's back, on both engines.
@Suite(.timeLimit(.minutes(2))) struct BodyDamageTests {
  typealias Engine = BackupTests.Engine

  private static func fill(_ f: BodyDamage, _ count: Int = 5) async throws {
    for number in 1...count { try await f.bench.commit(Sample.zone(), [Sample.save("r\(number)")]) }
  }

  @Test("TRU-10: pages leave a damaged record out, name it, and go on", arguments: Engine.allCases)
  func pages(engine: Engine) async throws {
    try await BodyDamage.with(engine) { f in
      try await Self.fill(f)
      try await f.flip("r2")
      for size in [1, 2, 100] {
        for mode in [ChangeQuery.Mode.forward, .reverse] {
          var query = ChangeQuery(zone: try Sample.zone(), mode: mode, maxRecords: size)
          var (names, damaged): ([String], [DamagedVersion]) = ([], [])
          for step in 0..<20 {
            let (page, entries) = try await f.bench.page(query)
            names += entries.map(\.name)
            damaged += page.damaged
            query.position = page.next
            guard page.more else { break }
            #expect(step < 19, "the pages come to an end")
          }
          #expect(Set(names) == ["r1", "r3", "r4", "r5"] && names.count == 4)
          #expect(damaged == [DamagedVersion(name: "r2", version: 2)])
        }
      }
      #expect(try await f.damaged == ["r2"])
      #expect(try await f.damagedCount == 1)
    }
  }

  @Test(
    "TRU-10: whoever has passed a damaged record hears of it once it is saved anew", arguments: Engine.allCases)
  func passed(engine: Engine) async throws {
    try await BodyDamage.with(engine) { f in
      try await Self.fill(f)
      try await f.flip("r2")
      let (page, _) = try await f.bench.page(ChangeQuery(zone: try Sample.zone()))
      // The base is of long ago: what it was is lost, so nothing is overwritten that anybody could be shown.
      let saved = try await f.bench.commit(Sample.zone(), [Sample.save("r2", base: .version(1), body: [7])])
      #expect(saved.accepted == [6])
      let (next, entries) = try await f.bench.page(ChangeQuery(zone: try Sample.zone(), position: page.next))
      #expect(entries.map(\.name) == ["r2"] && entries.map(\.body) == [[7]] && next.damaged.isEmpty)
      #expect(try await f.damaged.isEmpty)
      #expect(try await f.damagedCount == 0)
    }
  }

  @Test("TRU-10: any column of the row that is written once counts", arguments: Engine.allCases)
  func columns(engine: Engine) async throws {
    try await BodyDamage.with(engine) { f in
      try await Self.fill(f, 7)
      let changes = [
        ("flags = flags | 1", "flags = flags | 1"), ("type = 9", "type = 9"), ("created = 1", "created = 1"),
        ("fields = x'01'", "fields = '\\x01'"), ("expires = 5000", "expires = 5000"),
      ]
      for (number, change) in zip(2..., changes) {
        try await f.change("entries", change.0, change.1, of: "r\(number)")
      }
      let (page, entries) = try await f.bench.page(ChangeQuery(zone: try Sample.zone()))
      #expect(entries.map(\.name) == ["r1", "r7"])
      #expect(page.damaged.map(\.name) == ["r2", "r3", "r4", "r5", "r6"])
    }
  }

  @Test(
    "TRU-10: what is written from before sums were kept is shown, and not checked", arguments: Engine.allCases)
  func unchecked(engine: Engine) async throws {
    try await BodyDamage.with(engine) { f in
      try await Self.fill(f)
      try await f.change("entries", "sum = NULL, body = x'09'", "sum = NULL, body = '\\x09'", of: "r2")
      #expect(
        try await f.bench.pull(Sample.zone()).map(\.body) == [[1, 2, 3], [9], [1, 2, 3], [1, 2, 3], [1, 2, 3]])
      #expect(try await f.damaged.isEmpty)
    }
  }

  @Test("TRU-10: a read by name, a conflict and a merge show nobody what is damaged", arguments: Engine.allCases)
  func commits(engine: Engine) async throws {
    try await BodyDamage.with(engine) { f in
      try await f.bench.commit(Sample.zone(), ["a", "b", "c"].map { Sample.save($0, [1: .integer(1)]) })
      for name in ["a", "b", "c"] { try await f.flip(name) }
      func code(_ mutation: CaravanModel.Mutation) async throws -> ErrorCode? {
        guard case .refused(let error)? = try await f.bench.outcomes(Sample.zone(), [mutation]).first else {
          return nil
        }
        return error.code
      }
      #expect(try await code(Sample.delete("a", base: .version(9))) == .recordDamaged)
      #expect(try await f.damaged == ["a"], "who meets it has noted it")
      #expect(try await code(Sample.read("a")) == .recordDamaged)
      let part = Sample.save("b", [2: .integer(2)], WriteTerms(scope: .changed))
      #expect(try await code(part) == .recordDamaged)
      #expect(try await f.bench.store.fetch(["b"], in: Sample.zone()).map(\.isDamaged) == [true])
      let whole = Sample.save("b", base: .version(9), [2: .integer(2)], WriteTerms(policy: .fieldMerge))
      #expect(try await f.bench.commit(Sample.zone(), [whole]).accepted == [4])
      #expect(try await f.bench.commit(Sample.zone(), [Sample.delete("c")]).accepted == [5])
      #expect(try await f.damaged == ["a"])
      #expect(
        try await f.bench.store.fetch(["b"], in: Sample.zone()).map(\.body) == [RecordFields([2: .integer(2)]).body])
    }
  }

  @Test("TRU-10: a snapshot's copy keeps its checksum", arguments: Engine.allCases)
  func snapshot(engine: Engine) async throws {
    try await BodyDamage.with(engine) { f in
      let zone = try Sample.zone()
      try await Self.fill(f)
      var query = ChangeQuery(
        zone: zone, maxRecords: 1, reader: ChangeQuery.Reader(writer: "late", epoch: 1), bySnapshots: true)
      query.position = try await f.bench.page(query).page.next
      try await f.bench.commit(zone, [Sample.save("r3", body: [8])])
      query.maxRecords = 100
      let (whole, entries) = try await f.bench.page(query)
      #expect(entries.map(\.version) == [2, 3, 4, 5] && whole.damaged.isEmpty)
      try await f.flip("r3", in: "superseded")
      let (page, rest) = try await f.bench.page(query)
      #expect(rest.map(\.version) == [2, 4, 5] && page.damaged == [DamagedVersion(name: "r3", version: 3)])
      #expect(try await f.damaged.isEmpty, "the record itself is whole")
    }
  }

  @Test("TRU-10: scrubbing finds a flipped byte in a list of chunks", arguments: Engine.allCases)
  func lists(engine: Engine) async throws {
    try await BodyDamage.with(engine) { f in
      let chunk = ChunkDamage.chunk(1)
      try await f.bench.store.stage([chunk], in: Sample.database())
      try await Self.fill(f, 2)
      let save = Sample.save("photo", chunks: [chunk.hash])
      try await f.bench.commit(Sample.zone(), [save])
      while try await !f.bench.store.scrub(bytes: 1 << 20).isRoundOver {}
      #expect(try await f.damaged.isEmpty)
      let hex = chunk.hash.description
      let flipped = (hex.hasPrefix("0") ? "1" : "0") + hex.dropFirst()
      try await f.change("entries", "chunks = x'\(flipped)'", "chunks = '\\x\(flipped)'", of: "photo")
      while try await !f.bench.store.scrub(bytes: 1 << 20).isRoundOver {}
      #expect(try await f.damaged == ["photo"])
      try await f.bench.store.stage([chunk], in: Sample.database())
      try await f.bench.commit(Sample.zone(), [save])
      while try await !f.bench.store.scrub(bytes: 1 << 20).isRoundOver {}
      #expect(try await f.damaged.isEmpty)
    }
  }

  @Test(
    "TRU-10: scrubbing finds damaged records that nobody reads, and goes on where it was after a new start",
    arguments: Engine.allCases)
  func scrub(engine: Engine) async throws {
    try await BodyDamage.with(engine) { f in
      for number in 1...6 {
        try await f.bench.commit(Sample.zone(), [Sample.save("r\(number)", body: [UInt8](repeating: 1, count: 1_000))])
      }
      for name in ["r2", "r5"] { try await f.flip(name) }
      var read = 0
      for step in 1...30 {
        let done = try await f.bench.store.scrub(bytes: 2_000)
        read += done.records
        if done.isRoundOver { break }
        #expect(step < 30, "no round ends")
        await f.bench.close()
        try await f.bench.open()
      }
      #expect(read == 6)
      #expect(try await f.damaged == ["r2", "r5"])
      try await f.bench.commit(Sample.zone(), [Sample.save("r5")])
      #expect(try await f.damaged == ["r2"])
      while try await !f.bench.store.scrub(bytes: 1 << 20).isRoundOver {}
      #expect(try await f.damaged == ["r2"])
    }
  }

  @Test("TRU-10: whose damage it is decides before the limit does", arguments: Engine.allCases)
  func owners(engine: Engine) async throws {
    try await BodyDamage.with(engine) { f in
      for user in ["ada", "bob"] {
        for number in 1...3 {
          try await f.bench.commit(Sample.zone(of: user), [Sample.save("\(user)\(number)")])
          try await f.flip("\(user)\(number)")
        }
        _ = try await f.bench.page(ChangeQuery(zone: try Sample.zone(of: user)))
      }
      for user in ["ada", "bob"] {
        let found = try await f.bench.store.damagedBodies(.owner(UserID(unchecked: user)), atMost: 2)
        #expect(found.map(\.name) == ["\(user)1", "\(user)2"])
      }
      #expect(try await f.bench.store.damagedBodies(.everything, atMost: 100).count == 6)
    }
  }

  @Test("TRU-10: a user moves with what is damaged, which stays known", arguments: StoreKind.allCases)
  func move(kind: StoreKind) async throws {
    try await withTemporaryDirectory { directory in
      let body: (MoveBench) async throws -> Void = { bench in
        let zone = try Sample.zone()
        for number in 1...3 {
          _ = try await bench.commit(zone, [Sample.save("r\(number)")], as: "phone", UInt64(number))
        }
        for name in Files.names(in: directory) where name.hasSuffix(".db") {
          let db = try CaravanSQLite.Connection(.file("\(directory)/\(name)"))
          try db.execute("UPDATE entries SET body = x'090909' WHERE name = 'r2'")
          db.close()
        }
        let reply = try await bench.move(to: MoveBench.name)
        #expect(reply.store == MoveBench.name && reply.problem.isEmpty && reply.records == 3)
        #expect(try await bench.routed.fetch(["r1", "r2", "r3"], in: zone).map(\.isDamaged) == [false, true, false])
        #expect(try await bench.routed.damagedBodies(.owner(UserID(unchecked: "ada")), atMost: 9).map(\.name) == ["r2"])
        _ = try await bench.commit(zone, [Sample.save("r2")], as: "phone", 9)
        #expect(try await bench.routed.fetch(["r2"], in: zone).map(\.body) == [[1, 2, 3]])
        #expect(try await bench.routed.damagedBodies(.everything, atMost: 9).isEmpty)
      }
      guard kind == .postgres else {
        let place = "\(directory)/there"
        return try await MoveBench.with(MoveBench(kind, in: place, main: directory), body)
      }
      try await PostgresServer.shared.get().withSchema { address in
        try await MoveBench.with(MoveBench(kind, in: address, main: directory), body)
      }
    }
  }

  @Test("TRU-10: a store of layout 5 gets the column, and its rows are unchecked", arguments: Engine.allCases)
  func migration(engine: Engine) async throws {
    try await BodyDamage.with(engine) { f in
      try await Self.fill(f)
      await f.bench.close()
      try Self.goBack(f)
      try await f.bench.open()
      #expect(try await f.bench.pull(Sample.zone()).count == 5)
      try await f.flip("r2")
      #expect(try await f.bench.pull(Sample.zone()).count == 5)
      try await f.bench.commit(Sample.zone(), [Sample.save("r3")])
      try await f.flip("r3")
      #expect(try await f.bench.page(ChangeQuery(zone: try Sample.zone())).page.damaged.map(\.name) == ["r3"])
    }
  }

  /// To the layout before sums were kept.
  private static func goBack(_ f: BodyDamage) throws {
    switch f.engine {
    case .sqlite:
      let db = try CaravanSQLite.Connection(.file("\(f.address)/store-0.db"))
      try db.execute("ALTER TABLE entries DROP COLUMN sum; ALTER TABLE superseded DROP COLUMN sum;")
      try db.setUserVersion(5)
      db.close()
    case .postgres:
      let db = try CaravanPostgreSQL.Connection(CaravanPostgreSQL.ConnectionOptions(ConnectionString(f.address)))
      for table in ["caravan_records", "caravan_superseded"] { try db.execute("ALTER TABLE \(table) DROP COLUMN sum") }
      try db.execute("UPDATE caravan_layout SET version = 5")
      db.close()
    }
  }
}
