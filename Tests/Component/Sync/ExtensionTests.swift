import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSyncCore
import CaravanTestKit
import CaravanWire
import Testing

/// A program of the app, as it would be in any language: it hears disputes and answers by `decide`.
final class RecordingExtension: Sendable {
  typealias Decide = @Sendable (Dispute) async throws(CaravanError) -> Decision

  private let heard = Mutex<[Dispute]>([])
  private let decide: Decide
  var disputes: [Dispute] { heard.withLock { $0 } }

  init(_ decide: @escaping Decide) { self.decide = decide }

  /// Runs it for the time of `body`.
  func serving(_ cloud: CloudCluster, _ body: () async throws -> Void) async throws {
    let subject = Subject.extension(ContainerID(unchecked: "album"), type: "photos")
    let endpoint = Endpoint("decide", .exact(subject), group: nil, maxInFlight: 8) {
      [self] (dispute: Dispute, _) throws(CaravanError) in
      heard.withLock { $0.append(dispute) }
      return try await decide(dispute)
    }
    let bus = cloud.hub.connect(as: "extension")
    let service = ServiceHost(name: "extension", version: "1.0.0", bus: bus, host: cloud.host, endpoints: [endpoint])
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await service.run() }
      let probe = cloud.hub.connect(as: "prober")
      try await eventually("the extension answers") {
        (try? await probe.call(Dispute(record: "probe"), to: subject, as: Decision.self)) != nil
      }
      heard.withLock { $0 = [] }
      do { try await body() } catch {
        service.shutDown()
        throw error
      }
      service.shutDown()
      try await group.waitForAll()
    }
  }
}

