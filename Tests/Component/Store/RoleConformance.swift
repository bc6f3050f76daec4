import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import Testing

/// Goal: a commit whose rights come from roles counts while its user has these roles, as the store that takes it knows
/// in the same transaction (CK-04).
@Suite(.timeLimit(.minutes(2))) struct RoleConformance {
  private static let record = "moderators/eve"

  private static func database(_ shard: UInt32 = 0) throws -> DatabaseID {
    DatabaseID(container: try ContainerID("album"), environment: .development, owner: nil).shard(shard)
  }

  private static func roles(_ shard: UInt32 = 0) throws -> ZoneID { try ZoneID(database(shard), OwnRole.zone) }

  private static func commit(
    _ number: UInt64, in bench: StoreBench, shard: UInt32 = 0, roles: [String] = [record]
  ) async -> Result<CommitResult, CaravanError> {
    do {
      return .success(
        try await bench.store.commit(
          Commit(
            zone: try ZoneID(database(shard), DefaultZone.name), op: OpID(writer: "eve/e/1", epoch: 1, number: number),
            isAtomic: false, mutations: [Sample.save("r\(number)")], roles: roles)))
    } catch {
      return .failure(error as? CaravanError ?? CaravanError(.internalError, "\(error)"))
    }
  }

  private static func isAccepted(_ result: Result<CommitResult, CaravanError>) -> Bool {
    if case .success(.applied(let outcomes, _, _, _)) = result, case .accepted? = outcomes.first { true } else { false }
  }

  private static func refusal(_ result: Result<CommitResult, CaravanError>) -> ErrorCode? {
    if case .failure(let error) = result { error.code } else { nil }
  }

  @Test("CK-04: a role counts from when it is given until it is taken away", arguments: StoreKind.allCases)
  func lives(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      #expect(Self.refusal(await Self.commit(1, in: bench)) == .leaseExpired, "there is no zone of roles")
      try await bench.commit(try Self.roles(), [Sample.save("moderators/ann")])
      #expect(Self.refusal(await Self.commit(1, in: bench)) == .leaseExpired, "another has it")
      try await bench.commit(try Self.roles(), [Sample.save(Self.record)])
      #expect(Self.isAccepted(await Self.commit(1, in: bench)), "a refused op may come again")
      let both = [Self.record, "editors/eve"]
      #expect(Self.refusal(await Self.commit(2, in: bench, roles: both)) == .leaseExpired, "all of them are needed")
      try await bench.commit(try Self.roles(), [Sample.delete(Self.record)])
      #expect(Self.refusal(await Self.commit(2, in: bench)) == .leaseExpired)
      #expect(Self.isAccepted(await Self.commit(1, in: bench)), "what was done stays done")
      #expect(Self.isAccepted(await Self.commit(3, in: bench, roles: [])))
      let zone = try ZoneID(Self.database(), DefaultZone.name)
      #expect(try await bench.store.fetch(["r1", "r2", "r3"], in: zone).map(\.name) == ["r1", "r3"])
    }
  }

  @Test("CK-04: a shard goes by its own copy of who has a role", arguments: StoreKind.allCases)
  func shards(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      try await bench.commit(try Self.roles(), [Sample.save(Self.record)])
      #expect(Self.refusal(await Self.commit(1, in: bench, shard: 1)) == .leaseExpired)
      try await bench.commit(try Self.roles(1), [Sample.save(Self.record)])
      #expect(Self.isAccepted(await Self.commit(1, in: bench, shard: 1)))
    }
  }

  @Test(
    "CK-04: of commits that come together with the loss of a role none counts after it", arguments: StoreKind.allCases)
  func together(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      for round: UInt64 in 0..<20 {
        try await bench.commit(try Self.roles(), [Sample.save(Self.record)])
        let results = await withTaskGroup(of: (UInt64, Result<CommitResult, CaravanError>)?.self) { group in
          for number in 1...8 as ClosedRange<UInt64> {
            group.addTask { () -> (UInt64, Result<CommitResult, CaravanError>)? in
              (number, await Self.commit(round * 100 + number, in: bench))
            }
            guard number == 4 else { continue }
            group.addTask {
              _ = try? await bench.commit(try Self.roles(), [Sample.delete(Self.record)])
              return nil
            }
          }
          var results: [(UInt64, Result<CommitResult, CaravanError>)] = []
          for await case let result? in group { results.append(result) }
          return results
        }
        #expect(results.count == 8)
        #expect(results.allSatisfy { Self.isAccepted($0.1) || Self.refusal($0.1) == .leaseExpired })
        let late = await Self.commit(round * 100 + 50, in: bench)
        #expect(Self.refusal(late) == .leaseExpired)
      }
    }
  }
}
