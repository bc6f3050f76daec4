import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: any store tells whoever may hold a record of its end, and forgets deletions when nobody waits for them.
/// Method: the protocol only, with time in the test's hands.
@Suite(.timeLimit(.minutes(2))) struct TombstoneConformance {
  private static let rule: TombstoneRule = {
    var rule = TombstoneRule()
    (rule.activity, rule.grace) = (.seconds(86_400), .seconds(3_600))
    return rule
  }()

  private static func query(
    _ zone: ZoneID, _ device: String, from position: CaravanModel.ChangePosition? = nil, isFresh: Bool = false
  ) -> ChangeQuery {
    ChangeQuery(
      zone: zone, position: position, reader: .init(writer: device, epoch: 1), isFresh: isFresh)
  }

  /// All maintenance, in two visits a grace apart: only then is a tombstone known to be old.
  private static func purge(_ bench: StoreBench, afterGrace: Bool = true) async throws {
    while try await bench.store.collect() {}
    if afterGrace { bench.clock.advance(by: rule.grace) }
    while try await bench.store.collect() {}
  }

  @Test("CK-43: a copy that a conflict showed is told of its end", arguments: StoreKind.allCases)
  func copies(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("first")])
      let (start, _) = try await bench.page(Self.query(zone, "tablet"))
      try await bench.commit(zone, [Sample.save("x")])
      let shown = try await bench.outcomes(zone, [Sample.save("x", base: .absent)], op: bench.op("tablet"))
      guard case .conflict(.some) = shown.first else { throw Unexpected(shown) }
      try await bench.commit(zone, [Sample.delete("x")])
      let (_, told) = try await bench.page(Self.query(zone, "tablet", from: start.next))
      #expect(told.map(\.name) == ["x"] && told.allSatisfy(\.deleted))
      let (_, others) = try await bench.page(Self.query(zone, "watch", from: start.next))
      #expect(others.isEmpty, "who neither pulled nor was shown it needs no end of it")
    }
  }

  @Test(
    "CK-43, UNI-07: so is a copy that the same op shows when it is sent again, or settled",
    arguments: StoreKind.allCases)
  func replayedCopies(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("x")])
      let (op, mutation) = (bench.op("tablet"), Sample.save("x", base: .absent))
      try await bench.commit(zone, [mutation], op: op)
      let (start, _) = try await bench.page(Self.query(zone, "tablet"))
      try await bench.commit(zone, [Sample.delete("x")])
      // Far beyond what one footprint covers.
      for batch in 0..<12 {
        try await bench.commit(zone, (0..<400).map { Sample.save("\(batch).\($0)", body: []) })
      }
      let (middle, _) = try await bench.page(Self.query(zone, "tablet", from: start.next?.moved(to: 4_801)))
      try await bench.commit(zone, [Sample.save("y")])
      try await bench.commit(zone, [Sample.delete("x", base: .any), Sample.save("x")])
      _ = try await bench.store.settle(op, in: zone)
      try await bench.commit(zone, [Sample.delete("x")])
      let (_, told) = try await bench.page(Self.query(zone, "tablet", from: middle.next))
      #expect(told.filter(\.deleted).map(\.name) == ["x"])
    }
  }

  @Test(
    "CK-44: tombstones go once every active device has seen them, and not before their grace",
    arguments: StoreKind.allCases)
  func purging(kind: StoreKind) async throws {
    try await StoreBench.with(kind, tombstones: Self.rule) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("a"), Sample.save("b")])
      let (phone, _) = try await bench.page(Self.query(zone, "phone"))
      let (tablet, _) = try await bench.page(Self.query(zone, "tablet"))
      try await bench.commit(zone, [Sample.delete("a")], op: bench.op("@server"))
      let (later, _) = try await bench.page(Self.query(zone, "phone", from: phone.next))
      _ = try await bench.page(Self.query(zone, "phone", from: later.next))
      func isKept() async throws -> Bool { try await !bench.store.fetch(["a"], in: zone).isEmpty }

      try await Self.purge(bench, afterGrace: false)
      #expect(try await isKept(), "the deletion is recent")
      try await Self.purge(bench)
      #expect(try await isKept(), "the tablet has not seen it")
      let (seen, told) = try await bench.page(Self.query(zone, "tablet", from: tablet.next))
      #expect(told.map(\.deleted) == [true])
      try await Self.purge(bench)
      #expect(try await isKept(), "that it was sent does not mean that it arrived")
      _ = try await bench.page(Self.query(zone, "tablet", from: seen.next))
      try await Self.purge(bench)
      #expect(try await !isKept())
      #expect(try await bench.pull(zone).map(\.name) == ["b"])
      #expect(try await bench.store.status().records == 1)
      let made = try await bench.commit(zone, [Sample.save("a", base: .absent)])
      #expect(made.accepted == [4])
      #expect(try await bench.store.fetch(["a"], in: zone).first?.created == 4, "nobody holds the one before (E11)")
    }
  }

  @Test("CK-44, I17: who was away too long is reset; who lists the zone anew is not", arguments: StoreKind.allCases)
  func away(kind: StoreKind) async throws {
    try await StoreBench.with(kind, tombstones: Self.rule) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, (0..<10).map { Sample.save("r\($0)") }, op: bench.op("@server"))
      let (left, _) = try await bench.page(Self.query(zone, "tablet"))
      try await bench.commit(zone, [Sample.delete("r3"), Sample.delete("r7")], op: bench.op("@server"))
      try await Self.purge(bench)
      #expect(try await bench.pull(zone, from: left.next).count == 2, "it is active")
      bench.clock.advance(by: Self.rule.activity)
      try await Self.purge(bench)
      #expect(try await bench.store.changes(Self.query(zone, "tablet", from: left.next)).resetRequired)
      for size in 1...8 {
        #expect(try await bench.pull(zone, maxRecords: size).count == 8, "a listing goes on below what was purged")
      }
      // A listing that was cut, and then left lying while more was purged.
      let (cut, _) = try await bench.page(ChangeQuery(zone: zone, maxRecords: 3))
      try await bench.commit(zone, [Sample.delete("r0")], op: bench.op("@server"))
      try await Self.purge(bench)
      #expect(try await bench.store.changes(ChangeQuery(zone: zone, position: cut.next)).resetRequired)
    }
  }

  @Test("CK-44, UNI-18: who wrote and never pulled is reset once, then lists the zone", arguments: StoreKind.allCases)
  func writerOnly(kind: StoreKind) async throws {
    try await StoreBench.with(kind, tombstones: Self.rule) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("mine"), Sample.save("other")], op: bench.op("sensor"))
      try await bench.commit(zone, [Sample.delete("mine")], op: bench.op("@server"))
      try await Self.purge(bench)
      #expect(try await bench.store.fetch(["mine"], in: zone).isEmpty, "nobody pulls")
      #expect(try await bench.store.changes(Self.query(zone, "sensor")).resetRequired)
      let (page, entries) = try await bench.page(Self.query(zone, "sensor", isFresh: true))
      #expect(!page.resetRequired && entries.map(\.name) == ["other"])
      let next = try await bench.store.changes(Self.query(zone, "sensor", from: page.next))
      #expect(!next.resetRequired)
      try await bench.commit(zone, [Sample.save("late")], op: bench.op("watch"))
      let watch = try await bench.store.changes(Self.query(zone, "watch"))
      #expect(!watch.resetRequired, "what was purged before its first commit it never held")
    }
  }

  @Test("MOB-50, MOB-53: where devices are survives a restart", arguments: StoreKind.reopening)
  func restart(kind: StoreKind) async throws {
    try await StoreBench.with(kind, tombstones: Self.rule) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("a"), Sample.save("b")], op: bench.op("@server"))
      let (left, _) = try await bench.page(Self.query(zone, "tablet"))
      _ = try await bench.page(Self.query(zone, "tablet", from: left.next))
      _ = try await bench.store.collect()
      bench.kill()
      try await bench.open()
      try await bench.commit(zone, [Sample.delete("a")], op: bench.op("@server"))
      try await Self.purge(bench)
      let (_, told) = try await bench.page(Self.query(zone, "tablet", from: left.next))
      #expect(told.map(\.deleted) == [true], "it was seen before the crash, and is waited for")
    }
  }

  @Test("a deleted zone leaves nothing of its devices", arguments: StoreKind.allCases)
  func zoneGone(kind: StoreKind) async throws {
    try await StoreBench.with(kind, tombstones: Self.rule) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("a"), Sample.delete("a")], op: bench.op("phone"))
      _ = try await bench.page(Self.query(zone, "phone"))
      try await Self.purge(bench)
      _ = try await bench.store.deleteZone(zone, writer: "phone")
      try await Self.purge(bench)
      let gone = try await bench.store.changes(Self.query(zone, "phone", isFresh: true))
      try await bench.commit(zone, [Sample.save("b")], op: bench.op("@server"))
      let (page, entries) = try await bench.page(Self.query(zone, "phone", from: gone.next))
      #expect(!page.resetRequired && entries.map(\.name) == ["b"])
    }
  }
}
