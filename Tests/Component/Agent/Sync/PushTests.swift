import CaravanAgentCore
import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentSync

/// Goal: whatever happens to frames, answers and chunks, every row gets up once. Method: the engine over an in-process
/// bus against a cloud that misbehaves on cue, in virtual time.
@Suite struct PushTests {
  private typealias Bench = EngineBench

  private static func registered(_ bench: EngineBench) {
    bench.store.add(Bench.album)
    bench.store.register(Bench.album, .write)
  }

  @Test("Period 0: a row goes at once, its type is agreed on first, and no time passes")
  func simple() throws {
    try Bench.run(prepare: Self.registered) { bench in
      bench.write("a", "hello")
      try await bench.until("the row is at the cloud") { bench.store.isClean(Bench.album) }
      #expect(bench.host.clock.now - Instant(nanoseconds: 0) <= .milliseconds(2))
      #expect(bench.cloud.state.withLock { $0.zones["album"]?["a"]?.body } == Array("hello".utf8))
      #expect(bench.store.table(Bench.album).type?.id == 1)
      #expect(bench.pushes == [1])
    }
  }

  @Test("MOB-13, MOB-20: a table that nobody syncs is not proposed, a one-time sync proposes it")
  func proposedOnlyWhenSynced() throws {
    try Bench.run(prepare: { $0.store.add(Bench.album) }) { bench in
      bench.write("a", "1")
      try await bench.pass(.seconds(30))
      #expect(bench.cloud.frames.map(\.count) == [1])
      try await bench.engine.syncNow(Bench.album, write: true, read: false)
      #expect(bench.store.isClean(Bench.album))
    }
  }

  @Test("UNI-07, E9: a lost answer is asked for again under the same op, and the row is not in conflict with itself")
  func lostAnswer() throws {
    try Bench.run(prepare: {
      Self.registered($0)
      $0.store.add(Bench.album, agreed: true)
    }) { bench in
      try await bench.until("hello") { !bench.cloud.frames.isEmpty }
      bench.cloud.script(.loseAnswer, .loseAnswer)
      bench.write("a", "1")
      try await bench.until("the row is settled") { bench.store.isClean(Bench.album) }
      #expect(bench.pushes == [1, 1, 1])
      #expect(bench.cloud.state.withLock { $0.applied } == [1: 1])
      #expect(bench.store.table(Bench.album).rows["a"]?.server == nil)
    }
  }

  @Test("UNI-18: a type that the cloud has lost is proposed again, by who only writes as well; once in a session")
  func lostType() throws {
    try Bench.run(prepare: {
      Self.registered($0)
      $0.store.add(Bench.album, agreed: true)
    }) { bench in
      try await bench.until("hello") { !bench.cloud.frames.isEmpty }
      let lost = ScriptedCloud.Mishap.refuse { kind in
        if case .push = kind { CaravanError(.tableNotFound, "there is no such type") } else { nil }
      }
      bench.cloud.script(lost)
      bench.write("a", "1")
      try await bench.until("the row is at the cloud", within: .milliseconds(10)) { bench.store.isClean(Bench.album) }
      #expect(bench.proposals == 1 && bench.pushes == [1, 2])
      bench.cloud.script(lost, .none, lost)
      bench.write("a", "2")
      try await bench.until("the cloud is not believed a second time") {
        bench.store.table(Bench.album).refusal == "there is no such type"
      }
      #expect(bench.proposals == 2)
    }
  }

  @Test("SIM-64: what is edited while its push is unanswered goes with the next one")
  func editedInFlight() throws {
    try Bench.run(prepare: {
      Self.registered($0)
      $0.store.add(Bench.album, agreed: true)
    }) { bench in
      try await bench.until("hello") { !bench.cloud.frames.isEmpty }
      bench.cloud.script(.loseAnswer)
      bench.write("a", "1")
      try await bench.until("the push is on its way") { !bench.pushes.isEmpty }
      bench.write("a", "2")
      try await bench.until("both are there") { bench.store.isClean(Bench.album) }
      #expect(bench.pushes == [1, 1, 2])
      #expect(bench.cloud.state.withLock { $0.zones["album"]?["a"]?.body } == Array("2".utf8))
    }
  }

