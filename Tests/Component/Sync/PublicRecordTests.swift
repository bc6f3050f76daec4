import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanStorageClient
import CaravanSyncCore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a record of the public database is changed by the devices of the user who made it, and another user's device
/// hears that its row is refused, for good. Method: devices, sync, schema and a real store. What a device does with a
/// refused row is the agent's (`RefusedRowTests`).
@Suite(.timeLimit(.minutes(2))) struct PublicRecordTests {
  private static let fields: [(String, CaravanModel.FieldKind)] = [("name", .text), ("n", .integer)]

  private static func outcome(
    _ device: Device, _ op: UInt64, _ mutation: CaravanModel.Mutation
  ) async throws -> CaravanWire.Outcome? {
    var push = Push.of(op, [mutation], to: DefaultZone.name)
    push.database = .public
    let result = try await device.ask(.push(push))
    guard case .commit(let reply) = result else { throw Unexpected(result: result) }
    #expect(reply.outcomes.count == 1)
    return reply.outcomes.first
  }

  private static func read(_ device: Device) async throws -> [CaravanWire.Entry] {
    try await device.read(["r"], zone: DefaultZone.name, database: .public).entries
  }

  private static func save(_ text: String, _ type: CaravanModel.RecordType, _ base: Base = .absent)
    -> CaravanModel.Mutation
  {
    .save("r", [1: .text(text)], type: type, base: base)
  }

  @Test("TRU-04: another user's device is refused, whatever its base; the maker's other devices are not")
  func users() async throws {
    try await CloudCluster.with { cloud in
      let (phone, tablet) = (try cloud.device("phone"), try cloud.device("tablet"))
      let eve = try cloud.device("e", of: "eve")
      let type = try await phone.agree(Self.fields)
      #expect(try await Self.outcome(phone, 1, Self.save("hello", type))?.verdict == .accepted)
      let before = try await Self.read(eve)
      let version = try #require(before.first?.version)
      var op: UInt64 = 0
      for base in [Base.any, .absent, .version(version)] {
        for mutation in [
          Self.save("forged", type, base), CaravanModel.Mutation(name: "r", base: base, change: .delete),
        ] {
          op += 1
          let outcome = try #require(try await Self.outcome(eve, op, mutation))
          let refusal = outcome.failure?.model()
          #expect(outcome.verdict == .refused && outcome.server == nil, "no conflict to decide")
          #expect(refusal?.code == .accessDenied && refusal?.isTransient == false)
          #expect(refusal?.message.contains("'r'") == true && refusal?.message.contains("ann") == false)
          #expect(try await Self.outcome(eve, op, mutation) == outcome, "the same op again")
        }
      }
      #expect(try await Self.read(eve) == before)
      let settle = Settle(container: "album", zone: DefaultZone.name, op: op, database: .public, record: "r")
      guard case .commit(let reply) = try await eve.ask(.settle(settle)) else { throw Missing("settlement") }
      #expect(reply.outcomes.map(\.verdict) == [.refused])
      let changed = try await Self.outcome(tablet, 1, Self.save("from the tablet", type, .version(version)))
      #expect(changed?.verdict == .accepted)
      let late = try await Self.outcome(phone, 2, Self.save("late", type, .version(version)))
      #expect(late?.verdict == .conflict, "a user's own devices have their conflicts to decide")
      let gone = CaravanModel.Mutation(name: "r", base: .any, change: .delete)
      #expect(try await Self.outcome(tablet, 2, gone)?.verdict == .accepted)
      #expect(try await Self.outcome(eve, op + 1, Self.save("mine now", type))?.verdict == .accepted)
      #expect(try await Self.outcome(phone, 3, Self.save("hello", type, .any))?.failure?.code == "accessDenied")
    }
  }

  @Test(
    "TRU-04: no policy of a record type makes a record another's, nor is a program asked",
    arguments: [CaravanModel.ConflictPolicy.lastWriterWins, .fieldMerge, .deterministic, .serverExtension])
  func policies(policy: CaravanModel.ConflictPolicy) async throws {
    try await CloudCluster.with { cloud in
      let (ann, eve) = (try cloud.device("a"), try cloud.device("e", of: "eve"))
      var proposal = ProposeTable.type(Self.fields)
      proposal.type?.settings = CaravanWire.TypeSettings(CaravanModel.TypeSettings(conflicts: policy))
      guard case .type(let agreed) = try await ann.ask(.propose(proposal)) else { throw Missing("type") }
      let type = try agreed.model()
      let program = RecordingExtension { (_) throws(CaravanError) in Decision(kind: .keep(Empty())) }
      try await program.serving(cloud) {
        #expect(try await Self.outcome(ann, 1, Self.save("hello", type))?.verdict == .accepted)
        let refused = try await Self.outcome(eve, 1, Self.save("later", type))
        #expect(refused?.failure?.code == "accessDenied")
        #expect(program.disputes.isEmpty)
      }
      #expect(try await Self.read(eve).map(\.version) == [1])
    }
  }

  /// Says the grants of ann's type, as the operator.
  private static func grant(
    _ rights: [(CaravanModel.TypeGrants.Role, CaravanModel.TypeGrants.Rights)], of type: CaravanModel.RecordType,
    in cloud: CloudCluster
  ) async throws {
    let schema = SchemaClient(bus: cloud.hub.connect(as: "operator"))
    var type = type
    var grants = CaravanModel.TypeGrants.standard
    for (role, granted) in rights { try grants.grant(granted, to: role) }
    type.grants = grants
    _ = try await schema.propose(type, to: ContainerID("album"), in: .development, by: nil)
    // What was known of them before is a second old at most.
    try await cloud.host.clock.sleep(for: SyncLimits.grantsFreshness)
  }

  @Test("CK-04: a type whose records every user may change is a wiki; another one beside it is not")
  func shared() async throws {
    try await CloudCluster.with { cloud in
      let (ann, eve) = (try cloud.device("a"), try cloud.device("e", of: "eve"))
      let type = try await ann.agree(Self.fields)
      #expect(try await Self.outcome(ann, 1, Self.save("hello", type))?.verdict == .accepted)
      #expect(try await Self.outcome(eve, 1, Self.save("mine", type, .any))?.failure?.code == "accessDenied")
      try await Self.grant([(.authenticated, [.create, .read, .write])], of: type, in: cloud)
      #expect(try await Self.outcome(eve, 2, Self.save("ours", type, .any))?.verdict == .accepted)
      #expect(try await Self.outcome(ann, 2, Self.save("again", type, .any))?.verdict == .accepted)
      let gone = CaravanModel.Mutation(name: "r", base: .any, change: .delete)
      #expect(try await Self.outcome(eve, 3, gone)?.verdict == .accepted)
      #expect(try await Self.read(ann).allSatisfy(\.deleted))
    }
  }

  @Test("CK-04, CK-65: what a user may not see is answered as what is not there, byte for byte; its name is taken")
  func hidden() async throws {
    try await CloudCluster.with { cloud in
      let (ann, eve) = (try cloud.device("a"), try cloud.device("e", of: "eve"))
      let type = try await ann.agree(Self.fields)
      #expect(try await Self.outcome(ann, 1, Self.save("secret", type))?.verdict == .accepted)
      #expect(try await Self.read(eve).count == 1)
      try await Self.grant([(.world, [])], of: type, in: cloud)
      #expect(try await Self.read(ann).count == 1)
      func answer(_ operation: CaravanWire.Operation.Kind) async throws -> [UInt8] {
        CaravanWire.Result(kind: try await eve.ask(operation)).encoded()
      }
      func read(_ name: String) async throws -> [UInt8] {
        try await answer(
          .read(ReadRecords(container: "album", zone: DefaultZone.name, names: [name], database: .public)))
      }
      // In the same shard, whose numbers the answers have.
      let shards = CaravanModel.ContainerSettings().publicShards
      let shard = DefaultZone.shard(of: "r", among: shards)
      let free = try #require((0..<100).map { "s\($0)" }.first { DefaultZone.shard(of: $0, among: shards) == shard })
      #expect(try await read("r") == read(free))
      var op: UInt64 = 0
      for (base, change) in [
        (Base.any, CaravanModel.Mutation.Change.read), (.absent, .read), (.version(1), .read), (.any, .delete),
        (.version(1), .delete), (.version(1), .save(type: type.id, body: [], chunks: [])),
      ] {
        func push(_ name: String) async throws -> [UInt8] {
          op += 1
          var push = Push.of(op, [.init(name: name, base: base, change: change)], to: DefaultZone.name)
          push.database = .public
          return try await answer(.push(push))
        }
        #expect(try await push("r") == push(free), "\(base) \(change)")
      }
      let taken = try await Self.outcome(eve, op + 1, Self.save("mine", type, .any))
      #expect(taken?.failure?.code == "accessDenied" && taken?.server == nil)
      #expect(try await Self.read(ann).map(\.version) == [1])
    }
  }

  @Test("CK-04: who develops nothing says no grants; those of a type stay when its fields become more")
  func standing() async throws {
    try await CloudCluster.with { cloud in
      let (ann, eve) = (try cloud.device("a"), try cloud.device("e", of: "eve"))
      let type = try await ann.agree(Self.fields)
      try await Self.grant([(.authenticated, [.create, .read, .write])], of: type, in: cloud)
      var proposal = ProposeTable.type(Self.fields)
      var wanted = CaravanModel.TypeGrants.standard
      try wanted.grant([], to: .world)
      proposal.type?.grants = CaravanWire.TypeGrants(wanted)
      let refused = try await eve.refusal(.propose(proposal))
      #expect(refused?.code == .accessDenied && refused?.message.contains("who may do what") == true)
      let wider = try await eve.agree(Self.fields + [("more", .text)])
      #expect(wider.id != type.id && wider.grants?[.authenticated] == [.create, .read, .write])
      #expect(try await Self.outcome(ann, 1, Self.save("hello", type))?.verdict == .accepted)
      #expect(try await Self.outcome(eve, 1, Self.save("ours", wider, .any))?.verdict == .accepted)
    }
  }

  @Test("CK-04, CK-65: an answer that is given again shows nothing that its device may not see by now")
  func shownAgain() async throws {
    try await CloudCluster.with { cloud in
      let (ann, eve) = (try cloud.device("a"), try cloud.device("e", of: "eve"))
      let type = try await ann.agree(Self.fields)
      // A conflict with nothing, which is kept by the record's name.
      #expect(try await Self.outcome(eve, 1, Self.save("x", type, .version(999)))?.verdict == .conflict)
      #expect(try await Self.outcome(ann, 1, Self.save("secret", type))?.verdict == .accepted)
      // What everybody sees, the answer shows.
      let settle = Settle(container: "album", zone: DefaultZone.name, op: 1, database: .public, record: "r")
      func shown() async throws -> [CaravanWire.Entry?] {
        guard case .commit(let settled) = try await eve.ask(.settle(settle)) else { throw Missing("settlement") }
        let again = try await Self.outcome(eve, 1, Self.save("x", type, .version(999)))
        return settled.outcomes.map(\.server) + [again?.server]
      }
      #expect(try await shown().allSatisfy { $0 != nil })
      try await Self.grant([(.world, [])], of: type, in: cloud)
      #expect(try await shown() == [nil, nil])
    }
  }

  @Test("CK-04: grants hold for a version of their type from its first record on")
  func freshVersion() async throws {
    try await CloudCluster.with { cloud in
      let (ann, eve) = (try cloud.device("a"), try cloud.device("e", of: "eve"))
      let type = try await ann.agree(Self.fields)
      #expect(try await Self.outcome(ann, 1, Self.save("notice", type))?.verdict == .accepted)
      try await Self.grant([(.authenticated, .read)], of: type, in: cloud)
      #expect(try await Self.read(eve).count == 1, "the grants are known")
      let wider = try await eve.agree(Self.fields + [("more", .text)])
      let made = CaravanModel.Mutation.save("mine", [1: .text("x")], type: wider, base: .absent)
      #expect(try await Self.outcome(eve, 1, made)?.failure?.code == "accessDenied")
    }
  }

  @Test("CK-04: a device goes on with an old version of a type whose grants are the usual ones again")
  func oldVersion() async throws {
    try await CloudCluster.with { cloud in
      let ann = try cloud.device("a")
      let type = try await ann.agree(Self.fields)
      try await Self.grant([(.authenticated, [.create, .read, .write])], of: type, in: cloud)
      let wiki = try await ann.agree(Self.fields)
      #expect(wiki.id != type.id)
      try await Self.grant([], of: type, in: cloud)
      #expect(try await Self.outcome(ann, 1, Self.save("hello", wiki))?.verdict == .accepted)
      #expect(try await Self.read(ann).count == 1)
    }
  }
}