/// Goal: a program of the app decides conflicts, and nothing it does or leaves undone harms a row (CK-36). Method: two
/// devices in conflict, with sync, schema and a real store, and the program on the same bus.
@Suite(.timeLimit(.minutes(2))) struct ExtensionTests {
  static func type(
    _ device: Device, fallback: CaravanModel.ConflictPolicy = .manual, milliseconds: UInt32 = 5_000
  ) async throws -> CaravanModel.RecordType {
    var proposal = ProposeTable.type([("name", .text), ("count", .integer)])
    proposal.type?.settings = CaravanWire.TypeSettings(
      CaravanModel.TypeSettings(conflicts: .serverExtension, fallback: fallback, extensionMilliseconds: milliseconds))
    let result = try await device.ask(.propose(proposal))
    guard case .type(let type) = result else { throw Unexpected(result: result) }
    return try type.model()
  }

  /// Tells by names what it got, and adds the counts.
  static let adding: RecordingExtension.Decide = { dispute throws(CaravanError) in
    let (client, server) = (try RecordFields(body: dispute.client), try RecordFields(body: dispute.server))
    guard case .integer(let a) = client[2], case .integer(let b) = server[2] else { return Decision() }
    return Decision(kind: .merged(RecordFields([1: client[1], 2: .integer(a + b)]).body))
  }

  @Test("CK-34, CK-36: it gets the three copies; what it makes of them is the record, for everybody")
  func merges() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await Self.type(a)
      _ = try await a.push(1, [.save("r", [1: .text("a"), 2: .integer(1)], type: type)])
      let program = RecordingExtension(Self.adding)
      try await program.serving(cloud) {
        guard case .merged(2, let server?) = try await b.conflicting(type) else {
          Issue.record("the conflict must be settled")
          return
        }
        #expect(try RecordFields(body: server.body).values == [1: .text("b"), 2: .integer(3)])
        let pulled = try #require(try await a.pull().entries.first)
        #expect(pulled.body == server.body && pulled.version == 2 && !pulled.own)
        #expect(try await b.pull().entries.map(\.own) == [false])
      }
      let dispute = try #require(program.disputes.first)
      #expect(program.disputes.count == 1)
      #expect(dispute.container == "album" && dispute.zone == "photos" && dispute.record == "r" && dispute.version == 1)
      #expect(dispute.type?.name == "photos" && dispute.type?.fields.map(\.name) == ["name", "count"])
      #expect(!dispute.user.isEmpty && dispute.user != "ann", "CK-02: it learns no name of a user")
      #expect(try RecordFields(body: dispute.ancestor).values == [2: .integer(0)])
    }
  }

  @Test("CK-36: it may keep what is there, or leave the conflict to the device")
  func keeps() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await Self.type(a, fallback: .lastWriterWins)
      _ = try await a.push(1, [.save("r", [1: .text("a")], type: type)])
      let program = RecordingExtension { dispute throws(CaravanError) in
        try RecordFields(body: dispute.client)[1] == .text("keep") ? Decision(kind: .keep(Empty())) : Decision()
      }
      try await program.serving(cloud) {
        guard case .merged(1, let kept?) = try await b.conflicting(type, [1: .text("keep")]) else {
          Issue.record("what is there must be kept")
          return
        }
        #expect(kept.writer == "ann/a/1")
        guard case .conflict(let server?) = try await b.conflicting(type, op: 2) else {
          Issue.record("the conflict must be left")
          return
        }
        #expect(server.version == 1)
      }
    }
  }

  @Test("CK-36: it is asked again when the record changes meanwhile")
  func iterates() async throws {
    try await CloudCluster.with { cloud in
      let (a, b, c) = (try cloud.device("a"), try cloud.device("b"), try cloud.device("c"))
      let type = try await Self.type(a)
      _ = try await a.push(1, [.save("r", [2: .integer(1)], type: type)])
      let program = RecordingExtension { dispute throws(CaravanError) in
        if dispute.version == 1 {
          // Somebody is quicker, with the right base.
          do {
            _ = try await c.push(1, [.save("r", [2: .integer(10)], type: type, base: .version(1))])
          } catch {
            throw CaravanError(.internalError, "\(error)")
          }
        }
        return try await Self.adding(dispute)
      }
      try await program.serving(cloud) {
        guard case .merged(3, let server?) = try await b.conflicting(type) else {
          Issue.record("the conflict must be settled")
          return
        }
        #expect(try RecordFields(body: server.body)[2] == .integer(12))
      }
      #expect(program.disputes.map(\.version) == [1, 2])
    }
  }

  @Test("CK-36: nobody there: the fallback decides; a manual one leaves the conflict", arguments: [true, false])
  func absent(isManual: Bool) async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await Self.type(a, fallback: isManual ? .manual : .lastWriterWins)
      _ = try await a.push(1, [.save("r", [1: .text("a")], type: type)])
      let outcome = try await b.conflicting(type)
      if isManual {
        guard case .conflict(let server?) = outcome else {
          Issue.record("the conflict must be left")
          return
        }
        #expect(server.version == 1)
      } else {
        #expect(outcome == .accepted(version: 2))
        let pulled = try await a.pull().entries.first
        #expect(try pulled.map { try RecordFields(body: $0.body)[1] } == .text("b"))
      }
      #expect(cloud.disputes("absent") == 1)
    }
  }

  @Test("CK-36: what fails, or answers what cannot be stored is passed over")
  func passedOver() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await Self.type(a, fallback: .lastWriterWins, milliseconds: 5_000)
      _ = try await a.push(1, [.save("r", [1: .text("a")], type: type)])
      let program = RecordingExtension { dispute throws(CaravanError) in
        switch try RecordFields(body: dispute.client)[1] {
        case .text("fails"): throw CaravanError(.internalError, "a bug")
        case .text("malformed"): return Decision(kind: .merged([0xff]))
        case .text("large"):
          let large = Value.text(String(repeating: "x", count: Limits.recordBytes))
          return Decision(kind: .merged(RecordFields([1: large]).body))
        case .text("wrong"): return Decision(kind: .merged(RecordFields([2: .text("no number")]).body))
        default: break
        }
        return Decision()
      }
      try await program.serving(cloud) {
        for (op, word) in zip(UInt64(1)..., ["fails", "malformed", "wrong", "large"]) {
          let outcome = try await b.conflicting(type, op: op, [1: .text(word)])
          // Of two fallbacks in one millisecond the first stays.
          if case .conflict? = outcome { Issue.record("\(word): \(String(describing: outcome))") }
        }
      }
      #expect(cloud.disputes("refused") == 4)
    }
  }

  @Test("UNI-07, CK-36: a push that comes again, after its answer was lost, is not decided a second time")
  func again() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await Self.type(a)
      _ = try await a.push(1, [.save("r", [2: .integer(1)], type: type)])
      let program = RecordingExtension(Self.adding)
      try await program.serving(cloud) {
        for _ in 0..<2 {
          guard case .merged(2, let server?) = try await b.conflicting(type) else {
            Issue.record("the conflict must be settled")
            return
          }
          #expect(try RecordFields(body: server.body)[2] == .integer(3))
        }
        _ = try await a.push(2, [.save("r", [2: .integer(9)], type: type, base: .version(2))])
        guard case .merged(3, let server?) = try await b.conflicting(type) else {
          Issue.record("what was settled stays settled")
          return
        }
        #expect(try RecordFields(body: server.body)[2] == .integer(9))
      }
    }
  }

  @Test("UNI-07: so it is with a fallback")
  func fallbackAgain() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await Self.type(a, fallback: .lastWriterWins)
      _ = try await a.push(1, [.save("r", [1: .text("a")], type: type)])
      #expect(try await b.conflicting(type) == .accepted(version: 2))
      _ = try await a.push(2, [.save("r", [1: .text("a2")], type: type, base: .version(2))])
      guard case .merged(3, let server?) = try await b.conflicting(type) else {
        Issue.record("it was applied, and something else came after it")
        return
      }
      #expect(try RecordFields(body: server.body)[1] == .text("a2"))
    }
  }

  @Test("UNI-02: the policy of now counts, whichever version of the type the device knows; guards are its own (E15)")
  func latestPolicy() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let old = try await a.agree([("name", .text), ("count", .integer)])
      _ = try await a.push(1, [.save("r", [2: .integer(1)], type: old)])
      let type = try await Self.type(a)
      #expect(type.id > old.id)
      let program = RecordingExtension(Self.adding)
      try await program.serving(cloud) {
        guard case .merged(2, _?) = try await b.conflicting(old) else {
          Issue.record("the conflict must be settled")
          return
        }
        var push = Push.of(2, [.save("r", [2: .integer(5)], type: type, base: .any)])
        push.mutations[0].guards = RecordFields([2: .integer(1)]).body
        let result = try await b.ask(.push(push))
        guard case .commit(let reply) = result else { throw Unexpected(result: result) }
        #expect(reply.outcomes.map(\.verdict) == [.conflict])
      }
      #expect(program.disputes.count == 1)
    }
  }

  @Test("CK-36: of many rows in conflict one waits for a program that does not answer; it is passed over with the rest")
  func oneWaits() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await Self.type(a, milliseconds: 200)
      let names = (0..<20).map { "r\($0)" }
      _ = try await a.push(1, names.map { .save($0, [1: .text("a")], type: type) })
      let isOver = Latch()
      let program = RecordingExtension { dispute throws(CaravanError) in
        if dispute.record != "probe" { await isOver.wait() }
        return Decision()
      }
      try await program.serving(cloud) {
        let outcomes = try await b.push(1, names.map { .save($0, [1: .text("b")], type: type) }).outcomes
        isOver.open()
        #expect(outcomes.count { if case .conflict = $0 { true } else { false } } == 20)
      }
      #expect(program.disputes.count <= 1)
      #expect(cloud.disputes("late") == 1 && cloud.disputes("absent") == 19)
    }
  }

  @Test("CK-23: a batch that is all or nothing has nothing decided for it")
  func atomic() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await Self.type(a)
      _ = try await a.push(1, [.save("r", [2: .integer(1)], type: type)])
      let program = RecordingExtension(Self.adding)
      try await program.serving(cloud) {
        var push = Push.of(1, [.save("r", [2: .integer(2)], type: type), .save("s", [:], type: type)])
        push.atomic = true
        let result = try await b.ask(.push(push))
        guard case .commit(let reply) = result else { throw Unexpected(result: result) }
        #expect(reply.outcomes.map(\.verdict) == [.conflict, .aborted])
      }
      #expect(program.disputes.isEmpty)
    }
  }
}

