import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Foundation
import Testing

/// Goal: what was acknowledged is there after any end (I1, I7). Method: crashes, two owners, a disk that is full.
@Suite(.timeLimit(.minutes(2))) struct DurabilityTests {
  /// One save, and whether its client heard of it.
  struct Attempt: Sendable {
    let op: OpID
    let zone: ZoneID
    let name: String
    let isAcknowledged: Bool
  }

  @Test("I1, I7: a crash in the middle of many commits loses and doubles nothing", arguments: [StoreKind.files])
  func crash(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      for round in 0..<5 {
        let attempts = try await Self.saveUntilCrash(bench, round: round)
        try await bench.open()
        #expect(attempts.contains { !$0.isAcknowledged } && attempts.count { $0.isAcknowledged } >= 100)
        for attempt in attempts {
          let found = try await bench.store.fetch([attempt.name], in: attempt.zone)
          #expect(!attempt.isAcknowledged || found.count == 1, "\(attempt.name) was acknowledged")
          // Whoever does not know sends the same op again.
          let versions = try await bench.commit(attempt.zone, [Sample.save(attempt.name)], op: attempt.op).accepted
          #expect(found.isEmpty || found.map(\.version) == versions, "\(attempt.name) was there and came again")
        }
        for zone in Set(attempts.map(\.zone)) {
          let names = try await bench.pull(zone).map(\.name).filter { $0.hasPrefix("\(round).") }
          #expect(names.sorted() == attempts.filter { $0.zone == zone }.map(\.name).sorted())
        }
      }
    }
  }

  /// Sixteen clients save one row after the other; after a hundred the store crashes under them.
  private static func saveUntilCrash(_ bench: StoreBench, round: Int) async throws -> [Attempt] {
    let acknowledged = bench.host.metrics.counter(CounterName("caravan_test_rows_\(round)_total", "Rows acknowledged."))
    return try await withThrowingTaskGroup(of: [Attempt].self) { group in
      for client in 0..<16 {
        let zone = try Sample.zone("z\(client % 4)", of: "user-\(client % 3)")
        group.addTask {
          var attempts: [Attempt] = []
          while attempts.last?.isAcknowledged ?? true {
            let (op, name) = (bench.op("w\(client)"), "\(round).\(client).\(attempts.count)")
            let isDone = (try? await bench.commit(zone, [Sample.save(name)], op: op)) != nil
            attempts.append(Attempt(op: op, zone: zone, name: name, isAcknowledged: isDone))
            if isDone { acknowledged.add() }
            if acknowledged.value >= 100 { bench.kill() }
          }
          return attempts
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  @Test("everything is there after closing and opening again", arguments: StoreKind.reopening)
  func reopening(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let op = bench.op()
      try await bench.store.stage([Sample.chunk(1)], in: zone.database)
      let result = try await bench.commit(zone, [Sample.save("a", chunks: [Sample.hash(1)])], op: op)
      let lease = try await bench.store.lease(["x"], holder: "h", ttl: .seconds(60))
      let (before, _) = try await bench.page(ChangeQuery(zone: zone))
      await bench.close()
      await #expect(throws: CaravanError.self) { try await bench.commit(zone, [Sample.save("b")]) }
      try await bench.open()
      #expect(try await bench.page(ChangeQuery(zone: zone)).page == before)
      #expect(try await bench.commit(zone, [Sample.save("a")], op: op) == result)
      #expect(try await bench.store.lease(["x"], holder: "h", ttl: .seconds(60)) == lease)
      #expect(try await bench.commit(zone, [Sample.save("b")]).accepted == [2])
      #expect(
        try await bench.store.log(of: Partition(of: zone.database), after: 0, atMost: 9).entries.map(\.position) == [
          1, 2,
        ])
    }
  }

  @Test("a directory has one owner, and keeps its number of files")
  func ownership() async throws {
    try await withTemporaryDirectory { path in
      let host = Host.live(logLevel: .error)
      let options = StoreOptions(.directory(path))
      let first = try await StoreSQLite(options, host: host)
      let second = await #expect(throws: CaravanError.self) { try await StoreSQLite(options, host: host) }
      #expect(second?.code == .unavailable)
      await first.close()
      var other = options
      other.files = 3
      let refused = await #expect(throws: CaravanError.self) { try await StoreSQLite(other, host: host) }
      #expect(refused?.code == .invalidData && refused?.message.contains("--files 2") == true)
      await (try StoreSQLite(options, host: host)).close()
    }
  }

  @Test("one refused write harms none of those in its group", arguments: StoreKind.allCases)
  func neighbours(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let old = OpID(writer: "old", epoch: 1, number: 1)
      try await bench.commit(zone, [Sample.save("x")], op: OpID(writer: "old", epoch: 1, number: 900), floor: 900)
      let (done, refused) = await withTaskGroup(of: Bool.self) { group in
        for row in 0..<100 {
          group.addTask {
            let op = row % 5 == 0 ? old : bench.op("w\(row)")
            return (try? await bench.commit(zone, [Sample.save("r\(row)")], op: op)) != nil
          }
        }
        return await group.reduce(into: (0, 0)) { if $1 { $0.0 += 1 } else { $0.1 += 1 } }
      }
      #expect(done == 80 && refused == 20)
      let entries = try await bench.pull(zone)
      #expect(entries.map(\.version) == Array(1...81), "seqs have no holes")
    }
  }

  static let canMount = geteuid() == 0 && FileManager.default.fileExists(atPath: "/bin/mount")

  @Test(
    "a full disk: one clear error, nothing acknowledged is lost, and life goes on when there is room",
    .enabled(if: canMount, "mounting a small tmpfs takes root"))
  func fullDisk() async throws {
    try await withTemporaryDirectory { path in
      try Self.run("/bin/mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", path])
      defer { try? Self.run("/bin/umount", ["-l", path]) }
      let bench = StoreBench(.sqlite(.oneFile(path)))
      try await bench.open()
      let zone = try Sample.zone()
      var kept: [String] = []
      var failure: CaravanError?
      while failure == nil, kept.count < 1_000 {
        let name = "r\(kept.count)"
        do {
          try await bench.commit(zone, [Sample.save(name, body: [UInt8](repeating: 7, count: 20_000))])
          kept.append(name)
        } catch let error as CaravanError { failure = error }
      }
      #expect(failure?.code == .storageFull && failure?.isTransient == true)
      #expect(try await bench.pull(zone).map(\.name) == kept, "reading goes on")
      await #expect(throws: CaravanError.self) {
        try await bench.store.stage([Sample.chunk(1, size: 200_000)], in: zone.database)
      }
      try Self.run("/bin/mount", ["-o", "remount,size=16m", path])
      try await bench.commit(zone, [Sample.save("room")])
      bench.kill()
      try await bench.open()
      #expect(try await bench.pull(zone).map(\.name) == kept + ["room"])
      await bench.close()
    }
  }

  private static func run(_ program: String, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Unexpected("\(program) \(arguments) failed") }
  }
}

extension StoreOptions {
  static func oneFile(_ path: String) -> StoreOptions {
    var options = StoreOptions(.directory(path))
    options.files = 1
    return options
  }
}
