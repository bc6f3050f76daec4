import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanStorageDriver
import CaravanTestKit
import CaravanWire
import Testing

@Suite(.timeLimit(.minutes(1))) struct ContentionTests {
  private static func count(
    _ bench: StorageBench, _ container: String, _ zone: String, _ outcome: String,
    in environment: String = "development"
  ) -> UInt64 {
    let name = CounterName("caravan_storage_mutations_total", "")
    return bench.host.metrics.counter(
      name, [.container: container, .environment: environment, .zone: zone, .outcome: outcome]
    ).value
  }

  @Test("CK-106: how often writers meet is counted by app and zone, whoever owns the zone; only so many are told apart")
  func counted() async throws {
    try await StorageBench.with { bench in
      let (quiet, hot) = (try StorageBench.zone("quiet"), try StorageBench.zone("hot"))
      var stale = StorageBench.save("r")
      stale.base = .version(99)
      _ = try await bench.commit(1, [StorageBench.save("r")], to: quiet)
      _ = try await bench.commit(2, [StorageBench.save("r"), StorageBench.save("s")], to: hot)
      for number in 3...6 as ClosedRange<UInt64> { _ = try await bench.commit(number, [stale], to: hot) }
      let other = DatabaseID(
        container: hot.database.container, environment: .development, owner: UserID(unchecked: "bob"))
      let op = OpID(writer: "tablet", epoch: 1, number: 1)
      let commit = Commit(zone: try ZoneID(other, "hot"), op: op, isAtomic: false, mutations: [stale])
      _ = try await bench.storage.commit(CommitRequest(commit), in: Partition(of: other))
      for (zone, accepted, conflicts) in [("quiet", 1, 0), ("hot", 2, 5)] as [(String, UInt64, UInt64)] {
        #expect(Self.count(bench, "notes", zone, "accepted") == accepted)
        #expect(Self.count(bench, "notes", zone, "conflict") == conflicts)
      }
      let used = DatabaseID(container: hot.database.container, environment: .production, owner: StorageBench.user)
      let first = Commit(
        zone: try ZoneID(used, "hot"), op: OpID(writer: "tablet", epoch: 1, number: 2), isAtomic: false,
        mutations: [StorageBench.save("r")])
      _ = try await bench.storage.commit(CommitRequest(first), in: Partition(of: used))
      #expect(Self.count(bench, "notes", "hot", "accepted") == 2, "the other environment's zone is another")
      #expect(Self.count(bench, "notes", "hot", "accepted", in: "production") == 1)
      for number in 0..<140 as Range<UInt64> {
        _ = try await bench.commit(10 + number, [StorageBench.save("r")], to: StorageBench.zone("z\(number)"))
      }
      #expect(Self.count(bench, "", "", "accepted", in: "") == 140 - 125)
    }
  }
}
