import CaravanAgentApps
import CaravanAgentCore
import CaravanAgentSync
import CaravanBus
import CaravanClient
import CaravanCrypto
import CaravanModel
import CaravanNotifyDriver
import CaravanRuntime
import CaravanSchemaDriver
import CaravanStorageDriver
import CaravanStoreSQLite
import CaravanSyncCore
import CaravanSyncDriver
import CaravanTestKit
import Testing

/// Goal: an app that listens hears what each sync of its table came to, and no other app anything. Method: the cloud's
/// services in this process and in real time; agents behind their sockets; apps with the library.
@Suite("Events of syncs", .timeLimit(.minutes(2)))
struct SyncEventTests {
  private struct Cloud: Sendable {
    static let host = Host.live(logLevel: .error)
    let hub: InProcessHub
    let faults: FaultPlan
    let directory: String

    static func with(_ body: @escaping @Sendable (Cloud) async throws -> Void) async throws {
      let faults = FaultPlan()
      let hub = InProcessHub(clock: host.clock, random: host.random, faults: faults)
      let key = try TicketKey(Array(repeating: 7, count: TicketKey.byteCount))
      let feed = ChangeFeed()
      let store = try await StoreSQLite(.simulation(.memory), host: host, observer: feed)
      let services: [any Service] = [
        StorageService(store: store, feed: feed, bus: hub.connect(as: "storage"), host: host, ticketKey: key),
        try SchemaService(bus: hub.connect(as: "schema"), host: host, opensContainers: true),
        try SyncService(bus: hub.connect(as: "sync"), host: host, ticketKey: key),
        NotifyService(bus: hub.connect(as: "notify"), host: host, ticketKey: key),
      ]
      try await withTemporaryDirectory { directory in
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { await hub.run() }
          for service in services { group.addTask { try await service.run() } }
          defer { group.cancelAll() }
          try await body(Cloud(hub: hub, faults: faults, directory: directory))
        }
      }
    }

