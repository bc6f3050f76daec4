import CaravanChangeStream
import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanStorageClient
import CaravanStore
import CaravanTestKit
import CaravanWire
import Foundation
import Testing

import struct Synchronization.Atomic

@testable import CaravanStorePostgres

/// Goal: what was acknowledged is there, once, whatever happens to the server and the way to it (I1, I7). Method: real
/// servers that die, sessions that are ended, a network that is cut, while clients commit and never give up an op.
@Suite(.timeLimit(.minutes(3))) struct PostgresFaultTests {
  @Test("I1, I7: the server dies, or hangs, in the middle of commits", arguments: [SIGKILL, SIGQUIT, SIGSTOP])
  func death(signal: Int32) async throws {
    let server = try PostgresServer(durable: false)
    defer { server.signalAll(SIGCONT) }
    let storm = try await Storm(server.address(), clients: 12)
    try await storm.run(until: 400) { acknowledged in
      for round in 1...3 {
        try await eventually("commits go on", within: .seconds(30)) { acknowledged() >= 80 * round }
        if signal == SIGSTOP {
          server.signalAll(SIGSTOP)
          try await eventually("it is noticed", within: .seconds(10)) { storm.store.trouble != nil }
          server.signalAll(SIGCONT)
          continue
        }
        if signal == SIGKILL { server.kill() } else { server.crash() }
        try server.start()
      }
    }
    try await storm.check()
    await storm.store.close()
  }

  @Test("I1, I7: the server is gone for good, and its synchronous standby takes over; the address names both")
  func failover() async throws {
    let primary = try PostgresServer(durable: false)
    let standby = try PostgresServer(following: primary)
    try await eventually("the standby follows", within: .seconds(30)) { try primary.synchronousStandbys() == 1 }
    let both = "host=127.0.0.1,127.0.0.1 port=\(primary.port),\(standby.port) user=caravan dbname=postgres"
    let storm = try await Storm(both, clients: 12)
    try await storm.run(until: 300) { acknowledged in
      try await eventually("commits go on", within: .seconds(30)) { acknowledged() >= 100 }
      primary.kill()
      try standby.promote()
    }
    try await storm.check()
    await storm.store.close()
  }

  @Test("I1, I7: sessions are ended in the middle of commits")
  func terminations() async throws {
    let server = try PostgresServer.shared.get()
    try await server.withSchema { address in
      let storm = try await Storm("\(address) application_name=storm", clients: 12)
      try await storm.run(until: 400) { acknowledged in
        let admin = try server.connect()
        for round in 1...12 {
          try await eventually("commits go on", within: .seconds(30)) { acknowledged() >= 25 * round }
          try admin.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = 'storm' AND state <> 'idle' LIMIT 2
            """)
        }
      }
      try await storm.check()
      await storm.store.close()
    }
  }

  @Test("I1, I7: connections are cut before the server hears of a commit, and before its answer is heard")
  func cuts() async throws {
    let server = try PostgresServer.shared.get()
    try await server.withSchema { address in
      let proxy = try Proxy(to: server.port)
      let detour = address.replacingOccurrences(of: "port=\(server.port)", with: "port=\(proxy.port)")
      let storm = try await Storm(detour, clients: 8)
      proxy.cut(every: 31)
      try await storm.run(until: 300) { _ in }
      #expect(proxy.cuts >= 10)
      proxy.cut(every: 0)
      try await storm.check()
      await storm.store.close()
      proxy.stop()
    }
  }

  @Test("whoever asks hears that the server is gone before they give up the answer")
  func patience() throws {
    let patience = PostgresOptions(try ConnectionString("postgres://x@y/z")).patience
    #expect(patience * 1.25 <= LeaseTiming().patience, "those that ask soonest: leases")
    #expect(patience < StorageClient.Policy().deadline)
    let connection = ConnectionOptions.store(try ConnectionString("postgres://x@y/z"))
    // A call is under way when the server begins to hang, or waits for as long as it may, and then a new connection is
    // tried.
    let silence = max(Duration.milliseconds(connection.silenceMilliseconds), patience)
    let margin: Duration = .milliseconds(500)
    #expect(silence + .seconds(connection.connectSeconds) + margin <= StorageClient.Policy().deadline)
  }

  /// A store, and a client of it that saves rows.
  private struct Handler {
    let clock: any Clock
    let sink = MemoryLogSink()
    let store: StorePostgres
    let zone: ZoneID

    init(_ address: String, patience: Duration = .seconds(1)) async throws {
      var options = PostgresOptions(try ConnectionString(address))
      options.isWhole = Sample.isWhole
      options.patience = patience
      let live = Host.live(logLevel: .error)
      clock = live.clock
      store = try await StorePostgres(options, host: live.with(log: Log(level: .info, clock: live.clock, sink: sink)))
      zone = try Sample.zone()
    }

    func save(_ number: UInt64) async throws -> [Seq] {
      try await store.commit(
        Commit(
          zone: zone, op: OpID(writer: "w", epoch: 1, number: number), isAtomic: false,
          mutations: [Sample.save("r\(number)")])
      ).accepted
    }

    func told(_ text: String) -> [LogRecord] { sink.records.filter { $0.message.contains(text) } }
  }

  @Test("a server that hangs: whoever asks is told within seconds, and what was under way happens once")
  func hanging() async throws {
    let server = try PostgresServer(durable: false)
    defer { server.signalAll(SIGCONT) }
    let handler = try await Handler(server.address())
    #expect(try await handler.save(1) == [1])
    _ = try await handler.store.fetch(["r1"], in: handler.zone)
    server.signalAll(SIGSTOP)
    for _ in 0..<3 {
      let start = handler.clock.now
      let unsaved = await #expect(throws: CaravanError.self) { try await handler.save(2) }
      #expect(unsaved?.code == .unavailable || unsaved?.code == .timedOut)
      let unread = await #expect(throws: CaravanError.self) { try await handler.store.fetch(["r1"], in: handler.zone) }
      #expect(unread?.code == .unavailable)
      #expect(handler.clock.now - start < .seconds(8), "two calls of 3 seconds at most, and what the machine needs")
    }
    #expect(handler.told("PostgreSQL cannot be reached").count == 1)
    server.signalAll(SIGCONT)
    try await eventually("it goes on", within: .seconds(10)) { (try? await handler.save(2)) == [2] }
    #expect(try await handler.save(1) == [1])
    #expect(try await handler.store.status().records == 2)
    await handler.store.close()
  }

  @Test("a server that hangs: of many who ask, one after the other, none has given up before it is told")
  func queues() async throws {
    let server = try PostgresServer(durable: false)
    defer { server.signalAll(SIGCONT) }
    let handler = try await Handler(server.address())
    #expect(try await handler.save(1) == [1])
    server.signalAll(SIGSTOP)
    let waits = try await withThrowingTaskGroup(of: Duration.self) { group in
      for number in 0..<120 {
        try await handler.clock.sleep(for: .milliseconds(50))
        group.addTask {
          let start = handler.clock.now
          let refusal = await #expect(throws: CaravanError.self) {
            if number % 2 == 0 {
              _ = try await handler.save(UInt64(2 + number))
            } else {
              _ = try await handler.store.fetch(["r1"], in: handler.zone)
            }
          }
          #expect(refusal?.code == .unavailable || refusal?.code == .timedOut)
          return handler.clock.now - start
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let longest = try #require(waits.max())
    let machine: Duration = .milliseconds(500)
    #expect(longest < StorageClient.Policy().deadline + machine, "the longest waited for \(longest)")
    await handler.store.close()
  }

  @Test("a full disk of the server's: each call hears of it, the log once; nothing is lost, and all goes on after it")
  func fullDisk() async throws {
    let server = try PostgresServer.shared.get()
    try await server.withSchema { address in
      let handler = try await Handler(address)
      #expect(try await handler.save(1) == [1])
      let admin = try server.connect(address)
      try admin.execute(
        """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$
        """)
      try admin.execute(
        "CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON caravan_records EXECUTE FUNCTION refuse()")
      for _ in 0..<3 {
        let refusal = await #expect(throws: CaravanError.self) { try await handler.save(2) }
        #expect(refusal?.code == .storageFull && refusal?.isTransient == true)
      }
      #expect(try await handler.store.fetch(["r1", "r2"], in: handler.zone).map(\.name) == ["r1"])
      #expect(handler.told("the disk refuses to write").count == 1 && handler.store.trouble == nil)
      try admin.execute("DROP TRIGGER refuse ON caravan_records")
      #expect(try await handler.save(2) == [2], "the refused ones left no gap")
      #expect(try await handler.store.status().records == 2)
      await handler.store.close()
    }
  }

  @Test("nobody there: a call waits a while, then says so; afterwards everything goes on")
  func absence() async throws {
    let server = try PostgresServer(durable: false)
    let handler = try await Handler(server.address(), patience: .milliseconds(300))
    let (store, zone) = (handler.store, handler.zone)
    #expect(try await handler.save(1) == [1])
    server.kill()
    let unsaved = await #expect(throws: CaravanError.self) { try await handler.save(2) }
    #expect(unsaved?.code == .unavailable || unsaved?.code == .timedOut)
    #expect(unsaved?.isTransient == true)
    let unread = await #expect(throws: CaravanError.self) { try await store.fetch(["r1"], in: zone) }
    #expect(unread?.code == .unavailable && unread?.message.contains("try again") == true)
    for _ in 0..<8 { _ = try? await store.fetch(["r1"], in: zone) }
    let start = handler.clock.now
    for _ in 0..<6 { _ = try? await handler.save(2) }
    #expect(handler.clock.now - start < .milliseconds(6 * 600), "each waited no longer than it may")
    let told = handler.told("PostgreSQL cannot be reached")
    #expect(told.count == 1, "by whichever of the connections")
    let reason = String(describing: told.first?.fields)
    for place in ["127.0.0.1", "\(server.port)", "refused"] {
      #expect(reason.contains(place), "the log says where and why")
      for error in [unsaved, unread] { #expect(error?.message.contains(place) == false, "nobody else is told") }
    }
    #expect(store.trouble == "PostgreSQL cannot be reached")
    try server.start()
    try await eventually("it is tried again", within: .seconds(10)) { (try? await handler.save(2)) == [2] }
    #expect(store.trouble == nil && handler.told("PostgreSQL is reached again").count == 1)
    try await eventually("also by those that read", within: .seconds(10)) {
      (try? await store.fetch(["r1", "r2"], in: zone).count) == 2
    }
    await store.close()
    #expect((await #expect(throws: CaravanError.self) { try await handler.save(3) })?.message == "the store is closed")
  }
}

/// Clients that save one row after the other, each under an op of its own, which they repeat until it is answered.
final class Storm: Sendable {
  let store: StorePostgres
  private let listener = Listener()
  private let clients: Int
  private let acknowledged = Atomic<Int>(0)
  private let saved = Mutex<[Saved]>([])

  private struct Saved: Sendable {
    let op: OpID
    let zone: ZoneID
    let name: String
    let version: Seq
  }

  init(_ address: String, clients: Int) async throws {
    var options = PostgresOptions(try ConnectionString(address))
    options.isWhole = Sample.isWhole
    options.writers = 3
    store = try await StorePostgres(options, host: Host.live(logLevel: .error), observer: listener)
    self.clients = clients
  }

  /// - Parameter faults: what happens meanwhile; it is told how many saves were acknowledged.
  func run(until count: Int, _ faults: @Sendable (@Sendable () -> Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for client in 0..<clients { group.addTask { try await self.save(client, until: count) } }
      try await faults { self.acknowledged.load(ordering: .relaxed) }
      try await group.waitForAll()
    }
  }

  private func save(_ client: Int, until count: Int) async throws {
    let zone = try Sample.zone("z\(client % 3)", of: "user-\(client % 4)")
    var number: UInt64 = 0
    while acknowledged.load(ordering: .relaxed) < count {
      number += 1
      let op = OpID(writer: "w\(client)", epoch: 1, number: number)
      let name = "\(client).\(number)"
      let commit = Commit(zone: zone, op: op, isAtomic: false, mutations: [Sample.save(name, base: .absent)])
      while true {
        do throws(CaravanError) {
          let versions = try await store.commit(commit).accepted
          #expect(versions.count == 1, "\(name) met itself")
          saved.withLock { $0.append(Saved(op: op, zone: zone, name: name, version: versions.first ?? 0)) }
          acknowledged.add(1, ordering: .relaxed)
          break
        } catch {
          guard error.isTransient else { throw error }
        }
      }
    }
  }

  /// Every acknowledged save is there, once, with the version it was told, and says so again.
  func check() async throws {
    let saved = saved.withLock { $0 }
    for (zone, rows) in Dictionary(grouping: saved, by: \.zone) {
      let page = try await store.changes(ChangeQuery(zone: zone, maxRecords: 4_096))
      let entries = try EntryPage.decode(page.page).entries
      #expect(entries.map(\.name).sorted() == rows.map(\.name).sorted())
      #expect(entries.map(\.version) == (1...UInt64(rows.count)).map { $0 }, "seqs have no holes")
      let versions = Dictionary(uniqueKeysWithValues: entries.map { ($0.name, $0.version) })
      for row in rows { #expect(versions[row.name] == row.version) }
      for row in rows.suffix(5) {
        let commit = Commit(zone: zone, op: row.op, isAtomic: false, mutations: [Sample.save(row.name, base: .absent)])
        #expect(try await store.commit(commit).accepted == [row.version])
      }
    }
    try await checkLogs(Set(saved.map { Partition(of: $0.zone.database) }), count: saved.count)
    #expect(try await store.status().records == UInt64(saved.count))
  }

  private func checkLogs(_ partitions: Set<Partition>, count: Int) async throws {
    var logged = 0
    if listener.changes.count < count { #expect(listener.misses > 0, "a commit was not told, nor that one was missed") }
    for partition in partitions {
      let page = try await store.log(of: partition, after: 0, atMost: 4_096)
      #expect(page.entries.map(\.position) == (1...page.head).map { $0 }, "the log has no holes")
      logged += page.entries.count
      // What was committed but never confirmed is not heard of; nothing is heard twice, or out of order.
      let heard = listener.changes.filter { $0.partition == partition }.map(\.log)
      let known = Set(page.entries)
      #expect(
        heard.allSatisfy(known.contains) && zip(heard, heard.dropFirst()).allSatisfy { $0.position < $1.position })
    }
    #expect(logged == count)
  }
}
