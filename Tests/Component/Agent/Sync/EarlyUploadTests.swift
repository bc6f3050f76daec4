import CaravanAgentApps
import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: a row with a large object that goes at once finds its chunks at the cloud, and arrives with them. Method: two
/// devices with real stores, the real services, one simulated cluster.
@Suite struct EarlyUploadTests {
  @Test("a new row with 1 MiB sends each byte once, most of them before the row")
  func ahead() throws {
    let suite = try SuiteCluster(seed: 1)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] {
        try await device.createTable()
        try await device.register()
      }
      try await a.writePhoto("first", SeededRandom(seed: 4).bytes(1 << 20))
      try await b.until("the first is at b") { try await b.rows().count == 1 }
      try await a.clock.sleep(for: .seconds(5))
      let photo = SeededRandom(seed: 5).bytes(1 << 20)
      let metrics = a.agent.engine.metrics
      let (before, moved) = (metrics.bytesUp.value + metrics.chunkBytesUp.value, metrics.chunksUp.value)
      try await a.writePhoto("second", photo)
      try await b.until("the second is at b") { try await b.rows().count == 2 }
      try await a.until("nothing waits at a") { try await a.rows().allSatisfy { $0.state == .clean } }
      #expect(metrics.chunksUp.value > moved, "most went ahead")
      #expect(metrics.bytesUp.value + metrics.chunkBytesUp.value - before < (1 << 20) + 4_096, "each went once")
      for device in [a, b] { #expect(try await device.store.problems() == []) }
    }
  }
}
