import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanWire
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: what the cloud does not take or give now is kept, shown, and sent when it may be (CK-101, CK-102, MOB-08).
/// Method: a whole agent against a scripted cloud, in virtual time.
@Suite struct LimitTests {
  private typealias Device = AgentCluster.Device
  private static let samples = AgentCluster.samples
  private static let chat = AgentCluster.chat

  private static func pushes(_ device: Device, to table: TableID) -> [Push] {
    device.cloud.frames.flatMap { $0 }.compactMap { operation in
      if case .push(let push) = operation, push.zone == table.name { push } else { nil }
    }
  }

  private static func refusing(
    _ table: TableID, _ error: CaravanError, where isRefused: @escaping @Sendable (Push) -> Bool = { _ in true }
  ) -> ScriptedCloud.Mishap {
    .refuse { operation in
      if case .push(let push) = operation, push.zone == table.name, isRefused(push) { error } else { nil }
    }
  }

  @Test("CK-101: who is told to come later keeps everything and asks no sooner, not even on demand")
  func rateLimited() throws {
    try AgentCluster.run { device in
      try await device.register(Self.chat)
      try await device.register(Self.samples, loss: LossTolerance(maximumPermille: 1000))
      try await device.write("first", to: Self.chat)
      try await device.pass(.seconds(1))
      let limited = CaravanError(.rateLimited, "too much at once", retryAfterMilliseconds: 20_000)
      device.cloud.script(Self.refusing(Self.chat, limited))
      try await device.write("second", to: Self.chat)
      try await device.pass(.seconds(1))
      let sent = Self.pushes(device, to: Self.chat).count
      async let demand: Void = device.agent.engine.syncNow(Self.chat, write: true, read: false)
      for second in 1...18 {
        if second.isMultiple(of: 2) { try await device.write("more \(second)", to: Self.chat) }
        try await device.pass(.seconds(1))
        #expect(Self.pushes(device, to: Self.chat).count == sent, "asked again after \(second + 1) s")
      }
      try await demand
      #expect(device.rows(in: Self.chat) == 11)
    }
  }