  @Test(
    "REC-03, REC-25: after a restart a push in flight is settled, not sent: applied or not, the row goes up once",
    arguments: [true, false])
  func settledAfterRestart(arrived: Bool) throws {
    let cluster = Simulation(seed: 3)
    try cluster.run(deadline: .seconds(600)) {
      let first = EngineBench(cluster)
      Self.registered(first)
      first.store.add(Bench.album, agreed: true)
      try await first.whileRunning {
        try await first.until("hello") { !first.cloud.frames.isEmpty }
        first.cloud.script(arrived ? .loseAnswer : .loseFrame)
        first.write("a", "1")
        try await first.until("the push is on its way") {
          !first.pushes.isEmpty || !arrived && first.cloud.frames.count > 1
        }
      }
      let second = EngineBench(cluster, store: first.store)
      let known = first.cloud.state.withLock { $0 }
      second.cloud.state.withLock {
        $0.zones = known.zones
        $0.outcomes = known.outcomes
        $0.applied = known.applied
        $0.seq = known.seq
      }
      try await second.whileRunning {
        try await second.until("the row is at the cloud") { second.store.isClean(Bench.album) }
        #expect(second.settles == [1])
        #expect(second.pushes == (arrived ? [] : [2]))
        #expect(second.cloud.state.withLock { $0.zones["album"]?["a"]?.body } == Array("1".utf8))
        #expect(second.store.table(Bench.album).rows["a"]?.server == nil)
      }
    }
  }

  @Test("SIM-62: chunks the cloud lacks are staged, in messages within the limit, and the same push is sent again")
  func chunks() throws {
    try Bench.run(prepare: Self.registered) { bench in
      var hashes: [ChunkHash] = []
      for index in 0..<20 {
        let bytes = [UInt8](repeating: UInt8(index), count: 100_000)
        guard let hash = ChunkHash(SHA256.hash(bytes).bytes) else { continue }
        hashes.append(hash)
        bench.store.state.withLock { $0.chunks[hash] = bytes }
      }
      bench.write("a", "object", chunks: hashes)
      try await bench.until("the row is at the cloud") { bench.store.isClean(Bench.album) }
      #expect(bench.pushes == [1, 1])
      #expect(bench.cloud.state.withLock { $0.chunks.count } == 20)
      #expect(bench.cloud.state.withLock { $0.chunkMessages } == 2)
    }
  }

  @Test("REC-03: a plan whose chunks could not be read when it was made goes all the same")
  func unreadChunks() throws {
    try Bench.run(prepare: Self.registered) { bench in
      let bytes: [UInt8] = [1, 2, 3]
      let hash = try #require(ChunkHash(SHA256.hash(bytes).bytes))
      bench.store.state.withLock { state in
        state.chunks[hash] = bytes
        state.failingReads = [CaravanError(.internalError, "the disk cannot be read")]
      }
      bench.write("a", "object", chunks: [hash])
      try await bench.until("the row is at the cloud") { bench.store.isClean(Bench.album) }
      #expect(bench.cloud.state.withLock { $0.chunks[hash.bytes] } == bytes)
      #expect(bench.pushes == [1, 1])
    }
  }

  @Test("a full disk is warned of once, and again when it has been written to meanwhile; status knows while it lasts")
  func fullDisk() throws {
    try Bench.run(prepare: Self.registered) { bench in
      for row in ["a", "b"] {
        let bytes = Array(row.utf8)
        let hash = try #require(ChunkHash(SHA256.hash(bytes).bytes))
        bench.store.state.withLock { state in
          state.chunks[hash] = bytes
          state.failingReads = Array(repeating: CaravanError(.storageFull, "full"), count: 3)
        }
        bench.write(row, "object", chunks: [hash])
        try await bench.until("it is refused") {
          await bench.engine.status().refusedByDisk == [Bench.album: "full"]
        }
        try await bench.until("the row is at the cloud") { bench.store.isClean(Bench.album) }
        try await bench.until("nothing is refused") { await bench.engine.status().refusedByDisk.isEmpty }
      }
      #expect(bench.cluster.log.records.count { $0.message.contains("disk refuses") } == 2)
    }
  }

