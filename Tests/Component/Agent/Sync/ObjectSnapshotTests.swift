import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: what sync takes of an object is of one moment, although an app overwrites it meanwhile (SIM-55). Method: each
/// version of a photo consists of one byte, over many chunks; another device looks at what comes.
@Suite struct ObjectSnapshotTests {
  private static let pieces = 4
  private static let pieceBytes = 60_000

  @Test(
    "SIM-55: an object is sent as it was at a close, whatever is written to it while it is on its way",
    arguments: StoreMode.allCases)
  func wholeVersions(_ mode: StoreMode) throws {
    let suite = try SuiteCluster(seed: 55)
    try suite.cluster.run(deadline: .seconds(20_000)) {
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] {
        try await device.createTable()
        try await device.store.updateTable(RunningDevice.table, TableChange(mode: mode))
        try await device.register()
      }
      try await a.writePhoto("x", [UInt8](repeating: 0, count: Self.pieces * Self.pieceBytes))
      try await b.until("the first version is at b") { try await b.photo("x") != nil }
      let writer = suite.cluster.start {
        for version in UInt8(1)...24 {
          let opened = try await a.store.openWrite(
            RunningDevice.table, cells: [], objects: ["photo"], selection: Selection("name = ?", [.text("x")]), owner: 1
          )
          for piece in 0..<Self.pieces {
            try await a.store.writeObject(
              opened.handle, row: 0, object: "photo", offset: UInt64(piece * Self.pieceBytes),
              bytes: [UInt8](repeating: version, count: Self.pieceBytes), owner: 1)
            try await a.clock.sleep(for: .milliseconds(7))
          }
          _ = try await a.store.closeWrite(opened.handle, owner: 1)
          try await a.clock.sleep(for: .milliseconds(Int64(version % 5) * 20))
        }
      }
      var seen: Set<UInt8> = []
      try await b.until("the last version is at b", within: .seconds(120)) {
        let photo = try #require(try await b.photo("x"))
        #expect(photo.count == Self.pieces * Self.pieceBytes && Set(photo).count == 1, "of \(Set(photo))")
        seen.formUnion(photo.prefix(1))
        return photo.first == 12
      }
      try await writer.value()
      #expect(seen.count > 2, "others than the first and the last came")
      for device in [a, b] { #expect(try await device.store.problems() == []) }
    }
  }
}
