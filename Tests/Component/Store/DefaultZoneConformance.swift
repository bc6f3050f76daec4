import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: on any store a default zone takes single records and nothing else, and its shards are places apart (CK-10).
/// Method: the protocol only.
@Suite(.timeLimit(.minutes(2))) struct DefaultZoneConformance {
  private static func zone(_ shard: UInt32 = 0, of user: String = "ada") throws -> ZoneID {
    try ZoneID(Sample.database(user).shard(shard), DefaultZone.name)
  }

  @Test(
    "CK-10: batches and references are refused with a reason of their own; one record is taken",
    arguments: StoreKind.allCases)
  func refusals(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Self.zone()
      #expect(try await bench.outcomes(zone, [Sample.save("a")]) == [.accepted(version: 1)])
      let batch = [Sample.save("b"), Sample.save("c")]
      let link = [Sample.link("l", to: [CaravanModel.Reference(to: "a", .owning)])]
      for (mutations, isAtomic) in [(batch, false), (batch, true), (link, false)] {
        let op = bench.op()
        for _ in 0..<2 {
          let outcomes = try await bench.outcomes(zone, mutations, op: op, atomic: isAtomic)
          #expect(outcomes.count == mutations.count)
          for outcome in outcomes {
            guard case .refused(let error) = outcome, error.code == .customZoneNeeded else {
              Issue.record("\(outcome)")
              continue
            }
          }
        }
      }
      #expect(try await bench.store.fetch(["b", "c", "l"], in: zone).isEmpty)
      #expect(
        try await bench.outcomes(zone, [Sample.link("p", to: [CaravanModel.Reference(to: "a", .plain)])]).count == 1)
      let own = try Sample.zone()
      #expect(try await bench.outcomes(own, batch).count == 2)
    }
  }

  @Test(
    "CK-10: shards share neither records, versions, chunks nor log; each is found again", arguments: StoreKind.allCases)
  func shards(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      for shard in 0..<5 as Range<UInt32> {
        let zone = try Self.zone(shard)
        let body = [UInt8(shard)]
        let chunk = Sample.chunk(UInt8(shard))
        try await bench.store.stage([chunk], in: zone.database)
        #expect(
          try await bench.outcomes(zone, [Sample.save("r", base: .absent, body: body, chunks: [chunk.hash])])
            == [.accepted(version: 1)])
      }
      for shard in 0..<5 as Range<UInt32> {
        let zone = try Self.zone(shard)
        #expect(try await bench.store.fetch(["r"], in: zone).map(\.body) == [[UInt8(shard)]])
        let hashes = (0..<5).map { Sample.hash(UInt8($0)) }
        #expect(
          try await bench.store.missing(hashes, in: zone.database) == hashes.filter { $0 != Sample.hash(UInt8(shard)) })
        let partition = Partition(of: zone.database)
        #expect(try await bench.store.log(of: partition, after: 0, atMost: 9).entries.map(\.zone) == [zone])
        #expect(try await bench.store.zones(in: partition, .database(zone.database)).map(\.zone) == [zone])
        #expect(try await bench.store.zones(in: partition, .everything).map(\.zone) == [zone])
      }
      let home = Partition(of: Sample.database())
      let owned = try await bench.store.zones(in: home, .owner(UserID(unchecked: "ada")))
      #expect(owned.map(\.zone) == [try Self.zone()], "a user's zones are those of whole databases")
      #expect(try await bench.store.status().records == 5)
    }
  }
}
