import CaravanModel
import CaravanStore
import CaravanWire
import Testing

/// Goal: any store gives the newest first where that is asked for, and nothing is missed on the way back or after it.
@Suite(.timeLimit(.minutes(2))) struct ReverseConformance {
  @Test("CK-47: backwards from the head, then forward from there", arguments: StoreKind.allCases)
  func wayBack(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, (0..<10).map { Sample.save("r\($0)") })
      var query = ChangeQuery(zone: zone, mode: .reverse, maxRecords: 4)
      let (first, newest) = try await bench.page(query)
      #expect(newest.map(\.name) == ["r9", "r8", "r7", "r6"] && first.more && first.head == 10)

      // Seen on the way already, not yet seen, new.
      try await bench.commit(zone, [Sample.delete("r8"), Sample.save("r1", body: [9]), Sample.save("new")])
      var names: [String] = []
      (query.position, query.maxRecords) = (first.next, 3)
      var isBackwards = true
      while isBackwards {
        let (page, entries) = try await bench.page(query)
        names += entries.map(\.name)
        #expect(page.more, "the way forward remains")
        query.position = page.next
        isBackwards = page.next?.isReverse ?? false
      }
      #expect(names == ["r5", "r4", "r3", "r2", "r0"], "r1 has moved on")
      query.maxRecords = 10
      let (last, news) = try await bench.page(query)
      #expect(news.map(\.name) == ["r8", "r1", "new"] && news.map(\.deleted) == [true, false, false] && !last.more)
      #expect(try await bench.pull(zone, from: last.next).isEmpty)
    }
  }

  @Test("UNI-15: who has enough of the past turns forward and hears the news only", arguments: StoreKind.allCases)
  func enough(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, (0..<10).map { Sample.save("r\($0)") })
      let (newest, _) = try await bench.page(ChangeQuery(zone: zone, mode: .reverse, maxRecords: 2))
      try await bench.commit(zone, [Sample.save("new")])
      #expect(try await bench.pull(zone, from: newest.next).map(\.name) == ["new"])
    }
  }

  @Test("CK-47: an empty way back, and none at all", arguments: StoreKind.allCases)
  func nothing(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      #expect(try await bench.store.changes(ChangeQuery(zone: zone, mode: .reverse)) == ChangePage())
      try await bench.commit(zone, [Sample.save("a"), Sample.delete("a")])
      let (page, entries) = try await bench.page(ChangeQuery(zone: zone, mode: .reverse))
      let end = CaravanModel.ChangePosition(incarnation: page.next?.incarnation ?? 0, seq: 2)
      #expect(entries.isEmpty && !page.more && page.next == end)
    }
  }

  // MARK: Meta-sync

  @Test("CK-48: which zones changed, each once, in the order of their latest change", arguments: StoreKind.allCases)
  func metaSync(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let database = Sample.database()
      func ask(_ position: CaravanModel.DatabasePosition?, atMost count: Int = 100) async throws -> ZoneChangePage {
        try await bench.store.changedZones(ZoneChangeQuery(database: database, position: position, maxZones: count))
      }
      let empty = try await ask(nil)
      #expect(empty.zones.isEmpty && !empty.more && !empty.resetRequired)
      for name in ["a", "b", "c"] { try await bench.commit(Sample.zone(name), [Sample.save("x")]) }
      try await bench.commit(Sample.zone("other", of: "bob"), [Sample.save("x")])
      try await bench.commit(Sample.zone("a"), [Sample.save("y")])
      let all = try await ask(nil)
      #expect(all.zones.map(\.name) == ["b", "c", "a"] && all.zones.map(\.seq) == [1, 1, 2] && !all.more)
      #expect(try await ask(empty.next).zones == all.zones, "nothing was there then")
      #expect(try await ask(all.next) == ZoneChangePage(next: all.next))

      try await bench.commit(Sample.zone("b"), [Sample.save("x", base: .absent)])
      #expect(try await ask(all.next).zones.isEmpty, "a conflict changes nothing")
      _ = try await bench.store.deleteZone(Sample.zone("c"), writer: "phone")
      _ = try await bench.store.deleteZone(Sample.zone("a"), writer: "phone")
      try await bench.commit(Sample.zone("a"), [Sample.save("z")])
      let news = try await ask(all.next)
      #expect(news.zones.map(\.name) == ["c", "a"] && news.zones.map(\.isDeleted) == [true, false])
      #expect(news.zones.last?.incarnation != all.zones.last?.incarnation)
      #expect(try await ask(nil).zones.map(\.name) == ["b", "a"], "who begins needs no deletions")

      var names: [String] = []
      var position = empty.next
      while true {
        let page = try await ask(position, atMost: 1)
        names += page.zones.map(\.name)
        position = page.next
        if !page.more { break }
      }
      #expect(names == ["b", "c", "a"])
      var foreign = all.next
      foreign?.life += 1
      #expect(try await ask(foreign).resetRequired)
      #expect(try await ask(CaravanModel.DatabasePosition(life: all.next?.life ?? 0, log: 1_000)).resetRequired)
    }
  }
}
