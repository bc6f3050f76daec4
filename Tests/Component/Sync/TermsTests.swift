import CaravanModel
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: what a write asks for beyond a plain save reaches the store and comes back, and a device decides nothing that
/// its record types decide. Method: devices, sync, schema and a real store.
@Suite(.timeLimit(.minutes(2))) struct TermsTests {
  private static let fields: [(String, CaravanModel.FieldKind)] = [
    ("name", .text), ("count", .integer), ("parent", .reference),
  ]

  private func entry(_ outcome: CaravanModel.Outcome?) -> CaravanModel.Entry? {
    switch outcome {
    case .conflict(let entry), .read(let entry), .merged(_, let entry): entry
    case .accepted, .aborted, .refused, nil: nil
    }
  }

  @Test("CK-25, CK-26: changed fields are merged; all known fields replace those a client knows and no newer ones")
  func scopes() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let old = try await a.agree(Self.fields)
      let new = try await a.agree(Self.fields + [("place", .text)])
      _ = try await a.push(1, [.save("r", [1: .text("x"), 2: .integer(1), 4: .text("new")], type: new)])
      var patch = CaravanModel.Mutation.save("r", [2: .integer(2)], type: old, base: .any)
      patch.terms = WriteTerms(scope: .changed)
      #expect(try await a.push(2, [patch]).versions == [2])
      #expect(try await a.fields("r") == [1: .text("x"), 2: .integer(2), 4: .text("new")])
      var whole = CaravanModel.Mutation.save("r", [1: .text("y")], type: old, base: .version(2))
      // What the writer knows is its record type's to say.
      whole.terms = WriteTerms(scope: .known(upTo: 99))
      #expect(try await a.push(3, [whole]).versions == [3])
      #expect(try await a.fields("r") == [1: .text("y"), 4: .text("new")])
    }
  }

  @Test("E15: a save holds only as long as the fields it depends on are as it says")
  func guards() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await a.agree(Self.fields)
      _ = try await a.push(1, [.save("r", [1: .text("x"), 2: .integer(1)], type: type)])
      var patch = CaravanModel.Mutation.save("r", [2: .integer(2)], type: type, base: .any)
      patch.terms = WriteTerms(scope: .changed, guards: RecordFields([1: .text("other")]).body)
      #expect(try await self.entry(a.push(2, [patch]).outcomes.first)?.version == 1)
      patch.terms?.guards = RecordFields([1: .text("x")]).body
      #expect(try await a.push(3, [patch]).versions == [2])
      patch.terms?.guards = [0xff]
      let refusal = try await a.refusal(.push(.of(4, [patch])))
      #expect(refusal?.code == .invalidData)
    }
  }

  @Test("CK-23: an atomic batch is applied as a whole or not at all")
  func atomic() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await a.agree(Self.fields)
      _ = try await a.push(1, [.save("r", [1: .text("x")], type: type)])
      var push = Push.of(2, [.save("s", [:], type: type), .save("r", [:], type: type)])
      push.atomic = true
      guard case .commit(let reply) = try await a.ask(.push(push)) else { throw Missing("answer to the push") }
      let outcomes = try reply.model().outcomes
      #expect(outcomes.first == .aborted && self.entry(outcomes.last)?.name == "r")
      #expect(try await a.read(["s"]).entries.isEmpty)
    }
  }

  @Test("CK-27, CK-28: the body's references count, whatever list a device sends beside it")
  func references() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await a.agree(Self.fields)
      let link = Value.reference(CaravanModel.Reference(to: "parent", .owning))
      let orphan = try await a.push(1, [.save("child", [3: link], type: type)])
      guard case .refused(let refusal)? = orphan.outcomes.first else {
        Issue.record("a reference to nothing must be refused: \(orphan)")
        return
      }
      #expect(refusal.code == .referenceViolation && refusal.message.contains("'parent'"), "\(refusal)")
      var lying = CaravanModel.Mutation.save("free", [:], type: type)
      lying.terms = WriteTerms(references: [CaravanModel.Reference(to: "nobody", .validating)])
      _ = try await a.push(2, [.save("parent", [:], type: type), lying])
      #expect(try await a.push(3, [.save("child", [3: link], type: type)]).versions == [3])
      let gone = CaravanModel.Mutation(name: "parent", base: .any, change: .delete)
      #expect(try await a.push(4, [gone]).versions == [4])
      #expect(try await a.read(["parent", "child", "free"]).entries.map(\.deleted) == [true, true, false])
    }
  }

  @Test("CK-30: a record ends when its write says")
  func expiry() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await a.agree(Self.fields)
      var save = CaravanModel.Mutation.save("r", [:], type: type)
      save.terms = WriteTerms(expiry: .at(4_000_000_000_000))
      _ = try await a.push(1, [save])
      #expect(try await a.read(["r"]).entries.first?.expires == 4_000_000_000_000)
      save.base = .version(1)
      save.terms = WriteTerms(expiry: .at(1 << 60))
      #expect(try await a.refusal(.push(.of(2, [save])))?.code == .invalidData)
    }
  }

  @Test("UNI-02: a device cannot choose the policy of its conflicts")
  func policyIsTheTypes() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree(Self.fields)
      _ = try await a.push(1, [.save("r", [1: .text("a")], type: type)])
      var save = CaravanModel.Mutation.save("r", [1: .text("b")], type: type)
      save.terms = WriteTerms(policy: .lastWriterWins, stamp: HybridStamp(milliseconds: 1 << 45))
      #expect(try await self.entry(b.push(1, [save]).outcomes.first)?.writer == "ann/a/1")
    }
  }

  @Test("CK-22, CK-24: what was acknowledged is read at once, by name, with the fields asked for, in the order asked")
  func read() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await a.agree(Self.fields)
      let rows = ["r", "s"].map { CaravanModel.Mutation.save($0, [1: .text($0), 2: .integer(2)], type: type) }
      _ = try await a.push(1, rows)
      let result = try await a.read(["s", "none", "r"], fields: [2])
      #expect(result.entries.map(\.name) == ["s", "r"] && result.answered == 3)
      #expect(
        try result.entries.map { try RecordFields(body: $0.body).values } == [[2: .integer(2)], [2: .integer(2)]])
      _ = try await a.push(2, [.save("s", [1: .text("new"), 2: .integer(3)], type: type, base: .version(2))])
      #expect(try await a.read(["s"]).entries.map(\.version) == [3])
      #expect(try await a.refusal(.read(ReadRecords(container: "album", zone: "photos")))?.code == .limitExceeded)
    }
  }

  @Test("CK-01, CK-05, CK-06: containers and users are apart; nothing names another's database")
  func apart() async throws {
    try await CloudCluster.with { cloud in
      let (a, eve) = (try cloud.device("a"), try cloud.device("eve", of: "eve"))
      let type = try await a.agree(Self.fields)
      _ = try await a.push(1, [.save("r", [1: .text("x")], type: type)])
      #expect(try await eve.read(["r"]).entries.isEmpty)
      let elsewhere = try await a.ask(.read(ReadRecords(container: "notes", zone: "photos", names: ["r"])))
      #expect(elsewhere == .records(RecordsResult(answered: 1)))
      let foreign = try await a.refusal(.push(.of(2, [.save("r", [:], type: type)], in: "notes")))
      #expect(foreign?.code == .tableNotFound, "its record types are its own, too")
      guard case .zones(let zones) = try await eve.ask(.zones(ListZones(container: "album"))) else {
        throw Missing("list of zones")
      }
      #expect(zones.zones.isEmpty)
    }
  }

  @Test("CK-45: zones are made once, and listed with their lives")
  func zones() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let create = CreateZone(container: "album", zone: "trips")
      guard case .zone(let made) = try await a.ask(.createZone(create)) else { throw Missing("zone that was made") }
      #expect(made.zone == "trips" && made.seq == 0 && made.incarnation > 0)
      #expect(try await a.ask(.createZone(create)) == .zone(made))
      guard case .zones(let list) = try await a.ask(.zones(ListZones(container: "album"))) else {
        throw Missing("list of zones")
      }
      #expect(list.zones == [made])
      let drop = DropTable(container: "album", zone: "trips")
      guard case .done = try await a.ask(.drop(drop)) else { throw Missing("end of the zone") }
      guard case .zone(let again) = try await a.ask(.createZone(create)) else { throw Missing("zone that was made") }
      #expect(again.incarnation != made.incarnation)
      let system = CreateZone(container: ContainerID.system.text, zone: "x")
      #expect(try await a.refusal(.createZone(system))?.code == .zoneDoesNotExist)
    }
  }

  @Test("CK-02: a user has another id in every container, the same on all devices, and it tells nothing")
  func aliases() async throws {
    try await CloudCluster.with { cloud in
      func id(_ device: Device, _ container: String) async throws -> String? {
        guard case .person(let person) = try await device.ask(.whoAmI(WhoAmI(container: container))) else { return nil }
        return person.user
      }
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let one = try await id(a, "album")
      #expect(one != nil && one?.contains("ann") == false)
      #expect(try await id(b, "album") == one)
      let elsewhere = try await id(a, "notes")
      #expect(elsewhere != one)
      let other = try await id(cloud.device("eve", of: "eve"), "album")
      #expect(other != one)
    }
  }

  @Test("CK-02, CK-03, CK-09: all read the public database's default zone, and nobody learns who wrote in it")
  func publicDatabase() async throws {
    try await CloudCluster.with { cloud in
      let (a, eve) = (try cloud.device("a"), try cloud.device("e", of: "eve"))
      let type = try await a.agree([("name", .text)])
      var push = Push.of(1, [.save("r", [1: .text("x")], type: type)], to: DefaultZone.name)
      push.database = .public
      guard case .commit(let reply) = try await a.ask(.push(push)) else { throw Missing("answer to the push") }
      #expect(try reply.model().versions.count == 1)
      let seen = try await eve.read(["r"], zone: DefaultZone.name, database: .public).entries
      #expect(seen.map(\.name) == ["r"] && seen.allSatisfy { $0.writer != "a" && !$0.writer.contains("ann") })
      push.zone = "photos"
      #expect(try await a.refusal(.push(push))?.code == .zoneDoesNotExist)
      let schema = ReadRecords(container: "album", zone: "schema", names: ["counter"], database: .public)
      #expect(try await a.refusal(.read(schema))?.code == .zoneDoesNotExist)
    }
  }

  @Test("CK-10: the default zone has no batches, references, or change tokens")
  func defaultZone() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await a.agree(Self.fields)
      let (r, s) = (CaravanModel.Mutation.save("r", [:], type: type), CaravanModel.Mutation.save("s", [:], type: type))
      #expect(try await a.push(1, [r], to: DefaultZone.name).versions.count == 1)
      let linked = CaravanModel.Mutation.save(
        "l", [3: .reference(CaravanModel.Reference(to: "r", .owning))], type: type)
      var atomic = Push.of(3, [s], to: DefaultZone.name)
      atomic.atomic = true
      let refused: [CaravanWire.Operation.Kind] = [
        .push(.of(2, [r, s], to: DefaultZone.name)), .push(atomic), .push(.of(4, [linked], to: DefaultZone.name)),
        .pull(Pull(container: "album", zone: DefaultZone.name)),
        .createZone(CreateZone(container: "album", zone: DefaultZone.name)),
        .drop(DropTable(container: "album", zone: DefaultZone.name)),
        .settle(Settle(container: "album", zone: DefaultZone.name, op: 1)),
        .subscribe(
          Subscribe(
            generation: 1, subscriptions: [ZoneSubscription(container: "album", zone: DefaultZone.name)])),
      ]
      for operation in refused {
        let refusal = try await a.refusal(operation)
        #expect(refusal?.code == .customZoneNeeded && refusal?.message.contains("default zone") == true, "\(operation)")
      }
    }
  }
}

extension Device {
  func fields(_ name: String) async throws -> [UInt32: Value]? {
    try await read([name]).entries.first.map { try RecordFields(body: $0.body).values }
  }
}
