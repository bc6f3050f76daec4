import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: in a public database a record is changed by the user who made it, and by no other, whatever the base, the
/// policy and the way it is committed. Method: the protocol only, on every kind of store.
@Suite(.timeLimit(.minutes(2))) struct PublicRecordConformance {
  private static let open = DatabaseID(
    container: ContainerID(unchecked: "notes"), environment: .development, owner: nil)
  private static let bases: [Base] = [.any, .absent, .version(1)]

  private static func code(_ outcome: CaravanModel.Outcome?) -> ErrorCode? {
    if case .refused(let error)? = outcome { error.code } else { nil }
  }

  /// With a record `r` of ada's phone.
  private static func with(
    _ kind: StoreKind, _ name: String = "board", _ body: (StoreBench, ZoneID) async throws -> Void
  ) async throws {
    try await StoreBench.with(kind) { bench in
      // From 0 on nobody would know when it was.
      bench.clock.advance(by: .seconds(100))
      let zone = try ZoneID(open, name)
      let made = try await bench.outcomes(zone, [Sample.save("r")], op: bench.op("ada/phone"))
      #expect(made == [.accepted(version: 1)])
      try await body(bench, zone)
    }
  }

  @Test(
    "TRU-04: another user's save or delete of a public record is refused for good", arguments: StoreKind.allCases)
  func others(kind: StoreKind) async throws {
    try await Self.with(kind) { bench, zone in
      let before = try await bench.store.fetch(["r"], in: zone)
      var attempts = Self.bases.flatMap { [Sample.save("r", base: $0, body: [9]), Sample.delete("r", base: $0)] }
      for policy in [CaravanModel.ConflictPolicy.lastWriterWins, .fieldMerge, .deterministic] {
        attempts.append(Sample.save("r", base: .absent, [1: .text("x")], WriteTerms(policy: policy)))
        attempts.append(Sample.delete("r", base: .absent, WriteTerms(policy: policy)))
      }
      for writer in ["eve/phone", "ad/phone", "ada2/phone", "@sync/eve/phone", "eve/ada"] {
        for attempt in attempts {
          let op = bench.op(writer)
          let outcomes = try await bench.outcomes(zone, [attempt], op: op)
          #expect(outcomes.map(Self.code) == [.accessDenied], "\(writer): \(attempt)")
          #expect(try await bench.outcomes(zone, [attempt], op: op) == outcomes, "and the same again")
        }
        let seen = try await bench.outcomes(zone, [Sample.read("r")], op: bench.op(writer))
        #expect(seen == before.map { .read($0) }, "everybody reads it")
      }
      #expect(try await bench.store.fetch(["r"], in: zone) == before)
      #expect(try await bench.page(ChangeQuery(zone: zone)).page.head == 1)
    }
  }

  @Test(
    "TRU-04: every device of its user changes a public record, and so do the cloud's services",
    arguments: StoreKind.allCases)
  func own(kind: StoreKind) async throws {
    try await Self.with(kind) { bench, zone in
      var version: Seq = 1
      for writer in ["ada/tablet", "@sync/ada/tablet", "ada/phone", "@storage", "@backend/x"] {
        for isBlind in [true, false] {
          let save = Sample.save("r", base: isBlind ? .any : .version(version), body: [UInt8(version)])
          let outcomes = try await bench.outcomes(zone, [save], op: bench.op(writer))
          #expect(outcomes == [.accepted(version: version + 1)], "\(writer)")
          version += 1
        }
      }
      let entry = try #require(try await bench.store.fetch(["r"], in: zone).first)
      #expect(entry.authorship.creator == "ada/phone", "whoever changes it does not become who made it")
      let late = try await bench.outcomes(zone, [Sample.save("r", base: .version(1))], op: bench.op("ada/tablet"))
      guard case .conflict(let server?)? = late.first else { throw Unexpected(late) }
      #expect(server.version == entry.version, "between devices of one user conflicts stay what they were")
      let gone = try await bench.outcomes(zone, [Sample.delete("r")], op: bench.op("@storage"))
      #expect(gone == [.accepted(version: entry.version + 1)])
    }
  }

  @Test("TRU-04: the name of a deleted public record is anyone's, who then has it", arguments: StoreKind.allCases)
  func deleted(kind: StoreKind) async throws {
    try await Self.with(kind) { bench, zone in
      try await bench.commit(zone, [Sample.delete("r")], op: bench.op("ada/tablet"))
      let again = try await bench.outcomes(zone, [Sample.delete("r")], op: bench.op("eve/phone"))
      #expect(again == [.accepted(version: 2)], "there is nothing to delete")
      let taken = try await bench.outcomes(zone, [Sample.save("r", base: .absent)], op: bench.op("eve/phone"))
      #expect(taken == [.accepted(version: 3)])
      let late = try await bench.outcomes(zone, [Sample.save("r")], op: bench.op("ada/phone"))
      #expect(late.map(Self.code) == [.accessDenied])
    }
  }

  @Test("TRU-04: a public record that has expired out of sight is anyone's to take", arguments: StoreKind.allCases)
  func expired(kind: StoreKind) async throws {
    try await Self.with(kind) { bench, zone in
      let terms = WriteTerms(expiry: .after(1_000), hidesExpired: true)
      try await bench.commit(zone, [Sample.save("short", [1: .text("x")], terms)], op: bench.op("ada/phone"))
      let take = Sample.save("short", base: .absent)
      let early = try await bench.outcomes(zone, [take], op: bench.op("eve/phone"))
      #expect(early.map(Self.code) == [.accessDenied])
      bench.clock.advance(by: .seconds(2))
      #expect(try await bench.outcomes(zone, [take], op: bench.op("eve/phone")) == [.accepted(version: 3)])
      let entry = try await bench.store.fetch(["short"], in: zone).first
      #expect(entry?.authorship.creator == "eve/phone")
    }
  }

  @Test(
    "TRU-04: a batch and a group of another user's do what is theirs, or nothing where all must be done",
    arguments: StoreKind.allCases)
  func batches(kind: StoreKind) async throws {
    try await Self.with(kind) { bench, zone in
      let batch = [Sample.save("e", base: .absent), Sample.save("r"), Sample.delete("r")]
      let whole = try await bench.outcomes(zone, batch, op: bench.op("eve/phone"), atomic: true)
      #expect(whole.map(Self.code) == [nil, .accessDenied, .accessDenied] && whole.first == .aborted)
      for isAtomic in [true, false] {
        let op = bench.op("eve/phone")
        let parts = try await bench.stage(batch, of: op, in: zone)
        let result = try await bench.commit(group: op, batch, parts: parts, in: zone, atomic: isAtomic)
        guard case .applied(let outcomes, _, _, _) = result else { throw Unexpected(result) }
        #expect(outcomes.map(Self.code) == [nil, .accessDenied, .accessDenied])
        #expect(outcomes.first == (isAtomic ? .aborted : .accepted(version: 2)))
        #expect(try await bench.store.group(op, in: zone)?.stage == (isAtomic ? .refused : .committed))
      }
      // What a commit makes and changes at once is its writer's.
      let twice = [Sample.save("new"), Sample.save("new"), Sample.delete("new"), Sample.save("new")]
      let own = try await bench.outcomes(zone, twice, op: bench.op("eve/phone"))
      #expect(own == (3...6).map { .accepted(version: $0) })
      #expect(try await bench.store.fetch(["r"], in: zone).map(\.version) == [1])
    }
  }

  @Test(
    "TRU-04: of commits that a store takes together, each hears whose the record is now",
    arguments: StoreKind.allCases)
  func together(kind: StoreKind) async throws {
    try await Self.with(kind) { bench, zone in
      let commits = ["eve/phone", "ada/phone", "eve/tablet", "bob/phone"].map { writer in
        Commit(zone: zone, op: bench.op(writer), isAtomic: false, mutations: [Sample.save("new")])
      }
      var outcomes: [CaravanModel.Outcome] = []
      for result in await bench.store.commit(commits) {
        if case .applied(let some, _, _, _) = try result.get() { outcomes += some }
      }
      let maker = try #require(try await bench.store.fetch(["new"], in: zone).first?.authorship.creator)
      let owner = WriterName.author(maker)
      #expect(outcomes.count == commits.count)
      for (commit, outcome) in zip(commits, outcomes) {
        #expect((Self.code(outcome) == .accessDenied) == (WriterName.author(commit.op.writer) != owner), "\(commit.op)")
      }
    }
  }

  @Test("TRU-04: whose a public record is outlives the store's process", arguments: StoreKind.reopening)
  func reopening(kind: StoreKind) async throws {
    try await Self.with(kind) { bench, zone in
      await bench.close()
      try await bench.open()
      let refused = try await bench.outcomes(zone, [Sample.save("r")], op: bench.op("eve/phone"))
      #expect(refused.map(Self.code) == [.accessDenied])
      let own = try await bench.outcomes(zone, [Sample.save("r")], op: bench.op("ada/tablet"))
      #expect(own == [.accepted(version: 2)])
    }
  }

  @Test("TRU-04: in a private database nobody asks who made a record", arguments: StoreKind.allCases)
  func privately(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      bench.clock.advance(by: .seconds(100))
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("r")], op: bench.op("ada/phone/1"))
      let outcomes = try await bench.outcomes(zone, [Sample.save("r")], op: bench.op("eve/phone/1"))
      #expect(outcomes == [.accepted(version: 2)])
    }
  }
}
