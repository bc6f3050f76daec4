import CaravanAgentCore
import CaravanBus
import CaravanCompression
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: whatever is announced, lost or reset, the device ends with what the cloud has. Method: as in `PushTests`.
@Suite struct PullTests {
  private typealias Bench = EngineBench

  private static func registered(_ bench: EngineBench) {
    bench.store.add(Bench.album)
    bench.store.register(Bench.album, .read)
  }

  private func settle(_ bench: EngineBench) async throws {
    try await bench.until("subscribed") { bench.cloud.state.withLock { $0.list != nil } }
    try await bench.pass(.seconds(1))
  }

  @Test("SIM-20, MOB-11: the first connection subscribes and pulls everything registered")
  func first() throws {
    try Bench.run(prepare: { bench in
      Self.registered(bench)
      bench.cloud.save("a", "1", in: "album")
    }) { bench in
      try await settle(bench)
      #expect(bench.store.texts(Bench.album) == ["a": "1"])
      #expect(bench.cloud.state.withLock { $0.list?.subscriptions.map(\.zone) } == ["album"])
      #expect(bench.cloud.state.withLock { $0.list?.generation } == 1)
    }
  }

  @Test("CK-87, MOB-11, D2: a notification makes the flagged tables pulled at once, in the frame that acknowledges it")
  func notification() throws {
    try Bench.run(prepare: { bench in
      Self.registered(bench)
      bench.store.add(Bench.notes)
      bench.store.register(Bench.notes, .read)
    }) { bench in
      try await settle(bench)
      let before = bench.cloud.frames.count
      bench.cloud.save("a", "1", in: "album")
      let start = bench.host.clock.now
      try await bench.cloud.notify(Bench.identity.device, number: 9, generation: 2, bitmap: [0b01])
      try await bench.until("the row is here") { bench.store.texts(Bench.album) == ["a": "1"] }
      #expect(bench.host.clock.now - start <= .milliseconds(2))
      let frames = Array(bench.cloud.frames.dropFirst(before))
      #expect(frames.count == 1)
      #expect(frames.map(Bench.pulledZones) == [["album"]])
      #expect(bench.cloud.state.withLock { $0.acks } == [9])
    }
  }

  @Test("A repeated notification is acknowledged again and not pulled again")
  func repeated() throws {
    try Bench.run(prepare: Self.registered) { bench in
      try await settle(bench)
      let frames = bench.cloud.frames.count
      for _ in 0..<2 {
        try await bench.cloud.notify(Bench.identity.device, number: 5, generation: 1, bitmap: [1])
        try await bench.pass(.seconds(1))
      }
      #expect(bench.cloud.state.withLock { $0.acks } == [5, 5])
      #expect(bench.cloud.frames.count == frames + 1, "the pull, and the first acknowledgement with it")
    }
  }

  @Test("E13: a notification of an unknown generation is acknowledged, the list goes again and everything is looked at")
  func unknownGeneration() throws {
    try Bench.run(prepare: Self.registered) { bench in
      try await settle(bench)
      bench.cloud.state.withLock { $0.list = nil }
      bench.cloud.save("a", "1", in: "album")
      try await bench.cloud.notify(Bench.identity.device, number: 1, generation: 77, bitmap: [0b100])
      try await settle(bench)
      #expect(bench.store.texts(Bench.album) == ["a": "1"])
      #expect(bench.cloud.state.withLock { $0.acks } == [1])
    }
  }

  @Test("MOB-42, MOB-46: a flagged table whose link is too expensive is acknowledged now and pulled later")
  func deferred() throws {
    try Bench.run(prepare: { bench in
      bench.store.add(Bench.album)
      bench.store.register(Bench.album, .read, link: .wifi)
    }) { bench in
      try await settle(bench)
      await bench.engine.linkChanged(to: .roaming)
      bench.cloud.save("a", "1", in: "album")
      try await bench.cloud.notify(Bench.identity.device, number: 1, generation: 1, bitmap: [1])
      try await bench.pass(.seconds(60))
      #expect(bench.cloud.state.withLock { $0.acks } == [1])
      #expect(bench.store.texts(Bench.album) == [:])
      await bench.engine.linkChanged(to: .wifi)
      try await bench.until("the row is here", within: .milliseconds(10)) {
        bench.store.texts(Bench.album) == ["a": "1"]
      }
    }
  }

