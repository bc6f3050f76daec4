import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanSyncCore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a device that makes up its operations reaches no more of a public database than an app does, and records of
/// different types are not mixed there. Method: devices, sync, schema and a real store.
@Suite(.timeLimit(.minutes(2))) struct PublicTypeTests {
  private static let fields: [(String, CaravanModel.FieldKind)] = [("text", .text), ("n", .integer)]

  private static func push(
    _ op: UInt64, _ mutation: CaravanModel.Mutation, to zone: String = DefaultZone.name,
    type: UInt32? = nil, in container: String = "album"
  ) -> CaravanWire.Operation.Kind {
    var push = Push.of(op, [mutation], to: zone, in: container)
    push.database = .public
    if let type { push.mutations[0].type = type }
    return .push(push)
  }

  private static func read(
    _ names: [String], type: UInt32 = 0, zone: String = DefaultZone.name, in container: String = "album"
  ) -> CaravanWire.Operation.Kind {
    .read(ReadRecords(container: container, zone: zone, names: names, database: .public, type: type))
  }

  @Test("CK-09, CK-65: of a public database a device reaches the default zone, of its container, and nothing else")
  func zones() async throws {
    try await CloudCluster.with { cloud in
      let (ann, eve) = (try cloud.device("a"), try cloud.device("e", of: "eve"))
      let type = try await ann.agree(Self.fields)
      let save = CaravanModel.Mutation.save("r", [1: .text("x")], type: type)
      guard case .commit = try await ann.ask(Self.push(1, save)) else { throw Missing("commit") }
      let zones = [SubscriptionZone.name, NotificationLog.name, BuriedZones.name, "photos", "", "_defaultzone"]
      for (index, zone) in zones.enumerated() {
        let written = try await eve.refusal(Self.push(UInt64(index) + 1, save, to: zone))
        let seen = try await eve.refusal(Self.read(["r"], zone: zone))
        #expect(written?.code == .zoneDoesNotExist && seen?.code == .zoneDoesNotExist, "\(zone)")
      }
      #expect(try await eve.refusal(Self.read(["r"], in: "caravan"))?.code == .zoneDoesNotExist)
      #expect(try await eve.refusal(Self.push(20, save, in: "caravan"))?.code == .zoneDoesNotExist)
      // The other database that a message can name is its sender's own.
      let own = try await eve.ask(.read(ReadRecords(container: "album", zone: DefaultZone.name, names: ["r"])))
      #expect(own == .records(RecordsResult(answered: 1)))
      let two = try await eve.refusal(
        .push(
          Push(
            container: "album", zone: DefaultZone.name, op: 30,
            mutations: [CaravanWire.Mutation(save), CaravanWire.Mutation(.save("s", [:], type: type))],
            database: .public)))
      #expect(two?.code == .customZoneNeeded)
    }
  }

  @Test("CK-09: fields of one type are not merged into a record of another, whose fields have the same ids")
  func merges() async throws {
    try await CloudCluster.with { cloud in
      let ann = try cloud.device("a")
      let type = try await ann.agree(Self.fields)
      let other = try await ann.agree([("size", .integer)], on: "pins")
      let wider = try await ann.agree(Self.fields + [("more", .text)])
      var op: UInt64 = 0
      func outcome(_ mutation: CaravanModel.Mutation, type: UInt32? = nil) async throws -> CaravanWire.Result.Kind {
        op += 1
        return try await ann.ask(Self.push(op, mutation, type: type))
      }
      _ = try await outcome(.save("r", [1: .text("x")], type: type))
      var patch = CaravanModel.Mutation.save("r", [1: .integer(9)], type: other, base: .any)
      patch.terms = WriteTerms(scope: .changed)
      let gone = CaravanModel.Mutation(name: "r", base: .any, change: .delete)
      for (mutation, type) in [(patch, nil), (gone, other.id)] as [(CaravanModel.Mutation, UInt32?)] {
        guard case .failure(let failure) = try await outcome(mutation, type: type) else { throw Missing("refusal") }
        #expect(failure.code == "schemaViolation" && failure.message.contains("'r'"))
      }
      let new = CaravanModel.Mutation.save("r", [1: .integer(9)], type: other, base: .absent)
      guard case .commit(let reply) = try await outcome(new) else { throw Missing("commit") }
      #expect(reply.outcomes.map(\.verdict) == [.refused] && reply.outcomes.first?.server == nil)
      var more = CaravanModel.Mutation.save("r", [3: .text("y")], type: wider, base: .any)
      more.terms = WriteTerms(scope: .changed)
      guard case .commit(let merged) = try await outcome(more) else { throw Missing("commit") }
      #expect(merged.outcomes.map(\.verdict) == [.accepted], "another version of the type is the type")
      func names(_ type: UInt32) async throws -> [String] {
        guard case .records(let found) = try await ann.ask(Self.read(["r", "s"], type: type)) else {
          throw Missing("records")
        }
        return found.entries.map(\.name)
      }
      #expect(try await names(0) == ["r"])
      #expect(try await names(type.id) == ["r"])
      #expect(try await names(other.id) == [])
      #expect(try await ann.refusal(Self.read(["r"], type: 99))?.code == .tableNotFound)
    }
  }

  @Test("CK-65: a record of another type that a user may not see is no other for them than one of the same type")
  func hiddenTypes() async throws {
    try await CloudCluster.with { cloud in
      let (ann, eve) = (try cloud.device("a"), try cloud.device("e", of: "eve"))
      let type = try await ann.agree(Self.fields)
      let other = try await eve.agree([("size", .integer)], on: "pins")
      _ = try await ann.ask(Self.push(1, .save("r", [1: .text("secret")], type: type)))
      var hidden = type
      var grants = CaravanModel.TypeGrants.standard
      try grants.grant([], to: .world)
      hidden.grants = grants
      let schema = SchemaClient(bus: cloud.hub.connect(as: "operator"))
      _ = try await schema.propose(hidden, to: ContainerID("album"), in: .development, by: nil)
      try await cloud.host.clock.sleep(for: SyncLimits.grantsFreshness)
      var op: UInt64 = 0
      for base in [Base.any, .version(1), .version(9)] {
        func answer(_ type: CaravanModel.RecordType, deletes: Bool) async throws -> CaravanWire.Result.Kind {
          op += 1
          var patch = CaravanModel.Mutation.save("r", [1: .integer(1)], type: type, base: base)
          patch.terms = WriteTerms(scope: .changed)
          let gone = CaravanModel.Mutation(name: "r", base: base, change: .delete)
          return try await eve.ask(Self.push(op, deletes ? gone : patch, type: type.id))
        }
        guard case .commit(let saved) = try await answer(other, deletes: false) else { throw Missing("commit") }
        #expect(saved.outcomes.allSatisfy { $0.server == nil && $0.failure?.code != "schemaViolation" })
        let (one, same) = (try await answer(other, deletes: true), try await answer(type, deletes: true))
        #expect(one == same, "\(base)")
      }
    }
  }

  @Test("CK-91, CK-93: who needs some fields of a type gets it with all of them, and looks without making it")
  func partialProposals() async throws {
    try await CloudCluster.with { cloud in
      let ann = try cloud.device("a")
      func propose(_ fields: [(String, CaravanModel.FieldKind)]) -> CaravanWire.Operation.Kind {
        var proposal = ProposeTable.type(fields)
        proposal.partial = true
        return .propose(proposal)
      }
      func agreed(_ fields: [(String, CaravanModel.FieldKind)]) async throws -> [String] {
        let result = try await ann.ask(propose(fields))
        guard case .type(let type) = result else { throw Unexpected(result: result) }
        return type.fields.map(\.name)
      }
      #expect(try await ann.refusal(propose([]))?.code == .tableNotFound)
      #expect(try await agreed(Self.fields) == ["text", "n"])
      #expect(try await agreed([("n", .integer)]) == ["text", "n"])
      #expect(try await agreed([]) == ["text", "n"])
      #expect(try await agreed([("more", .text)]) == ["text", "n", "more"])
      #expect(try await ann.refusal(propose([("n", .text)]))?.code == .schemaNotAdditive)
      #expect(try await agreed([]) == ["text", "n", "more"])
    }
  }
}
