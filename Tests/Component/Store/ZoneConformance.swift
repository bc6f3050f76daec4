import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanWire
import Testing

/// Goal: any store keeps the promises of zones, the log and what observers hear.
@Suite(.timeLimit(.minutes(2))) struct ZoneConformance {
  @Test("CK-45: a zone made anew is another one, and no old version fits in it", arguments: StoreKind.allCases)
  func incarnations(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("a"), Sample.save("b")])
      let (before, _) = try await bench.page(ChangeQuery(zone: zone))
      #expect(try await bench.store.deleteZone(zone, writer: "phone"))
      #expect(try await bench.store.deleteZone(zone, writer: "phone") == false)
      #expect(try await bench.store.fetch(["a"], in: zone).isEmpty)
      let gone = try await bench.store.changes(ChangeQuery(zone: zone, position: before.next))
      #expect(gone.resetRequired && gone.count == 0)
      #expect(try await bench.store.changes(ChangeQuery(zone: zone)) == ChangePage())

      let stale = try await bench.outcomes(zone, [Sample.save("a", base: .version(1))])
      #expect(stale == [.conflict(server: nil)])
      let made = try await bench.commit(zone, [Sample.save("a"), Sample.save("b")])
      #expect(made.accepted == [3, 4], "versions continue those of the life before")
      let (after, entries) = try await bench.page(ChangeQuery(zone: zone))
      #expect(after.next?.incarnation != before.next?.incarnation && entries.map(\.version) == [3, 4])
      let old = try await bench.store.changes(ChangeQuery(zone: zone, position: before.next))
      #expect(old.resetRequired && old.count == 0)
      let ahead = try await bench.store.changes(ChangeQuery(zone: zone, position: after.next?.moved(to: 9)))
      #expect(ahead.resetRequired, "a position the zone never reached is of a history that was lost")
    }
  }

  @Test("CK-45: what a device wrote to a life of the zone that it never pulled is gone, and it hears so, once")
  func unseenIncarnations() async throws {
    for kind in StoreKind.allCases {
      try await StoreBench.with(kind) { bench in
        let zone = try Sample.zone()
        func ask(_ position: CaravanModel.ChangePosition?, isFresh: Bool = false) async throws -> ChangePage {
          let reader = ChangeQuery.Reader(writer: "phone", epoch: 1)
          return try await bench.store.changes(
            ChangeQuery(zone: zone, position: position, reader: reader, isFresh: isFresh))
        }
        let before = try await ask(nil)
        #expect(before.next == ChangePosition(incarnation: 0, seq: 0) && !before.resetRequired)
        try await bench.commit(zone, [Sample.save("a"), Sample.save("b")])
        #expect(try await ask(before.next).count == 2, "it is the first life")
        _ = try await bench.store.deleteZone(zone, writer: "tablet")
        let over = try await ask(before.next)
        #expect(over.resetRequired && over.next == ChangePosition(incarnation: 0, seq: 2))
        #expect(try await ask(nil).resetRequired, "it may have lost its position, and hold what it wrote")
        let gone = try await ask(nil, isFresh: true)
        #expect(gone.next == ChangePosition(incarnation: 0, seq: 2) && !gone.resetRequired)
        #expect(try await !ask(gone.next).resetRequired)
        try await bench.commit(zone, [Sample.save("c")])
        #expect(try await ask(gone.next).count == 1)
        _ = try await bench.store.deleteZone(zone, writer: "tablet")
        try await bench.commit(zone, [Sample.save("d")])
        #expect(try await ask(gone.next).resetRequired, "a life has passed since")
        #expect(try await bench.store.changes(ChangeQuery(zone: zone)).count == 1, "who never writes holds nothing")
      }
    }
  }

  @Test("a deleted zone's entries go in bounded steps, and only they", arguments: StoreKind.allCases)
  func purge(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let (zone, other) = (try Sample.zone("big"), try Sample.zone("other"))
      for batch in 0..<12 {
        try await bench.commit(zone, (0..<100).map { Sample.save("\(batch).\($0)") })
      }
      try await bench.commit(other, [Sample.save("stays")])
      _ = try await bench.store.deleteZone(zone, writer: "phone")
      try await bench.commit(zone, [Sample.save("new")])
      var steps = 0
      while try await bench.store.collect() { steps += 1 }
      #expect(steps >= 3, "1,200 entries are not removed at once")
      #expect(try await bench.pull(zone).map(\.name) == ["new"])
      #expect(try await bench.pull(other).map(\.name) == ["stays"])
      #expect(try await bench.store.status().records == 2)
    }
  }

  @Test("zones are listed by partition, database, owner and name", arguments: StoreKind.allCases)
  func lists(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let ada = try ["notes", "subscriptions"].map { try ZoneID(Sample.database("ada"), $0) }
      let app = try ZoneID(Sample.database("ada", "photos"), "albums")
      let open = try ZoneID(
        DatabaseID(container: try ContainerID("notes"), environment: .development, owner: nil), "schema")
      for zone in ada + [app, open] { try await bench.commit(zone, [Sample.save("a")]) }
      let partition = Partition(of: Sample.database("ada"))
      func names(_ filter: ZoneFilter, _ partition: Partition) async throws -> [String] {
        try await bench.store.zones(in: partition, filter).map(\.zone.name)
      }
      #expect(try await names(.everything, partition) == ["notes", "subscriptions", "albums"])
      #expect(try await names(.database(Sample.database("ada")), partition) == ["notes", "subscriptions"])
      #expect(try await names(.owner(UserID("ada")), partition) == ["notes", "subscriptions", "albums"])
      #expect(try await names(.named("subscriptions"), partition) == ["subscriptions"])
      #expect(try await names(.database(open.database), Partition(of: open.database)) == ["schema"])
      #expect(try await names(.owner(UserID("bob")), partition) == [])
      _ = try await bench.store.deleteZone(ada[0], writer: "phone")
      #expect(try await names(.everything, partition) == ["subscriptions", "albums"])
      let heads = try await bench.store.zones(in: partition, .owner(UserID("ada")))
      #expect(heads.map(\.seq) == [1, 1] && heads.allSatisfy { $0.incarnation > 0 } && heads[1].zone == app)
    }
  }

  @Test(
    "the log holds every commit that wrote, without holes; observers hear the same in order",
    arguments: StoreKind.allCases)
  func log(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let partition = Partition(of: zone.database)
      try await bench.commit(zone, [Sample.save("a", body: [1]), Sample.save("b"), Sample.save("a", body: [2])])
      try await bench.commit(zone, [Sample.save("a", base: .absent)])
      try await bench.commit(zone, [Sample.delete("b")], op: bench.op("tablet"))
      _ = try await bench.store.deleteZone(zone, writer: "tablet")
      let page = try await bench.store.log(of: partition, after: 0, atMost: 10)
      #expect(page.entries.map(\.position) == [1, 2, 3] && page.head == 3 && !page.isTrimmed)
      #expect(page.entries.map(\.low) == [0, 3, 4] && page.entries.map(\.high) == [3, 4, 4])
      #expect(page.entries.map(\.writer) == ["phone", "tablet", "tablet"])
      #expect(page.entries.map(\.isDeletion) == [false, false, true] && page.entries.allSatisfy { $0.zone == zone })
      #expect(try await bench.store.log(of: partition, after: 1, atMost: 1).entries == [page.entries[1]])
      #expect(try await bench.store.log(of: partition, after: 3, atMost: 9) == LogPage(head: 3))
      #expect(
        try await bench.store.log(of: partition, after: 4, atMost: 9).isTrimmed, "beyond the head is another history")

      let heard = bench.listener.changes
      #expect(heard.map(\.log) == page.entries && heard.allSatisfy { $0.partition == partition })
      #expect(heard[0].entries.map(\.version) == [2, 3] && heard[0].entries.map(\.body) == [[1, 2, 3], [2]])
      #expect(heard[1].entries.map(\.isDeleted) == [true] && heard[2].entries.isEmpty)
    }
  }

  @Test("how far the logs have come is told of all partitions that have one", arguments: StoreKind.allCases)
  func logHeads(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      #expect(try await bench.store.logHeads().isEmpty)
      var expected: [Partition: UInt64] = [:]
      for (number, user) in ["ann", "bob", "cem", "dan"].enumerated() {
        let zone = try Sample.zone(of: user)
        for round in 0...number { try await bench.commit(zone, [Sample.save("r\(round)")]) }
        expected[Partition(of: zone.database), default: 0] += UInt64(number) + 1
      }
      #expect(try await bench.store.logHeads() == expected)
    }
  }

  @Test("status counts zones, live records, chunks", arguments: StoreKind.allCases)
  func status(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      #expect(try await bench.store.status() == StoreStatus())
      for user in ["ada", "bob", "eve"] {
        try await bench.store.stage([Sample.chunk(1), Sample.chunk(2)], in: Sample.database(user))
        let zone = try Sample.zone(of: user)
        try await bench.commit(zone, [Sample.save("a"), Sample.save("b"), Sample.save("a")])
        try await bench.commit(zone, [Sample.delete("b"), Sample.delete("none"), Sample.save("c")])
      }
      #expect(try await bench.store.status().counted == StoreStatus(zones: 3, records: 6, chunks: 6, chunkBytes: 600))
      _ = try await bench.store.deleteZone(Sample.zone(of: "bob"), writer: "x")
      #expect(try await bench.store.status().counted == StoreStatus(zones: 2, records: 4, chunks: 6, chunkBytes: 600))
    }
  }
}