  @Test("D3: a pull whose answer is lost is asked again")
  func lostAnswer() throws {
    try Bench.run(prepare: Self.registered) { bench in
      try await settle(bench)
      bench.cloud.save("a", "1", in: "album")
      bench.cloud.script(.loseAnswer)
      try await bench.cloud.notify(Bench.identity.device, number: 1, generation: 1, bitmap: [1])
      try await bench.until("the row is here") { bench.store.texts(Bench.album) == ["a": "1"] }
      try await bench.until("the acknowledgement went again") { bench.cloud.state.withLock { $0.acks } == [1, 1] }
    }
  }

  @Test("Pages follow each other until there is no more")
  func pages() throws {
    try Bench.run(prepare: { bench in
      Self.registered(bench)
      for index in 0..<1_050 { bench.cloud.save("row \(index)", "\(index)", in: "album") }
    }) { bench in
      try await settle(bench)
      #expect(bench.store.texts(Bench.album).count == 1_050)
    }
  }

  @Test("CK-46: the next page is asked for before the one that came has been taken in")
  func pipeline() throws {
    try Bench.run(prepare: { bench in
      Self.registered(bench)
      for index in 0..<250 { bench.cloud.save("row \(index)", "\(index)", in: "album") }
      bench.store.state.withLock { state in
        state.beforePage = { number in
          // Three pages: with the last nothing follows.
          let asked = { bench.cloud.frames.flatMap(Bench.pulledZones).count }
          try? await bench.until("page \(number + 1) is asked for", within: .seconds(60)) {
            asked() >= min(number + 1, 3)
          }
          let pulls = asked()
          bench.cloud.state.withLock { $0.askedBeforePage.append(pulls) }
        }
      }
    }) { bench in
      try await bench.until("all is here") { bench.store.texts(Bench.album).count == 250 }
      #expect(bench.cloud.state.withLock { Array($0.askedBeforePage.prefix(3)) } == [2, 3, 3])
    }
  }

  @Test("SIM-67: a row is seen only with all its chunks, which are fetched in bounded messages")
  func chunks() throws {
    try Bench.run(prepare: { bench in
      Self.registered(bench)
      var hashes: [ChunkHash] = []
      for index in 0..<40 {
        let bytes = [UInt8](repeating: UInt8(index), count: 1_000)
        guard let hash = ChunkHash(SHA256.hash(bytes).bytes) else { continue }
        hashes.append(hash)
        bench.cloud.state.withLock { $0.chunks[hash.bytes] = bytes }
      }
      let list = hashes
      bench.store.state.withLock { $0.named["a"] = list }
      bench.cloud.save("a", "object", in: "album")
    }) { bench in
      try await settle(bench)
      #expect(bench.store.texts(Bench.album) == ["a": "object"])
      #expect(bench.cloud.state.withLock { $0.chunkMessages } == 2)
    }
  }

