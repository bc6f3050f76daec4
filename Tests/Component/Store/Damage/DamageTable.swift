import CaravanBackup
import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanStore
import CaravanStorePostgres
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Foundation
import Testing

/// A class of file of the cloud, and what befalls it.
enum DamagedFile: String, CaseIterable, Sendable, CustomTestStringConvertible {
  /// A byte of a chunk.
  case chunkFile, chunkRow, chunkOfPostgres
  /// A byte of a record's body.
  case body, bodyOfPostgres
  /// The head of a page that records lie on.
  case page
  /// The first page of a database.
  case firstPage
  /// A byte of the newest commit, in the write-ahead log of a store that died.
  case log
  /// A byte of a backup.
  case archive

  var testDescription: String { rawValue }

  var place: ChunkPlace {
    switch self {
    case .chunkRow: .row
    case .chunkOfPostgres, .bodyOfPostgres: .postgres
    case .chunkFile, .body, .page, .firstPage, .log, .archive: .file
    }
  }
}

enum DamageOperation: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case read, rewrite, freshDevice, backup, restore

  var testDescription: String { rawValue }
}

/// What becomes of it.
enum Fate: Sendable, Hashable {
  /// As if nothing had happened.
  case whole
  /// What is damaged is absent, all else is there, and the store names it.
  case absentAlone
  /// It goes on, and lists what is damaged.
  case listed
  /// Nothing is answered that might be wrong: the error says that the file is damaged.
  case refused
  /// The store does not open, and says which file of it is damaged, and what to do.
  case closed
  /// What was committed last is gone, as if the power had failed before; all before is there.
  case cutOff
  /// Nobody notices.
  case unnoticed
  case senseless(String)
}

extension DamagedFile {
  /// The matrix. Moves have a test of their own (`move`). A device's files are in `DamageTests`, where a bit is turned
  /// anywhere, `PageRecoveryTests` and `RepairTests`; key files and `run.json` hold no data: who reads them says what
  /// is wrong with them, and nothing else can be done with them.
  func fate(of operation: DamageOperation) -> Fate {
    switch (self, operation) {
    case (.chunkFile, .rewrite), (.chunkRow, .rewrite), (.chunkOfPostgres, .rewrite): .whole
    case (.chunkFile, .backup), (.chunkRow, .backup), (.chunkOfPostgres, .backup): .listed
    case (.chunkFile, _), (.chunkRow, _), (.chunkOfPostgres, _): .absentAlone
    case (.body, .rewrite), (.bodyOfPostgres, .rewrite): .whole
    case (.body, .backup), (.bodyOfPostgres, .backup): .listed
    case (.body, _), (.bodyOfPostgres, _): .absentAlone
    case (.page, .restore), (.firstPage, .restore): .senseless("there is no backup of it to restore")
    case (.page, _): .refused
    case (.firstPage, _): .closed
    case (.log, .rewrite): .whole
    case (.log, _): .cutOff
    case (.archive, .restore): .refused
    case (.archive, _): .senseless("nobody does that to a backup")
    }
  }
}

extension DamageMatrixTests {
  private static var cells: [(DamagedFile, DamageOperation)] {
    DamagedFile.allCases.flatMap { file in DamageOperation.allCases.map { (file, $0) } }
  }

  @Test("TRU-10: each class of file of the cloud, damaged, against each thing that is done with it")
  func table() async throws {
    for (file, operation) in Self.cells {
      let expected = file.fate(of: operation)
      if case .senseless = expected { continue }
      let scene = DamageScene(file: file)
      let found = try await scene.play(operation)
      #expect(found == expected, "\(file.rawValue) × \(operation.rawValue)")
    }
  }
}

/// Three records with a chunk each, the second of which is damaged, and a user in another file.
struct DamageScene: Sendable {
  private static let names = ["r1", "r2", "r3"]
  let file: DamagedFile

  private static func body(_ number: UInt64) -> [UInt8] { SeededRandom(seed: 90 + number).bytes(600) }
  private static var chunks: [ChunkBytes] { (1...3).map { ChunkDamage.chunk($0) } }

  /// Of the other file of two.
  private static var neighbour: ZoneID {
    get throws {
      let own = Partition(of: Sample.database()).number % 2
      let users = (0..<64).map { "user\($0)" }
      let user = try #require(users.first { Partition(of: Sample.database($0)).number % 2 != own })
      return try Sample.zone(of: user)
    }
  }

