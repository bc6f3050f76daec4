import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanSyncCore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a container's schema is changed as a whole by those who develop it, its history says how, and nobody gets what
/// belongs to something that was removed. Method: devices, sync, schema and a real store.
@Suite(.timeLimit(.minutes(2))) struct SchemaChangeTests {
  private static let fields: [(String, CaravanModel.FieldKind)] = [("name", .text), ("date", .integer)]

  /// - Parameter user: nil: the operator.
  private static func change(
    _ change: ChangeSchemaRequest.Change, of environment: CaravanModel.Environment = .development,
    by device: Device? = nil, in cloud: CloudCluster, isPreview: Bool = false
  ) async throws -> CaravanModel.SchemaChange? {
    let request = ChangeSchemaRequest(
      container: "album", environment: environment.rawValue, byOperator: true, preview: isPreview, change: change)
    let call = SchemaCall(call: .change(request))
    let answer: SchemaAnswer
    if let device {
      answer = try await device.ask(call)
    } else {
      answer = try await SchemaClient(bus: cloud.hub.connect(as: "operator")).perform(call)
    }
    guard case .change(let reply)? = answer.answer else { throw Missing("the change") }
    return try reply.change?.model()
  }

  private static func confirm(_ cloud: CloudCluster) async throws {
    let schema = SchemaClient(bus: cloud.hub.connect(as: "operator"))
    _ = try await schema.createContainer("album", owner: UserID("ann"), isForMembers: false)
  }

  private static func refusal(_ body: () async throws -> Void) async -> ErrorCode? {
    do { try await body() } catch { return (error as? CaravanError)?.code }
    return nil
  }

  /// What was known of removed types is a second old at most.
  private static func untilKnown(_ cloud: CloudCluster) async throws {
    try await cloud.host.clock.sleep(for: SyncLimits.grantsFreshness)
  }

  @Test("CK-92, CK-94: a developer promotes from a device; another user may not, nor look; the history says who")
  func promotion() async throws {
    try await CloudCluster.with { cloud in
      let (phone, ann) = (try cloud.device("phone"), try cloud.device("desk", in: .production))
      let eve = try cloud.device("e", of: "eve", in: .production)
      let type = try await phone.agree(Self.fields)
      try await Self.confirm(cloud)
      try await Self.untilKnown(cloud)
      let wanted = ChangeSchemaRequest.Change.promote(PromoteTypes())
      let preview = try await Self.change(wanted, of: .production, by: ann, in: cloud, isPreview: true)
      #expect(preview?.differences.map(\.description) == ["+ photos: name text, date integer"])
      let client = SchemaClient(bus: cloud.hub.connect(as: "client"))
      #expect(try await client.types(of: ContainerID("album"), in: .production).isEmpty, "a preview changes nothing")
      #expect(
        await Self.refusal { _ = try await Self.change(wanted, of: .production, by: eve, in: cloud) } == .accessDenied)
      // Credentials for development are good for development.
      #expect(
        await Self.refusal { _ = try await Self.change(wanted, of: .production, by: phone, in: cloud) } == .accessDenied
      )
      let made = try #require(try await Self.change(wanted, of: .production, by: ann, in: cloud))
      #expect(made.id == 1 && made.parent == 0 && made.source == 1 && made.cause == .promoted)
      #expect(made.author == .init(user: try UserID("ann"), device: "desk"), "whatever the call said of it")
      #expect(try await client.types(of: ContainerID("album"), in: .production).map(\.fields) == [type.fields])
      #expect(try await Self.change(wanted, of: .production, by: ann, in: cloud) == nil)
      let looks = [
        SchemaCall(call: .list(ListTypesRequest(container: "album", environment: "development"))),
        SchemaCall(call: .history(SchemaHistoryRequest(container: "album", environment: "development"))),
      ]
      for look in looks {
        #expect(await Self.refusal { _ = try await eve.ask(look) } == .accessDenied)
        if case .history(let history)? = try await ann.ask(look).answer {
          let changes = try history.changes.map { try $0.model() }
          #expect(changes.map(\.cause) == [.inferred] && changes.first?.author.user?.text == "ann")
        }
      }
    }
  }

  @Test("CK-92: the history is read page by page, the latest first, and no change is lost between two registries")
  func history() async throws {
    try await CloudCluster.with { cloud in
      let ann = try cloud.device("a")
      for count in 1...7 { _ = try await ann.agree((1...count).map { ("f\($0)", .text) }) }
      let client = SchemaClient(bus: cloud.hub.connect(as: "client"))
      var seen: [CaravanModel.SchemaChange] = []
      while true {
        let request = SchemaHistoryRequest(
          container: "album", environment: "development", before: seen.last?.id ?? 0, limit: 3)
        let answer = try await client.perform(SchemaCall(call: .history(request)))
        guard case .history(let reply)? = answer.answer else { throw Missing("the history") }
        #expect(reply.changes.count <= 3)
        seen += try reply.changes.map { try $0.model() }
        guard reply.more else { break }
      }
      #expect(seen.map(\.id) == [7, 6, 5, 4, 3, 2, 1] && seen.map(\.parent) == [6, 5, 4, 3, 2, 1, 0])
      #expect(seen.first?.differences.map(\.description) == ["+ photos.f7: text"])
    }
  }

  @Test("CK-90: nobody gets records of a type that was removed, and one made anew under a name takes its place")
  func removedTypes() async throws {
    try await CloudCluster.with { cloud in
      let (phone, tablet) = (try cloud.device("phone"), try cloud.device("tablet"))
      let old = try await phone.agree(Self.fields)
      #expect(try await phone.push(1, [.save("r", [1: .text("old")], type: old)]).versions.count == 1)
      #expect(try await tablet.read(["r"]).entries.count == 1)
      #expect(try await Self.change(.remove(RemoveType(type: "photos")), in: cloud)?.cause == .removed)
      try await Self.untilKnown(cloud)
      #expect(try await tablet.read(["r"]).entries.isEmpty)
      #expect(try EntryPage.decode(await tablet.pull().page).entries.isEmpty)
      let late = try await phone.refusal(.push(.of(2, [.save("s", [1: .text("late")], type: old)])))
      #expect(late?.code == .tableNotFound, "the device proposes its table again")
      let new = try await tablet.agree(Self.fields)
      #expect(new.definition != old.definition && Set(new.fields.map(\.id)).isDisjoint(with: old.fields.map(\.id)))
      try await Self.untilKnown(cloud)
      #expect(try await tablet.read(["r"]).entries.isEmpty, "its name was used again, and shows nothing of what was")
      let first = new.fields[0].id
      #expect(try await tablet.push(1, [.save("r", [first: .text("new")], type: new)]).versions.count == 1)
      let entries = try EntryPage.decode(await phone.pull().page).entries
      #expect(entries.map(\.type) == [new.id] && entries.map(\.name) == ["r"])
    }
  }

  @Test("CK-90: in a default zone a record of a removed type is in nobody's way, whatever type comes in its place")
  func removedInDefaultZone() async throws {
    try await CloudCluster.with { cloud in
      let ann = try cloud.device("a")
      func push(_ op: UInt64, _ type: CaravanModel.RecordType, _ field: UInt32) async throws -> CaravanWire.Outcome? {
        let mutation = CaravanModel.Mutation.save("r", [field: .text("x")], type: type)
        var push = Push.of(op, [mutation], to: DefaultZone.name)
        push.database = .public
        guard case .commit(let reply) = try await ann.ask(.push(push)) else { throw Missing("a reply") }
        return reply.outcomes.first
      }
      let old = try await ann.agree(Self.fields, on: "old")
      #expect(try await push(1, old, 1)?.verdict == .accepted)
      _ = try await Self.change(.remove(RemoveType(type: "old")), in: cloud)
      try await Self.untilKnown(cloud)
      let other = try await ann.agree(Self.fields, on: "other")
      #expect(try await push(2, other, 1)?.verdict == .accepted)
      #expect(try await ann.read(["r"], zone: DefaultZone.name, database: .public).entries.map(\.type) == [other.id])
    }
  }

  @Test("CK-90: the record of a removed type is the base of its own device's next save, and can be deleted")
  func removedBases() async throws {
    try await CloudCluster.with { cloud in
      let ann = try cloud.device("a")
      let old = try await ann.agree(Self.fields)
      let rows = ["kept", "gone", "other"].map { CaravanModel.Mutation.save($0, [1: .text("old")], type: old) }
      let versions = try await ann.push(1, rows).versions
      _ = try await Self.change(.remove(RemoveType(type: "photos")), in: cloud)
      let new = try await ann.agree(Self.fields)
      try await Self.untilKnown(cloud)
      let first = new.fields[0].id
      let based = CaravanModel.Mutation.save("kept", [first: .text("on")], type: new, base: .version(versions[0]))
      let deletion = CaravanModel.Mutation(name: "gone", base: .version(versions[1]), change: .delete)
      #expect(try await ann.push(2, [based, deletion]).versions.count == 2)
      let stale = CaravanModel.Mutation.save("other", [first: .text("x")], type: new, base: .version(1_000))
      guard case .commit(let reply) = try await ann.ask(.push(.of(3, [stale]))) else { throw Missing("a reply") }
      #expect(reply.outcomes.first?.verdict == .conflict && reply.outcomes.first?.server == nil)
    }
  }

  @Test("CK-04, CK-90: a removed type's grants go with it")
  func removedGrants() async throws {
    try await CloudCluster.with { cloud in
      let ann = try cloud.device("a")
      var type = try await ann.agree(Self.fields)
      let schema = SchemaClient(bus: cloud.hub.connect(as: "operator"))
      type.grants = .standard
      try type.grants?.grant([], to: .world)
      _ = try await schema.propose(type, to: ContainerID("album"), in: .development, by: nil)
      #expect(try await schema.visibility(of: ContainerID("album"), in: .development).granted.map(\.name) == ["photos"])
      _ = try await Self.change(.remove(RemoveType(type: "photos")), in: cloud)
      let visibility = try await schema.visibility(of: ContainerID("album"), in: .development)
      #expect(
        visibility.granted.isEmpty
          && visibility.retired == [CaravanModel.RetiredType(name: "photos", versions: [1, 2])])
      _ = try await ann.agree(Self.fields)
      #expect(try await schema.visibility(of: ContainerID("album"), in: .development).granted.isEmpty)
    }
  }

  @Test("CK-93, CK-96: what is promoted, said and proposed at once is one history without holes or doubles")
  func races() async throws {
    try await CloudCluster.with { cloud in
      let devices = try (0..<6).map { try cloud.device("d\($0)") }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, device) in devices.enumerated() {
          group.addTask {
            let type = try await device.agree(Self.fields, on: "t\(number)")
            let indexes = IndexFields(
              type: type.name, fields: [CaravanWire.FieldDefinition(name: "date", indexes: 0)])
            _ = try await Self.change(.index(indexes), in: cloud)
          }
        }
        try await group.waitForAll()
      }
      let client = SchemaClient(bus: cloud.hub.connect(as: "client"))
      let request = SchemaHistoryRequest(container: "album", environment: "development")
      guard case .history(let reply)? = try await client.perform(SchemaCall(call: .history(request))).answer else {
        throw Missing("the history")
      }
      #expect(reply.changes.map(\.id) == (1...12).reversed().map { UInt32($0) })
      let types = try await client.types(of: ContainerID("album"), in: .development)
      #expect(types.count == 6 && types.allSatisfy { $0.field(named: "date")?.indexes == [] })
      #expect(Set(types.map(\.id)).count == 6)
    }
  }

  @Test("CK-97, BEN-23: a push looks for its type once; in a second of pushes the registry is asked a few times")
  func cached() async throws {
    try await CloudCluster.with { cloud in
      let ann = try cloud.device("a")
      let type = try await ann.agree(Self.fields)
      func reads(_ place: String) -> UInt64 { cloud.host.metrics.counter(.typeReads, [.outcome: place]).value }
      let start = ["request", "memory", "registry"].map(reads)
      let begin = cloud.host.clock.now
      for op in 1...50 as ClosedRange<UInt64> {
        let rows = (0..<20).map { CaravanModel.Mutation.save("r\(op).\($0)", [1: .text("x")], type: type) }
        #expect(try await ann.push(op, rows).versions.count == 20)
      }
      let seconds = UInt64((cloud.host.clock.now - begin).components.seconds)
      let found = zip(["request", "memory", "registry"].map(reads), start).map { $0 - $1 }
      #expect(found[0] == 50 * 19 && found[1] + found[2] == 50)
      #expect(found[2] <= 2 + seconds, "confirmed once a second")
    }
  }

  @Test("A change of no kind, in the wrong environment, of a container that is not there, is refused as such")
  func badInput() async throws {
    try await CloudCluster.with { cloud in
      let ann = try cloud.device("a")
      _ = try await ann.agree(Self.fields)
      try await Self.confirm(cloud)
      try await Self.untilKnown(cloud)
      for (change, environment, code) in [
        (.promote(PromoteTypes()), .development, .invalidData),
        (.reset(ResetTypes()), .development, .invalidData),
        (.remove(RemoveType(type: "songs")), .development, .tableNotFound),
        (.index(IndexFields(type: "photos", fields: [.init(name: "name")])), .development, .invalidData),
        (
          .index(IndexFields(type: "photos", fields: [.init(name: "name", indexes: 8)])), .development, .schemaViolation
        ),
        (.importTypes(ImportTypes(types: [CaravanWire.RecordType(name: "x")])), .development, .schemaViolation),
      ] as [(ChangeSchemaRequest.Change, CaravanModel.Environment, ErrorCode)] {
        for device in [ann, nil] {
          let refused = await Self.refusal { _ = try await Self.change(change, of: environment, by: device, in: cloud) }
          #expect(refused == code, "\(change)")
        }
      }
      let inProduction = await Self.refusal {
        _ = try await Self.change(.reset(ResetTypes()), of: .production, in: cloud)
      }
      #expect(inProduction == .invalidData)
      for call in [SchemaCall().encoded(), [0xff]] {
        #expect(try await ann.refusal(.schema(AskSchema(container: "album", call: call)))?.code == .invalidData)
      }
      let elsewhere = AskSchema(container: "caravan", call: SchemaCall(call: .list(ListTypesRequest())).encoded())
      #expect(try await ann.refusal(.schema(elsewhere))?.code == .zoneDoesNotExist)
    }
  }
}

extension Device {
  fileprivate func ask(_ call: SchemaCall) async throws -> SchemaAnswer {
    let result = try await ask(.schema(AskSchema(container: "album", call: call.encoded())))
    if case .failure(let failure) = result { throw failure.model() }
    guard case .schema(let told) = result else { throw Unexpected(result: result) }
    return try SchemaAnswer.decode(told.answer)
  }
}
