import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentNetwork
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: whatever waits when the link changes goes over the one there is then, or not at all. Method: the engine, and
/// the meter alone, against a scripted cloud, in virtual time.
@Suite struct LinkChangeTests {
  @Test("I13, MOB-44: chunks that waited for their turn do not go over a link that has become too expensive")
  func tooExpensive() throws {
    try EngineBench.run(prepare: { bench in
      bench.store.add(EngineBench.album)
      bench.store.register(EngineBench.album, .write, link: .wifi)
    }) { bench in
      let hashes = (0..<20 as Range<UInt8>).map { index in
        let bytes = [UInt8](repeating: index, count: 100_000)
        bench.store.state.withLock { $0.chunks[ChunkHash(of: bytes)] = bytes }
        return ChunkHash(of: bytes)
      }
      var messages: Int { bench.cloud.state.withLock { $0.chunkMessages } }
      let later = CaravanError(.rateLimited, "too much at once", retryAfterMilliseconds: 300)
      bench.cloud.state.withLock { $0.chunkRefusals = [later] }
      bench.write("a", "object", chunks: hashes)
      try await bench.until("it is told to come later") { bench.cloud.state.withLock { $0.chunkRefusals.isEmpty } }
      try await bench.pass(.milliseconds(5))
      let sent = messages
      await bench.engine.linkChanged(to: .roaming)
      try await bench.pass(.seconds(30))
      #expect(messages == sent)
      let usage = await bench.engine.status().usage
      #expect(!usage.contains { $0.account.link == .roaming && $0.account.table == EngineBench.album })
      await bench.engine.linkChanged(to: .wifi)
      try await bench.until("the row is at the cloud") { bench.store.isClean(EngineBench.album) }
    }
  }

  @Test("I13, MOB-44: a frame goes over no link that one of its tables refuses")
  func frame() throws {
    let attic = TableID(app: EngineBench.album.app, name: "attic")
    try EngineBench.run(prepare: { bench in
      for (table, link) in [(EngineBench.album, CaravanModel.LinkClass.wifi), (attic, .roaming)] {
        bench.store.add(table)
        bench.store.register(table, .read, link: link)
      }
    }) { bench in
      try await bench.pass(.seconds(5))
      await bench.engine.linkChanged(to: .cellular)
      try await bench.pass(.seconds(5))
      let frames = bench.cloud.frames.count
      let gates = [attic, EngineBench.album].map { table in
        LinkGuard(engine: bench.engine, key: Coalescer.Key(table, .read), isDemanded: false)
      }
      let pull = CaravanWire.Operation.Kind.pull(Pull(container: attic.app.text, zone: attic.name))
      let refused = await #expect(throws: CaravanError.self) {
        try await bench.engine.exchanger.exchange([pull, pull], through: gates)
      }
      #expect(refused?.code == .networkNotPermitted && bench.cloud.frames.count == frames)
      _ = try await bench.engine.exchanger.exchange([pull], through: [gates[0]])
      #expect(bench.cloud.frames.count == frames + 1)
    }
  }

  /// - Parameter check: what becomes of a message that waits for room in the budget of a cellular link when `change`
  ///   happens: the link it goes over, or why it does not go.
  private static func waitForRoom(
    until change: @escaping @Sendable (Meter) -> Void,
    _ check: @escaping @Sendable (Swift.Result<CaravanModel.LinkClass, any Error>) -> Void
  ) throws {
    try EngineBench.run { bench in
      let meter = Meter(NetworkRecord(), store: bench.store, host: bench.host)
      meter.use(.cellular)
      meter.use(NetworkPolicy(dailyBytes: [.cellular: 20_000]))
      let first = try await meter.reserve(up: 100, down: 15_000, over: .roaming)
      async let second = meter.reserve(up: 100, down: 10_000, over: .roaming)
      try await bench.pass(.seconds(1))
      change(meter)
      do { check(.success(try await second.link)) } catch { check(.failure(error)) }
      meter.settle(first, up: 100, down: 0)
    }
  }

  @Test("MOB-45: nor does what waits for room in a budget when the user forbids the link meanwhile")
  func forbidden() throws {
    try Self.waitForRoom { meter in
      meter.use(NetworkPolicy(maximumLink: .wifi, dailyBytes: [.cellular: 40_000]))
    } _: { result in
      let refused = #expect(throws: CaravanError.self) { try result.get() }
      #expect(refused?.code == .networkNotPermitted)
    }
  }

  @Test("MOB-47: what waits for room in a budget goes at once over a link that has none")
  func room() throws {
    try Self.waitForRoom { meter in
      meter.use(.wifi)
    } _: { result in
      #expect((try? result.get()) == .wifi)
    }
  }
}
