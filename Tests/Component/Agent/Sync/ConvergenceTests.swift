import CaravanAgentApps
import CaravanAgentCore
import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: devices with real stores and the real services behind them end with the same rows, whatever happens.
/// Method: everything in one simulated cluster.
@Suite struct ConvergenceTests {
  private typealias Device = RunningDevice

  private func simulate(
    seed: UInt64 = 1, _ body: @escaping @Sendable (SuiteCluster) async throws -> Void
  ) throws {
    let suite = try SuiteCluster(seed: seed)
    try suite.cluster.run(deadline: .seconds(7_200)) { try await body(suite) }
  }

  /// Two devices with the table, registered for both directions.
  private static func pair(_ suite: SuiteCluster) async throws -> (RunningDevice, RunningDevice) {
    let (a, b) = (try await suite.start("a"), try await suite.start("b"))
    for device in [a, b] {
      try await device.createTable()
      try await device.register()
    }
    return (a, b)
  }

  @Test("What one device writes, updates and deletes, the other has at once, and the other way round")
  func bothWays() throws {
    try simulate { suite in
      let (a, b) = try await Self.pair(suite)
      try await a.write("x", 1)
      try await b.until("x is at b") { try await b.numbers() == ["x": 1] }
      // By then the notifier owns its partitions.
      try await a.clock.sleep(for: .seconds(5))
      let start = a.clock.now
      try await b.update("x", 2)
      try await b.write("y", 7)
      try await a.until("b's changes are at a") { try await a.numbers() == ["x": 2, "y": 7] }
      #expect(a.clock.now - start <= .milliseconds(10))
      try await a.delete("y")
      try await b.until("y is gone at b") { try await b.numbers() == ["x": 2] }
      for device in [a, b] {
        #expect(try await device.store.problems() == [])
        #expect(try await device.rows().allSatisfy { $0.state == .clean })
      }
    }
  }

  @Test("A small change arrives with the notification of it: nobody asks for it")
  func carried() throws {
    try simulate { suite in
      let (a, b) = try await Self.pair(suite)
      try await a.write("x", 1)
      try await b.until("x is at b") { try await b.numbers() == ["x": 1] }
      try await a.clock.sleep(for: .seconds(60))
      let before = b.agent.engine.host.metrics.counter(.notifications, [.outcome: "takenIn"]).value
      for number in 2...5 {
        try await a.update("x", Int64(number))
        try await b.until("x is \(number) at b") { try await b.numbers() == ["x": Int64(number)] }
      }
      #expect(b.agent.engine.host.metrics.counter(.notifications, [.outcome: "takenIn"]).value == before + 4)
    }
  }

  @Test("SIM-67: an object of many chunks arrives whole; an edit of it moves the chunks that changed, and no others")
  func objects() throws {
    try simulate { suite in
      let (a, b) = try await Self.pair(suite)
      let random = SeededRandom(seed: 5)
      let photo = random.bytes(1 << 20)
      try await a.writePhoto("p", photo)
      try await b.until("the photo is at b") { try await b.rows().first?.objects.first?.size == UInt64(photo.count) }
      let row = try #require(try await b.rows().first)
      var bytes: [UInt8] = []
      while bytes.count < photo.count {
        bytes += try await b.store.readObject(
          Device.table, row: row.id, object: "photo", offset: UInt64(bytes.count), length: 1 << 20, owner: 1
        ).bytes
      }
      #expect(SHA256.hash(bytes) == SHA256.hash(photo))
      let before = a.agent.engine.metrics.chunkBytesUp.value
      let opened = try await a.store.openWrite(
        Device.table, cells: [], objects: ["photo"], selection: Selection("name = ?", [.text("p")]), owner: 1)
      try await a.store.writeObject(
        opened.handle, row: 0, object: "photo", offset: 500_000, bytes: [1, 2, 3], owner: 1)
      try await a.store.closeWrite(opened.handle, owner: 1)
      try await b.until("the edit is at b") {
        try await b.store.readObject(
          Device.table, row: row.id, object: "photo", offset: 500_000, length: 3, owner: 1
        ).bytes == [1, 2, 3]
      }
      #expect(a.agent.engine.metrics.chunkBytesUp.value - before <= 2 * UInt64(Limits.chunkBytes))
    }
  }

