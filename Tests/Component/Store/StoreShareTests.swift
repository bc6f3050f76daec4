import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: nothing that a file numbers, or keeps of those who write, is used up by one device or one user (TRU-03).
/// Method: a device with more epochs, outcomes and zones than there is room for, beside one that goes on.
@Suite(.timeLimit(.minutes(4))) struct StoreShareTests {
  private static func count(_ table: String, in path: String, where condition: String = "true") throws -> Int {
    var options = ConnectionOptions()
    options.isReadOnly = true
    let db = try Connection(.file("\(path)/store-0.db"), options)
    defer { db.close() }
    return try db.statement(text: "SELECT count(*) FROM \(table) WHERE \(condition)").first { Int($0.integer(0)) } ?? 0
  }

  private static func with(_ body: (StoreBench, String) async throws -> Void) async throws {
    try await withTemporaryDirectory(isInMemory: true) { path in
      let bench = StoreBench(.sqlite(.simulation(.directory(path))))
      try await bench.open()
      try await body(bench, path)
      await bench.close()
    }
  }

  private static func op(_ writer: String, _ epoch: UInt64, _ number: UInt64 = 1) -> OpID {
    OpID(writer: writer, epoch: epoch, number: number)
  }

  @Test("TRU-03: a device that begins without end takes the rows of its own epochs, and nobody else's")
  func epochs() async throws {
    try await Self.with { bench, path in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("hers")], op: Self.op("ada/laptop/1", 1))
      for epoch in 1...300 as ClosedRange<UInt64> {
        bench.clock.advance(by: .seconds(1))
        try await bench.commit(zone, [Sample.save("r\(epoch)")], op: Self.op("ada/phone/1", epoch))
      }
      #expect(try Self.count("writers", in: path) == StoreLimits.epochsOfDevice + 1)
      #expect(try Self.count("ops", in: path) == StoreLimits.epochsOfDevice + 1)
      // What is sent again is known of the newest epochs, and of others' oldest.
      let again = try await bench.commit(zone, [Sample.save("r290")], op: Self.op("ada/phone/1", 290))
      #expect(again.accepted == [291])
      let hers = try await bench.commit(zone, [Sample.save("hers")], op: Self.op("ada/laptop/1", 1))
      #expect(hers.accepted == [1])
      let entries = try await bench.pull(zone)
      #expect(entries.filter { $0.writer == "ada/phone/1" }.count == 300, "rows keep their writer's name")
    }
  }

  @Test("TRU-03: what an earlier epoch wrote comes with its bodies, what this one wrote without")
  func ownEntries() async throws {
    try await Self.with { bench, _ in
      let zone = try Sample.zone()
      let last = UInt64(StoreLimits.epochsOfDevice) + 5
      for epoch in 1...last {
        bench.clock.advance(by: .seconds(1))
        try await bench.commit(zone, [Sample.save("r\(epoch)")], op: Self.op("ada/phone/1", epoch))
      }
      for epoch in [last, last - 1] {
        let reader = ChangeQuery.Reader(writer: "ada/phone/1", epoch: epoch)
        let (_, entries) = try await bench.page(ChangeQuery(zone: zone, reader: reader))
        #expect(entries.filter(\.own).map(\.name) == ["r\(epoch)"])
        #expect(entries.filter { !$0.own }.allSatisfy { $0.body == [1, 2, 3] })
      }
    }
  }

  @Test("TRU-03, TRU-19: outcomes of epochs that ended long ago go when another begins")
  func deadEpochs() async throws {
    try await Self.with { bench, path in
      let zone = try Sample.zone()
      for number in 1...5 as ClosedRange<UInt64> {
        _ = try await bench.store.settle(Self.op("ada/phone/1", 1, number), in: zone)
      }
      bench.clock.advance(by: StoreLimits.deadEpochsRemembered + .seconds(60))
      _ = try await bench.store.settle(Self.op("ada/laptop/1", 1), in: zone)
      #expect(try Self.count("ops", in: path) == 6, "an epoch that may go on keeps them")
      _ = try await bench.store.settle(Self.op("ada/phone/1", 2), in: zone)
      #expect(try Self.count("ops", in: path) == 2)
    }
  }

  @Test("TRU-03: a device that never says what it has heard keeps so many outcomes")
  func outcomes() async throws {
    try await Self.with { bench, path in
      let zone = try Sample.zone()
      let most = UInt64(StoreLimits.outcomesKept)
      for number in 1...most + 10 { _ = try await bench.store.settle(Self.op("ada/phone/1", 1, number), in: zone) }
      let kept = try Self.count("ops", in: path)
      #expect(kept <= StoreLimits.outcomesKept && kept >= StoreLimits.outcomesKept / 2)
      #expect(try await bench.store.settle(Self.op("ada/phone/1", 1, most), in: zone) == .aborted)
      await #expect(throws: CaravanError.self) {
        try await bench.store.settle(Self.op("ada/phone/1", 1, 1), in: zone)
      }
      // As after a restart, when they are counted.
      bench.kill()
      try await bench.open()
      for number in most + 11...most + 20 {
        _ = try await bench.store.settle(Self.op("ada/phone/1", 1, number), in: zone)
      }
      #expect(try Self.count("ops", in: path) == kept + 10)
    }
  }

  @Test("TRU-03: an epoch whose group is open keeps its row")
  func groups() async throws {
    try await Self.with { bench, path in
      let zone = try Sample.zone()
      _ = try await bench.store.beginGroup(Self.op("ada/phone/1", 1), floor: 0, in: zone)
      for epoch in 2...100 as ClosedRange<UInt64> {
        bench.clock.advance(by: .seconds(1))
        _ = try await bench.store.settle(Self.op("ada/phone/1", epoch), in: zone)
      }
      #expect(try Self.count("writers", in: path, where: "epoch = 1") == 1)
      #expect(try Self.count("writers", in: path) == StoreLimits.epochsOfDevice)
    }
  }

  @Test("TRU-03: a user has so many epochs in a file, others go on, and a known device too")
  func users() async throws {
    try await Self.with { bench, path in
      let zone = try Sample.zone()
      var refusal: CaravanError?
      for number in 0..<UInt64(StoreLimits.epochsOfUser) + 1 {
        let each = UInt64(StoreLimits.epochsOfDevice)
        do throws(CaravanError) {
          _ = try await bench.store.settle(Self.op("ada/d\(number / each)/1", 1 + number % each), in: zone)
        } catch { refusal = error }
      }
      #expect(refusal?.code == .limitExceeded)
      #expect(try Self.count("writers", in: path) == StoreLimits.epochsOfUser)
      _ = try await bench.store.settle(Self.op("ada/d0/1", 1, 2), in: zone)
      _ = try await bench.store.settle(Self.op("bob/phone/1", 1), in: try Sample.zone(of: "bob"))
      // A user whose name begins alike is another one.
      _ = try await bench.store.settle(Self.op("ada2/phone/1", 1), in: try Sample.zone(of: "ada2"))
      await #expect(throws: CaravanError.self) {
        try await bench.store.settle(Self.op(WriterName.settling(for: "ada/d0/1"), 1), in: zone)
      }
    }
  }

  @Test("TRU-03: zones made and deleted without end are those of one owner")
  func zones() async throws {
    try await Self.with { bench, path in
      var refusal: CaravanError?
      for number in 0...StoreLimits.zonesOfOwner where refusal == nil {
        let zone = try ZoneID(Sample.database("ada", "app\(number % 3)"), "z\(number % 7)")
        do throws(CaravanError) {
          _ = try await bench.store.createZone(zone, writer: "")
          _ = try await bench.store.deleteZone(zone, writer: "")
        } catch {
          refusal = error
          #expect(number == StoreLimits.zonesOfOwner)
        }
      }
      #expect(refusal?.code == .limitExceeded)
      _ = try await bench.store.createZone(try Sample.zone(of: "bob"), writer: "")
      // Deleted ones count for a month, and then the owner has its share again.
      try await BurialConformance.collect(bench)
      try await BurialConformance.collect(bench, after: .zero)
      _ = try await bench.store.createZone(try Sample.zone("again"), writer: "")
      #expect(try Self.count("zones", in: path) <= 30, "of each database and name the last, of each database one")
    }
  }

  @Test("TRU-03: a file whose numbers run out says so in a metric, and what it knows goes on")
  func warning() async throws {
    try await withTemporaryDirectory(isInMemory: true) { path in
      let bench = StoreBench(.sqlite(.simulation(.directory(path))))
      try await bench.open()
      let zone = try Sample.zone()
      _ = try await bench.store.settle(Self.op("ada/phone/1", 1), in: zone)
      await bench.close()
      let db = try Connection(.file("\(path)/store-0.db"), ConnectionOptions())
      try db.run("UPDATE writers SET id = ?", Int64(0x7f_ffff))
      db.close()
      try await bench.open()
      let shown = bench.host.metrics.snapshot().prometheusText
      #expect(shown.contains(#"caravan_storage_numbers_used_ratio{file="0",kind="writers"} 1"#))
      let refusal = await #expect(throws: CaravanError.self) {
        try await bench.store.settle(Self.op("ada/phone/1", 2), in: zone)
      }
      #expect(refusal?.code == .limitExceeded)
      _ = try await bench.store.settle(Self.op("ada/phone/1", 1, 2), in: zone)
      await bench.close()
    }
  }
}