  @Test("I13, MOB-44: a demand lasts until both directions have ended, and is over when its call is")
  func demandEnds() throws {
    try AgentCluster.run { device in
      try await device.register(Self.chat)
      try await device.write("first", to: Self.chat)
      try await device.pass(.seconds(1))
      for _ in 0..<2 {
        device.cloud.script(
          .refuse { operation in
            switch operation {
            case .pull: CaravanError(.accessDenied, "not for you")
            case .push: CaravanError(.rateLimited, "too much at once", retryAfterMilliseconds: 20_000)
            default: nil
            }
          })
      }
      try await device.write("second", to: Self.chat)
      let refusal = await #expect(throws: CaravanError.self) {
        try await device.agent.engine.syncNow(Self.chat, write: true, read: true)
      }
      #expect(refusal?.code == .accessDenied)
      // What goes on as if it were demanded would use any link.
      for direction in Direction.allCases {
        #expect(await !device.agent.engine.waiters.isAwaited(Coalescer.Key(Self.chat, direction)))
      }
      #expect(device.rows(in: Self.chat) == 2)
    }
  }

  /// So long the cloud wants to hear nothing.
  private static let waits: [UInt32] = [300, 20_000]

  private static func later(_ milliseconds: UInt32) -> CaravanError {
    CaravanError(.rateLimited, "too much at once", retryAfterMilliseconds: milliseconds)
  }

  @Test("CK-101: chunks go up no sooner than the cloud says, whatever is written meanwhile", arguments: waits)
  func chunksUp(milliseconds: UInt32) throws {
    try EngineBench.run(prepare: { bench in
      bench.store.add(EngineBench.album)
      bench.store.register(EngineBench.album, .write)
    }) { bench in
      var hashes: [ChunkHash] = []
      for index in 0..<20 {
        let bytes = [UInt8](repeating: UInt8(index), count: 100_000)
        let hash = ChunkHash(of: bytes)
        hashes.append(hash)
        bench.store.state.withLock { $0.chunks[hash] = bytes }
      }
      var messages: Int { bench.cloud.state.withLock { $0.chunkMessages } }
      bench.cloud.state.withLock { $0.chunkRefusals = [Self.later(milliseconds)] }
      bench.write("a", "object", chunks: hashes)
      try await bench.until("it is told to come later") { bench.cloud.state.withLock { $0.chunkRefusals.isEmpty } }
      try await bench.pass(.milliseconds(5))
      let sent = messages
      bench.write("b", "another", chunks: Array(hashes.prefix(3)))
      try await bench.pass(.milliseconds(Int64(milliseconds) * 9 / 10))
      #expect(messages == sent, "something has come since")
      try await bench.until("the rows are at the cloud") { bench.store.isClean(EngineBench.album) }
      #expect(bench.cloud.state.withLock { $0.chunks.count } == 20)
      #expect(messages == sent + 1, "what had passed is not sent again")
    }
  }

  @Test("CK-101: nor do chunks of the app's other tables", arguments: waits)
  func otherTables(milliseconds: UInt32) throws {
    let attic = TableID(app: EngineBench.album.app, name: "attic")
    try EngineBench.run(prepare: { bench in
      for table in [EngineBench.album, attic] {
        bench.store.add(table)
        bench.store.register(table, .write)
      }
    }) { bench in
      // More than a push takes with it.
      func photo(_ byte: UInt8) -> [ChunkHash] {
        (0..<8 as Range<UInt8>).map { index in
          let bytes = [UInt8](repeating: byte &+ index, count: 100_000)
          let hash = ChunkHash(of: bytes)
          bench.store.state.withLock { $0.chunks[hash] = bytes }
          return hash
        }
      }
      var messages: Int { bench.cloud.state.withLock { $0.chunkMessages } }
      bench.cloud.state.withLock { $0.chunkRefusals = [Self.later(milliseconds)] }
      bench.write("a", "object", chunks: photo(1))
      try await bench.until("it is told to come later") { bench.cloud.state.withLock { $0.chunkRefusals.isEmpty } }
      try await bench.pass(.milliseconds(5))
      let sent = messages
      bench.write("b", "another", in: attic, chunks: photo(101))
      try await bench.pass(.milliseconds(Int64(milliseconds) * 9 / 10))
      #expect(messages == sent, "something has come since")
      try await bench.until("the rows are at the cloud") {
        bench.store.isClean(EngineBench.album) && bench.store.isClean(attic)
      }
      #expect(bench.cloud.state.withLock { $0.chunks.count } == 16)
    }
  }

  @Test("CK-101: nor are chunks or pages asked for sooner", arguments: waits)
  func chunksDown(milliseconds: UInt32) throws {
    try EngineBench.run(prepare: { bench in
      bench.store.add(EngineBench.album)
      bench.store.register(EngineBench.album, .read)
      let bytes = [UInt8](repeating: 7, count: 1_000)
      bench.cloud.state.withLock { state in
        state.chunks[ChunkHash(of: bytes).bytes] = bytes
        state.chunkRefusals = [Self.later(milliseconds)]
      }
      bench.store.state.withLock { $0.named["a"] = [ChunkHash(of: bytes)] }
      bench.cloud.save("a", "object", in: "album")
    }) { bench in
      var messages: Int { bench.cloud.state.withLock { $0.chunkMessages } }
      try await bench.until("it is told to come later") { messages > 0 }
      try await bench.pass(.milliseconds(Int64(milliseconds) * 9 / 10))
      #expect(messages == 1 && bench.store.texts(EngineBench.album).isEmpty, "something has been asked since")
      try await bench.until("the row is here") { bench.store.texts(EngineBench.album) == ["a": "object"] }
      #expect(messages == 2)
    }
  }

  @Test("CK-101: a pull that is told to come later comes no sooner, whatever it is notified of")
  func pulls() throws {
    try EngineBench.run(prepare: { bench in
      bench.store.add(EngineBench.album)
      bench.store.register(EngineBench.album, .read)
      bench.cloud.save("a", "1", in: "album")
    }) { bench in
      try await bench.until("all is here") { bench.store.texts(EngineBench.album).count == 1 }
      try await bench.pass(.seconds(5))
      let before = bench.pulls
      bench.cloud.script(.refuse { if case .pull = $0 { Self.later(20_000) } else { nil } })
      bench.cloud.save("b", "2", in: "album")
      try await bench.cloud.notify(EngineBench.identity.device, number: 1, generation: 1, bitmap: [1])
      try await bench.until("it is told to come later") { bench.pulls > before }
      for number in 2...10 as ClosedRange<UInt64> {
        try await bench.pass(.seconds(2))
        try await bench.cloud.notify(EngineBench.identity.device, number: number, generation: 1, bitmap: [1])
        #expect(bench.pulls == before + 1)
      }
      try await bench.until("the row is here") { bench.store.texts(EngineBench.album).count == 2 }
    }
  }

  @Test("CK-102: without room rows wait and the status says why; deletions go; it goes on by itself when there is room")
  func quota() throws {
    try AgentCluster.run { device in
      try await device.register(Self.chat)
      try await device.write("old", to: Self.chat)
      try await device.pass(.seconds(1))
      let full = CaravanError(.quotaExceeded, "user 'ada' uses 1 of 1 records")
      let isFull: @Sendable (Push) -> Bool = { push in push.mutations.contains { $0.kind == .save } }
      for _ in 0..<40 { device.cloud.script(Self.refusing(Self.chat, full, where: isFull)) }
      for number in 0..<5 { try await device.write("new \(number)", to: Self.chat) }
      try await device.pass(.seconds(10))
      func refused() async throws -> String? {
        try await device.agent.store.status(of: AgentCluster.app).first { $0.table == Self.chat }?.refused
      }
      #expect(try await refused() == full.message)
      #expect(device.rows(in: Self.chat) == 1)
      #expect(Self.pushes(device, to: Self.chat).count < 12, "no hot retry")
      try await device.agent.store.delete(Self.chat, selection: Selection("text = 'old'"))
      try await device.pass(.seconds(120))
      #expect(Self.pushes(device, to: Self.chat).contains { $0.mutations.map(\.kind) == [.delete] }, "it goes alone")
      #expect(device.rows(in: Self.chat) == 0)
      device.cloud.state.withLock { $0.script = [] }
      try await device.pass(.seconds(120))
      #expect(device.rows(in: Self.chat) == 5)
      #expect(try await refused() == "")
    }
  }

  @Test("MOB-06, MOB-08: what is put off comes back when it was told, and nothing of it is given up")
  func deferred() throws {
    try AgentCluster.run { device in
      try await device.register(Self.samples, loss: LossTolerance(maximumPermille: 1000))
      try await device.register(Self.chat)
      try await device.write("first", to: Self.chat)
      try await device.write("0", to: Self.samples)
      try await device.write("second", to: Self.chat)
      try await device.pass(.seconds(2))
      var later = CaravanError(.serverBusy, "this can wait", retryAfterMilliseconds: 3_000)
      later.isDeferral = true
      device.cloud.script(Self.refusing(Self.chat, later))
      try await device.write("third", to: Self.chat)
      try await device.write("1", to: Self.samples)
      try await device.pass(.milliseconds(2_900))
      #expect(device.rows(in: Self.chat) == 2)
      try await device.pass(.milliseconds(200))
      #expect(device.rows(in: Self.chat) == 3)
      #expect(try await device.ledger().lost == 0)
    }
  }
}
