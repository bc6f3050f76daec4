import CaravanBackup
import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanStorePostgres
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: what devices offer a restored store again it takes where nobody knows better, and nowhere else (UNI-18, I1,
/// I6, I7, I9). Method: a store is filled, backed up, written to further, and restored; then devices of before come.
@Suite(.timeLimit(.minutes(2))) struct ReconciliationTests {
  /// Of restores at the moment at which clocks of tests begin.
  static let reach = (try? reach(after: 1, at: ManualClock().wallTime)) ?? 0

  private static func reach(
    after known: Seq, madeAt made: WallTime? = nil, at now: WallTime
  ) throws(CaravanError) -> Seq {
    try ArchiveLimits.reach(after: known, madeAt: (made ?? now).milliseconds, at: now.milliseconds)
  }

  /// - Parameters:
  ///   - later: what happens to the old store after the backup.
  ///   - times: how often it is restored, each time from a backup of what was restored before.
  ///   - meanwhile: what happens to a first restored store, before the same backup is restored once more; nil: once.
  private static func withRestored(
    _ engine: BackupTests.Engine, filled: (StoreBench) async throws -> Void,
    later: (StoreBench) async throws -> Void = { _ in }, times: Int = 1,
    meanwhile: ((StoreBench) async throws -> Void)? = nil, _ body: (StoreBench) async throws -> Void
  ) async throws {
    try await BackupTests.with(engine) { origin in
      let old = StoreBench(try origin.plan)
      try await old.open()
      try await filled(old)
      try await withTemporaryDirectory { directory in
        try BackupFile.write(origin.source(), to: "\(directory)/backup", at: old.host.clock.wallTime)
        try await later(old)
        await old.close()
        if let meanwhile {
          try await restore("\(directory)/backup", engine, old.host, times: 1, in: directory, meanwhile)
          old.clock.advance(by: .seconds(1))
        }
        try await restore("\(directory)/backup", engine, old.host, times: times, in: directory, body)
      }
    }
  }

  private static func restore(
    _ backup: String, _ engine: BackupTests.Engine, _ host: CaravanRuntime.Host, times: Int, in directory: String,
    _ body: (StoreBench) async throws -> Void
  ) async throws {
    try await BackupTests.with(engine) { place in
      _ = try BackupFile.restore(backup, at: host.clock.wallTime) { () throws(CaravanError) in
        try place.sink(host)
      } checking: { () throws(CaravanError) in
        try place.source()
      }
      if times > 1 {
        let next = "\(directory)/backup\(times)"
        try BackupFile.write(place.source(), to: next, at: host.clock.wallTime)
        return try await restore(next, engine, host, times: times - 1, in: directory, body)
      }
      let bench = StoreBench(try place.plan)
      try await bench.open()
      try await body(bench)
      await bench.close()
    }
  }

  private static func offer(_ name: String, _ version: Seq, _ body: [UInt8]) -> CaravanModel.Mutation {
    var offer = Sample.save(name, base: .version(version), body: body)
    offer.isOffer = true
    return offer
  }

  private static func outcome(
    _ bench: StoreBench, _ mutation: CaravanModel.Mutation, by writer: String = "tablet", in zone: String = "t"
  ) async throws -> CaravanModel.Outcome {
    try await bench.outcomes(Sample.zone(zone), [mutation], op: bench.op(writer))[0]
  }

  @Test(
    "UNI-18: an offer is taken over the backup's copy and where there is none; once, however many devices have it",
    arguments: BackupTests.Engine.allCases)
  func offers(engine: BackupTests.Engine) async throws {
    try await Self.withRestored(engine) { (old) async throws in
      try await old.commit(Sample.zone(), [Sample.save("a", body: [1]), Sample.save("b", body: [1])])
    } _: { (bench) async throws in
      let first = Self.reach + 2
      #expect(try await Self.outcome(bench, Self.offer("a", 3, [2])) == .accepted(version: first))
      #expect(try await Self.outcome(bench, Self.offer("new", 4, [4])) == .accepted(version: first + 1))
      guard case .merged(first, let known?) = try await Self.outcome(bench, Self.offer("a", 3, [2]), by: "phone") else {
        Issue.record("the second to offer is told what is there")
        return
      }
      #expect(known.body == [2])
      let newer = try await Self.outcome(bench, Self.offer("a", 7, [7]))
      #expect(newer == .accepted(version: first + 2), "a later version of the same, where nobody changed the earlier")
      guard case .merged(_, let later?) = try await Self.outcome(bench, Self.offer("a", 3, [2])) else {
        Issue.record("the earlier one is known to be older")
        return
      }
      #expect(later.body == [7])
      let edit = Sample.save("b", base: .version(5), body: [5, 5])
      #expect(try await Self.outcome(bench, edit) == .accepted(version: first + 3), "an edit of what was lost, too")
      #expect(
        try await Self.outcome(bench, Self.offer("b", 6, [6]))
          == .conflict(server: bench.store.fetch(["b"], in: Sample.zone())[0]), "which the later version did not know")
      let patch = Sample.save("a", base: .version(3), [1: .integer(1)], WriteTerms(scope: .changed))
      #expect(try await Self.outcome(bench, patch).isConflict, "of a patch nobody knows what it was a patch of")
    }
  }

  @Test(
    "UNI-18, E16: an offer was made before the restore: an edit of after it is later, though it comes first",
    arguments: [CaravanModel.ConflictPolicy.fieldMerge, .lastWriterWins], BackupTests.Engine.allCases)
  func pastRowsAreOld(policy: CaravanModel.ConflictPolicy, engine: BackupTests.Engine) async throws {
    func row(_ number: Int64, _ base: Base, _ stamp: HybridStamp? = nil) -> CaravanModel.Mutation {
      var terms = WriteTerms(policy: policy, stamp: stamp)
      if let stamp { terms.fieldStamps = [1: stamp] }
      return Sample.save("a", base: base, [1: .integer(number)], terms)
    }
    try await Self.withRestored(engine) { (old) async throws in
      try await old.commit(Sample.zone(), [row(1, .absent)])
    } _: { (bench) async throws in
      bench.clock.advance(by: .seconds(10))
      var offer = row(2, .version(3))
      offer.isOffer = true
      #expect(try await Self.outcome(bench, offer) == .accepted(version: Self.reach + 2))
      let restored = HybridStamp(milliseconds: ManualClock().wallTime.milliseconds)
      let edit = row(3, .version(1), restored.moved(by: 5_000))
      _ = try await Self.outcome(bench, edit, by: "phone")
      let body = try await bench.store.fetch(["a"], in: Sample.zone())[0].body
      #expect(try RecordFields(body: body)[1] == .integer(3))
      let before = row(4, .version(1), restored.moved(by: -5_000))
      _ = try await Self.outcome(bench, before, by: "laptop")
      let after = try await bench.store.fetch(["a"], in: Sample.zone())[0].body
      #expect(after == body, "and one of before it is not")
    }
  }

  @Test(
    "I9, UNI-18: what was deleted since the restore is not offered back", arguments: BackupTests.Engine.allCases)
  func deletions(engine: BackupTests.Engine) async throws {
    try await Self.withRestored(engine) { (old) async throws in
      try await old.commit(Sample.zone(), [Sample.save("a"), Sample.save("b")])
    } _: { (bench) async throws in
      _ = try await Self.outcome(bench, Self.offer("known", 5, [5]))
      _ = try await Self.outcome(bench, Sample.delete("known", base: .any))
      guard case .merged(_, let tombstone?) = try await Self.outcome(bench, Self.offer("known", 5, [5])) else {
        Issue.record("whoever has what was deleted is told so")
        return
      }
      #expect(tombstone.isDeleted)
      #expect(try await Self.outcome(bench, Self.offer("known", 6, [6])).isConflict, "it was not this that was deleted")
      _ = try await Self.outcome(bench, Sample.delete("a"))
      #expect(try await Self.outcome(bench, Self.offer("a", 4, [4])).isConflict, "nor this")
      _ = try await Self.outcome(bench, Sample.delete("unoffered", base: .version(8)))
      guard case .merged = try await Self.outcome(bench, Self.offer("unoffered", 8, [8])) else {
        Issue.record("a deletion of what the store never had again counts as well")
        return
      }
      var deletion = Sample.delete("unheard", base: .absent)
      deletion.isOffer = true
      _ = try await Self.outcome(bench, deletion)
      #expect(
        try await Self.outcome(bench, Self.offer("unheard", 9, [9])).isConflict,
        "nor what was deleted by somebody who never heard that it had arrived")
      var again = Sample.save("known", base: .absent, body: [5])
      again.isOffer = true
      #expect(
        try await Self.outcome(bench, again).isConflict, "nor by who had it from somebody who never heard that")
      let stranger = ChangeQuery.Reader(writer: "stranger", epoch: 1)
      let page = try await bench.page(ChangeQuery(zone: Sample.zone(), reader: stranger, isFresh: true))
      #expect(page.entries.filter(\.deleted).map(\.name).contains("known"), "its tombstone is for everybody")
      again.isOffer = false
      let isConflict = try await Self.outcome(bench, again).isConflict
      #expect(!isConflict, "who makes it anew knows what they do")
    }
  }

  @Test(
    "UNI-18: a zone that the backup has not heard of goes on behind its lost versions; one that was deleted is gone",
    arguments: BackupTests.Engine.allCases)
  func zones(engine: BackupTests.Engine) async throws {
    try await Self.withRestored(engine) { (old) async throws in
      try await old.commit(Sample.zone(), [Sample.save("a")])
      try await old.commit(Sample.zone("dead"), [Sample.save("a")])
      _ = try await old.store.deleteZone(Sample.zone("dead"), writer: "phone")
    } _: { (bench) async throws in
      let reader = ChangeQuery.Reader(writer: "tablet", epoch: 1)
      for name in ["later", "dead"] {
        let zone = try Sample.zone(name)
        let lost = LostRange(after: name == "dead" ? 1 : 0, through: Self.reach)
        let position = CaravanModel.ChangePosition(incarnation: 77, seq: 9)
        for query in [
          ChangeQuery(zone: zone, position: position, reader: reader), ChangeQuery(zone: zone, reader: reader),
        ] {
          let page = try await bench.store.changes(query)
          #expect(page.resetRequired && page.lost == [lost], "\(name)")
        }
        let beginning = try await bench.store.changes(ChangeQuery(zone: zone, reader: reader, isFresh: true))
        let waiting = ChangeQuery(zone: zone, position: beginning.next, reader: reader)
        #expect(try await !bench.store.changes(waiting).resetRequired)
        let outcome = try await Self.outcome(bench, Self.offer("r", 7, [7]), in: name)
        #expect(outcome == .accepted(version: lost.through + (name == "dead" ? 1 : 2)))
        #expect(try await bench.store.changes(ChangeQuery(zone: zone, reader: reader)).lost == [lost])
        #expect(try await !bench.store.changes(waiting).resetRequired, "it has known that since")
        _ = try await bench.store.deleteZone(zone, writer: "phone")
        let gone = try await bench.store.changes(ChangeQuery(zone: zone, position: position, reader: reader))
        #expect(gone.resetRequired && gone.lost.isEmpty, "what was lost went with the zone")
        #expect(try await Self.outcome(bench, Self.offer("r", 7, [7]), in: name).isConflict)
      }
    }
  }

  @Test("UNI-18: the second restore knows what the first one lost", arguments: BackupTests.Engine.allCases)
  func twice(engine: BackupTests.Engine) async throws {
    try await Self.withRestored(
      engine, filled: { (old) async throws in _ = try await old.commit(Sample.zone(), [Sample.save("a")]) }, times: 2
    ) { (bench) async throws in
      let reader = ChangeQuery.Reader(writer: "tablet", epoch: 1)
      let both = [
        LostRange(after: 1, through: Self.reach),
        LostRange(after: Self.reach + 1, through: Self.reach + 1 + ArchiveLimits.gap),
      ]
      #expect(try await bench.store.changes(ChangeQuery(zone: Sample.zone(), reader: reader)).lost == both)
      let unknown = [LostRange(after: 0, through: Self.reach + ArchiveLimits.gap)]
      #expect(try await bench.store.changes(ChangeQuery(zone: Sample.zone("u"), reader: reader)).lost == unknown)
      let accepted = CaravanModel.Outcome.accepted(version: Self.reach + ArchiveLimits.gap + 2)
      #expect(try await Self.outcome(bench, Self.offer("r", Self.reach + 5, [5]), in: "u") == accepted)
    }
  }

  @Test(
    "UNI-18: a backup that is restored again gives no version that its first restore gave",
    arguments: BackupTests.Engine.allCases)
  func older(engine: BackupTests.Engine) async throws {
    let given = Mutex<[Seq]>([])
    let partition = Partition(of: try Sample.zone().database)
    let end = Mutex<UInt64>(0)
    try await Self.withRestored(engine) { (old) async throws in
      try await old.commit(Sample.zone(), [Sample.save("a")])
    } meanwhile: { (first) async throws in
      let known = try await first.commit(Sample.zone(), [Sample.save("b")], op: first.op("laptop")).accepted
      let new = try await first.commit(Sample.zone("new"), [Sample.save("c")], op: first.op("laptop")).accepted
      given.withLock { $0 = known + new }
      let head = try await first.store.logHeads()[partition] ?? 0
      end.withLock { $0 = head }
    } _: { (second) async throws in
      let given = given.withLock { $0 }
      #expect(given == [Self.reach + 2, Self.reach + 2])
      let reader = ChangeQuery.Reader(writer: "tablet", epoch: 1)
      for (name, version) in zip(["t", "new"], given) {
        let zone = try Sample.zone(name)
        let lost = try await second.store.changes(ChangeQuery(zone: zone, reader: reader)).lost
        #expect(lost.count == 1 && lost.first?.contains(version) == true, "\(lost)")
        guard case .accepted(let next) = try await Self.outcome(second, Self.offer("d", version, [4]), in: name) else {
          Issue.record("what only the first restore had is taken back")
          return
        }
        #expect(next > version)
        let earlier = try await Self.outcome(second, Self.offer("d", 3, [3]), by: "phone", in: name)
        #expect(earlier.isConflict, "of the life before, which did not know this one")
      }
      let log = try await second.store.log(of: partition, after: end.withLock { $0 }, atMost: 100)
      #expect(log.isTrimmed, "whoever followed the first one's log reads the zones anew")
    }
  }

  @Test("UNI-18: versions end in 2054, and with a clock that is beyond it, which is said")
  func reach() throws {
    #expect(try Self.reach(after: 7, at: WallTime(milliseconds: 0)) == 7 + ArchiveLimits.gap)
    #expect(try Self.reach(after: 7, at: WallTime(milliseconds: 1_577_836_800_000 + 99 << 32)) == 99 << 32)
    for (known, time) in [(Seq(7), Int64(2_700_000_000_000)), (StoreLimits.highestNumber - 9, 0)] {
      let error = #expect(throws: CaravanError.self) {
        try Self.reach(after: known, at: WallTime(milliseconds: time))
      }
      #expect(error?.code == .limitExceeded && error?.message.contains("clock") == true)
    }
  }

  @Test(
    "TRU-19: restores begin later lives behind all that earlier ones were given, however soon they follow")
  func soon() throws {
    let start = ManualClock().wallTime
    func at(_ seconds: Int64) -> WallTime { WallTime(milliseconds: start.milliseconds + seconds * 1_000) }
    let first = try Self.reach(after: 9, madeAt: at(-100), at: at(0))
    // Of the first life, a backup half a minute later; it comes back twice, and then the one of before it.
    for known in [first + 40, first + 40_000] {
      let again = try [10, 60, 600].map { try Self.reach(after: known, madeAt: at(30), at: at(30 + $0)) }
      #expect(again.allSatisfy { $0 > known })
      #expect(again[1] - again[0] == 50_000 && again[2] - again[1] == 540_000, "a number for each millisecond")
    }
    let second = try Self.reach(after: first + 40, madeAt: at(30), at: at(60))
    #expect(try Self.reach(after: 9, madeAt: at(-100), at: at(120)) >= second + 60_000)
  }

  @Test(
    "TRU-19: changes of one row in two lives that one backup began minutes apart are a conflict to decide",
    arguments: BackupTests.Engine.allCases)
  func minutesApart(engine: BackupTests.Engine) async throws {
    try await Self.withRestored(engine) { (old) async throws in
      try await old.commit(Sample.zone(), [Sample.save("a"), Sample.save("b"), Sample.save("c")])
      // Restores of it begin after it, and the third does not know of the two between.
      old.clock.advance(by: .seconds(3_600))
    } _: { (third) async throws in
      let (first, second) = (Self.reach + 5, Self.reach + 5 + 600_000)
      _ = try await Self.outcome(third, Self.offer("a", second, [2]))
      #expect(try await Self.outcome(third, Self.offer("a", first, [1]), by: "phone").isConflict)
      _ = try await Self.outcome(third, Self.offer("b", first, [1]))
      #expect(try await Self.outcome(third, Self.offer("b", second, [2]), by: "phone").isConflict)
      _ = try await Self.outcome(third, Self.offer("c", second, [2]))
      guard case .merged = try await Self.outcome(third, Self.offer("c", second - 900, [1]), by: "phone") else {
        Issue.record("an earlier version of the same life is known")
        return
      }
    }
  }

  @Test("I9: once a tombstone of after the restore has been purged, an offer is for its owner to decide")
  func purged() {
    let lost = [LostRange(after: 5, through: 50)]
    for (purged, expected) in [(Seq(5), ZoneCommit.Verdict.accepted(version: 61)), (55, .conflict(name: "r"))] {
      var facts = ZoneFacts()
      facts.past = ZonePast(lost: lost, purged: purged)
      let plan = ZoneCommit(zoneSeq: 60, facts: facts).plan(Sample.commit([Self.offer("r", 9, [9])]))
      guard case .decided(_, let verdicts, _) = plan else {
        Issue.record("\(plan)")
        continue
      }
      #expect(verdicts == [expected])
    }
  }
}

extension CaravanModel.Outcome {
  fileprivate var isConflict: Bool { if case .conflict = self { true } else { false } }
}
