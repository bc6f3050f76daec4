import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: any store ends records when their time is over (CK-30). Method: the protocol only, with time in the test's
/// hands.
@Suite(.timeLimit(.minutes(2))) struct ExpiryConformance {
  private func save(_ name: String, base: Base = .any, _ expiry: WriteTerms.Expiry, hides: Bool? = nil)
    -> CaravanModel.Mutation
  {
    Sample.save(name, base: base, [1: .text(name)], WriteTerms(expiry: expiry, hidesExpired: hides))
  }

  @Test("CK-30: a record's end is set, kept, moved and taken back", arguments: StoreKind.allCases)
  func ends(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      func end() async throws -> Int64? { try await bench.store.fetch(["r"], in: zone).first?.expires }
      let now = bench.clock.wallTime.milliseconds
      try await bench.commit(zone, [save("r", .after(5_000))])
      #expect(try await end() == now + 5_000)
      try await bench.commit(zone, [Sample.save("r")])
      #expect(try await end() == now + 5_000, "who says nothing changes nothing")
      try await bench.commit(zone, [save("r", .at(now + 9_000))])
      #expect(try await end() == now + 9_000)
      #expect(try await bench.pull(zone).map(\.expires) == [UInt64(now + 9_000)])
      try await bench.commit(zone, [save("r", .never)])
      #expect(try await end() == 0)
    }
  }

  @Test("CK-30: what has expired is in sight, or out of it, as the app chose", arguments: StoreKind.allCases)
  func sight(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [save("shown", .after(1_000)), save("hidden", .after(1_000), hides: true)])
      #expect(try await bench.store.fetch(["shown", "hidden"], in: zone).count == 2)
      bench.clock.advance(by: .seconds(2))
      #expect(try await bench.store.fetch(["shown", "hidden"], in: zone).map(\.name) == ["shown"])
      let read = try await bench.outcomes(zone, [Sample.read("hidden"), Sample.read("shown")])
      #expect(read.first == .read(nil) && read.last != .read(nil))
      let stale = try await bench.outcomes(zone, [Sample.save("hidden", base: .version(1))])
      #expect(stale == [.conflict(server: nil)])
      let anew = [save("hidden", base: .absent, .keep), save("shown", base: .absent, .keep)]
      let outcomes = try await bench.outcomes(zone, anew)
      #expect(outcomes.first == .accepted(version: 3), "its name is free")
      #expect(outcomes.last != .accepted(version: 4), "that is still there")
      #expect(try await bench.store.fetch(["hidden"], in: zone).map(\.expires) == [0], "it begins anew")
    }
  }

  @Test("CK-30: what has expired is found, the longest over first, and nothing else", arguments: StoreKind.allCases)
  func found(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zones = try (0..<5).map { try Sample.zone("z\($0)", of: "user-\($0)") }
      for (index, zone) in zones.enumerated() {
        try await bench.commit(
          zone, [save("r", .after(1_000 * Int64(5 - index))), save("later", .after(60_000)), Sample.save("never")])
      }
      #expect(try await bench.store.expired(after: nil, atMost: 9).isEmpty)
      bench.clock.advance(by: .seconds(10))
      let all = try await bench.store.expired(after: nil, atMost: 9)
      #expect(all.map(\.zone) == zones.reversed() && all.allSatisfy { $0.name == "r" && $0.version == 1 })
      #expect(try await bench.store.expired(after: nil, atMost: 2) == Array(all.prefix(2)))
      #expect(try await bench.store.expired(after: all[2], atMost: 9) == Array(all.suffix(2)))
      _ = try await bench.store.deleteZone(zones[4], writer: "phone")
      try await bench.commit(zones[3], [Sample.delete("r")])
      try await bench.commit(zones[2], [save("r", .never)])
      #expect(try await bench.store.expired(after: nil, atMost: 9) == Array(all.suffix(2)))
    }
  }

  @Test("CK-30: what has expired out of sight can be deleted, and leaves a tombstone", arguments: StoreKind.allCases)
  func deletion(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [save("r", .after(1_000), hides: true)])
      bench.clock.advance(by: .seconds(2))
      #expect(try await bench.outcomes(zone, [Sample.delete("r", base: .version(1))]) == [.accepted(version: 2)])
      #expect(try await bench.store.fetch(["r"], in: zone).map(\.isDeleted) == [true])
      #expect(try await bench.store.status().records == 0)
      #expect(try await bench.store.expired(after: nil, atMost: 9).isEmpty)
    }
  }

  @Test(
    "CK-27, CK-30: with a record that has expired goes what it owns, and what that owns, seen or not",
    arguments: StoreKind.allCases)
  func cascade(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(
        zone, [save("hidden", .after(1_000), hides: true), save("shown", .after(1_000)), Sample.save("free")])
      for owner in ["hidden", "shown"] {
        try await bench.commit(zone, [Sample.link("\(owner)/child", to: [CaravanModel.Reference(to: owner, .owning)])])
        let child = CaravanModel.Reference(to: "\(owner)/child", .owning)
        try await bench.commit(zone, [Sample.link("\(owner)/grandchild", to: [child])])
      }
      bench.clock.advance(by: .seconds(2))
      let over = try await bench.store.expired(after: nil, atMost: 9)
      #expect(Set(over.map(\.name)) == ["hidden", "shown"], "children have no end of their own")
      for record in over {
        let delete = Sample.delete(record.name, base: .version(record.version))
        let outcome = try await bench.outcomes(zone, [delete]).first
        guard case .accepted? = outcome else {
          Issue.record("\(record.name): \(String(describing: outcome))")
          continue
        }
        let family = ["", "/child", "/grandchild"].map { record.name + $0 }
        #expect(try await bench.store.fetch(family, in: zone).map(\.isDeleted) == [true, true, true])
      }
      #expect(try await bench.store.status().records == 1)
    }
  }

  @Test(
    "CK-30, CK-102: what has expired is charged for until it is deleted, seen or not, and then no longer",
    arguments: StoreKind.allCases)
  func charged(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let (zone, account) = (try Sample.zone(), Account.user(UserID(unchecked: "ada"), .development))
      func used() async throws -> Usage { try await bench.store.account(account).used }
      _ = try await bench.store.setQuota(Quota(records: 5), of: account)
      try await bench.commit(zone, [Sample.save("stays")])
      let rest = try await used()
      try await bench.commit(zone, [save("hidden", .after(1_000), hides: true), save("shown", .after(1_000))])
      for owner in ["hidden", "shown"] {
        try await bench.commit(zone, [Sample.link("\(owner)/child", to: [CaravanModel.Reference(to: owner, .owning)])])
      }
      let before = try await used()
      bench.clock.advance(by: .seconds(2))
      #expect(try await used() == before)
      let full = try await bench.outcomes(zone, [Sample.save("one more")])
      guard case .refused(let error)? = full.first, error.code == .quotaExceeded else { throw Unexpected(full) }
      for record in try await bench.store.expired(after: nil, atMost: 9) {
        try await bench.commit(zone, [Sample.delete(record.name, base: .version(record.version))])
      }
      #expect(try await used() == rest)
      try await bench.commit(zone, (0..<4).map { Sample.save("new \($0)") })
      let life = try #require(
        try await bench.store.zones(in: Partition(of: zone.database), .database(zone.database)).first)
      let other = Incarnation(life.incarnation &+ 1)
      #expect(try await !bench.store.deleteZone(zone, incarnation: other, writer: "phone"))
      #expect(try await used().records == 5)
      #expect(try await bench.store.deleteZone(zone, incarnation: life.incarnation, writer: "phone"))
      #expect(try await used() == Usage())
    }
  }

  @Test("CK-28, CK-30: to what has expired out of sight nobody can refer any more", arguments: StoreKind.allCases)
  func dangling(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [save("hidden", .after(1_000), hides: true), save("shown", .after(1_000))])
      bench.clock.advance(by: .seconds(2))
      let links = ["hidden", "shown"].map { Sample.link("to \($0)", to: [CaravanModel.Reference(to: $0, .validating)]) }
      let outcomes = try await bench.outcomes(zone, links)
      guard case .refused(let error)? = outcomes.first else {
        Issue.record("\(outcomes)")
        return
      }
      #expect(error.code == .referenceViolation)
      #expect(outcomes.last == .accepted(version: 3))
    }
  }
}