    /// The app of that device, until `body` has ended; the agent with it.
    func app(
      on device: String, link: CaravanModel.LinkClass? = .wifi,
      _ body: @escaping @Sendable (CaravanClient, String) async throws -> Void
    ) async throws {
      let identity = DeviceIdentity(device: EnrolledDevice("ada", device))
      let agent = try await Agent(
        Agent.Configuration(directory: "\(directory)/\(device)", identity: identity, link: link), host: Self.host
      ) { [hub] () throws(CaravanError) in hub.connect(as: device) }
      let socket = "\(directory)/\(device).sock"
      let apps = try await AppServer(socket: socket, store: agent.store, sync: agent.engine, host: Self.host)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await agent.run() }
        group.addTask { try await apps.run() }
        defer {
          apps.shutDown()
          agent.shutDown()
        }
        try await CaravanClient.withConnection(to: socket, app: "photos") { try await body($0, socket) }
        apps.shutDown()
        agent.shutDown()
        try await group.waitForAll()
      }
    }
  }

  private static func table(_ client: CaravanClient) async throws -> Table {
    try await client.createTable("album", "name VARCHAR, photo OBJECT")
  }

  /// Within a moment.
  private static func isTold(_ client: CaravanClient) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        var events = client.syncEvents.makeAsyncIterator()
        do { return try await events.next() != nil } catch { return false }
      }
      try? await Cloud.host.clock.sleep(for: .milliseconds(200))
      group.cancelAll()
      return await group.next() ?? true
    }
  }

  @Test("REC-28: rows and deletions that were sent, rows that came, and that nothing is left")
  func told() async throws {
    try await Cloud.with { cloud in
      try await cloud.app(on: "phone") { client, socket in
        try await CaravanClient.withConnection(to: socket, app: "photos") { deaf in
          let album = try await Self.table(client)
          try await album.listen()
          var events = client.syncEvents.makeAsyncIterator()
          for n in 0..<3 {
            try await album.write(
              ["name": .text("\(n)")], contents: ["photo": StoreFixture.noise(200_000, seed: UInt64(n))])
          }
          try await album.writeSyncNow()
          let sent = try #require(try await events.next())
          #expect(sent.table == "album" && sent.isWrite && sent.rowsSent == 3 && sent.deletionsSent == 0)
          #expect(sent.rowsReceived == 0 && sent.isComplete && !sent.isResumed && sent.sessions == 1)
          try await album.delete(.init("name = ?", [.text("0")]))
          try await album.writeSyncNow()
          let deleted = try #require(try await events.next())
          #expect(deleted.isWrite && deleted.rowsSent == 0 && deleted.deletionsSent == 1 && deleted.isComplete)
          await #expect { try await client.table("nowhere").listen() } throws: {
            ($0 as? CaravanError)?.code == .tableNotFound
          }
          let heard = await Self.isTold(deaf)
          #expect(!heard, "who does not listen is told nothing")
        }
      }
      try await cloud.app(on: "tablet") { client, _ in
        let album = try await Self.table(client)
        try await album.listen()
        try await album.readSyncNow()
        var events = client.syncEvents.makeAsyncIterator()
        let fetched = try #require(try await events.next())
        #expect(!fetched.isWrite && fetched.rowsReceived == 2 && fetched.rowsSent == 0 && fetched.isComplete)
      }
    }
  }

  @Test("REC-28: what was cut off, and is taken up after a restart, is told so")
  func resumed() async throws {
    try await Cloud.with { cloud in
      try await cloud.app(on: "phone") { client, _ in
        let album = try await Self.table(client)
        try await album.write(["name": .text("first")])
        try await album.writeSyncNow()
        try await album.registerWriteSync(period: .zero, delayTolerance: .zero, link: .cellular)
        cloud.faults.cut("sync", "phone")
        try await album.write(["name": .text("second")])
        try await eventually("it is on its way") { try await client.status().tables.first?.pending == 1 }
      }
      cloud.faults.healAll()
      try await cloud.app(on: "phone", link: nil) { client, _ in
        let album = client.table("album")
        try await album.listen()
        try await client.setLink(.wifi)
        var events = client.syncEvents.makeAsyncIterator()
        let event = try #require(try await events.next())
        #expect(event.isWrite && event.isResumed && event.rowsSent == 1 && event.isComplete)
        try await album.write(["name": .text("third")])
        var next = try #require(try await events.next())
        // One that had nothing to send may come before.
        while next.rowsSent == 0 { next = try #require(try await events.next()) }
        #expect(next.isWrite && !next.isResumed && next.rowsSent == 1)
      }
    }
  }

  @Test("REC-28: an app that does not read its events costs no more than their bound, and misses nothing of their sums")
  func slow() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        for n in 0...AppLimits.listenedTables { try await client.createTable("t\(n)", "name TEXT") }
        for n in 0..<AppLimits.listenedTables { try await client.table("t\(n)").listen() }
        try await client.table("t0").listen()
        await #expect { try await client.table("t\(AppLimits.listenedTables)").listen() } throws: {
          ($0 as? CaravanError)?.code == .limitExceeded
        }
        let tell = try #require(f.sync.state.withLock { $0.tell })
        let (app, count) = (ContainerID(unchecked: "album"), 1_000)
        for _ in 0..<count {
          for n in 0...AppLimits.listenedTables {
            tell(
              SessionReport(
                table: TableID(app: app, name: "t\(n)"), direction: .write, counters: SessionCounters(sent: 2),
                isResumed: false, isWhole: true))
          }
        }
        // Answered behind the events.
        _ = try await client.status()
        var (rows, sessions): ([String: UInt64], UInt64) = ([:], 0)
        for try await event in client.syncEvents {
          rows[event.table, default: 0] += event.rowsSent
          sessions += event.sessions
          if sessions >= UInt64(count * AppLimits.listenedTables) { break }
        }
        #expect(rows.count == AppLimits.listenedTables && rows.values.allSatisfy { $0 == UInt64(2 * count) })
      }
    }
  }
}
