import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanTestKit
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: a record type says how long the chunks of its objects are, and all devices cut them alike (SIM-93, UNI-14).
/// Method: two devices with real stores and the real services in one simulated cluster.
@Suite struct ChunkSizeTests {
  private static let size = 400_000

  private static func simulate(
    _ bytes: UInt32?, _ body: @escaping @Sendable (RunningDevice, RunningDevice) async throws -> Void
  ) throws {
    let suite = try SuiteCluster(seed: 3)
    try suite.cluster.run(deadline: .seconds(7_200)) {
      try await suite.registerType(TypeSettings(chunkBytes: bytes))
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] {
        try await device.createTable()
        try await device.register()
        try await device.agent.engine.syncNow(RunningDevice.table, write: true, read: true)
      }
      try await body(a, b)
      for device in [a, b] { #expect(try await device.store.problems() == []) }
    }
  }

  // Goal: chunks are about as long as the type says, and what the other device changes is cut by the same rule.
  // Method: chunks are counted in both stores. One byte at the front moves all others: were they cut otherwise there,
  // no chunk but the first would be there already.
  @Test("SIM-93: chunks are as long as the type says, wherever they are cut", arguments: TypeSettings.chunkSizes + [0])
  func length(bytes: UInt32) throws {
    try Self.simulate(bytes == 0 ? nil : bytes) { a, b in
      let photo = SeededRandom(seed: 5).bytes(Self.size)
      try await a.writePhoto("p", photo)
      try await b.until("the photo is at b") { try await b.photo("p") == photo }
      let average = bytes == 0 ? 64 << 10 : Int(bytes)
      let expected = max(1, Self.size / average)
      let count = try await b.store.chunkCount()
      #expect((expected / 2...expected * 2 + 1).contains(count), "\(count) chunks of about \(average) bytes")
      #expect(try await a.store.chunkCount() == count)
      try await b.writePhoto("q", [7] + photo)
      try await a.until("b's photo is at a") { try await a.photo("q") == [7] + photo }
      #expect(try await a.store.chunkCount() <= count + 2, "of \(count)")
    }
  }

  @Test("SIM-93: an object may have so many chunks, and so is the longer the longer they are")
  func limit() throws {
    for (bytes, most) in [(UInt32(4_096), 16 << 20), (131_072, 512 << 20)] {
      try Self.simulate(bytes) { a, _ in
        let opened = try await a.store.openWrite(
          RunningDevice.table, cells: [CellValue("name", .text("p"))], objects: ["photo"], owner: 1)
        func write(at offset: Int) async throws {
          try await a.store.writeObject(
            opened.handle, row: 0, object: "photo", offset: UInt64(offset), bytes: [1, 2], owner: 1)
        }
        await #expect { try await write(at: most - 1) } throws: { ($0 as? CaravanError)?.code == .limitExceeded }
        try await write(at: 0)
        try await a.store.abandonWrite(opened.handle, owner: 1)
      }
    }
  }
}

extension LocalStore {
  fileprivate func chunkCount() throws -> Int {
    Int(try database.first("SELECT count(*) FROM chunks") { $0.integer(0) } ?? 0)
  }
}
