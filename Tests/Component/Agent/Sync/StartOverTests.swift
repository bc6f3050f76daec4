import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanWire
import Testing

@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: a table whose copy the cloud has declared void starts over, whatever its app does meanwhile. Method: as in
/// `PushTests`.
@Suite struct StartOverTests {
  private typealias Bench = EngineBench

  private static func registered(_ bench: EngineBench) {
    bench.store.add(Bench.album, agreed: true)
    bench.store.register(Bench.album, .read)
  }

  private func settle(_ bench: EngineBench) async throws {
    try await bench.until("subscribed") { bench.cloud.state.withLock { $0.list != nil } }
    try await bench.pass(.seconds(1))
  }

  @Test("UNI-18: who learns of a reset while a push is in flight asks no more until it is answered, and then at once")
  func resetInFlight() throws {
    try Bench.run(prepare: Self.registered) { bench in
      try await settle(bench)
      bench.cloud.state.withLock { $0.incarnation = 2 }
      bench.cloud.save("theirs", "1", in: "album")
      let lost = ScriptedCloud.Mishap.refuse { kind in
        if case .push = kind { CaravanError(.unavailable, "the push got lost") } else { nil }
      }
      bench.cloud.state.withLock { $0.script = Array(repeating: lost, count: 40) }
      bench.write("mine", "2")
      bench.store.register(Bench.album, .write)
      await bench.engine.registrationsChanged(of: Bench.album)
      try await bench.until("the push has failed") { !bench.pushes.isEmpty }
      let before = bench.pulls
      for _ in 0..<5 {
        let error = await #expect(throws: CaravanError.self) {
          try await bench.engine.syncNow(Bench.album, write: false, read: true)
        }
        #expect(error?.code == .serverBusy)
        try await bench.pass(.seconds(20))
      }
      #expect(bench.pulls == before + 1 && !bench.store.isClean(Bench.album))
      bench.cloud.state.withLock { $0.script = [] }
      try await bench.until("the push is answered", every: .milliseconds(10)) { bench.store.isClean(Bench.album) }
      try await bench.until("the table has started over", within: .milliseconds(10)) {
        bench.store.table(Bench.album).resets == 1 && bench.store.texts(Bench.album)["theirs"] == "1"
      }
    }
  }

  @Test("a table starts over also when its app writes faster than a push takes")
  func busy() throws {
    try Bench.run(prepare: { bench in
      Self.registered(bench)
      bench.store.register(Bench.album, .write)
    }) { bench in
      try await settle(bench)
      let isPushing = Latch()
      let writing = ScriptedCloud.Mishap.refuse { kind in
        guard case .push(let push) = kind else { return nil }
        bench.write("row \(push.op)", "1")
        isPushing.open()
        return nil
      }
      bench.cloud.state.withLock { state in
        state.incarnation += 1
        state.script = Array(repeating: writing, count: 300)
      }
      bench.write("first", "1")
      await isPushing.wait()
      try await bench.engine.syncNow(Bench.album, write: false, read: true)
      #expect(bench.store.table(Bench.album).resets == 1)
      #expect(bench.cloud.state.withLock { $0.script.count } > 150)
      try await bench.until("all rows are at the cloud") { bench.store.isClean(Bench.album) }
    }
  }

  @Test(
    "UNI-18: who pulls for the first time, or has not ended starting over, agrees on the type anew",
    arguments: [true, false])
  func agreesAnew(isFirst: Bool) throws {
    try Bench.run(prepare: { bench in
      Self.registered(bench)
      if !isFirst { try? bench.store.reset(Bench.album, lost: [], token: Array("1/0".utf8)) }
    }) { bench in
      bench.cloud.save("theirs", "1", in: "album")
      try await bench.engine.syncNow(Bench.album, write: false, read: true)
      #expect(bench.store.texts(Bench.album) == ["theirs": "1"])
      let first = try #require(bench.cloud.frames.joined().first { !Self.isControlMessage($0) })
      guard case .propose(let proposal) = first else { return #expect(Bool(false), "\(first)") }
      #expect(proposal.remembered, "TRU-19: settings are the cloud's to say")
      #expect(bench.proposals == 1 && !bench.store.table(Bench.album).isResyncing)
    }
  }

  private static func isControlMessage(_ operation: CaravanWire.Operation.Kind) -> Bool {
    switch operation {
    case .hello, .subscribe, .ack: true
    default: false
    }
  }
}