  @Test("A refusal is seen in the table's status, is not repeated by itself, and stops no other table")
  func refused() throws {
    try Bench.run(prepare: { bench in
      for table in [Bench.album, Bench.notes] {
        bench.store.add(table, agreed: true)
        bench.store.register(table, .write)
      }
    }) { bench in
      try await bench.until("hello") { !bench.cloud.frames.isEmpty }
      bench.cloud.script(
        .refuse { kind in
          guard case .push(let push) = kind, push.zone == "album" else { return nil }
          return CaravanError(.schemaViolation, "field 'x' is text, not integer")
        })
      bench.store.write("a", "1", in: Bench.album)
      bench.store.write("n", "1", in: Bench.notes)
      bench.engine.tableChanged(Bench.album, LocalChange(bytes: 1))
      bench.engine.tableChanged(Bench.notes, LocalChange(bytes: 1))
      try await bench.until("the other table is done") { bench.store.isClean(Bench.notes) }
      try await bench.pass(.seconds(100))
      #expect(bench.store.table(Bench.album).refusal == "field 'x' is text, not integer")
      #expect(bench.store.table(Bench.album).rows["a"]?.isDirty == true)
      #expect(bench.store.table(Bench.album).rows["a"]?.op == nil)
      #expect(bench.pushes.count == 2)
    }
  }

  @Test("Retry-after is obeyed; the app that waits is told only after several failures, and then why")
  func busy() throws {
    try Bench.run(prepare: {
      Self.registered($0)
      $0.store.add(Bench.album, agreed: true)
    }) { bench in
      try await bench.until("hello") { !bench.cloud.frames.isEmpty }
      let busy = CaravanError(.serverBusy, "too many", retryAfterMilliseconds: 5_000)
      bench.cloud.script(.refuseFrame(busy), .refuseFrame(busy))
      let start = bench.host.clock.now
      bench.store.write("a", "1", in: Bench.album)
      try await bench.engine.syncNow(Bench.album, write: true, read: false)
      #expect((.seconds(10) ..< .seconds(11)).contains(bench.host.clock.now - start))
      bench.cloud.script(.refuseFrame(busy), .refuseFrame(busy), .refuseFrame(busy))
      bench.store.write("a", "2", in: Bench.album)
      await #expect(throws: busy) { try await bench.engine.syncNow(Bench.album, write: true, read: false) }
      try await bench.until("it goes in the end") { bench.store.isClean(Bench.album) }
    }
  }

  @Test("More rows than one push holds go in several, and a sync now ends after the last")
  func manyRows() throws {
    try Bench.run(prepare: { $0.store.add(Bench.album) }) { bench in
      for index in 0..<1_000 { bench.store.write("row \(index)", "text \(index)", in: Bench.album) }
      try await bench.engine.syncNow(Bench.album, write: true, read: false)
      #expect(bench.pushes == [1, 2, 3])
      #expect(bench.cloud.state.withLock { $0.zones["album"]?.count } == 1_000)
    }
  }

