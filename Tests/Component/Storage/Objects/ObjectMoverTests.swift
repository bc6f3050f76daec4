import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanObjects
import CaravanRuntime
import CaravanSchemaClient
import CaravanStorageDriver
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Glibc
import Testing

/// A way to an object store in memory, that works or does not as the test says.
private actor ScriptedLane: ObjectLane {
  private(set) var objects: [String: [UInt8]] = [:]
  private(set) var puts = 0
  private var draft: [UInt8] = []
  private var failure: CaravanError?

  func fail(_ error: CaravanError?) { failure = error }
  private func check() throws(CaravanError) { if let failure { throw failure } }

  func begin() throws(CaravanError) {
    try check()
    draft = []
  }

  func append(_ bytes: [UInt8]) throws(CaravanError) { draft += bytes }

  func put(at path: String) throws(CaravanError) {
    try check()
    puts += 1
    objects[path] = draft
  }

  func remove(_ path: String) throws(CaravanError) {
    try check()
    objects[path] = nil
  }
}

/// Goal: the object store gets what was committed, whatever happens on the way, and no row waits for it. Method: a
/// store in memory, time by hand, and object stores that fail on demand.
@Suite(.timeLimit(.minutes(1))) struct ObjectMoverTests {
  private struct Cluster {
    let clock: ManualClock
    let host: Host
    let store: StoreSQLite
    let schema: SchemaClient
    let zone: ZoneID
    let log: MemoryLogSink

    func mover(_ lane: any ObjectLane, _ faults: FaultSwitch = .off) -> ObjectMover {
      ObjectMover(store: store, lanes: [lane], schema: schema, host: host, faults: faults)
    }

    /// Saves a photo of these chunks.
    func save(_ name: String, _ contents: [[UInt8]], op: UInt64) async throws -> CommitResult {
      let chunks = contents.map { bytes in
        ChunkBytes(hash: ChunkHash(SHA256.hash(bytes).bytes)!, bytes: bytes)
      }
      try await store.stage(chunks, in: zone.database)
      let parts = chunks.map { AssetManifest.Part(hash: $0.hash, length: UInt32($0.bytes.count)) }
      let record = RecordFields([1: .text(name), 2: .asset(AssetManifest(parts: parts))])
      let save = CaravanModel.Mutation(
        name: name, base: .any, change: .save(type: 1, body: record.body, chunks: record.chunks))
      return try await commit(save, op)
    }

    func commit(_ mutation: CaravanModel.Mutation, _ op: UInt64) async throws -> CommitResult {
      let id = OpID(writer: "phone", epoch: 1, number: op)
      return try await store.commit(Commit(zone: zone, op: id, isAtomic: false, mutations: [mutation]))
    }

    func path(_ name: String) -> String { "notes/development/ada/t/\(name)/photo" }
  }

  private static func with(_ body: (Cluster) async throws -> Void) async throws {
    let live = Host.live(logLevel: .error)
    let clock = ManualClock()
    let log = MemoryLogSink()
    let host = Host(
      clock: clock, random: SeededRandom(seed: 3), executors: live.executors,
      log: Log(level: .info, clock: clock, sink: log), metrics: MetricsRegistry())
    var options = StoreOptions.simulation(.memory)
    options.queuesObjects = true
    let store = try await StoreSQLite(options, host: host)
    let hub = InProcessHub(clock: clock, random: host.random)
    let type = CaravanModel.RecordType(
      id: 1, definition: 1, name: "t",
      fields: [
        CaravanModel.FieldDefinition(id: 1, name: "name", kind: .text),
        CaravanModel.FieldDefinition(id: 2, name: "photo", kind: .object),
      ])
    let registry = ServiceHost(
      name: "schema", version: "1.0.0", bus: hub.connect(as: "schema"), host: host,
      endpoints: [
        Endpoint("type", SchemaMethod.type.pattern, group: "schema", maxInFlight: 4) { _ throws(CaravanError) in
          TypeReply(type: CaravanWire.RecordType(type)).encoded()
        }
      ])
    let schema = SchemaClient(bus: hub.connect(as: "storage"))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await registry.run() }
      try await eventually("the registry answers") {
        (try? await schema.type(1, of: StorageBench.database.container, in: .development)) != nil
      }
      try await body(
        Cluster(clock: clock, host: host, store: store, schema: schema, zone: try StorageBench.zone(), log: log))
      registry.shutDown()
      try await group.waitForAll()
    }
    await store.close()
  }

  @Test("UNI-06, CK-08: objects arrive whole under their record's path, follow its edits, and go with it")
  func following() async throws {
    try await Self.with { cluster in
      let lane = ScriptedLane()
      let mover = cluster.mover(lane)
      _ = try await cluster.save("a", [[1, 2], [3]], op: 1)
      _ = try await cluster.save("b", [[9]], op: 2)
      _ = try await mover.round()
      #expect(await lane.objects == [cluster.path("a"): [1, 2, 3], cluster.path("b"): [9]])
      _ = try await cluster.save("a", [[4]], op: 3)
      _ = try await mover.round()
      #expect(await lane.objects[cluster.path("a")] == [4])
      let puts = await lane.puts
      _ = try await cluster.save("a", [[4]], op: 4)
      _ = try await mover.round()
      #expect(await lane.puts == puts, "what is there is not sent again")
      _ = try await cluster.commit(CaravanModel.Mutation(name: "a", base: .any, change: .delete), 5)
      _ = try await mover.round()
      #expect(await lane.objects == [cluster.path("b"): [9]])
      _ = try await cluster.store.deleteZone(cluster.zone, writer: "phone")
      while try await cluster.store.collect() {}
      _ = try await mover.round()
      #expect(await lane.objects.isEmpty)
      #expect(try await cluster.store.objectCounts(of: nil, in: nil) == ObjectCounts())
    }
  }

  @Test("REC-10, REC-06: while the object store is down or full, rows are written as ever; then everything follows")
  func down() async throws {
    try await Self.with { cluster in
      let lane = ScriptedLane()
      let mover = cluster.mover(lane)
      for failure in [CaravanError(.unavailable, "down"), CaravanError(.storageFull, "full")] {
        await lane.fail(failure)
        for number in 1...5 {
          let name = "\(failure.message)\(number)"
          let result = try await cluster.save(name, [[UInt8(number)]], op: UInt64.random(in: 1...1 << 30))
          guard case .applied(let outcomes, _, _, _) = result, case .accepted = outcomes[0] else {
            Issue.record("a row was harmed: \(result)")
            continue
          }
        }
        for _ in 0..<4 {
          #expect(try await mover.round())
          cluster.clock.advance(by: .seconds(20))
        }
      }
      #expect(await lane.objects.isEmpty)
      #expect(try await cluster.store.objectCounts(of: nil, in: nil).waiting == 10)
      func told(_ text: String) -> Int { cluster.log.records.count { $0.message.contains(text) } }
      #expect(told("the object store does not work") == 1 && told("the object store works again") == 0)
      await lane.fail(nil)
      for _ in 0..<12 {
        cluster.clock.advance(by: .seconds(301))
        _ = try await mover.round()
      }
      #expect(told("the object store does not work") == 1 && told("the object store works again") == 1)
      #expect(await lane.objects.count == 10)
      #expect(try await cluster.store.objectCounts(of: nil, in: nil).waiting == 0)
    }
  }

  @Test("REC-29: a transfer that is told to fail, before or after, is made again", arguments: FaultSwitch.Side.allCases)
  func faults(side: FaultSwitch.Side) async throws {
    try await Self.with { cluster in
      let faults = try FaultSwitch("transfer:\(side.rawValue)=2")
      let lane = ScriptedLane()
      let mover = cluster.mover(lane, faults)
      _ = try await cluster.save("a", [[1]], op: 1)
      for _ in 0..<3 {
        _ = try await mover.round()
        cluster.clock.advance(by: .seconds(10))
      }
      #expect(faults.left(.transfer, side) == 0)
      #expect(await lane.objects == [cluster.path("a"): [1]])
      #expect(try await cluster.store.objectCounts(of: nil, in: nil) == ObjectCounts())
    }
  }

  @Test("what the object store will never take is said, and keeps nothing else waiting")
  func refused() async throws {
    try await Self.with { cluster in
      let lane = ScriptedLane()
      let mover = cluster.mover(lane)
      await lane.fail(CaravanError(.limitExceeded, "too large"))
      _ = try await cluster.save("a", [[1]], op: 1)
      _ = try await mover.round()
      await lane.fail(nil)
      _ = try await cluster.save("b", [[2]], op: 2)
      _ = try await mover.round()
      #expect(await lane.objects == [cluster.path("b"): [2]])
      let counts = try await cluster.store.objectCounts(of: nil, in: nil)
      #expect(counts.refused == 1 && counts.waiting == 0)
    }
  }

  @Test("of two processes one moves objects")
  func lease() async throws {
    try await Self.with { cluster in
      let lanes = [ScriptedLane(), ScriptedLane()]
      let movers = lanes.map { cluster.mover($0) }
      _ = try await cluster.save("a", [[1]], op: 1)
      for mover in movers { _ = try await mover.round() }
      _ = try await cluster.save("b", [[2]], op: 2)
      for mover in movers.reversed() { _ = try await mover.round() }
      #expect(await lanes[0].objects.count == 2)
      #expect(await lanes[1].objects.isEmpty)
    }
  }

  @Test("a directory gets files in the place of files, and no folder is left behind")
  func directory() async throws {
    try await withTemporaryDirectory { path in
      let root = "\(path)/objects"
      let lane = FileLane(root, number: 0, host: Host.live(logLevel: .error))
      func put(_ bytes: [UInt8], _ path: String) async throws {
        try await lane.begin()
        try await lane.append(bytes)
        try await lane.put(at: path)
      }
      func contents(_ path: String) -> [UInt8]? {
        (try? TextFile.read("\(root)/\(path)")).map { Array($0.utf8) }
      }
      try await put([1, 2, 3], "x/y/photo")
      try await put([4], "x/y/photo")
      try await put([5], "x/z/photo")
      #expect(contents("x/y/photo") == [4] && contents("x/z/photo") == [5])
      for _ in 0..<2 { try await lane.remove("x/y/photo") }
      #expect(contents("x/y/photo") == nil && access("\(root)/x/y", F_OK) != 0)
      #expect(contents("x/z/photo") == [5])
      try await lane.begin()
      try await lane.append([6, 6])
      #expect(contents("x/z/photo") == [5], "half an object is nobody's business")
      let long = String(repeating: "n", count: 256)
      await #expect(throws: CaravanError.self) { try await lane.put(at: "x/\(long)") }
      // Not there at all, and not to be made: said when it is used, and tried again.
      let nowhere = FileLane("\(root)/x/z/photo/objects", number: 1, host: Host.live(logLevel: .error))
      await #expect(throws: CaravanError.self) { try await nowhere.begin() }
    }
  }
}