  @Test(
    "SIM-26, SIM-27: the same row changed on both sides while apart is a conflict on one, resolved three ways",
    arguments: Resolution.allCases)
  func conflict(_ resolution: Resolution) throws {
    try simulate { suite in
      let (a, b) = try await Self.pair(suite)
      try await a.write("x", 0)
      try await b.until("x is at b") { try await b.numbers() == ["x": 0] }
      suite.hub.disconnect("a")
      suite.hub.disconnect("b")
      try await a.update("x", 1)
      try await b.update("x", 2)
      suite.hub.reconnect("a")
      try await a.until("a's change is at the cloud") { try await a.rows().allSatisfy { $0.state == .clean } }
      suite.hub.reconnect("b")
      try await b.until("b has a conflict") { try await !b.store.conflicts(Device.table).isEmpty }
      #expect(try await a.store.conflicts(Device.table).isEmpty)
      let view = try #require(try await b.store.conflicts(Device.table).first)
      try await b.store.beginResolution(Device.table, owner: 1)
      try await b.store.resolve(
        Device.table, row: view.mine.id, resolution,
        cells: resolution == .new ? [CellValue("number", .integer(3))] : [], owner: 1)
      try await b.store.endResolution(Device.table, owner: 1)
      let expected: [String: Int64] =
        switch resolution {
        case .mine: ["x": 2]
        case .theirs: ["x": 1]
        case .new: ["x": 3]
        }
      for device in [a, b] {
        try await device.until("both have the resolution") {
          guard try await device.numbers() == expected else { return false }
          return try await device.rows().allSatisfy { $0.state == .clean }
        }
      }
    }
  }

  @Test(
    "REC-04, REC-20, REC-21: killed in an import and started again, a device has each acknowledged row once, as all"
  )
  func killed() throws {
    try simulate { suite in
      let (first, b) = try await Self.pair(suite)
      for number in 0..<50 {
        try await first.write("row \(number)", Int64(number))
        if number % 7 == 0 { try await first.clock.sleep(for: .microseconds(700)) }
      }
      try await first.kill()
      let a = try await suite.start("a")
      for device in [a, b] {
        try await device.until("all 50 rows are there") { try await device.numbers().count == 50 }
        try await device.until("nothing waits") { try await device.rows().allSatisfy { $0.state == .clean } }
        #expect(try await device.rows().count == 50)
        #expect(try await device.store.conflicts(Device.table).isEmpty)
        #expect(try await device.store.problems() == [])
      }
    }
  }

  @Test(
    "Over a network that loses, doubles and delays, both devices end with the same rows", arguments: [1, 2, 3, 4, 5, 6])
  func faults(seed: UInt64) throws {
    try simulate(seed: seed) { suite in
      let (a, b) = try await Self.pair(suite)
      suite.faults.set(.init(lost: 50, duplicated: 50, delayed: 200, longestDelay: .milliseconds(300)))
      for number in 0..<30 {
        try await a.write("a\(number)", Int64(number))
        try await b.write("b\(number)", Int64(number))
        if number % 5 == 4 { try await a.update("a\(number - 2)", 1_000) }
        try await a.clock.sleep(for: .milliseconds(200))
      }
      suite.faults.healAll()
      for device in [a, b] {
        try await device.until("all rows are there") { try await device.numbers().count == 60 }
        try await device.until("nothing waits") { try await device.rows().allSatisfy { $0.state == .clean } }
      }
      let (ofA, ofB) = (try await a.numbers(), try await b.numbers())
      #expect(ofA == ofB)
      for device in [a, b] { #expect(try await device.store.conflicts(Device.table).isEmpty) }
    }
  }
}
