import CaravanBackup
import CaravanCrypto
import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanStore
import CaravanStorePostgres
import CaravanStoreSQLite
import CaravanTestKit
import Foundation
import Testing

/// Goal: a backup is one moment of a store, goes into either engine, and is whole or refused. Method: stores filled
/// with all that a store can hold, from each engine into each.
@Suite(.timeLimit(.minutes(2))) struct BackupTests {
  private static let chunk = ChunkBytes(hash: ChunkHash(SHA256.hash([7, 7, 7]).bytes)!, bytes: [7, 7, 7])

  /// Records, a merge, a tombstone, references, an expiry, chunks, a dead zone, ops, a quota.
  private static func fill(_ store: any Store, _ bench: StoreBench) async throws {
    let zone = try Sample.zone()
    try await store.stage([chunk], in: zone.database)
    try await bench.commit(zone, [Sample.save("a"), Sample.save("b", chunks: [chunk.hash]), Sample.save("c")])
    try await bench.commit(zone, [Sample.delete("c"), Sample.link("d", to: [Reference(to: "a", .owning)])])
    var terms = WriteTerms(policy: .fieldMerge)
    terms.expiry = .at(9_999_999_999_999)
    try await bench.commit(zone, [Sample.save("e", [1: .text("merged")], terms)])
    let dead = try Sample.zone("dead")
    try await bench.commit(dead, [Sample.save("x"), Sample.save("y")])
    _ = try await store.deleteZone(dead, writer: "phone")
    let shared = try ZoneID(DatabaseID(container: ContainerID("notes"), environment: .development, owner: nil), "open")
    try await bench.commit(shared, [Sample.save("s")])
    for number in 0..<12 { try await bench.commit(try Sample.zone(of: "bob\(number)"), [Sample.save("r")]) }
    _ = try await store.settle(OpID(writer: "phone", epoch: 3, number: 77), in: zone)
    _ = try await store.setQuota(Quota(records: 50, bytes: nil), of: .user(UserID("ada"), .development))
  }

  enum Engine: String, CaseIterable, Sendable { case sqlite, postgres }

  struct Place: Sendable {
    let engine: Engine
    let address: String

    func source() throws(CaravanError) -> any ArchiveSource {
      switch engine {
      case .sqlite: try SQLiteSnapshot(address)
      case .postgres: try PostgresSnapshot(ConnectionString(address))
      }
    }

    func sink(_ host: CaravanRuntime.Host) throws(CaravanError) -> any ArchiveSink {
      switch engine {
      case .sqlite: try SQLiteRestore(StoreOptions(.directory(address)), host: host)
      case .postgres: try PostgresRestore(ConnectionString(address), host: host)
      }
    }

    var plan: StoreBench.Plan {
      get throws {
        switch engine {
        case .sqlite: return .sqlite(StoreOptions(.directory(address)))
        case .postgres:
          var options = PostgresOptions(try ConnectionString(address))
          (options.writers, options.readers) = (2, 2)
          return .postgres(options)
        }
      }
    }

    func summary() throws -> ArchiveSummary {
      var digester = ArchiveDigester()
      try source().export { item throws(CaravanError) in try digester.add(item) }
      return digester.summary
    }
  }

  static func with(_ engine: Engine, _ body: (Place) async throws -> Void) async throws {
    switch engine {
    case .sqlite:
      try await withTemporaryDirectory { try await body(Place(engine: .sqlite, address: "\($0)/store")) }
    case .postgres:
      try await PostgresServer.shared.get().withSchema { try await body(Place(engine: .postgres, address: $0)) }
    }
  }

  @Test("a backup of either engine goes into either, and holds the same", arguments: Engine.allCases, Engine.allCases)
  func engines(from: Engine, to: Engine) async throws {
    try await Self.with(from) { origin in
      let bench = StoreBench(try origin.plan)
      try await bench.open()
      try await Self.fill(bench.store, bench)
      try await withTemporaryDirectory { directory in
        let file = "\(directory)/backup"
        let written = try BackupFile.write(origin.source(), to: file, at: bench.host.clock.wallTime)
        #expect(written.zones.count == 14 && written.records == 18 && written.chunks == 1)
        #expect(throws: CaravanError.self, "it is there already") {
          try BackupFile.write(origin.source(), to: file, at: bench.host.clock.wallTime)
        }
        try await Self.with(to) { target in
          let restored = try BackupFile.restore(file, at: bench.host.clock.wallTime) { () throws(CaravanError) in
            try target.sink(bench.host)
          } checking: { () throws(CaravanError) in
            try target.source()
          }
          #expect(restored == written)
          try await Self.checkObjects(target)
          try await Self.check(bench, target)
          #expect(throws: CaravanError.self, "a store is never restored over another") { try target.sink(bench.host) }
        }
      }
      await bench.close()
    }
  }

  /// The restored store goes on as the old one would, in another life.
  private static func check(_ old: StoreBench, _ target: Place) async throws {
    let new = StoreBench(try target.plan)
    try await new.open()
    let zone = try Sample.zone()
    let names = ["a", "b", "c", "d", "e"]
    #expect(try await new.store.fetch(names, in: zone) == old.store.fetch(names, in: zone))
    let (before, after) = (try await old.page(ChangeQuery(zone: zone)), try await new.page(ChangeQuery(zone: zone)))
    #expect(before.entries == after.entries && before.page.next?.incarnation != after.page.next?.incarnation)
    let stale = ChangeQuery(zone: zone, position: before.page.next)
    let reset = try await new.store.changes(stale)
    let reach = try ArchiveLimits.reach(
      after: 6, madeAt: old.clock.wallTime.milliseconds, at: old.clock.wallTime.milliseconds)
    let lost = LostRange(after: 6, through: reach)
    #expect(reset.resetRequired && reset.lost == [lost], "UNI-18: nobody's token fits it; what came later is lost")
    let stranger = ChangeQuery.Reader(writer: "pushed-only", epoch: 1)
    let blind = try await new.store.changes(ChangeQuery(zone: zone, reader: stranger))
    #expect(blind.resetRequired && blind.lost == [lost], "also for who never pulled")
    let going = ChangeQuery(zone: zone, position: after.page.next, reader: stranger)
    #expect(try await !new.store.changes(going).resetRequired)
    let begun = ChangeQuery(zone: going.zone, position: reset.next, reader: going.reader)
    #expect(try await new.store.changes(begun).count > 0, "the answer says where to begin")
    let ada = Account.user(UserID(unchecked: "ada"), .development)
    #expect(try await new.store.account(ada) == old.store.account(ada))
    #expect(try await new.store.status().records == old.store.status().records)
    #expect(
      try await new.store.chunks([chunk.hash], in: zone.database, maxBytes: 9) == [
        FoundChunk(hash: chunk.hash, bytes: chunk.bytes)
      ])
    // UNI-07: what was answered is answered the same; what was settled as aborted stays so.
    let known = OpID(writer: "phone", epoch: 1, number: 1)
    let again = try await new.commit(zone, [Sample.save("never")], op: known)
    #expect(again.accepted == [1, 2, 3])
    #expect(
      try await new.commit(zone, [Sample.save("never")], op: OpID(writer: "phone", epoch: 3, number: 77)) == .aborted)
    // References and versions go on: a deleted zone's successor does not begin anew.
    #expect(
      try await new.outcomes(zone, [Sample.delete("a")], op: new.op("tablet")) == [.accepted(version: reach + 2)])
    #expect(try await new.store.fetch(["d"], in: zone).map(\.isDeleted) == [true])
    let dead = try await new.commit(Sample.zone("dead"), [Sample.save("z")], op: new.op("tablet"))
    #expect(dead.accepted == [reach + 1])
    let partition = Partition(of: zone.database)
    let log = try await new.store.log(of: partition, after: old.store.logHeads()[partition] ?? 0, atMost: 100)
    #expect(log.isTrimmed, "whoever followed the old log reads the zones anew")
    while try await new.store.collect() {}
    #expect(try await new.store.status().chunks == 1)
    await new.close()
  }

  /// REC-10: what of the objects had arrived where they go nobody knows: all go again, once.
  private static func checkObjects(_ target: Place) async throws {
    let new = StoreBench(try target.plan)
    for names in [["b"], []] {
      try await new.open()
      let tasks = try await new.store.objectTasks(atMost: 9)
      #expect(tasks.map(\.name) == names)
      #expect(try await new.store.objectCounts(of: nil, in: nil) == ObjectCounts(waiting: names.count))
      for task in tasks {
        #expect(task.entry?.version == 2 && task.version == 2 && task.paths.isEmpty)
        try await new.store.finish(task, .done, paths: ["p/b"])
      }
      await new.close()
    }
  }

  @Test(
    "a backup made while others write is one moment of each partition, and every commit in it is whole",
    arguments: Engine.allCases)
  func online(engine: Engine) async throws {
    try await Self.with(engine) { origin in
      let bench = StoreBench(try origin.plan)
      try await bench.open()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<4 {
          group.addTask {
            for number in 0..<30 {
              let mutations = (0..<5).map { Sample.save("\(writer).\(number).\($0)") }
              try await bench.commit(Sample.zone(of: "u\(writer)"), mutations, op: bench.op("w\(writer)"))
            }
          }
        }
        for _ in 0..<5 {
          let summary = try origin.summary()
          for zone in summary.zones { #expect(zone.seq == zone.records && zone.records.isMultiple(of: 5)) }
        }
        try await group.waitForAll()
      }
      #expect(try origin.summary().records == 600)
      await bench.close()
    }
  }

  @Test("CK-100: a backup that was made after what the clock says is not restored, for versions would be given twice")
  func fromTheFuture() async throws {
    try await Self.with(.sqlite) { origin in
      let bench = StoreBench(try origin.plan)
      try await bench.open()
      try await Self.fill(bench.store, bench)
      await bench.close()
      try await withTemporaryDirectory { directory in
        let (file, target) = ("\(directory)/backup", Place(engine: .sqlite, address: "\(directory)/new"))
        let now = bench.host.clock.wallTime
        try BackupFile.write(origin.source(), to: file, at: WallTime(milliseconds: now.milliseconds + 90_000))
        func restore(at time: WallTime) throws(CaravanError) {
          _ = try BackupFile.restore(file, at: time) { () throws(CaravanError) in
            try target.sink(bench.host)
          } checking: { () throws(CaravanError) in
            try target.source()
          }
        }
        let error = #expect(throws: CaravanError.self) { try restore(at: now) }
        #expect(error?.code == .invalidData && error?.message.contains("90 s from now") == true)
        #expect(!FileManager.default.fileExists(atPath: target.address))
        try restore(at: WallTime(milliseconds: now.milliseconds + 90_000))
      }
    }
  }

  private struct BeyondReach: ArchiveSource {
    func export(_ take: (StoreContent) throws(CaravanError) -> Void) throws(CaravanError) { try take(.reach(.max)) }
  }

  @Test("a backup that names a version which is none is refused")
  func beyondReach() async throws {
    try await withTemporaryDirectory { directory in
      let file = "\(directory)/backup"
      try BackupFile.write(BeyondReach(), to: file, at: ManualClock().wallTime)
      let error = #expect(throws: CaravanError.self) { try BackupFile.read(file) }
      #expect(error?.message.contains("no version") == true, "\(error?.message ?? "")")
    }
  }

  @Test("a damaged backup is refused wherever the damage is, which is said, and nothing is restored")
  func damage() async throws {
    try await Self.with(.sqlite) { origin in
      let bench = StoreBench(try origin.plan)
      try await bench.open()
      try await Self.fill(bench.store, bench)
      try await withTemporaryDirectory { directory in
        let file = "\(directory)/backup"
        try BackupFile.write(origin.source(), to: file, at: bench.host.clock.wallTime)
        let good = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        let bad = "\(directory)/bad"
        func refusal(_ bytes: [UInt8]) throws -> String {
          try Data(bytes).write(to: URL(fileURLWithPath: bad))
          let error = #expect(throws: CaravanError.self) { try BackupFile.read(bad) }
          #expect(error?.code == .invalidData)
          return error?.message ?? ""
        }
        for at in stride(from: 0, to: good.count, by: max(1, good.count / 37)) {
          var bytes = good
          bytes[at] ^= 0x10
          #expect(try refusal(bytes).hasPrefix("the backup "), "byte \(at) changed")
          #expect(try refusal(Array(good.prefix(at))).hasPrefix("the backup is damaged"), "cut off at \(at)")
        }
        #expect(try refusal(good + [0]).contains("damaged at byte \(good.count)"))
        var record = good
        record[try #require(Data(good).firstRange(of: Data("merged".utf8))).lowerBound] ^= 1
        #expect(try refusal(record).contains("zone notes/development/ada/t is not what its manifest says"))
        var chunk = good
        chunk[try #require(Data(good).firstRange(of: Data([7, 7, 7]))).lowerBound] = 8
        #expect(try refusal(chunk).contains("among the chunks of database notes/development/ada: chunk "))
        #expect(throws: CaravanError.self) {
          try BackupFile.restore(bad, at: bench.host.clock.wallTime) { () throws(CaravanError) in
            try SQLiteRestore(StoreOptions(.directory("\(directory)/new")), host: bench.host)
          } checking: { () throws(CaravanError) in
            try SQLiteSnapshot("\(directory)/new")
          }
        }
        #expect(!FileManager.default.fileExists(atPath: "\(directory)/new"))
      }
      await bench.close()
    }
  }

  @Test("a restore makes its directory, and what is above it; a backup of none says that there is no store")
  func places() async throws {
    try await withTemporaryDirectory { path in
      let place = "\(path)/suite/storage"
      let absent = #expect(throws: CaravanError.self) { try SQLiteSnapshot(place) }
      #expect(absent?.message.hasPrefix("\(place) holds no store: ") == true)
      #expect(absent?.message.contains("free some space") == false)
      _ = try SQLiteRestore(StoreOptions(.directory(place)), host: .live(logLevel: .error))
      _ = try SQLiteSnapshot(place)
    }
  }

  @Test("nothing is restored over a store, of however many files, nor beside what is no store")
  func occupied() async throws {
    try await withTemporaryDirectory { path in
      let host = CaravanRuntime.Host.live(logLevel: .error)
      func refusal(_ place: String, files: Int) -> String {
        var options = StoreOptions(.directory(place))
        options.files = files
        return #expect(throws: CaravanError.self) { try SQLiteRestore(options, host: host) }?.message ?? ""
      }
      let (store, other) = ("\(path)/store", "\(path)/other")
      await (try StoreSQLite(StoreOptions(.directory(store)), host: host)).close()
      #expect(refusal(store, files: 3) == "\(store) holds a store of 2 files already: restore into a new directory")
      try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
      try Data().write(to: URL(fileURLWithPath: "\(other)/thesis.txt"))
      #expect(
        refusal(other, files: 2) == "\(other) is not empty, and what it holds is no store: restore into a new directory"
      )
      #expect(try FileManager.default.contentsOfDirectory(atPath: other) == ["thesis.txt"], "nothing is left there")
    }
  }

  @Test("a directory whose restore was cut off is refused, by stores and by restores, with what to do")
  func halves() async throws {
    try await withTemporaryDirectory { path in
      let host = CaravanRuntime.Host.live(logLevel: .error)
      _ = try SQLiteRestore(StoreOptions(.directory(path)), host: host)
      let store = try await StoreSQLite(StoreOptions(.directory(path)), host: host)
      await store.close()
      try Data().write(to: URL(fileURLWithPath: "\(path)/restoring"))
      let opening = await #expect(throws: CaravanError.self) {
        try await StoreSQLite(StoreOptions(.directory(path)), host: host)
      }
      let restoring = #expect(throws: CaravanError.self) {
        try SQLiteRestore(StoreOptions(.directory(path)), host: host)
      }
      for error in [opening, restoring] { #expect(error?.message.contains("empty the directory") == true) }
    }
  }
}