  @Test("UNI-13: what a snapshot lacks is fetched before a page is taken in, which might overtake it")
  func lackingFirst() throws {
    let bytes: [UInt8] = [1, 2, 3]
    let hash = try #require(ChunkHash(SHA256.hash(bytes).bytes))
    try Bench.run(prepare: { bench in
      Self.registered(bench)
      bench.cloud.save("a", "old", in: "album")
      bench.cloud.save("a", "new", in: "album")
      bench.cloud.state.withLock { $0.chunks[hash.bytes] = bytes }
      let held = Entry(name: "a", version: 1, created: 1, type: 1, body: Array("old".utf8), writer: "other")
      bench.store.state.withLock { state in
        state.named["a"] = [hash]
        state.tables[Bench.album]?.showsSnapshots = true
        state.tables[Bench.album]?.waiting = [held]
        state.tables[Bench.album]?.token = Array("1/1".utf8)
        state.beforePage = { number in
          if number == 1 { #expect(bench.store.texts(Bench.album) == ["a": "old"]) }
        }
      }
    }) { bench in
      try await settle(bench)
      #expect(bench.store.texts(Bench.album) == ["a": "new"])
    }
  }

  @Test("A patch that is damaged, of another base, of an absent one, or a bomb: the chunk is asked for whole, and once")
  func badPatches() throws {
    let random = SeededRandom(seed: 9)
    let (base, other) = (random.bytes(5_000), random.bytes(5_000))
    let chunk = [1] + base
    func patch(_ bytes: [UInt8], of base: [UInt8]) throws -> [UInt8] {
      var compressor = try Compressor()
      return try compressor.patch(bytes, from: base)
    }
    let good = try patch(chunk, of: base)
    let named = SHA256.hash(base).bytes
    let answers: [(data: [UInt8], bases: [UInt8], isGood: Bool)] = [
      (good, named, true), (good, SHA256.hash(other).bytes, false), (good, SHA256.hash([0]).bytes, false),
      (Array(good.dropLast()), named, false), (try patch([2] + base, of: base), named, false),
      (try patch([UInt8](repeating: 0, count: 50 << 20), of: base), named, false), ([7], named, false),
      (good, named + [1], false), (good, named + named + named + named + named, false),
    ]
    for answer in answers {
      try Bench.run(prepare: { bench in
        Self.registered(bench)
        guard let wanted = ChunkHash(SHA256.hash(chunk).bytes), let held = ChunkHash(named) else { return }
        bench.cloud.state.withLock { state in
          state.chunks[wanted.bytes] = chunk
          state.patch = { (hash, _) in Chunk(hash: hash, data: answer.data, bases: answer.bases) }
        }
        bench.store.state.withLock { state in
          state.named["a"] = [wanted]
          state.bases[wanted] = [held]
          for bytes in [base, other] { state.chunks[ChunkHash(SHA256.hash(bytes).bytes)!] = bytes }
        }
        bench.cloud.save("a", "object", in: "album")
      }) { bench in
        try await settle(bench)
        #expect(bench.store.texts(Bench.album) == ["a": "object"])
        #expect(bench.cloud.state.withLock { $0.chunkMessages } == (answer.isGood ? 1 : 2))
      }
    }
  }

  @Test("A chunk that is not at the cloud leaves its row unseen until it is there; other tables go on")
  func missingChunk() throws {
    try Bench.run(prepare: { bench in
      Self.registered(bench)
      bench.store.add(Bench.notes)
      bench.store.register(Bench.notes, .read)
      bench.cloud.save("a", "object", in: "album")
      bench.cloud.save("n", "note", in: "notes")
      let bytes: [UInt8] = [1, 2, 3]
      bench.store.state.withLock { $0.named["a"] = [ChunkHash(SHA256.hash(bytes).bytes)].compactMap(\.self) }
    }) { bench in
      try await settle(bench)
      #expect(bench.store.texts(Bench.notes) == ["n": "note"])
      #expect(bench.store.texts(Bench.album) == [:])
      let bytes: [UInt8] = [1, 2, 3]
      bench.cloud.state.withLock { $0.chunks[SHA256.hash(bytes).bytes] = bytes }
      try await bench.until("the row is here") { bench.store.texts(Bench.album) == ["a": "object"] }
    }
  }

  @Test("UNI-18: reset required: the device starts over and keeps what it has not sent")
  func reset() throws {
    try Bench.run(prepare: { bench in
      Self.registered(bench)
      bench.cloud.save("a", "1", in: "album")
    }) { bench in
      try await settle(bench)
      bench.store.write("mine", "unsent", in: Bench.album)
      bench.cloud.state.withLock { state in
        state.incarnation = 2
        state.zones = [:]
      }
      bench.cloud.save("b", "2", in: "album")
      try await bench.engine.syncNow(Bench.album, write: false, read: true)
      #expect(bench.store.table(Bench.album).resets == 1)
      #expect(bench.store.texts(Bench.album)["b"] == "2")
      #expect(bench.store.texts(Bench.album)["mine"] == "unsent")
      #expect(bench.store.table(Bench.album).token == Array("2/2".utf8))
    }
  }

  @Test("What is not heard is found at the next sign of life: hello goes every heartbeat, with the tokens")
  func heartbeat() throws {
    try Bench.run(prepare: { bench in
      Self.registered(bench)
      bench.cloud.save("a", "1", in: "album")
    }) { bench in
      try await settle(bench)
      try await bench.pass(.milliseconds(Int64(EngineLimits.heartbeatMilliseconds) + 1_000))
      let hellos = bench.cloud.state.withLock { $0.hellos }
      #expect(hellos.count == 2)
      #expect(hellos.last?.tokens == [Array("1/1".utf8)])
      #expect(hellos.last?.generation == 1)
    }
  }

  @Test("After a reconnection everything registered is looked at, without any notification")
  func reconnect() throws {
    try Bench.run(prepare: Self.registered) { bench in
      try await settle(bench)
      bench.hub.disconnect("device")
      bench.cloud.save("a", "1", in: "album")
      try await bench.pass(.seconds(5))
      #expect(bench.store.texts(Bench.album) == [:])
      bench.hub.reconnect("device")
      try await bench.until("the row is here", within: .milliseconds(10)) {
        bench.store.texts(Bench.album) == ["a": "1"]
      }
    }
  }

  @Test("A store older than what it once sent gets a new epoch, and the table starts over")
  func newEpoch() throws {
    try Bench.run(prepare: Self.registered) { bench in
      try await settle(bench)
      bench.store.state.withLock { $0.isUnexplained = true }
      bench.cloud.save("a", "1", in: "album")
      try? await bench.engine.syncNow(Bench.album, write: false, read: true)
      try await bench.until("the table starts over") { bench.store.table(Bench.album).resets == 1 }
      try await bench.until("the row is here") { bench.store.texts(Bench.album) == ["a": "1"] }
      #expect(bench.store.epoch == 2)
      let told = bench.cluster.log.records.filter { $0.level == .warning }.map(\.message)
      #expect(told.count == 1 && told[0].contains("a table was dropped or the store is an older copy"))
    }
  }

  @Test("SIM-22: a sync down on demand needs no registration")
  func onDemand() throws {
    try Bench.run(prepare: { $0.store.add(Bench.album) }) { bench in
      bench.cloud.save("a", "1", in: "album")
      try await bench.pass(.seconds(600))
      #expect(bench.store.texts(Bench.album).isEmpty)
      try await bench.engine.syncNow(Bench.album, write: false, read: true)
      #expect(bench.store.texts(Bench.album) == ["a": "1"])
    }
  }

  @Test("SIM-60: a push that waits for its answer holds up no pull of the same table")
  func independent() throws {
    try Bench.run(prepare: { bench in
      Self.registered(bench)
      bench.store.register(Bench.album, .write)
      bench.store.add(Bench.album, agreed: true)
    }) { bench in
      try await settle(bench)
      bench.cloud.script(.loseAnswer)
      bench.write("mine", "1")
      try await bench.pass(.milliseconds(10))
      bench.cloud.save("theirs", "2", in: "album")
      try await bench.engine.syncNow(Bench.album, write: false, read: true)
      #expect(bench.store.texts(Bench.album)["theirs"] == "2")
      #expect(!bench.store.isClean(Bench.album))
      try await bench.until("the push is settled") { bench.store.isClean(Bench.album) }
    }
  }

  @Test("SIM-21: unregistering makes the cloud hear a list without the table")
  func unregister() throws {
    try Bench.run(prepare: Self.registered) { bench in
      try await settle(bench)
      bench.store.state.withLock { state in
        state.registrations = []
        state.generation += 1
      }
      await bench.engine.registrationsChanged(of: Bench.album)
      try await bench.until("the list is empty") {
        bench.cloud.state.withLock { $0.list?.subscriptions.isEmpty == true }
      }
    }
  }
}
