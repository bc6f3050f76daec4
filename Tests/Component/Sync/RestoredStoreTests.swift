import CaravanBackup
import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanSchemaDriver
import CaravanStorageDriver
import CaravanStoreSQLite
import CaravanSyncDriver
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: only storage begins anew with a restored store; sync and schema, which go on, soon believe nothing that it
/// does not have. Method: both on one bus, and under them a storage that is replaced by another on what was restored.
@Suite("Services that outlive a restore", .timeLimit(.minutes(1)))
struct RestoredStoreTests {
  private static let fields: [(String, CaravanModel.FieldKind)] = [("name", .text)]

  /// - Parameters:
  ///   - before: what happens before the backup, and `after` what happens after it to the store that is lost.
  ///   - then: with the restored store, to which the backup was brought back.
  private static func restoring(
    before: @escaping @Sendable (CloudCluster) async throws -> Void,
    after: @escaping @Sendable (CloudCluster) async throws -> Void,
    then: @escaping @Sendable (CloudCluster) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { path in
      let host = Host.quiet
      let cluster = CloudCluster(
        hub: InProcessHub(clock: host.clock, random: SeededRandom(seed: 1)), host: host, key: try .generate(),
        environment: .development, faults: .off)
      try await withThrowingTaskGroup(of: Void.self) { group in
        let lasting: [any Service] = [
          try SchemaService(bus: cluster.hub.connect(as: "schema"), host: host, opensContainers: true),
          try cluster.sync(),
        ]
        for service in lasting { group.addTask { try await service.run() } }
        defer { for service in lasting { service.shutDown() } }
        let (old, backup) = ("\(path)/old", "\(path)/backup")
        try await Self.serving(old, cluster, before)
        try BackupFile.write(SQLiteSnapshot(old), to: backup, at: host.clock.wallTime)
        try await Self.serving(old, cluster, after)
        try await Self.serving(try cluster.restored(from: backup, to: "\(path)/new"), cluster, then)
      }
    }
  }

  private static func serving(
    _ path: String, _ cluster: CloudCluster, _ body: @escaping @Sendable (CloudCluster) async throws -> Void
  ) async throws {
    let storage = try await cluster.storage(path)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await storage.run() }
      defer { storage.shutDown() }
      try await cluster.untilServing()
      try await body(cluster)
    }
  }

  @Test(
    "TRU-19: within 2 s a running sync takes no row of a type that the restored store lacks")
  func types() async throws {
    let known = Mutex<[CaravanModel.RecordType]>([])
    try await Self.restoring { cluster in
      let device = try cluster.device("a")
      let kept = try await device.agree(Self.fields, on: "kept")
      known.withLock { $0.append(kept) }
    } after: { cluster in
      let device = try cluster.device("a")
      let lost = try await device.agree(Self.fields, on: "lost")
      known.withLock { $0.append(lost) }
      for (number, type) in known.withLock({ $0 }).enumerated() {
        #expect(try await device.push(UInt64(number) + 1, [Self.row(type)]).versions.count == 1)
      }
    } then: { cluster in
      let device = try cluster.device("b")
      let (kept, lost) = known.withLock { ($0[0], $0[1]) }
      let start = cluster.host.clock.now
      var op: UInt64 = 1
      func refused() async throws -> ErrorCode? {
        op += 1
        return try await device.refusal(.push(.of(op, [Self.row(lost)])))?.code
      }
      while try await refused() == nil {
        guard cluster.host.clock.now - start < .seconds(2) else { break }
        try await cluster.host.clock.sleep(for: .milliseconds(50))
      }
      #expect(try await refused() == .tableNotFound)
      let agreed = try await device.agree(Self.fields, on: "lost")
      #expect(agreed.id != lost.id)
      for (number, type) in [kept, agreed].enumerated() {
        #expect(try await device.push(op + UInt64(number) + 1, [Self.row(type)]).versions.count == 1)
      }
    }
  }

  private static func row(_ type: CaravanModel.RecordType) -> CaravanModel.Mutation {
    .save("r\(type.id)", [type.fields[0].id: .text("x")], type: type)
  }

  @Test("TRU-19: settings that a device knows from before a restore are found, told, and change nothing")
  func settings() async throws {
    @Sendable func proposal(_ ttl: UInt64) -> ProposeTable {
      var proposal = ProposeTable.type(Self.fields, name: "kept")
      proposal.type?.settings = CaravanWire.TypeSettings(CaravanModel.TypeSettings(ttlMilliseconds: ttl))
      return proposal
    }
    @Sendable func differ(_ cluster: CloudCluster) -> UInt64 {
      cluster.host.metrics.counter(CounterName("caravan_schema_settings_differ_total", "")).value
    }
    try await Self.restoring { cluster in
      _ = try await cluster.device("a").ask(.propose(proposal(0)))
    } after: { cluster in
      guard case .type(let agreed) = try await cluster.device("a").ask(.propose(proposal(60_000))) else {
        Issue.record("other settings are another type")
        return
      }
      #expect(agreed.settings?.ttlMilliseconds == 60_000)
    } then: { cluster in
      try await cluster.host.clock.sleep(for: .seconds(2))
      // The device knows what was said last, and another one what was said before that.
      for (ttl, count) in [(UInt64(0), UInt64(0)), (60_000, 1), (60_000, 1)] {
        var remembered = proposal(ttl)
        remembered.remembered = true
        let answer = try await cluster.device("a").ask(.propose(remembered))
        guard case .type(let agreed) = answer else {
          Issue.record("\(answer)")
          return
        }
        #expect(agreed.settings?.ttlMilliseconds ?? 0 == 0, "a device does not say how records live")
        #expect(differ(cluster) == count)
      }
    }
  }

  @Test("TRU-19: what a restored store says of its containers is asked for again, too")
  func containers() async throws {
    let album = try ContainerID("album")
    let said = CaravanModel.ContainerSettings(publicShards: 4, privateShards: 2)
    let clients = Mutex<SchemaClient?>(nil)
    try await Self.restoring { cluster in
      let device = try cluster.device("a")
      _ = try await device.agree(Self.fields, on: "kept")
      clients.withLock { $0 = SchemaClient(bus: cluster.hub.connect(as: "client"), clock: cluster.host.clock) }
    } after: { cluster in
      let client = try #require(clients.withLock { $0 })
      #expect(try await client.settings(of: album, in: .development, saying: said) == said)
      #expect(try await client.settings(of: album, in: .development) == said)
    } then: { cluster in
      let client = try #require(clients.withLock { $0 })
      try await eventually("the client asks again") { try await client.settings(of: album, in: .development) == nil }
    }
  }
}
