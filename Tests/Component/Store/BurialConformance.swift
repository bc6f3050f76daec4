import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: rows of zones that were deleted long ago go, and nothing that anybody remembers of such a zone fits one that
/// is made under its name later (TRU-03; CK-45). Method: zones that are made, deleted and made again with a month
/// between, on any store.
@Suite(.timeLimit(.minutes(2))) struct BurialConformance {
  /// Maintenance looks at everything, however often it has to.
  static func collect(
    _ bench: StoreBench, after time: Duration = StoreLimits.deadZonesKept + .seconds(1)
  ) async throws {
    while try await bench.store.collect() {}
    bench.clock.advance(by: time)
    for _ in 0..<3 * Partition.all.count { while try await bench.store.collect() {} }
  }

  private static func isBuried(_ zone: ZoneID, _ bench: StoreBench) async throws -> Bool {
    // Entries of the log that refer to it have gone with it.
    try await bench.store.log(of: Partition(of: zone.database), after: 0, atMost: 1).isTrimmed
  }

  @Test("TRU-03, CK-45: a zone made anew long after gives no version twice", arguments: StoreKind.allCases)
  func versions(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let (zone, other) = (try Sample.zone("gone"), try Sample.zone("other"))
      try await bench.commit(zone, [Sample.save("a"), Sample.save("b")])
      let (before, _) = try await bench.page(ChangeQuery(zone: zone))
      _ = try await bench.store.deleteZone(zone, writer: "phone")
      try await bench.commit(other, [Sample.save("a")])
      #expect(try await !Self.isBuried(zone, bench))
      try await Self.collect(bench, after: StoreLimits.deadZonesKept - .seconds(60))
      #expect(try await !Self.isBuried(zone, bench))
      try await Self.collect(bench, after: .seconds(120))
      #expect(try await Self.isBuried(zone, bench))
      let gone = try await bench.store.changes(ChangeQuery(zone: zone, position: before.next))
      #expect(gone.resetRequired && gone.count == 0)

      let stale = try await bench.outcomes(zone, [Sample.save("a", base: .version(1))])
      #expect(stale == [.conflict(server: nil)])
      let made = try await bench.commit(zone, [Sample.save("a"), Sample.save("b")])
      #expect(made.accepted == [3, 4], "versions continue those of the life before")
      let (after, entries) = try await bench.page(ChangeQuery(zone: zone))
      #expect(after.next?.incarnation != before.next?.incarnation && entries.map(\.version) == [3, 4])
      #expect(try await bench.store.changes(ChangeQuery(zone: zone, position: before.next)).resetRequired)
      // What a device wrote to the old life without ever pulling is gone, and it hears so, once.
      let reader = ChangeQuery.Reader(writer: "tablet", epoch: 1)
      #expect(try await bench.store.changes(ChangeQuery(zone: zone, reader: reader)).resetRequired)
      let anew = try await bench.store.changes(ChangeQuery(zone: zone, reader: reader, isFresh: true))
      #expect(anew.count == 2 && !anew.resetRequired)
      #expect(try await bench.pull(other).map(\.name) == ["a"])
      // A zone that never was begins behind them all.
      let fresh = try await bench.commit(try Sample.zone("fresh"), [Sample.save("a")])
      #expect(fresh.accepted == [3])
    }
  }

  @Test("TRU-03: who follows zones or the log hears of what is forgotten", arguments: StoreKind.allCases)
  func followers(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let database = Sample.database()
      func ask(_ position: CaravanModel.DatabasePosition?, atMost count: Int = 100) async throws -> ZoneChangePage {
        try await bench.store.changedZones(ZoneChangeQuery(database: database, position: position, maxZones: count))
      }
      for name in ["a", "b", "gone"] { try await bench.commit(Sample.zone(name), [Sample.save("x")]) }
      let early = try await ask(nil)
      _ = try await bench.store.deleteZone(Sample.zone("gone"), writer: "phone")
      try await bench.commit(Sample.zone("c"), [Sample.save("x")])
      try await Self.collect(bench)
      #expect(try await ask(early.next).resetRequired, "it may have the zone that nobody can name any more")
      let all = try await ask(nil)
      #expect(all.zones.map(\.name) == ["a", "b", "c"])
      #expect(try await ask(all.next) == ZoneChangePage(next: all.next))
      // Whoever lists all of them page by page comes to the end.
      var names: [String] = []
      var position: CaravanModel.DatabasePosition?
      for _ in 0..<10 {
        let page = try await ask(position, atMost: 1)
        #expect(!page.resetRequired)
        names += page.zones.map(\.name)
        position = page.next
        if !page.more { break }
      }
      #expect(names == ["a", "b", "c"])
      let rest = try await ask(position)
      #expect(rest.zones.isEmpty && !rest.resetRequired)

      let partition = Partition(of: database)
      let head = try #require(try await bench.store.logHeads()[partition])
      #expect(try await bench.store.log(of: partition, after: 0, atMost: 10).isTrimmed)
      let page = try await bench.store.log(of: partition, after: head - 1, atMost: 10)
      #expect(page.entries.map(\.zone.name) == ["c"] && !page.isTrimmed)
    }
  }

  @Test("TRU-03: a zone made and deleted again and again leaves one life", arguments: StoreKind.allCases)
  func sameName(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone("again")
      for _ in 0..<5 {
        try await bench.commit(zone, [Sample.save("a")])
        _ = try await bench.store.deleteZone(zone, writer: "phone")
      }
      try await bench.commit(zone, [Sample.save("b")])
      try await Self.collect(bench)
      #expect(try await bench.commit(zone, [Sample.save("c")]).accepted == [7])
      let reader = ChangeQuery.Reader(writer: "tablet", epoch: 1)
      #expect(try await bench.store.changes(ChangeQuery(zone: zone, reader: reader)).resetRequired)
    }
  }

  @Test("TRU-03: a device that was there long ago, or whose zone is gone, leaves no sighting")
  func sightings() async throws {
    try await withTemporaryDirectory { path in
      let bench = StoreBench(.sqlite(StoreOptions(.directory(path))))
      try await bench.open()
      let zones = [try Sample.zone("a"), try Sample.zone("gone")]
      func see(_ zone: ZoneID, by device: String) async throws {
        _ = try await bench.store.changes(
          ChangeQuery(zone: zone, reader: ChangeQuery.Reader(writer: device, epoch: 1), isFresh: true))
      }
      func count() throws -> Int? {
        let db = try CaravanSQLite.Connection(.file("\(path)/store-0.db"), ConnectionOptions())
        defer { db.close() }
        return try db.first("SELECT count(*) FROM sightings", read: { Int($0.integer(0)) })
      }
      for zone in zones { try await bench.commit(zone, [Sample.save("x")]) }
      for device in ["phone", "tablet"] { try await see(zones[0], by: device) }
      while try await bench.store.collect() {}
      #expect(try count() == 2)
      try await see(zones[1], by: "phone")
      _ = try await bench.store.deleteZone(zones[1], writer: "phone")
      while try await bench.store.collect() {}
      #expect(try count() == 2, "what was seen just before it went is not written after")
      bench.clock.advance(by: StoreLimits.deviceActivity - .seconds(60))
      try await see(zones[0], by: "phone")
      bench.clock.advance(by: .seconds(120))
      while try await bench.store.collect() {}
      #expect(try count() == 1, "the tablet keeps nothing any more")
      await bench.close()
    }
  }
}
