import CaravanModel
import CaravanRuntime
import CaravanWire
import Testing

@testable import CaravanSyncCore
@testable import CaravanSyncDriver

/// Goal: a dispute ends, however often the record changes meanwhile, and its device then gets the newest copy (CK-36).
/// Method: a whole cloud with a program of the app; somebody is quicker than the program, or all are equally quick.
@Suite(.timeLimit(.minutes(2))) struct DisputeBoundTests {
  /// Somebody writes over every copy that the program sees, before it answers.
  private static func overtaken(
    by device: Device, _ type: CaravanModel.RecordType, then decide: @escaping RecordingExtension.Decide
  ) -> RecordingExtension {
    RecordingExtension { dispute throws(CaravanError) in
      guard dispute.version > 0 else { return Decision() }
      let base = Base.version(dispute.version)
      do {
        _ = try await device.push(dispute.version, [.save("r", [2: .integer(10)], type: type, base: base)])
      } catch {
        throw CaravanError(.internalError, "\(error)")
      }
      return try await decide(dispute)
    }
  }

  @Test("CK-36: a record that changes as often as it is decided is asked about so often, and no oftener")
  func rounds() async throws {
    try await CloudCluster.with { cloud in
      let (a, b, c) = (try cloud.device("a"), try cloud.device("b"), try cloud.device("c"))
      let type = try await ExtensionTests.type(a)
      _ = try await a.push(1, [.save("r", [2: .integer(1)], type: type)])
      let program = Self.overtaken(by: c, type, then: ExtensionTests.adding)
      try await program.serving(cloud) {
        guard case .conflict(let server?) = try await b.conflicting(type) else {
          Issue.record("the conflict must be left")
          return
        }
        #expect(server.version == Seq(SyncLimits.disputesPerRow + 1), "the newest copy")
        #expect(try RecordFields(body: server.body)[2] == .integer(10))
      }
      #expect(program.disputes.map(\.version) == Array(1...Seq(SyncLimits.disputesPerRow)))
      #expect(cloud.disputes("busy") == 1)
    }
  }

  /// How the program ends it in the second round.
  enum End: CaseIterable { case fails, answersNonsense, isSilent }

  @Test(
    "CK-36: where the program gives up when it is asked again, the device has the copy of then",
    arguments: End.allCases)
  func givesUp(end: End) async throws {
    try await CloudCluster.with { cloud in
      let (a, b, c) = (try cloud.device("a"), try cloud.device("b"), try cloud.device("c"))
      let type = try await ExtensionTests.type(a, milliseconds: end == .isSilent ? 1_500 : 5_000)
      _ = try await a.push(1, [.save("r", [2: .integer(1)], type: type)])
      let isOver = Latch()
      let program = RecordingExtension { dispute throws(CaravanError) in
        switch (dispute.version, end) {
        case (0, _): return Decision()
        case (1, _):
          do {
            _ = try await c.push(1, [.save("r", [2: .integer(10)], type: type, base: .version(1))])
          } catch {
            throw CaravanError(.internalError, "\(error)")
          }
          return try await ExtensionTests.adding(dispute)
        case (_, .fails): throw CaravanError(.internalError, "a bug")
        case (_, .answersNonsense): return Decision(kind: .merged([0xff]))
        case (_, .isSilent):
          await isOver.wait()
          return Decision()
        }
      }
      try await program.serving(cloud) {
        let outcome = try await b.conflicting(type)
        isOver.open()
        guard case .conflict(let server?) = outcome else {
          Issue.record("the conflict must be left: \(String(describing: outcome))")
          return
        }
        #expect(server.version == 2)
        #expect(try RecordFields(body: server.body)[2] == .integer(10))
      }
      #expect(program.disputes.map(\.version) == [1, 2])
    }
  }

  @Test("CK-36: of many devices at one record one is settled in each round, nothing is added twice, and all of it ends")
  func together() async throws {
    let devices = 8
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await ExtensionTests.type(a)
      _ = try await a.push(1, [.save("r", [1: .text("a"), 2: .integer(0)], type: type)])
      let rounds = Rounds(devices)
      let program = RecordingExtension { dispute throws(CaravanError) in
        guard dispute.version > 0 else { return Decision() }
        await rounds.meet(at: dispute.version)
        return try await ExtensionTests.adding(dispute)
      }
      try await program.serving(cloud) {
        let outcomes = try await withThrowingTaskGroup(of: CaravanModel.Outcome?.self) { group in
          for number in 0..<devices {
            let device = try cloud.device("b\(number)")
            group.addTask { try await device.conflicting(type, [1: .text("\(number)"), 2: .integer(1)]) }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        var merged: [Seq] = []
        for outcome in outcomes {
          switch outcome {
          case .merged(let version, let server?):
            merged.append(version)
            #expect(try RecordFields(body: server.body)[2] == .integer(Int64(version) - 1))
          case .conflict(let server?):
            #expect(server.version == Seq(SyncLimits.disputesPerRow + 1), "the newest copy")
            #expect(try RecordFields(body: server.body)[2] == .integer(Int64(SyncLimits.disputesPerRow)))
          default: Issue.record("\(String(describing: outcome))")
          }
        }
        #expect(merged.sorted() == Array(2...Seq(SyncLimits.disputesPerRow + 1)))
      }
      for round in 1...SyncLimits.disputesPerRow {
        #expect(program.disputes.count { $0.version == Seq(round) } == devices - round + 1)
      }
      #expect(program.disputes.allSatisfy { $0.version <= Seq(SyncLimits.disputesPerRow) })
      #expect(cloud.disputes("busy") == UInt64(devices - SyncLimits.disputesPerRow))
    }
  }

  @Test("CK-36: so many disputes at once and no more; one that ends makes room for one")
  func gate() {
    let gate = DisputeLimiter(limit: 3)
    #expect((0..<5).map { _ in gate.enter() } == [true, true, true, false, false])
    gate.leave()
    #expect([gate.enter(), gate.enter()] == [true, false])
  }
}

/// Those who saw a version of the record go on together: of all of them one is the first to write over it.
private final class Rounds: Sendable {
  private struct Round {
    var arrived = 0
    let isComplete = Latch()
  }

  private let devices: Int
  private let rounds = Mutex<[Seq: Round]>([:])

  init(_ devices: Int) { self.devices = devices }

  func meet(at version: Seq) async {
    let (isComplete, isLast) = rounds.withLock { rounds in
      rounds[version, default: Round()].arrived += 1
      // One is settled with every version.
      let round = rounds[version] ?? Round()
      return (round.isComplete, round.arrived == devices - Int(version) + 1)
    }
    if isLast { isComplete.open() }
    await isComplete.wait()
  }
}
