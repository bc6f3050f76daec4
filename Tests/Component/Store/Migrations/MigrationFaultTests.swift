import CaravanBackup
import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanSQLite
import CaravanStore
import CaravanStorePostgres
import CaravanStoreSQLite
import CaravanTestKit
import Foundation
import Testing

/// Goal: whatever ends a migration, the next start finishes it, and it is as if nothing had happened. Method: statement
/// n fails, or the process dies before change n of the disk, or message n to PostgreSQL is lost, for n in steps.
@Suite(.timeLimit(.minutes(10))) struct MigrationFaultTests {
  private static let host = Host.live(logLevel: .error)

  private static func copy(_ from: String, _ to: String) {
    Files.makeDirectory(to)
    for name in Files.names(in: from) where name.hasPrefix("store-") && !name.hasSuffix("-shm") {
      Files.write(Files.read("\(from)/\(name)") ?? [], to: "\(to)/\(name)")
    }
  }

  /// What the migration makes where nothing goes wrong.
  private static func ideal(_ template: String, _ path: String) async throws -> String {
    copy(template, path)
    return try await finish(path)
  }

  private static func finish(_ path: String) async throws -> String {
    await (try StoreSQLite(StoreOptions(.directory(path)), host: host)).close()
    return try Fixture.everything(BackupTests.Place(engine: .sqlite, address: path))
  }

  @Test("TRU-18: statement n of a migration fails, for n in steps; the next start finishes it")
  func statements() async throws {
    try await withTemporaryDirectory(isInMemory: true) { path in
      try Fixture.unpack("store", into: path)
      let template = "\(path)/suite/storage"
      let ideal = try await Self.ideal(template, "\(path)/ideal")
      let stride = StatementFaultTests.isLong ? 1 : 9
      for step in 0..<10_000 {
        let tap = FaultySteps()
        let place = "\(path)/s\(step)"
        Self.copy(template, place)
        var options = StoreOptions(.directory(place))
        options.statements = tap
        tap.arm(step * stride, step.isMultiple(of: 2) ? .fails : .failsAndRollsBack)
        let opened = try? await StoreSQLite(options, host: Self.host)
        await opened?.close()
        let failed = tap.disarm()
        let after = try await Self.finish(place)
        #expect(after == ideal, "after statement \(step * stride), '\(failed ?? "")'")
        TemporaryDirectory.removeTree(place)
        guard failed != nil else {
          #expect(step > 20, "the tap was asked")
          return
        }
      }
    }
  }

  @Test(
    "TRU-18: the process or its power ends before change n of the disk", arguments: DiskFaultTests.End.allCases)
  func disk(end: DiskFaultTests.End) async throws {
    try await withTemporaryDirectory(isInMemory: true) { path in
      try Fixture.unpack("store", into: path)
      let template = "\(path)/suite/storage"
      let ideal = try await Self.ideal(template, "\(path)/ideal")
      for change in 0..<1_000 {
        var files = CrashFiles("\(path)/d\(change)")
        Self.copy(template, files.directory)
        let disk = FragileDisk(end == .scatteringCut ? .scattered(seed: UInt64(change)) : .dropped)
        var options = StoreOptions(.directory(files.directory))
        options.tap = disk
        disk.die(afterChanges: change * 3)
        let opened = try? await StoreSQLite(options, host: Self.host)
        let isOver = !disk.isDead
        disk.die(afterChanges: 0)
        files.die(powerCutOn: end == .kill ? nil : disk)
        await opened?.close()
        let after = try await Self.finish(files.directory)
        #expect(after == ideal, "\(end) before change \(change * 3)")
        TemporaryDirectory.removeTree(files.directory)
        guard !isOver else {
          #expect(change > 2, "the tap was asked")
          return
        }
      }
    }
  }

  private static func finish(_ place: BackupTests.Place, _ options: PostgresOptions) async throws -> String {
    await (try StorePostgres(options, host: host)).close()
    return try Fixture.everything(place)
  }

  private static func options(_ address: String) throws -> PostgresOptions {
    var options = PostgresOptions(try ConnectionString(address))
    (options.writers, options.readers) = (1, 1)
    return options
  }

  @Test(
    "TRU-18: message n of a migration of PostgreSQL is lost, or its answer",
    arguments: [Proxy.Fate.loseMessage, .loseAnswer])
  func messages(fate: Proxy.Fate) async throws {
    let server = try PostgresServer.shared.get()
    var ideal = ""
    try await Fixture.with(.postgres) { _, place in
      ideal = try await Self.finish(place, Self.options(place.address))
    }
    let stride = StatementFaultTests.isLong ? 11 : 97
    for step in 0..<1_000 {
      var wasCut = false
      try await Fixture.with(.postgres) { _, place in
        let proxy = try Proxy(to: server.port)
        defer { proxy.stop() }
        let detour = try Self.options(place.address.replacing("port=\(server.port)", with: "port=\(proxy.port)"))
        proxy.cut(after: step * stride, fate)
        // It tries again by itself where the server is lost for a moment.
        await (try? StorePostgres(detour, host: Self.host))?.close()
        wasCut = proxy.wasCut()
        let after = try await Self.finish(place, Self.options(place.address))
        #expect(after == ideal, "after message \(step * stride)")
      }
      guard wasCut else {
        #expect(step > 5, "connections were cut")
        return
      }
    }
  }

  @Test("TRU-18: several processes that start at once on PostgreSQL migrate it once")
  func atOnce() async throws {
    var ideal = ""
    try await Fixture.with(.postgres) { _, place in
      ideal = try await Self.finish(place, Self.options(place.address))
    }
    try await Fixture.with(.postgres) { _, place in
      let options = try Self.options(place.address)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            do { await (try StorePostgres(options, host: Self.host)).close() } catch { Issue.record("\(error)") }
          }
        }
      }
      #expect(try Fixture.everything(place) == ideal)
    }
  }
}
