import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanSyncDriver
import CaravanTestKit
import CaravanTokens
import CaravanWire
import Testing

/// Goal: a user's alias in a container is made once, by chance, and is the same ever after, for whoever asks and
/// whatever becomes of keys (TRU-09). Method: registries as instances of sync have them, over a real store in
/// simulated time, one of them with the key from which releases of before derived aliases.
@Suite("Aliases", .timeLimit(.minutes(2))) struct AliasTests {
  private static func key(_ number: UInt8) throws -> TicketKey {
    try TicketKey([UInt8](repeating: number, count: TicketKey.byteCount))
  }

  private static func devices(_ count: Int) -> [EnrolledDevice] {
    (0..<count).map { EnrolledDevice("user-\($0 / 2)", "device-\($0)") }
  }

  private static func storage(_ cloud: SimulatedCloud) -> StorageClient {
    StorageClient(bus: cloud.hub.connect(as: "sync"), host: cloud.host, writer: "@sync")
  }

  private static func store(_ cloud: SimulatedCloud) -> AliasStore {
    AliasStore(storage: storage(cloud))
  }

  private static func registry(_ cloud: SimulatedCloud, _ legacy: TicketKey? = nil) -> AliasRegistry {
    AliasRegistry(store(cloud), legacy: legacy, host: cloud.host)
  }

  private static func migration(_ cloud: SimulatedCloud, _ key: TicketKey?) throws -> AliasMigration {
    let rotated = try KeyRing([.init(Self.key(9), added: 1)])
    return AliasMigration(bus: cloud.hub.connect(as: "sync"), host: cloud.host, ticketKey: rotated, aliasKey: key)
  }

  /// As the gateway registers devices.
  private static func enrol(_ devices: [EnrolledDevice], _ cloud: SimulatedCloud) async throws {
    let zone = try ZoneID(DatabaseID(container: .system, environment: .development, owner: nil), "devices")
    let storage = StorageClient(bus: cloud.hub.connect(as: "gateway"), host: cloud.host, writer: "@gateway")
    for device in devices {
      let body = RecordFields([1: .text(device.user.text), 5: .integer(Int64(device.enrolment))]).body
      let save = CaravanModel.Mutation(
        name: "\(device.user)/\(device.device)", base: .absent, change: .save(type: 0, body: body, chunks: []))
      _ = try await storage.commit(to: zone, [save])
    }
  }

  @Test("TRU-09, CK-02: instances that ask at once agree on an alias that no key gives, other ones elsewhere")
  func random() throws {
    try SimulatedCloud.run(seed: 1) { cloud in
      try await Self.migration(cloud, Self.key(7)).migrate()
      let (album, notes) = (try ContainerID("album"), try ContainerID("notes"))
      let instances = [Self.registry(cloud), Self.registry(cloud, try Self.key(7))]
      let devices = Self.devices(20)
      var seen: [EnrolledDevice: Set<Alias>] = [:]
      try await withThrowingTaskGroup(of: (EnrolledDevice, Alias).self) { group in
        for device in devices {
          for instance in instances { group.addTask { (device, try await instance.alias(of: device, in: album)) } }
        }
        for try await (device, alias) in group { seen[device, default: []].insert(alias) }
      }
      #expect(seen.values.allSatisfy { $0.count == 1 })
      let aliases = seen.values.compactMap(\.first)
      #expect(Set(aliases.map(\.device)).count == 20 && Set(aliases.map(\.user)).count == 10)
      let derived = UserAlias(key: try Self.key(7))
      for device in devices {
        let alias = try #require(seen[device]?.first)
        #expect(alias.user != derived.user(device.user, in: album) && alias.user.utf8.count == 26)
        let later = try await Self.registry(cloud).alias(of: device, in: album)
        #expect(later == alias, "an instance that begins anew")
        #expect(try await instances[0].alias(of: device, in: notes).user != alias.user)
      }
    }
  }

  @Test("TRU-09: aliases of before are written down once, and then stay without their key; new ones are random")
  func migration() throws {
    try SimulatedCloud.run(seed: 2) { cloud in
      let old = Self.devices(250)
      try await Self.enrol(old, cloud)
      let fields: [(String, CaravanModel.FieldKind)] = [("name", .text)]
      for name in ["album", "notes"] { _ = try await cloud.place(name).device.agree(fields, in: name) }
      let derived = UserAlias(key: try Self.key(7))
      let album = try ContainerID("album")
      // Before the others are written down, whoever comes may have been there before.
      let early = EnrolledDevice("early", "phone")
      let first = try await Self.registry(cloud, Self.key(7)).alias(of: early, in: album)
      #expect(first.user == derived.user(early.user, in: album))
      try await Self.migration(cloud, Self.key(7)).migrate()
      try await Self.migration(cloud, Self.key(8)).migrate()
      let keyless = Self.registry(cloud)
      #expect(try await keyless.alias(of: early, in: album) == first)
      for container in [album, try ContainerID("notes")] {
        for device in old {
          let alias = try await keyless.alias(of: device, in: container)
          #expect(alias.user == derived.user(device.user, in: container))
          #expect(alias.device == derived.device(device, in: container))
        }
      }
      let new = EnrolledDevice("new", "phone")
      #expect(
        try await Self.registry(cloud, Self.key(7)).alias(of: new, in: album).user
          != derived.user(new.user, in: album))
    }
  }

  @Test("TRU-09: where the key is lost before aliases are written down, none are made up, and it says what to do")
  func lostKey() throws {
    try SimulatedCloud.run(seed: 3) { cloud in
      let album = try ContainerID("album")
      try await Self.enrol(Self.devices(1), cloud)
      let device = EnrolledDevice("user-0", "device-0")
      await #expect(throws: CaravanError.self) { try await Self.registry(cloud).alias(of: device, in: album) }
      do { _ = try await Self.registry(cloud).alias(of: device, in: album) } catch let error as CaravanError {
        #expect(error.code == .invalidData && error.message.contains("--alias-key"))
      }
      _ = try await Self.registry(cloud, Self.key(7)).alias(of: device, in: album)
    }
  }

  @Test("TRU-09: what a restored store lacks gets back the aliases by which instances know their users")
  func restored() throws {
    try SimulatedCloud.run(seed: 4) { cloud in
      try await Self.migration(cloud, nil).migrate()
      let album = try ContainerID("album")
      let device = EnrolledDevice("ann", "phone")
      let running = Self.registry(cloud)
      let alias = try await running.alias(of: device, in: album)
      let zone = try ZoneID(DatabaseID(container: .system, environment: .development, owner: nil), "aliases.album")
      #expect(try await Self.storage(cloud).drop(zone, writer: "@sync"))
      try await cloud.host.clock.sleep(for: .seconds(11))
      #expect(try await running.alias(of: device, in: album) == alias)
      #expect(try await Self.registry(cloud).alias(of: device, in: album) == alias)
    }
  }

  @Test("TRU-09: an alias that is known costs no message")
  func cost() throws {
    try SimulatedCloud.run(seed: 5) { cloud in
      let album = try ContainerID("album")
      let device = EnrolledDevice("ann", "phone")
      let registry = Self.registry(cloud)
      _ = try await registry.alias(of: device, in: album)
      cloud.fault.arm(0, .lost)
      for _ in 0..<1_000 { _ = try await registry.alias(of: device, in: album) }
      #expect(cloud.fault.disarm() == nil)
      try await cloud.host.clock.sleep(for: .seconds(11))
      cloud.fault.arm(0, .doubled)
      _ = try await registry.alias(of: device, in: album)
      #expect(cloud.fault.disarm() != nil, "it is confirmed")
    }
  }
}
