import CaravanAgentCore
import CaravanAgentStore
import CaravanChunking
import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanTestKit
import Glibc
import Testing

/// Goal: whatever happens to the file of the database, the agent starts, keeps what is whole, never shows what is not,
/// and has everything again that the cloud has (SIM-78…82). Method: a store with clean and dirty rows, whose file is
/// damaged at seeded places; the cloud is what the test hands it.
@Suite("Salvage", .timeLimit(.minutes(3)))
struct PageRecoveryTests {
  typealias F = StoreFixture

  enum Harm: String, CaseIterable {
    case bytes, page, header, firstPage, truncation, emptied

    /// - Returns: the file as it is then.
    func strike(_ file: [UInt8], _ random: SeededRandom) -> [UInt8] {
      var file = file
      func overwrite(_ range: Range<Int>, with bytes: [UInt8]) {
        let inside = range.clamped(to: 0..<file.count)
        file.replaceSubrange(inside, with: bytes.prefix(inside.count))
      }
      let place = Int(random.below(UInt64(file.count)))
      let page = 4_096 * Int(1 + random.below(UInt64(file.count / 4_096 - 1)))
      switch self {
      case .bytes: overwrite(place..<place + 64, with: random.bytes(64))
      case .page: overwrite(page..<page + 4_096, with: random.bytes(4_096))
      case .header: overwrite(0..<100, with: random.bytes(100))
      case .firstPage: overwrite(0..<4_096, with: random.bytes(4_096))
      case .truncation: file.removeLast(file.count - file.count / 2 - Int(random.below(UInt64(file.count / 2))))
      case .emptied: file = []
      }
      return file
    }

    /// One page at most is gone, and any of its rows.
    var isSmall: Bool { self != .truncation && self != .emptied }
    var cases: Int {
      switch self {
      case .bytes, .page: 20
      case .truncation: 3
      case .header, .firstPage: 2
      case .emptied: 1
      }
    }
  }

  @Test("an open store holds its lock on the database: nobody else may take its log away when he is done with it")
  func lock() async throws {
    try await F.with { f in
      var status = stat()
      #expect(stat("\(f.directory.path)/agent.db", &status) == 0)
      let locks = String(decoding: Files.read("/proc/locks") ?? [], as: UTF8.self).split(separator: "\n")
      let own = locks.filter { $0.contains("POSIX") && $0.contains(" READ ") && $0.contains(" \(getpid()) ") }
      #expect(own.contains { $0.contains(":\(status.st_ino) ") }, "\(own)")
    }
  }

  private struct Cluster {
    var clean: [(id: String, name: String, photo: [UInt8])] = []
    var dirty: [String: [UInt8]] = [:]
    var files: [String: [UInt8]] = [:]

    var photos: [String: [UInt8]] {
      var photos = dirty
      for row in clean { photos[row.name] = row.photo }
      return photos
    }
  }

  private static func name(_ text: String) -> String { text + String(repeating: ".", count: 300) }