  @Test("MOB-46: without a permitted link nothing goes; it goes when the link is one; a sync now says so")
  func links() throws {
    try Bench.run(prepare: { bench in
      bench.store.add(Bench.album, agreed: true)
      bench.store.register(Bench.album, .write, link: .wifi)
    }) { bench in
      try await bench.until("hello") { !bench.cloud.frames.isEmpty }
      await bench.engine.linkChanged(to: .cellular)
      bench.write("a", "1")
      try await bench.pass(.seconds(600))
      #expect(bench.pushes.isEmpty)
      await bench.engine.linkChanged(to: nil)
      let refusal = await #expect(throws: CaravanError.self) {
        try await bench.engine.syncNow(Bench.album, write: true, read: true)
      }
      #expect(refusal?.code == .networkNotPermitted)
      let frames = bench.cloud.frames.count
      try await bench.pass(.seconds(600))
      #expect(bench.cloud.frames.count == frames)
      await bench.engine.linkChanged(to: .wired)
      try await bench.until("the row is at the cloud") { bench.store.isClean(Bench.album) }
    }
  }

  @Test("rows that wait for a new epoch have not gone, and whoever demands them is told so", arguments: [false, true])
  func heldBack(isInFlight: Bool) throws {
    let other = isInFlight ? Bench.album : Bench.notes
    try Bench.run(prepare: {
      Self.registered($0)
      for table in [Bench.album, Bench.notes] { $0.store.add(table, agreed: true) }
      $0.store.register(Bench.notes, .write)
    }) { bench in
      try await bench.until("hello") { !bench.cloud.frames.isEmpty }
      bench.cloud.script(.loseAnswer)
      bench.write("a", "1", in: other)
      try await bench.until("the push is on its way") { !bench.pushes.isEmpty }
      bench.store.state.withLock { $0.isUnexplained = true }
      try await bench.engine.syncNow(Bench.album, write: false, read: true)
      bench.write("b", "2")
      if isInFlight {
        try await bench.engine.syncNow(Bench.album, write: true, read: false)
      } else {
        await #expect {
          try await bench.engine.syncNow(Bench.album, write: true, read: false)
        } throws: {
          ($0 as? CaravanError)?.code == .unavailable
        }
        #expect(!bench.store.isClean(Bench.album) && bench.store.epoch == 1)
        try await bench.until("the epoch has begun") { bench.store.epoch == 2 }
        try await bench.engine.syncNow(Bench.album, write: true, read: false)
      }
      #expect(bench.store.isClean(Bench.album))
    }
  }

  @Test("REC-01, REC-26: without a connection rows wait and a sync now says so; they go when the connection is back")
  func offline() throws {
    try Bench.run(prepare: Self.registered) { bench in
      try await bench.until("hello") { !bench.cloud.frames.isEmpty }
      bench.hub.disconnect("device")
      try await bench.pass(.milliseconds(10))
      bench.write("a", "1")
      let refusal = await #expect(throws: CaravanError.self) {
        try await bench.engine.syncNow(Bench.album, write: true, read: false)
      }
      #expect(refusal?.code == .networkNotConnected)
      #expect(await bench.engine.status().isConnected == false)
      bench.hub.reconnect("device")
      try await bench.until("the row is at the cloud", within: .milliseconds(10)) { bench.store.isClean(Bench.album) }
    }
  }

  @Test("SIM-42, MOB-37: one connection carries what all apps send, fetch and hear; another is made when it has ended")
  func oneConnection() throws {
    let cluster = Simulation(seed: 1)
    try cluster.run(deadline: .seconds(3_600)) {
      let bench = EngineBench(cluster)
      for table in [Bench.album, Bench.notes] {
        bench.store.add(table)
        for direction in Direction.allCases { bench.store.register(table, direction) }
      }
      let made = Mutex(0)
      let connection = CloudConnection(engine: bench.engine) { () throws(CaravanError) in
        made.withLock { $0 += 1 }
        return bench.hub.connect(as: "device")
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await bench.cloud.run() }
        group.addTask { try await bench.engine.run() }
        group.addTask { await connection.run() }
        defer { group.cancelAll() }
        bench.write("a", "1")
        bench.write("b", "2", in: Bench.notes)
        try await bench.until("both apps' rows are at the cloud") {
          bench.store.isClean(Bench.album) && bench.store.isClean(Bench.notes)
        }
        bench.cloud.save("c", "3", in: "album")
        try await bench.engine.syncNow(Bench.album, write: false, read: true)
        try await bench.pass(.seconds(600))
        #expect(bench.store.texts(Bench.album)["c"] == "3")
        #expect(made.withLock { $0 } == 1)
      }
    }
  }

  @Test("SIM-40, MOB-22, MOB-31: what waits for different tables of different apps goes in one frame")
  func oneFrame() throws {
    try Bench.run(prepare: { bench in
      for table in [Bench.album, Bench.notes] {
        bench.store.add(table, agreed: true)
        bench.store.register(table, .write, period: 60_000, tolerance: table == Bench.notes ? 30_000 : 0)
      }
    }) { bench in
      try await bench.until("hello") { !bench.cloud.frames.isEmpty }
      bench.write("a", "1", in: Bench.album)
      try await bench.pass(.milliseconds(5))
      bench.write("n", "1", in: Bench.notes)
      try await bench.until("both are at the cloud") {
        bench.store.isClean(Bench.album) && bench.store.isClean(Bench.notes)
      }
      #expect(bench.cloud.frames.map(Bench.pushedOps).filter { !$0.isEmpty }.map(\.count) == [2])
    }
  }
}
