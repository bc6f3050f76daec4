import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanSyncCore
import CaravanTestKit
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: whatever the cloud's disk loses of objects comes back as long as one device has it (TRU-10). Method: the
/// cloud's file of chunks is emptied under devices with real stores, in one simulated cluster.
@Suite(.timeLimit(.minutes(2))) struct CloudDamageTests {
  private static func photo(_ number: Int) -> [UInt8] { SeededRandom(seed: 500 + UInt64(number)).bytes(20_000) }

  private static func loseChunks(_ suite: SuiteCluster) { Files.write([], to: "\(suite.cloud)/store-0.chunks") }

  @Test("TRU-10: what no device has, and more than a hello asks for, does not stand before what one has")
  func rest() throws {
    let suite = try SuiteCluster(seed: 1, hasFiles: true)
    try suite.cluster.run(deadline: .seconds(7_200)) {
      let lost = 2 * SyncLimits.chunksWanted
      let gone = try await suite.start("gone")
      try await gone.createTable()
      try await gone.register()
      for number in 0..<lost { try await gone.writePhoto("lost\(number)", Self.photo(number)) }
      try await gone.until("all is at the cloud") {
        let rows = try await gone.rows()
        return rows.count == lost && rows.allSatisfy { $0.state == .clean }
      }
      try await gone.kill()
      Self.loseChunks(suite)
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] { try await device.createTable() }
      try await a.register()
      for number in 0..<10 { try await a.writePhoto("held\(number)", Self.photo(lost + number)) }
      try await a.until("those of a are at the cloud") { try await a.rows().filter { $0.state == .clean }.count == 10 }
      Self.loseChunks(suite)
      try await b.register()
      try await b.until("those of a are at b", within: .seconds(3_600)) { try await b.rows().count == 10 }
      for number in 0..<10 { #expect(try await b.photo("held\(number)") == Self.photo(lost + number)) }
      let told = suite.cluster.log.records.filter { $0.level == .warning && $0.message.contains("on the disk and are") }
      #expect(told.isEmpty, "what a device never had is no damage of its own: \(told.count) warnings")
    }
  }

  @Test("TRU-10: a device whose tables are synced on demand only brings it with the next sync")
  func onDemand() throws {
    let suite = try SuiteCluster(seed: 1, hasFiles: true)
    try suite.cluster.run(deadline: .seconds(7_200)) {
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] { try await device.createTable() }
      try await a.writePhoto("x", Self.photo(1))
      func sync(_ device: RunningDevice) async {
        _ = try? await device.agent.engine.syncNow(RunningDevice.table, write: true, read: true)
      }
      await sync(a)
      #expect(try await a.rows().allSatisfy { $0.state == .clean })
      Self.loseChunks(suite)
      try await b.until("the photo is at b", within: .seconds(1_200)) {
        await sync(b)
        await sync(a)
        try await b.clock.sleep(for: .seconds(10))
        return try await b.rows().count == 1
      }
      #expect(try await b.photo("x") == Self.photo(1))
    }
  }

  @Test("TRU-10: a device that brought chunks says hello at once, for there may be more")
  func helloAgain() {
    var messages = ControlMessages(generation: 1)
    messages.helloIsDue(at: 5)
    #expect(messages.nextWake == nil, "there is no connection")
    messages.connected(at: 10)
    _ = messages.take(at: 10)
    messages.helloAnswered(generation: 1, resubscribe: false, at: 10)
    #expect(messages.take(at: 20) == nil)
    messages.helloIsDue(at: 20)
    #expect(messages.take(at: 20)?.hello == true)
  }
}