  func play(_ operation: DamageOperation) async throws -> Fate {
    var fate = Fate.whole
    if file.place == .postgres {
      try await PostgresServer.shared.get().withSchema { address in
        var options = PostgresOptions(try ConnectionString(address))
        (options.writers, options.readers) = (2, 2)
        fate = try await play(operation, .postgres(options), at: address)
      }
    } else {
      try await withTemporaryDirectory { path in
        var options = ChunkDamage.options(file.place, "\(path)/store")
        options.files = 2
        fate = try await play(operation, .sqlite(options), at: "\(path)/store")
      }
    }
    return fate
  }

  private func play(_ operation: DamageOperation, _ plan: StoreBench.Plan, at address: String) async throws -> Fate {
    let bench = StoreBench(plan)
    try await bench.open()
    try await bench.store.stage(Self.chunks, in: Sample.database())
    for (number, name) in zip(UInt64(0)..., Self.names) {
      try await bench.commit(
        Sample.zone(), [Sample.save(name, body: Self.body(number), chunks: [Self.chunks[Int(number)].hash])])
    }
    try await bench.commit(Self.neighbour, [Sample.save("other", body: Self.body(9))])
    if file == .log {
      bench.kill()
      return try await goOn(operation, StoreBench(.sqlite(try leftBehind(address))), at: "\(address)-left")
    }
    await bench.close()
    return try await goOn(operation, bench, at: address)
  }

  /// What a dead process leaves: the dead go on holding the files they had, and what they know of the log.
  private func leftBehind(_ address: String) throws -> StoreOptions {
    let (files, left) = (FileManager.default, "\(address)-left")
    try files.copyItem(atPath: address, toPath: left)
    for name in try files.contentsOfDirectory(atPath: left) where name.hasSuffix("-shm") || name == "lock" {
      try files.removeItem(atPath: "\(left)/\(name)")
    }
    var options = ChunkDamage.options(file.place, left)
    options.files = 2
    return options
  }

  private func goOn(_ operation: DamageOperation, _ bench: StoreBench, at address: String) async throws -> Fate {
    if file != .archive { try damage(address) }
    do { try await bench.open() } catch let error as CaravanError {
      // A store of which nobody can tell what is there does not serve the rest as if that were all.
      let says = error.message.contains("store-\(Self.number).db") && error.message.contains("restore BACKUP")
      return try Self.refusal(error) == .refused && says ? .closed : .unnoticed
    }
    var fate: Fate
    do { fate = try await perform(operation, bench, at: address) } catch let error as CaravanError {
      fate = try Self.refusal(error)
    }
    let other = try await bench.store.fetch(["other"], in: Self.neighbour)
    #expect(other.map(\.body) == [Self.body(9)], "another file of the same process is served: \(file) × \(operation)")
    await bench.close()
    return fate
  }

  private static func refusal(_ error: CaravanError) throws -> Fate {
    guard error.message.contains("damaged") else { throw error }
    return .refused
  }

  // MARK: Damage

  /// Of the file that the user is in.
  private static var number: UInt32 { Partition(of: Sample.database()).number % 2 }

  private func damage(_ address: String) throws {
    if file.place == .postgres { return try damagePostgres(address) }
    let number = Self.number
    let (needle, name): ([UInt8], String) =
      switch file {
      case .chunkFile: (Array(Self.chunks[1].bytes[20_000..<20_032]), "store-\(number).chunks")
      case .chunkRow: (Array(Self.chunks[1].bytes[20_000..<20_032]), "store-\(number).db")
      case .log: (Array(Self.body(2)[300..<332]), "store-\(number).db-wal")
      default: (Array(Self.body(1)[300..<332]), "store-\(number).db")
      }
    let url = URL(fileURLWithPath: "\(address)/\(name)")
    var data = try Data(contentsOf: url)
    let found = try #require(data.range(of: Data(needle)), "\(file) is in \(name)").lowerBound
    switch file {
    case .page: for place in 0..<8 { data[found / 4_096 * 4_096 + place] = 0xff }
    case .firstPage: for place in 0..<100 { data[place] = 0xff }
    default: data[found] ^= 0x40
    }
    try data.write(to: url)
  }

  private func damagePostgres(_ address: String) throws {
    let db = try CaravanPostgreSQL.Connection(CaravanPostgreSQL.ConnectionOptions(ConnectionString(address)))
    defer { db.close() }
    let partition = Int32(Partition(of: Sample.database()).number)
    if file == .bodyOfPostgres {
      var body = Self.body(1)
      body[300] ^= 0x40
      _ = try db.run(
        "UPDATE caravan_records SET body = $1 WHERE partition = $2 AND body = $3", Bytes(body), partition,
        Bytes(Self.body(1)))
    } else {
      var bytes = Self.chunks[1].bytes
      bytes[20_000] ^= 0x40
      _ = try db.run(
        "UPDATE caravan_chunks SET bytes = $1 WHERE partition = $2 AND hash = $3", Bytes(bytes), partition,
        Self.chunks[1].hash)
    }
  }