  /// Clean rows first, then such as the cloud has never seen.
  private static func fill(_ f: F) async throws -> Cluster {
    try await f.agree()
    var cluster = Cluster()
    for number in 0..<60 {
      let (name, photo) = (Self.name("clean \(number)"), F.noise(20 + number * 40, seed: UInt64(number)))
      cluster.clean.append((try await f.write(name, photo: photo), name, photo))
    }
    try await f.accept(try #require(try await f.collect()), from: 1)
    for number in 0..<40 {
      let (name, photo) = (Self.name("dirty \(number)"), F.noise(20 + number * 40, seed: UInt64(1_000 + number)))
      try await f.write(name, photo: photo)
      cluster.dirty[name] = photo
    }
    try await f.crash { directory in
      for name in Files.names(in: directory) { cluster.files[name] = Files.read("\(directory)/\(name)") ?? [] }
    }
    return cluster
  }

  private static func remove(_ path: String) { unsafe unlink(path) }

  private static func restore(_ cluster: Cluster, in directory: String) {
    for name in Files.names(in: directory) where cluster.files[name] == nil { Self.remove("\(directory)/\(name)") }
    for (name, bytes) in cluster.files { Files.write(bytes, to: "\(directory)/\(name)") }
  }

  /// Rows by name, with photos; nil: the database turned out to be damaged.
  private static func look(_ f: F, _ cluster: Cluster) async throws -> [String: [UInt8]]? {
    do {
      var seen: [String: [UInt8]] = [:]
      if try await f.store.status(of: F.app).isEmpty { return seen }
      for row in try await f.rows() {
        guard case .text(let name)? = row.cells.first(where: { $0.column == "name" })?.value else { continue }
        do { seen[name] = try await f.photo(row.id) } catch let error as CaravanError {
          guard [.rowTorn, .chunkDamaged, .noSuchObject].contains(error.code) else { throw error }
        }
      }
      // What no read has touched only the doctor sees.
      let isDamaged = try await f.store.problems().contains { $0.hasPrefix("***") }
      return await f.store.isDatabaseDamaged || isDamaged ? nil : seen
    } catch let error as CaravanError {
      guard await f.store.isDatabaseDamaged else { throw error }
      return nil
    }
  }

  /// Opens the store until nothing more is found, as the agent's supervisor does, or the doctor advises.
  private static func settled(_ f: F, _ cluster: Cluster) async throws -> [String: [UInt8]] {
    for _ in 0..<3 {
      if let seen = try await look(f, cluster) { return seen }
      try await f.crash { Files.write([], to: "\($0)/agent.db-damaged") }
    }
    Issue.record("the store is damaged again and again")
    return [:]
  }

  /// What only writing shows is salvaged, too.
  private static func resyncedAtLast(_ f: F, _ cluster: Cluster) async throws {
    for _ in 0..<3 {
      do { return try await resync(f, cluster) } catch let error as CaravanError {
        guard await f.store.isDatabaseDamaged else { throw error }
        try await f.crash { Files.write([], to: "\($0)/agent.db-damaged") }
      }
    }
    Issue.record("the store is damaged again and again")
  }

  private static func resync(_ f: F, _ cluster: Cluster) async throws {
    try await f.store.repairDamage()
    try await f.agree()
    if let plan = try await f.store.plansInFlight().first { try await f.store.abort(plan.op) }
    try await f.store.reset(F.photos)
    for (index, row) in cluster.clean.enumerated() {
      try await f.apply(
        [F.entry(row.id, UInt64(index + 1), row.name, photo: row.photo)], token: [1],
        end: index == cluster.clean.count - 1 ? .last : .more)
    }
    try await f.store.stage(cluster.clean.flatMap { F.chunks($0.photo) }, for: F.photos)
  }

  @Test(
    "SIM-78, SIM-79, SIM-82: the file damaged anywhere: it is kept, what is whole stays, the rest comes again",
    arguments: Harm.allCases)
  func anywhere(harm: Harm) async throws {
    try await F.with { f in
      let cluster = try await Self.fill(f)
      let file = try #require(cluster.files["agent.db"])
      for seed in 0..<UInt64(harm.cases) {
        let struck = harm.strike(file, SeededRandom(seed: seed))
        try await f.crash { directory in
          Self.restore(cluster, in: directory)
          Files.write(struck, to: "\(directory)/agent.db")
        }
        let seen = try await Self.settled(f, cluster)
        for (name, photo) in seen { #expect(cluster.photos[name] == photo, "\(harm) \(seed): \(name.prefix(9))") }
        let names = Files.names(in: f.directory.path)
        if let aside = names.first(where: { $0.hasPrefix("agent.db.damaged-") }) {
          #expect(names.contains("agent.db-salvaged.txt"))
          // SQLite may have written to it before it saw.
          #expect(Files.read("\(f.directory.path)/\(aside)")?.count ?? 0 >= struck.count)
        }
        if harm.isSmall { #expect(seen.count >= 80, "\(harm) \(seed): \(seen.count)") }
        if try await f.store.status(of: F.app).isEmpty {
          #expect(!harm.isSmall, "\(harm) \(seed)")
          try await f.store.createTable(
            F.photos, schema: try SchemaText(parsing: "name VARCHAR, date INTEGER, location FLOAT, photo OBJECT"),
            localOnly: false)
        }
        try await Self.resyncedAtLast(f, cluster)
        // What only reading has shown is seen to as well.
        _ = try await Self.settled(f, cluster)
        try await f.store.repairDamage()
        let after = try await Self.settled(f, cluster)
        for row in cluster.clean { #expect(after[row.name] == row.photo, "\(harm) \(seed): \(row.name.prefix(9))") }
        for name in seen.keys { #expect(after[name] == seen[name], "\(harm) \(seed): \(name.prefix(9))") }
        let problems = try await f.store.problems()
        #expect(problems == [], "\(harm) \(seed)")
      }
      try await f.crash { Self.restore(cluster, in: $0) }
    }
  }

  @Test("SIM-78: what chunks are, and whether they list others, their bytes say when nothing else does")
  func chunksFoundAgain() async throws {
    var options = LocalStoreOptions()
    (options.chunking, options.chunksInRow) = (ChunkingParameters(minimum: 64, average: 256, maximum: 1_024), 4)
    try await F.with(options: options) { f in
      let photo = F.noise(6_000)
      let row = try await f.write("listed", photo: photo)
      try await f.crash { directory in
        let database = try Connection(.file("\(directory)/agent.db"), ConnectionOptions())
        try database.execute("DELETE FROM chunks")
        database.close()
        Files.write([], to: "\(directory)/agent.db-damaged")
      }
      #expect(try await f.photo(row) == photo)
    }
  }

  @Test("SIM-78: of a sound database with its log nothing is lost, whatever made somebody salvage it")
  func sound() async throws {
    try await F.with { f in
      let cluster = try await Self.fill(f)
      try await f.write(Self.name("in the log"))
      var files: [String: [UInt8]] = [:]
      for name in Files.names(in: f.directory.path) { files[name] = Files.read("\(f.directory.path)/\(name)") ?? [] }
      #expect(files["agent.db-wal"]?.isEmpty == false)
      try await f.crash { directory in
        for (name, bytes) in files { Files.write(bytes, to: "\(directory)/\(name)") }
        Self.remove("\(directory)/agent.db-shm")
        Files.write([], to: "\(directory)/agent.db-damaged")
      }
      let names = Files.names(in: f.directory.path)
      #expect(!names.contains("agent.db-damaged"))
      #expect(names.contains { $0.hasPrefix("agent.db.damaged-") && !$0.hasSuffix("-wal") })
      #expect(try await f.names().contains(Self.name("in the log")))
      let seen = try await Self.settled(f, cluster)
      #expect(seen.filter { cluster.photos[$0.key] == $0.value }.count == 100)
      #expect(try await f.status().dirty == 41)
      #expect(try await f.status().refused.contains("was damaged"))
      #expect(try await f.store.syncState(of: F.photos).lacksRows, "everything is asked of the cloud")
      try await Self.resync(f, cluster)
      #expect(try #require(try await f.collect()).mutations.count == 41)
    }
  }
}
