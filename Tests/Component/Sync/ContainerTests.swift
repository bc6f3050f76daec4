import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanStorageClient
import CaravanTestKit
import CaravanWire
import Foundation
import Testing

/// Registered containers, over a real store and a bus.
@Suite(.timeLimit(.minutes(2))) struct ContainerTests {
  private static let fields: [(String, CaravanModel.FieldKind)] = [("name", .text)]
  private let album = ContainerID(unchecked: "album")
  private let ann = UserID(unchecked: "ann")
  private let bob = UserID(unchecked: "bob")

  private func code(_ body: () async throws -> Void) async -> ErrorCode? {
    do { try await body() } catch { return (error as? CaravanError)?.code }
    return nil
  }

  private static func proposal(
    ttl: UInt64?, more: [(String, CaravanModel.FieldKind)] = [], in container: String = "album"
  ) -> CaravanWire.Operation.Kind {
    let type = CaravanModel.RecordType(
      id: 0, definition: 0, name: "photos",
      fields: (fields + more).map { CaravanModel.FieldDefinition(id: 0, name: $0.0, kind: $0.1) },
      settings: ttl.map { TypeSettings(ttlMilliseconds: $0) })
    return .propose(ProposeTable(container: container, type: CaravanWire.RecordType(type)))
  }

  private func operatorsClient(_ cloud: CloudCluster) -> SchemaClient {
    SchemaClient(bus: cloud.hub.connect(as: "operator"))
  }

  @Test("TRU-04: where the operator makes containers, nothing of another can be made, and it sounds like nothing")
  func closed() async throws {
    try await CloudCluster.with(opensContainers: false) { cloud in
      let (device, client) = (try cloud.device("a"), operatorsClient(cloud))
      let attempts: [CaravanWire.Operation.Kind] = [
        Self.proposal(ttl: nil, in: "squat"), .createZone(CreateZone(container: "squat", zone: "z")),
        .pull(Pull(container: "squat", zone: "z")), .ticket(RequestTicket(container: "squat", upload: true)),
        .lock(LockDatabase(container: "squat")),
        .beginGroup(BeginGroup(container: "squat", zone: "z", op: 1)),
      ]
      for attempt in attempts {
        #expect(try await device.refusal(attempt)?.code == .zoneDoesNotExist, "\(attempt)")
      }
      let storage = StorageClient(bus: cloud.hub.connect(as: "looker"), host: cloud.host, writer: "@test")
      for owner in [nil, ann] {
        let database = DatabaseID(container: ContainerID(unchecked: "squat"), environment: .development, owner: owner)
        #expect(try await storage.zones(of: database).isEmpty, "nothing was made")
      }
      #expect(try await client.containers().map(\.name) == ["album", "probe"])
      // What the operator has made works for everybody.
      #expect(try await device.agree(Self.fields).id == 1)
      guard case .zone = try await device.ask(.createZone(CreateZone(container: "album", zone: "z"))) else {
        throw Missing("zone")
      }
    }
  }

  @Test("TRU-04: containers are made, shown and listed; names are unique without regard to case, owners known")
  func operators() async throws {
    try await CloudCluster.with(opensContainers: false) { cloud in
      let client = operatorsClient(cloud)
      let made = try await client.createContainer("Notes", owner: ann, isForMembers: true)
      #expect(made.id.text == "notes" && made.name == "Notes" && made.environments == CaravanModel.Environment.allCases)
      #expect(
        await code { _ = try await client.createContainer("NOTES", owner: bob, isForMembers: false) } == .objectExists)
      #expect(
        await code { _ = try await client.createContainer("..", owner: bob, isForMembers: false) } == .invalidData)
      let dotted = try await client.createContainer("com.Example.App", owner: bob, isForMembers: false)
      #expect(dotted.id.text.hasPrefix("c-") && dotted.id.text.count == 18)
      #expect(try await client.container(named: "com.example.app") == dotted)
      #expect(await code { _ = try await client.container(named: "nothing") } == .noSuchObject)
      #expect(await code { _ = try await client.allowDeveloper(bob, in: "nothing") } == .noSuchObject)
      #expect(try await client.containers().map(\.name) == ["album", "com.Example.App", "Notes", "probe"])

      // For members: others find nothing.
      let device = try cloud.device("b", of: "bob")
      #expect(try await device.refusal(Self.proposal(ttl: nil, in: "notes"))?.code == .zoneDoesNotExist)
      #expect(try await client.allowDeveloper(bob, in: "notes").developers == [bob])
      try await eventually("bob is let in") { try await device.refusal(Self.proposal(ttl: 9, in: "notes")) == nil }
      #expect(try await client.removeDeveloper(bob, from: "notes").developers == [])
      #expect(await code { _ = try await client.removeDeveloper(bob, from: "notes") } == .noSuchObject)
      let guest = try cloud.device("c", of: "cid")
      let zone = CaravanWire.Operation.Kind.createZone(CreateZone(container: "notes", zone: "z"))
      #expect(try await guest.refusal(zone)?.code == .zoneDoesNotExist)
      let cid = try UserID("cid")
      #expect(try await client.invite(cid, to: "notes").invited == [cid])
      #expect(try await client.container(named: "notes").invited == [cid], "it is kept")
      try await eventually("cid is let in") { try await guest.refusal(zone) == nil }
      #expect(try await guest.refusal(Self.proposal(ttl: 7, in: "notes"))?.code == .accessDenied)
      #expect(try await client.uninvite(cid, from: "notes").invited.isEmpty)
      #expect(await code { _ = try await client.invite(cid, to: "album") } == .invalidData)
      try await eventually("cid is let out") { try await guest.refusal(zone)?.code == .zoneDoesNotExist }
      try await eventually("bob is let out") {
        try await device.refusal(.pull(Pull(container: "notes", zone: "z")))?.code == .zoneDoesNotExist
      }
    }
  }

  @Test("TRU-04: whose device uses a container first says how its records behave; another's adds fields only")
  func settings() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b", of: "bob"))
      #expect(try await a.refusal(Self.proposal(ttl: 60_000)) == nil)
      let client = operatorsClient(cloud)
      let container = try await client.container(named: "album")
      #expect(container.owner == ann && container.developers == [ann] && container.environments == [.development])
      let refused = try await b.refusal(Self.proposal(ttl: 1))
      #expect(refused?.code == .accessDenied && refused?.message.contains("owner and developers") == true)
      #expect(try await b.refusal(Self.proposal(ttl: 0))?.code == .accessDenied, "to have none is another setting, too")
      #expect(try await b.refusal(Self.proposal(ttl: nil, more: [("note", .text)])) == nil)
      #expect(try await b.refusal(Self.proposal(ttl: 60_000)) == nil, "it is so already")
      let type = try await client.type(named: "photos", of: album, in: .development)
      #expect(type.fields.count == 2 && type.settings == TypeSettings(ttlMilliseconds: 60_000))
      let shards = ContainerRequest(
        container: "album", environment: "development", settings: CaravanWire.ContainerSettings(publicShards: 2),
        user: "bob")
      let bus = cloud.hub.connect(as: "probe-2")
      #expect(
        await code { _ = try await bus.call(shards, to: SchemaMethod.container.subject, as: ContainerReply.self) }
          == .accessDenied)

      _ = try await client.allowDeveloper(bob, in: "album")
      try await eventually("bob may") { try await b.refusal(Self.proposal(ttl: 5_000)) == nil }
      // The operator confirms whose it is; who was first goes on.
      let confirmed = try await client.createContainer("album", owner: bob, isForMembers: false)
      #expect(confirmed.owner == bob && confirmed.developers == [ann, bob] && confirmed.environments.count == 2)
      #expect(
        await code { _ = try await client.createContainer("album", owner: ann, isForMembers: false) } == .objectExists)
    }
  }

  @Test("TRU-04: what a developer declares with a device of theirs is in production; what their apps want is not")
  func declared() async throws {
    try await CloudCluster.with(environment: .production) { cloud in
      let (developer, user) = (try cloud.device("a", of: "probe"), try cloud.device("b", of: "bob"))
      func declare(_ ttl: UInt64?) -> CaravanWire.Operation.Kind {
        guard case .propose(var proposal) = Self.proposal(ttl: ttl) else { return Self.proposal(ttl: ttl) }
        proposal.declared = true
        return .propose(proposal)
      }
      for device in [developer, user] {
        #expect(try await device.refusal(Self.proposal(ttl: nil))?.code == .schemaViolation)
      }
      #expect(try await user.refusal(declare(nil))?.code == .schemaViolation)
      #expect(try await developer.refusal(declare(nil)) == nil)
      #expect(try await developer.refusal(declare(60_000)) == nil)
      #expect(try await user.refusal(declare(1))?.code == .schemaViolation)
      let type = try await operatorsClient(cloud).type(named: "photos", of: album, in: .production)
      #expect(type.settings == TypeSettings(ttlMilliseconds: 60_000))
      #expect(try await user.refusal(Self.proposal(ttl: nil)) == nil, "whoever has the table finds it there")
    }
  }

  @Test("TRU-04: one user opens no more containers than a user may own; another's are none of theirs")
  func perUser() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b", of: "bob"))
      let names = (0...256).map { "app\($0)" }
      for start in stride(from: 0, to: 256, by: 64) {
        let results = try await a.exchange(names[start..<start + 64].map { Self.proposal(ttl: nil, in: $0) })
        #expect(results.allSatisfy { if case .type = $0 { true } else { false } })
      }
      #expect(try await a.refusal(Self.proposal(ttl: nil, in: names[256]))?.code == .limitExceeded)
      #expect(try await a.refusal(Self.proposal(ttl: nil, in: names[0])) == nil)
      #expect(try await b.refusal(Self.proposal(ttl: nil, in: names[256])) == nil)
    }
  }

  // MARK: What was there before

  private func forget(_ names: [String]?, _ cloud: CloudCluster) async throws {
    let storage = StorageClient(bus: cloud.hub.connect(as: "eraser"), host: cloud.host, writer: "@test")
    let zone = try ZoneID(DatabaseID.system(nil), "containers")
    let reply = try await storage.changes(of: zone, ReadChangesRequest(zone: ZoneRef(zone)))
    let mutations = try EntryPage.decode(reply.page).entries.map { $0.model() }
      .filter { names?.contains($0.name) ?? true }
      .map { CaravanModel.Mutation(name: $0.name, base: .version($0.version), change: .delete) }
    _ = try await storage.commit(to: zone, mutations)
  }

  @Test(
    "TRU-04: a store from before registrations: its containers are the operator's, everybody uses them",
    arguments: [true, false])
  func migration(opensContainers: Bool) async throws {
    try await CloudCluster.with(opensContainers: opensContainers) { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b", of: "bob"))
      let type = try await a.agree(Self.fields)
      _ = try await a.push(1, [.save("r", [1: .text("x")], type: type)])
      try await forget(nil, cloud)
      let client = operatorsClient(cloud)
      let found = CaravanModel.RegisteredContainer(id: album, name: "album", owner: nil)
      #expect(try await client.containers() == [found])
      #expect(try await client.container(named: "album") == found)
      // Registrations are believed for a second.
      let ttl = Mutex<UInt64>(1)
      try await eventually("the first user develops it no more") {
        let next = ttl.withLock { number -> UInt64 in
          number += 1
          return number
        }
        return try await a.refusal(Self.proposal(ttl: next))?.code == .accessDenied
      }
      let more = try await a.agree(Self.fields + [("more", .text)])
      #expect(try await b.agree(Self.fields + [("more", .text)]) == more && more.fields.count == 2)
      #expect(try await a.pull().entries.map(\.name) == ["r"])
      #expect(try await a.push(2, [.save("s", [1: .text("y")], type: type)]).versions == [2])
    }
  }

  @Test("TRU-04: the store of a release before registrations opens with its containers registered")
  func fixture() async throws {
    try await withTemporaryDirectory { path in
      let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Fixtures/layout-4/store.tar.zst").path
      let tar = Process()
      tar.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      tar.arguments = ["tar", "--zstd", "-xf", fixture, "-C", path]
      try tar.run()
      tar.waitUntilExit()
      #expect(tar.terminationStatus == 0)
      try await CloudCluster.with(opensContainers: false, makes: ["probe"], store: "\(path)/suite/storage") { cloud in
        let client = operatorsClient(cloud)
        let before = try await client.containers().filter { $0.name != "probe" }
        #expect(
          !before.isEmpty
            && before.allSatisfy { $0 == CaravanModel.RegisteredContainer(id: $0.id, name: $0.name, owner: nil) }
        )
        #expect(before.contains { $0.id == album })
        let ada = try cloud.device("new", of: "ada")
        #expect(try await !ada.pull().entries.isEmpty, "rows of before")
        let types = try await client.types(of: album, in: .development)
        #expect(!types.isEmpty)
        for type in types { #expect(try await client.propose(type, to: album, in: .development, by: ann).id > 0) }
      }
    }
  }

  @Test(
    "TRU-04: a registration that is missing while there are types is unavailable, until the operator says whose")
  func lostRegistration() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b", of: "bob"))
      _ = try await a.agree(Self.fields)
      try await forget(["@id:album"], cloud)
      try await eventually("that is noticed") {
        try await b.refusal(Self.proposal(ttl: 1))?.code == .unavailable
      }
      // Who was let in before goes on, as while nobody can be asked.
      let new = try cloud.device("c", of: "eve")
      #expect(try await new.refusal(.pull(Pull(container: "album", zone: "photos")))?.code == .unavailable)
      let client = operatorsClient(cloud)
      #expect(try await client.createContainer("album", owner: ann, isForMembers: false).owner == ann)
      #expect(try await b.refusal(Self.proposal(ttl: 1))?.code == .accessDenied)
      #expect(try await a.refusal(Self.proposal(ttl: 1)) == nil)
    }
  }

  // MARK: Production

  @Test("TRU-04: both environments are in one suite; in production the operator says the types, devices use them")
  func production() async throws {
    try await CloudCluster.with(environment: .production) { cloud in
      let (owner, client) = (try cloud.device("p", of: "probe"), operatorsClient(cloud))
      let refused = try await owner.refusal(Self.proposal(ttl: nil))
      #expect(refused?.message.contains("schema promote or set --environment production") == true)
      func type(_ fields: [(String, CaravanModel.FieldKind)]) -> CaravanModel.RecordType {
        CaravanModel.RecordType(
          id: 0, definition: 0, name: "photos",
          fields: fields.map { CaravanModel.FieldDefinition(id: 0, name: $0.0, kind: $0.1) })
      }
      let development = try await client.propose(type([("draft", .integer)]), to: album, in: .development, by: ann)
      let agreed = try await client.propose(type(Self.fields), to: album, in: .production, by: nil)
      #expect(development.fields.map(\.name) == ["draft"] && agreed.fields.map(\.name) == ["name"])
      #expect(try await owner.agree(Self.fields) == agreed)
      #expect(try await owner.push(1, [.save("r", [1: .text("x")], type: agreed)]).versions == [1])
      let more = try await owner.refusal(Self.proposal(ttl: nil, more: [("note", .text)]))
      #expect(more?.code == .schemaViolation)
      // What an open suite has made is in development alone.
      _ = try await client.propose(type(Self.fields), to: ContainerID("new"), in: .development, by: ann)
      #expect(
        await code { _ = try await client.propose(type(Self.fields), to: ContainerID("new"), in: .production, by: nil) }
          == .zoneDoesNotExist)
    }
  }
}