  // MARK: Operations

  private func perform(_ operation: DamageOperation, _ bench: StoreBench, at address: String) async throws -> Fate {
    switch operation {
    case .read: return try await look(at: bench.store.fetch(Self.names, in: Sample.zone()), bench)
    case .freshDevice: return try await look(at: bench.pull(Sample.zone()).map { $0.model() }, bench)
    case .rewrite:
      for (number, name) in zip(UInt64(0)..., Self.names) {
        let save = Sample.save(name, body: Self.body(number), chunks: [Self.chunks[Int(number)].hash])
        if case .missing = try await bench.commit(Sample.zone(), [save]) {
          try await bench.store.stage([Self.chunks[Int(number)]], in: Sample.database())
          try await bench.commit(Sample.zone(), [save])
        }
      }
      // A save that keeps an object is no new writing of its bytes.
      if try await look(at: bench.store.fetch(Self.names, in: Sample.zone()), bench) == .absentAlone {
        try await bench.store.stage(Self.chunks, in: Sample.database())
      }
      return try await look(at: bench.store.fetch(Self.names, in: Sample.zone()), bench)
    case .backup, .restore: return try await copy(bench, at: address, restores: operation == .restore)
    }
  }

  private func look(at entries: [CaravanModel.Entry], _ bench: StoreBench) async throws -> Fate {
    let bodies = Dictionary(entries.filter { !$0.isDamaged }.map { ($0.name, $0.body) }) { $1 }
    if bodies["r3"] == nil, bodies["r1"] == Self.body(0), bodies["r2"] == Self.body(1) { return .cutOff }
    #expect(bodies["r1"] == Self.body(0) && bodies["r3"] == Self.body(2), "nothing else is affected: \(file)")
    guard let second = bodies["r2"] else {
      for filter in [DamageFilter.everything, .database(Sample.database()), .owner(UserID(unchecked: "ada"))] {
        #expect(try await bench.store.damagedBodies(filter, atMost: 9).map(\.name) == ["r2"])
      }
      #expect(try await bench.store.damagedBodies(.owner(UserID(unchecked: "eve")), atMost: 9).isEmpty)
      #expect(try await bench.store.status().damagedRecords == 1)
      return .absentAlone
    }
    if second != Self.body(1) { return .unnoticed }
    #expect(try await bench.store.status().damagedRecords == 0)
    let hashes = Self.chunks.map(\.hash)
    let found = try await bench.store.chunks(hashes, in: Sample.database(), maxBytes: 1 << 20).map(\.bytes)
    if found == Self.chunks.map(\.bytes) { return .whole }
    #expect(found == [Self.chunks[0].bytes, nil, Self.chunks[2].bytes])
    let damaged = try await bench.store.damage(in: nil, atMost: 9).map(\.hash)
    let named = try await bench.store.records(naming: Set(damaged), in: Sample.database(), atMost: 9)
    #expect(damaged == [hashes[1]] && named.map(\.name) == ["r2"])
    return .absentAlone
  }

  private func copy(_ bench: StoreBench, at address: String, restores: Bool) async throws -> Fate {
    let source: any ArchiveSource =
      file.place == .postgres ? try PostgresSnapshot(ConnectionString(address)) : try SQLiteSnapshot(address)
    let now = bench.host.clock.wallTime
    var fate = Fate.whole
    try await withTemporaryDirectory { directory in
      let path = "\(directory)/backup"
      let written = try BackupFile.write(source, to: path, at: now)
      guard restores else {
        fate =
          (written.damagedRecords.map(\.name) + written.damagedBodies.map(\.name)) == ["r2"]
          ? .listed : written.records == 3 ? .cutOff : .unnoticed
        return
      }
      if file == .archive {
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        data[data.count / 2] ^= 1
        try data.write(to: URL(fileURLWithPath: path))
      }
      let target = BackupTests.Place(engine: .sqlite, address: "\(directory)/new")
      _ = try BackupFile.restore(path, at: now) { () throws(CaravanError) in
        try target.sink(bench.host)
      } checking: { () throws(CaravanError) in
        try target.source()
      }
      let new = StoreBench(try target.plan)
      try await new.open()
      fate = try await look(at: new.store.fetch(Self.names, in: Sample.zone()), new)
      await new.close()
    }
    return fate
  }
}
