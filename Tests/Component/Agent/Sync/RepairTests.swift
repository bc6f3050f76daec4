import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: a device mends by itself what its disk has lost, and never hands its damage on. Method: devices with real
/// stores and the real services behind them in one simulated cluster; bits turned in a device's files.
@Suite("Repair", .timeLimit(.minutes(2)))
struct RepairTests {
  private func simulate(
    seed: UInt64 = 1, _ body: @escaping @Sendable (SuiteCluster) async throws -> Void
  ) throws {
    let suite = try SuiteCluster(seed: seed)
    try suite.cluster.run(deadline: .seconds(7_200)) { try await body(suite) }
  }

  private static func refusal(_ body: () async throws -> Void) async throws -> ErrorCode? {
    do { try await body() } catch let error as CaravanError { return error.code }
    return nil
  }

  @Test("SIM-78: what an app finds rotten is whole again without anybody's doing, on the device alone that lost it")
  func rot() throws {
    try simulate { suite in
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] {
        try await device.createTable()
        try await device.register()
      }
      let photo = SeededRandom(seed: 5).bytes(300_000)
      try await a.writePhoto("x", photo)
      try await a.writePhoto("y", [1, 2, 3])
      for name in ["x", "y"] { try await b.until("\(name) is at b") { try await b.photo(name) != nil } }
      #expect(try await b.photo("x") == photo)
      Rot.turnBitInPlace(of: Array(photo[150_000..<150_064]), in: "\(suite.directory.path)/b")
      #expect(try await Self.refusal { _ = try await b.photo("x") } == .chunkDamaged)
      #expect(try await b.photo("y") == [1, 2, 3])
      try await b.until("x is whole at b") { (try? await b.photo("x")) == photo }
      #expect(try await a.photo("x") == photo)
      #expect(try await b.rows().allSatisfy { $0.state == .clean })
      for device in [a, b] { #expect(try await device.store.problems() == []) }
    }
  }

  @Test(
    "TRU-10: what the cloud's disk has lost comes back from a device that has it; the rest is there meanwhile")
  func cloudRot() throws {
    let suite = try SuiteCluster(seed: 1, hasFiles: true)
    try suite.cluster.run(deadline: .seconds(7_200)) {
      let a = try await suite.start("a")
      try await a.createTable()
      try await a.register()
      let photos = (0..<5).map { SeededRandom(seed: 50 + $0).bytes(60_000) }
      for (number, photo) in photos.enumerated() { try await a.writePhoto("p\(number)", photo) }
      try await a.until("all is at the cloud") {
        let rows = try await a.rows()
        return rows.count == 5 && rows.allSatisfy { $0.state == .clean }
      }
      Rot.turnBitInPlace(of: Array(photos[2][30_000..<30_064]), in: suite.cloud)
      let b = try await suite.start("b")
      try await b.createTable()
      try await b.register()
      try await b.until("the others are at b") { try await b.rows().count >= 4 }
      #expect(try await b.rows().count == 4, "no row is torn")
      try await b.until("the cloud has it again, and b too") { try await b.rows().count == 5 }
      for (number, photo) in photos.enumerated() { #expect(try await b.photo("p\(number)") == photo) }
      for device in [a, b] { #expect(try await device.store.problems() == []) }
    }
  }

  @Test("SIM-78: a torn row of the device's own writing comes back whole from the cloud")
  func ownRow() throws {
    try simulate { suite in
      let first = try await suite.start("a")
      try await first.createTable()
      try await first.register()
      let photo = SeededRandom(seed: 6).bytes(40_000)
      try await first.writePhoto("x", photo)
      try await first.write("y", 2)
      try await first.until("all is at the cloud") {
        let rows = try await first.rows()
        return rows.count == 2 && rows.allSatisfy { $0.state == .clean }
      }
      let id = try await first.rows()[0].id
      try await first.kill()
      try Rot.flags(
        RowFlags(objectDirty: true, openObjects: 1), ofRow: id, of: RunningDevice.table,
        in: "\(suite.directory.path)/a")
      let second = try await suite.start("a")
      try await second.until("x is whole") { (try? await second.photo("x")) == photo }
      #expect(try await second.rows().count == 2)
      #expect(try await second.store.problems() == [])
    }
  }

  @Test("UNI-22, I13: a torn row comes at once however long its table's rows may wait, and over no link it may not use")
  func withoutDelay() throws {
    try simulate { suite in
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] {
        try await device.createTable()
        try await device.register()
      }
      let photo = SeededRandom(seed: 8).bytes(300_000)
      try await a.writePhoto("x", photo)
      try await b.until("x is at b") { try await b.photo("x") != nil }
      try await b.store.register(
        RunningDevice.table, .read,
        SyncRegistration(periodMilliseconds: 0, delayToleranceMilliseconds: 3_600_000, link: .wifi))
      await b.agent.engine.registrationsChanged(of: RunningDevice.table)
      for link in [Link.wifi, .cellular] {
        await b.agent.engine.linkChanged(to: link)
        Rot.turnBitInPlace(of: Array(photo[150_000..<150_064]), in: "\(suite.directory.path)/b")
        #expect(try await Self.refusal { _ = try await b.photo("x") } == .chunkDamaged)
        if link == .cellular {
          try await b.clock.sleep(for: .seconds(600))
          #expect(try await b.store.status(of: RunningDevice.table.app).first?.torn == 1)
          await b.agent.engine.linkChanged(to: .wired)
        }
        try await b.until("x is whole at b", within: .seconds(60)) { (try? await b.photo("x")) == photo }
      }
    }
  }

  @Test("SIM-108, SIM-82: what rots before it was ever sent goes nowhere, and holds nothing else up")
  func beforeTheFirstPush() throws {
    try simulate { suite in
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] { try await device.createTable() }
      try await b.register()
      let photo = SeededRandom(seed: 7).bytes(300_000)
      try await a.writePhoto("bad", photo)
      try await a.writePhoto("good", [4, 5, 6])
      Rot.turnBitInPlace(of: Array(photo[150_000..<150_064]), in: "\(suite.directory.path)/a")
      try await a.register()
      try await b.until("the good one is at b") { try await b.photo("good") == [4, 5, 6] }
      #expect(try await b.rows().count == 1)
      try await a.until("a is clean") { try await a.rows().allSatisfy { $0.state == .clean } }
      #expect(try await a.rows().count == 1)
      for device in [a, b] { #expect(try await device.store.problems() == []) }
    }
  }
}
