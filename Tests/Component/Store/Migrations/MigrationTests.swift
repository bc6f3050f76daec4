import CaravanBackup
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
import Foundation
import Testing

/// Goal: a store opens what the release before it wrote, shows what that showed, and goes on. Method: real files, a
/// real dump and a real archive of that release, against what its own commands said.
@Suite(.timeLimit(.minutes(5))) struct MigrationTests {
  typealias Engine = BackupTests.Engine

  private static let journal = DatabaseID(
    container: ContainerID(unchecked: "journal"), environment: .development, owner: UserID(unchecked: "ada"))
  private static func photos(of user: String) throws -> ZoneID {
    try ZoneID(DatabaseID(container: ContainerID("album"), environment: .development, owner: UserID(user)), "photos")
  }

  /// Every record that `caravan query` showed, with its version and its first text.
  private static func shown(_ engine: Engine) throws -> [(zone: ZoneID, name: String, version: Seq, text: String)] {
    let query = try Fixture.expectation(engine == .sqlite ? "store" : "postgres")["query"] as? [String: Any] ?? [:]
    var all: [(ZoneID, String, Seq, String)] = []
    func take(_ rows: Any?, in container: String, of owner: String?) throws {
      for row in rows as? [[String: Any]] ?? [] {
        let (name, zone) = (row["record"] as? String ?? "", row["zone"] as? String ?? "")
        let user = owner.map { UserID(unchecked: $0) }
        let database = DatabaseID(container: try ContainerID(container), environment: .development, owner: user)
        // The default zone of a public database has 16 shards.
        let home = owner == nil ? database.shard(DefaultZone.shard(of: name, among: 16)) : database
        let texts = (row["fields"] as? [String: Any] ?? [:]).values.compactMap { $0 as? String }
        all.append((try ZoneID(home, zone), name, (row["version"] as? NSNumber)?.uint64Value ?? 0, texts.first ?? ""))
      }
    }
    for user in ["ada", "bob"] {
      let part = query[user] as? [String: Any] ?? [:]
      try take(part["photos"], in: "album", of: user)
      try take(part["days"], in: "journal", of: user)
      try take(part["trips"], in: "journal", of: user)
      try take(part["items"], in: "news", of: user)
    }
    try take(query["public"], in: "album", of: nil)
    return all
  }

  @Test("TRU-18: a store of layout 4 shows what its release showed", arguments: Engine.allCases)
  func shows(engine: Engine) async throws {
    let shown = try Self.shown(engine)
    #expect(shown.count == 23, "the expectation is read")
    try await Fixture.with(engine) { bench, _ in
      try await bench.open()
      for record in shown {
        let entry = try #require(try await bench.store.fetch([record.name], in: record.zone).first)
        #expect(entry.version == record.version, "\(record)")
        #expect(entry.authorship == .unknown, "nothing is invented")
        #expect(String(decoding: entry.body, as: UTF8.self).contains(record.text), "\(record)")
      }
      let photos = try Self.photos(of: "ada")
      #expect(try await bench.pull(photos).count == 7)
      let chunks = try await bench.store.fetch(shown.filter { $0.text == "long" }.map(\.name), in: photos)
      let hashes = try RecordFields(body: #require(chunks.first).body).chunks
      let found = try await bench.store.chunks(hashes, in: photos.database, maxBytes: 1 << 20)
      #expect(!found.isEmpty && found.allSatisfy { $0.bytes != nil }, "objects are whole")
      let account = try await bench.store.account(.user(UserID("ada"), .development))
      #expect(account.quota == Quota(records: 5_000, bytes: 50 << 20))
      let gone = try ZoneID(
        DatabaseID(container: ContainerID("news"), environment: .development, owner: UserID("ada")), "gone")
      #expect(try await bench.store.fetch(["x"], in: gone).isEmpty)
      await bench.close()
    }
  }

  @Test("TRU-01: layout 5 names every device with its user and enrolment", arguments: Engine.allCases)
  func names(engine: Engine) async throws {
    try await Fixture.with(engine) { bench, place in
      try await bench.open()
      for (user, devices) in [("ada", ["phone", "tablet", "camera"]), ("bob", ["camera"])] {
        let writers = Set(try await bench.pull(Self.photos(of: user)).map(\.writer))
        #expect(writers == Set(devices.map { "\(user)/\($0)/1" }))
      }
      let trips = try await bench.store.fetch(["visit"], in: ZoneID(Self.journal, "trips"))
      #expect(trips.first?.writer == "ada/probe/1")
      await bench.close()
      let names = try Fixture.names(place)
      #expect(names.count > 8)
      let known = names.filter { $0.hasPrefix("@") || $0.count == 26 || (try? EnrolledDevice($0)) != nil }
      #expect(names.subtracting(known) == [], "nothing has a bare name, and no device is unknown")
      #expect(names.contains("@sync"))
      let lock = try await Self.holder(of: "lock/\(Self.journal)", at: place)
      #expect(lock == "ada/probe/1")
    }
  }

  private static func holder(of lock: String, at place: BackupTests.Place) async throws -> String {
    switch place.engine {
    case .sqlite:
      let file = Int(Partition(of: journal).number) % 2
      let db = try CaravanSQLite.Connection(.file("\(place.address)/store-\(file).db"))
      defer { db.close() }
      return try db.first("SELECT holder FROM leases WHERE name = ?", lock, read: { $0.text(0) }) ?? ""
    case .postgres:
      let db = try PostgresServer.shared.get().connect(place.address)
      defer { db.close() }
      return try db.run("SELECT holder FROM caravan_leases WHERE name = $1", lock).first?.text(0) ?? ""
    }
  }

  @Test("TRU-01: an op that the release before answered is answered the same", arguments: Engine.allCases)
  func keptOutcomes(engine: Engine) async throws {
    let expectation = try Fixture.expectation(engine == .sqlite ? "store" : "postgres")
    let kept = try #require(expectation["kept"] as? [String: [String: Any]])
    try await Fixture.with(engine) { bench, _ in
      try await bench.open()
      let zone = try ZoneID(Self.journal, "days")
      let before = try await bench.page(ChangeQuery(zone: zone)).page.head
      for (number, op) in kept {
        let mutations = (op["mutations"] as? [[String: Any]] ?? []).map { mutation in
          CaravanModel.Mutation(
            name: mutation["name"] as? String ?? "", base: .absent,
            change: .save(
              type: (mutation["type"] as? NSNumber)?.uint32Value ?? 0, body: bytes(mutation["body"] as? String ?? ""),
              chunks: []))
        }
        let reply = try CommitReply.decode(bytes(op["answer"] as? String ?? "")).model()
        let id = OpID(writer: "ada/probe/1", epoch: 77, number: try #require(UInt64(number)))
        let again = try await bench.store.commit(Commit(zone: zone, op: id, isAtomic: false, mutations: mutations))
        guard case .applied(let expected, let seq, _, _) = reply, case .applied(let outcomes, let same, _, _) = again
        else {
          throw Fixture.Failure(message: "\(again)")
        }
        #expect(outcomes.count == expected.count && same == seq)
        for (outcome, expected) in zip(outcomes, expected) {
          switch (outcome, expected) {
          case (.accepted(let a), .accepted(let b)): #expect(a == b)
          case (.conflict(let a?), .conflict(let b?)): #expect(a.version == b.version && a.body == b.body)
          default: Issue.record("\(outcome) instead of \(expected)")
          }
        }
      }
      #expect(try await bench.page(ChangeQuery(zone: zone)).page.head == before, "nothing was written")
      await bench.close()
    }
  }

  @Test("TRU-04: of a public record of layout 4 nobody knows whose it is: anyone changes it, as before")
  func publicRecords() async throws {
    for engine in Engine.allCases {
      let record = try #require(try Self.shown(engine).first { $0.zone.database.isPublic })
      try await Fixture.with(engine) { bench, _ in
        try await bench.open()
        for writer in ["anna/phone", "eve/phone"] {
          let outcomes = try await bench.outcomes(record.zone, [Sample.save(record.name)], op: bench.op(writer))
          guard case .accepted? = outcomes.first else { throw Fixture.Failure(message: "\(engine): \(outcomes)") }
        }
        let entry = try await bench.store.fetch([record.name], in: record.zone).first
        #expect(entry?.writer == "eve/phone" && entry?.authorship.creator == "")
        await bench.close()
      }
    }
  }

  @Test(
    "TRU-18: it is written to and read as ever; what was there stays of unknown time",
    arguments: Engine.allCases)
  func goesOn(engine: Engine) async throws {
    try await Fixture.with(engine) { bench, _ in
      bench.clock.advance(by: .seconds(1_000))
      try await bench.open()
      let zone = try ZoneID(Self.journal, "trips")
      let op = OpID(writer: "ada/phone/1", epoch: 5, number: 1)
      let end = try await bench.page(ChangeQuery(zone: zone)).page.head
      try await bench.commit(zone, [Sample.save("sweden"), Sample.save("abisko")], op: op)
      let now = bench.clock.wallTime.milliseconds
      let entries = try await bench.store.fetch(["sweden", "abisko", "kiruna"], in: zone)
      #expect(entries.map(\.version) == [end + 1, end + 2, 3])
      #expect(
        entries.map(\.authorship) == [
          Authorship(modified: now, created: 0, creator: ""),
          Authorship(modified: now, created: now, creator: "ada/phone/1"), .unknown,
        ])
      // The visit keeps Kiruna, so Sweden cannot go.
      let refused = try await bench.outcomes(zone, [Sample.delete("sweden")])
      guard case .refused? = refused.first else { throw Fixture.Failure(message: "\(refused)") }
      // The open group can be committed.
      let group = OpID(writer: "ada/probe/1", epoch: 77, number: 22)
      let days = try ZoneID(Self.journal, "days")
      #expect(try await bench.store.parts(of: group, in: days).count == 2)
      // A snapshot's reader goes on, also to what was superseded.
      let photos = try Self.photos(of: "ada")
      let head = try await bench.page(ChangeQuery(zone: photos)).page
      #expect(head.head == (try Self.shown(engine).filter { $0.zone == photos }.map(\.version).max()))
      var query = ChangeQuery(zone: photos, position: head.next?.moved(to: 0).aiming(at: 10), bySnapshots: true)
      query.reader = ChangeQuery.Reader(writer: "ada/probe/1", epoch: 77)
      let snapshot = try await bench.page(query)
      // The snapshot is of version 10, a deletion; at least one of its entries is superseded.
      #expect(snapshot.entries.map(\.version) == Array(3...9))
      for step in 0..<50 where try await bench.store.collect() { #expect(step < 49, "maintenance comes to an end") }
      await bench.close()
      try await bench.open()
      #expect(try await bench.store.fetch(["abisko"], in: zone).first?.authorship.creator == "ada/phone/1")
      await bench.close()
    }
  }

  @Test(
    "TRU-18: a user moves from a store of layout 4 to another store, as they are",
    arguments: [StoreKind.files, .postgres])
  func moves(kind: StoreKind) async throws {
    try await withTemporaryDirectory { path in
      try Fixture.unpack("store", into: path)
      let main = "\(path)/suite/storage"
      let body: (MoveBench) async throws -> Void = { bench in
        // Ada is in the middle of a group, and cannot be moved before that has ended.
        let bob = UserID(unchecked: "bob")
        let his = try Self.shown(.sqlite).filter { $0.zone.database.owner == bob }
        #expect(!his.isEmpty, "the expectation is read")
        let account = try await bench.routed.account(.user(bob, .development))
        let reply = try await bench.move(bob, to: MoveBench.name)
        #expect(reply.store == MoveBench.name && reply.problem.isEmpty, "\(reply)")
        for record in his {
          let entry = try #require(try await bench.routed.fetch([record.name], in: record.zone).first)
          #expect(entry.version == record.version && entry.authorship == .unknown, "\(record)")
          let hashes = try RecordFields(body: entry.body).chunks
          let chunks = try await bench.routed.chunks(hashes, in: record.zone.database, maxBytes: 1 << 20)
          #expect(chunks.allSatisfy { $0.bytes != nil }, "objects are whole")
        }
        #expect(try await bench.routed.account(.user(bob, .development)) == account)
        let photos = try Self.photos(of: "bob")
        let made = try await bench.commit(photos, [Sample.save("new")], as: "bob/camera/1", 900)
        #expect(made.accepted.count == 1)
        #expect(try await bench.routed.fetch(["new"], in: photos).first?.authorship.creator == "bob/camera/1")
      }
      guard kind == .postgres else {
        return try await MoveBench.with(MoveBench(kind, in: "\(path)/there", main: main, files: 2), body)
      }
      try await PostgresServer.shared.get().withSchema { address in
        try await MoveBench.with(MoveBench(kind, in: address, main: main, files: 2), body)
      }
    }
  }

  @Test("TRU-18: an archive of the release before goes into either engine", arguments: Engine.allCases)
  func archive(engine: Engine) async throws {
    try await withTemporaryDirectory { directory in
      try Fixture.unpack("archive", into: directory)
      let file = "\(directory)/archive"
      #expect(try BackupFile.read(file).records == 63)
      let host = Host.live(logLevel: .error)
      try await BackupTests.with(engine) { target in
        _ = try BackupFile.restore(file, at: WallTime(milliseconds: 1_900_000_000_000)) { () throws(CaravanError) in
          try target.sink(host)
        } checking: { () throws(CaravanError) in
          try target.source()
        }
        let bench = StoreBench(try target.plan)
        try await bench.open()
        for record in try Self.shown(.sqlite) {
          let entry = try #require(try await bench.store.fetch([record.name], in: record.zone).first)
          #expect(entry.version == record.version && entry.authorship == .unknown, "\(record)")
        }
        let writers = Set(try await bench.pull(Self.photos(of: "bob")).map(\.writer))
        #expect(writers == ["bob/camera/1"])
        let days = try ZoneID(Self.journal, "days")
        let op = OpID(writer: "ada/probe/1", epoch: 77, number: 11)
        let again = try await bench.store.commit(Commit(zone: days, op: op, isAtomic: false, mutations: []))
        #expect(again.accepted == [1, 2], "the outcome is known under the new name")
        await bench.close()
      }
    }
  }

  @Test(
    "TRU-18: a layout of a newer release, and one from long ago, are refused by name",
    arguments: Engine.allCases)
  func refused(engine: Engine) async throws {
    for layout in [7, 3] {
      try await Fixture.with(engine) { bench, place in
        switch engine {
        case .sqlite:
          let db = try CaravanSQLite.Connection(.file("\(place.address)/store-0.db"))
          try db.setUserVersion(layout)
          db.close()
        case .postgres:
          let db = try PostgresServer.shared.get().connect(place.address)
          try db.execute("UPDATE caravan_layout SET version = \(layout)")
          db.close()
        }
        let error = await #expect(throws: CaravanError.self) { try await bench.open() }
        #expect(error?.message.contains("layout \(layout)") ?? false, "\(error?.message ?? "")")
        #expect(error?.message.contains("6") ?? false, "\(error?.message ?? "")")
        let source = #expect(throws: CaravanError.self) { try place.source() }
        #expect(source?.message.contains("layout \(layout)") ?? false, "\(source?.message ?? "")")
      }
    }
  }

  @Test("TRU-01: users who shared a device's name and its epoch are told apart")
  func shared() async throws {
    try await Fixture.with(.sqlite) { bench, place in
      // Ada's and Bob's databases lie in two files; a second user is made in Ada's.
      let file = Int(Partition(of: Self.journal).number) % 2
      let db = try CaravanSQLite.Connection(.file("\(place.address)/store-\(file).db"))
      try db.execute(
        """
        INSERT INTO databases(partition, container, environment, owner)
          VALUES (\(file), 'journal', 'development', 'eve');
        INSERT INTO zones(database, name, seq, records, bytes, state)
          SELECT id, 'days', 1, 1, 10, 0 FROM databases WHERE owner = 'eve';
        INSERT INTO entries(key, writer, created, flags, type, name, body)
          SELECT z.id << 40 | 1, w.id, 1, 0, 1, 'hers', x'01'
          FROM zones z JOIN databases d ON d.id = z.database, writers w
          WHERE d.owner = 'eve' AND w.name = 'probe';
        INSERT INTO names(zone, name, seq, created, flags, size)
          SELECT z.id, 'hers', 1, 1, 0, 10 FROM zones z JOIN databases d ON d.id = z.database WHERE d.owner = 'eve';
        INSERT INTO ops(key, outcome) SELECT id << 40 | 99, x'00' FROM writers WHERE name = 'probe';
        """)
      let all = try db.all("SELECT name, epoch FROM writers", read: { "\($0.text(0))/\($0.unsigned(1))" })
      #expect(all.contains("probe/77"))
      db.close()
      try await bench.open()
      await bench.close()
      let after = try CaravanSQLite.Connection(.file("\(place.address)/store-\(file).db"))
      func writer(ofEntriesOf owner: String) throws -> Set<String> {
        Set(
          try after.all(
            """
            SELECT DISTINCT w.name FROM entries e JOIN writers w ON w.id = e.writer JOIN zones z ON z.id = e.key >> 40
            JOIN databases d ON d.id = z.database WHERE d.owner = ? AND d.container = 'journal'
            """, owner, read: { $0.text(0) }))
      }
      #expect(try writer(ofEntriesOf: "ada") == ["ada/probe/1"])
      #expect(try writer(ofEntriesOf: "eve") == ["eve/probe/1"])
      func ops(of writer: String) throws -> [Int64] {
        try after.all(
          """
          SELECT o.key & 1099511627775 FROM ops o JOIN writers w ON w.id = o.key >> 40 WHERE w.name = ? ORDER BY 1
          """, writer, read: { $0.integer(0) })
      }
      #expect(try ops(of: "eve/probe/1") == [99], "whose it was nobody can say, so both keep it")
      #expect(try ops(of: "ada/probe/1").suffix(2) == [34, 99])
      after.close()
    }
  }
}

private func bytes(_ hex: String) -> [UInt8] {
  stride(from: 0, to: hex.count, by: 2).compactMap { offset in
    let start = hex.index(hex.startIndex, offsetBy: offset)
    return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16)
  }
}