@Suite struct SettlementOpsTests {
  @Test("UNI-07: every row and attempt of every push has an op id of its own, above the floor")
  func distinct() throws {
    var seen: Set<UInt64> = []
    for op in 1...3 as ClosedRange<UInt64> {
      for row in [0, 1, Limits.recordsPerCommit - 1] {
        let ops = try #require(SettlementOps(op: op, floor: op, row: row))
        for attempt in 0...SyncLimits.disputesPerRow {
          #expect(seen.insert(ops.number(attempt)).inserted && ops.number(attempt) >= ops.floor)
        }
      }
    }
    let next = try #require(SettlementOps(op: 4, floor: 4, row: 0))
    #expect(seen.allSatisfy { $0 < next.floor })
  }

  @Test("A device that has counted further than there are ids keeps its conflicts")
  func exhausted() {
    #expect(SettlementOps(op: 1 << 27, floor: 1, row: 0) != nil)
    #expect(SettlementOps(op: 1 << 28, floor: 1, row: 0) == nil)
    #expect(SettlementOps(op: 4, floor: 5, row: 0) == nil)
  }
}

extension Device {
  /// Saves "r" as if it were new, and tells what the record was before.
  func conflicting(
    _ type: CaravanModel.RecordType, op: UInt64 = 1, _ fields: [UInt32: Value] = [1: .text("b"), 2: .integer(2)]
  ) async throws -> CaravanModel.Outcome? {
    var push = Push.of(op, [.save("r", fields, type: type)])
    push.mutations[0].ancestor = RecordFields([2: .integer(0)]).body
    let result = try await ask(.push(push))
    guard case .commit(let reply) = result else { throw Unexpected(result: result) }
    return try reply.model().outcomes.first
  }
}

extension CloudCluster {
  /// How many disputes had this outcome so far.
  func disputes(_ outcome: String) -> UInt64 {
    let name = CounterName("caravan_sync_disputes_total", "")
    return host.metrics.counter(name, [.outcome: outcome]).value
  }
}
