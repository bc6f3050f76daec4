import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: none of the failures that the seed found in popular apps (Simba, Table 1; BEN-09) happens here. Method:
/// each told as a story of two devices, with real stores and the real services behind them in one simulated cluster.
@Suite("Negative catalogue", .timeLimit(.minutes(3)))
struct NegativeCatalogueTests {
  private typealias Device = RunningDevice

  private func simulate(
    seed: UInt64 = 1, _ body: @escaping @Sendable (SuiteCluster) async throws -> Void
  ) throws {
    let suite = try SuiteCluster(seed: seed)
    try suite.cluster.run(deadline: .seconds(20_000)) { try await body(suite) }
  }

  private static func pair(_ suite: SuiteCluster) async throws -> (RunningDevice, RunningDevice) {
    let (a, b) = (try await suite.start("a"), try await suite.start("b"))
    for device in [a, b] {
      try await device.createTable()
      try await device.register()
    }
    return (a, b)
  }

  private static func photo(_ seed: UInt64) -> [UInt8] { SeededRandom(seed: seed).bytes(120_000) }

  /// No row of the device is without its photo, or with part of one.
  private static func expectWhole(_ device: RunningDevice, _ photos: [[UInt8]]) async throws {
    let page = try await device.store.beginRead(ReadRequest(table: Device.table, isHeld: true), owner: 2)
    for row in page.rows {
      let bytes = try await device.store.readObject(
        Device.table, row: row.id, object: "photo", offset: 0, length: 1 << 20, cursor: page.cursor, owner: 2
      ).bytes
      #expect(photos.contains(bytes), "\(bytes.count) bytes of a photo")
    }
    await device.store.closeCursor(page.cursor, owner: 2)
  }

  @Test("SIM-100: closed while there was no network, app and agent lose nothing that was acknowledged")
  func closedMeanwhile() throws {
    try simulate { suite in
      let (first, b) = try await Self.pair(suite)
      try await first.write("before", 1)
      try await b.until("it is at b") { try await b.numbers().count == 1 }
      suite.hub.disconnect("a")
      try await first.write("comment", 2)
      try await first.writePhoto("picture", Self.photo(1))
      // One write more is never finished: nobody was told that it would stay.
      _ = try await first.store.openWrite(
        Device.table, cells: [CellValue("name", .text("half"))], objects: ["photo"], owner: 1)
      await first.store.release(owner: 1)
      try await first.kill()
      let a = try await suite.start("a")
      try await b.until("all is at b") { try await b.rows().count == 3 }
      #expect(try await b.numbers() == ["before": 1, "comment": 2])
      #expect(try await b.photo("picture") == Self.photo(1))
      try await a.until("nothing waits") { try await a.isSettled() }
      #expect(try await a.rows().count == 3)
    }
  }

  @Test("SIM-101: what was written offline goes by itself once the network is there, in both directions")
  func automaticResync() throws {
    try simulate { suite in
      let (a, b) = try await Self.pair(suite)
      try await a.write("seed", 0)
      try await b.until("it is at b") { try await b.numbers().count == 1 }
      for name in ["a", "b"] { suite.hub.disconnect(name) }
      try await a.write("pin", 1)
      try await b.write("tweet", 2)
      try await a.clock.sleep(for: .seconds(600))
      for name in ["a", "b"] { suite.hub.reconnect(name) }
      for device in [a, b] {
        try await device.until("all is there") {
          try await device.numbers() == ["seed": 0, "pin": 1, "tweet": 2]
        }
      }
    }
  }

  @Test("SIM-102, SIM-83: what could not be synced is seen: by the call, by the row, and by the table")
  func surfaced() throws {
    try simulate { suite in
      let (a, b) = try await Self.pair(suite)
      try await a.write("x", 1)
      try await b.until("it is at b") { try await b.numbers().count == 1 }
      suite.hub.disconnect("a")
      try await a.write("y", 2)
      await #expect { try await a.agent.engine.syncNow(Device.table, write: true, read: false) } throws: {
        ($0 as? CaravanError)?.code == .networkNotConnected
      }
      let states = try await a.rows().map(\.state)
      #expect(states.first == .clean && states.last != .clean)
      let status = try await a.store.status(of: Device.table.app)[0]
      #expect(status.dirty + status.pending == 1)
      suite.hub.reconnect("a")
      try await a.until("y has gone") { try await a.isSettled() }
      // A device whose idea of the table contradicts the cloud's is told so, and keeps what it wrote.
      let c = try await suite.start("c")
      try await c.store.createTable(
        Device.table, schema: try SchemaText(parsing: "name INTEGER, number VARCHAR, photo OBJECT"), localOnly: false)
      try await c.store.write(Device.table, cells: [CellValue("name", .integer(5))])
      try await c.register()
      try await c.until("the refusal is seen") {
        try await !c.store.status(of: Device.table.app)[0].refused.isEmpty
      }
      #expect(try await c.rows().count == 1)
    }
  }

  @Test("MOB-52, UNI-11: what a device wrote does not come back to it; what others wrote does")
  func noEcho() throws {
    try simulate { suite in
      let (a, b) = try await Self.pair(suite)
      for number in 0..<50 { try await a.write("mine \(number)", Int64(number)) }
      try await b.until("all is at b") { try await b.rows().count == 50 }
      try await a.until("nothing waits") { try await a.isSettled() }
      let before = await a.bytesDown()
      try await b.write("theirs", 1)
      try await a.until("it is at a") { try await a.rows().count == 51 }
      try await a.agent.engine.syncNow(Device.table, write: true, read: true)
      let bytes = await a.bytesDown() - before
      #expect(bytes < 200, "\(bytes) bytes for one row of another device")
    }
  }

  @Test("SIM-103: a delete is not held up by another device's sync that changes nothing")
  func deleteGoesThrough() throws {
    try simulate { suite in
      let (a, b) = try await Self.pair(suite)
      try await a.write("note", 1)
      try await b.until("it is at b") { try await b.numbers().count == 1 }
      for _ in 0..<3 { try await b.agent.engine.syncNow(Device.table, write: true, read: true) }
      try await a.delete("note")
      for _ in 0..<3 { try await b.agent.engine.syncNow(Device.table, write: true, read: true) }
      for device in [a, b] {
        try await device.until("it is gone") { try await device.rows().isEmpty }
        try await device.until("nothing waits") { try await device.isSettled() }
        #expect(try await device.store.conflicts(Device.table).isEmpty)
      }
    }
  }

  @Test("SIM-104: syncing by hand again and again over a bad network doubles nothing", arguments: [1, 2, 3])
  func noDuplicates(seed: UInt64) throws {
    try simulate(seed: seed) { suite in
      let (a, b) = try await Self.pair(suite)
      try await a.agent.engine.syncNow(Device.table, write: true, read: true)
      suite.faults.set(.init(lost: 150, duplicated: 150, delayed: 200, longestDelay: .milliseconds(200)))
      for number in 0..<8 {
        try await a.write("note \(number)", Int64(number))
        for _ in 0..<3 { try? await a.agent.engine.syncNow(Device.table, write: true, read: true) }
      }
      suite.faults.healAll()
      for device in [a, b] {
        try await device.until("nothing waits") {
          let rows = try await device.rows().count
          return try await device.isSettled() && rows >= 8
        }
        #expect(try await device.rows().count == 8)
        #expect(try await device.numbers().count == 8)
      }
    }
  }

  @Test(
    "SIM-105, SIM-106: killed at any time of an upload or a download, no device shows a row without its object",
    arguments: ["a", "b"])
  func killedOnTheWay(victim: String) throws {
    for delay in [0, 1, 2, 4, 7, 12, 20, 60] {
      try simulate(seed: UInt64(delay + 1)) { suite in
        var (a, b) = try await Self.pair(suite)
        suite.faults.set(.init(delayed: 1_000, longestDelay: .milliseconds(12)))
        let photo = Self.photo(3)
        try await a.writePhoto("clip", photo)
        try await a.clock.sleep(for: .milliseconds(delay))
        if victim == "a" {
          try await a.kill()
          a = try await suite.start("a")
        } else {
          try await b.kill()
          b = try await suite.start("b")
        }
        try await Self.expectWhole(b, [photo])
        let (sender, receiver) = (a, b)
        try await receiver.until("the row is there") {
          try await Self.expectWhole(receiver, [photo])
          return try await receiver.rows().count == 1
        }
        #expect(try await receiver.photo("clip") == photo)
        #expect(try await sender.photo("clip") == photo)
        for device in [sender, receiver] { #expect(try await device.store.problems() == []) }
      }
    }
  }

  @Test("SIM-107: while a photo is rewritten over a bad network, every row seen anywhere has one whole photo")
  func noDanglingPointers() throws {
    try simulate { suite in
      let (a, b) = try await Self.pair(suite)
      let photos = (0..<6).map { Self.photo(UInt64(10 + $0)) }
      try await a.writePhoto("p", photos[0])
      suite.faults.set(.init(lost: 100, duplicated: 50, delayed: 500, longestDelay: .milliseconds(80)))
      for photo in photos.dropFirst() {
        try await a.store.write(
          Device.table, cells: [], contents: [ObjectValue("photo", photo)], selection: Selection("name = 'p'"))
        for _ in 0..<10 {
          for device in [a, b] { try await Self.expectWhole(device, photos) }
          try await a.clock.sleep(for: .milliseconds(200))
        }
      }
      suite.faults.healAll()
      try await b.until("the last one is at b") { try await b.photo("p") == photos[5] }
      for device in [a, b] { #expect(try await device.store.problems() == []) }
    }
  }

  @Test("SIM-109: a comment outlives the status it was made on, whatever order they come in")
  func childWithoutParent() throws {
    try simulate { suite in
      let (a, b) = try await Self.pair(suite)
      try await a.write("status", 1)
      try await b.until("the status is at b") { try await b.numbers() == ["status": 1] }
      suite.hub.disconnect("b")
      try await b.write("comment on status", 2)
      try await a.delete("status")
      try await a.until("the status is gone at the cloud") { try await a.isSettled() }
      suite.hub.reconnect("b")
      for device in [a, b] {
        try await device.until("the comment is there, the status is not") {
          try await device.numbers() == ["comment on status": 2]
        }
        #expect(try await device.store.conflicts(Device.table).isEmpty)
      }
    }
  }

  @Test("SIM-110: table and object go together, the row is the unit, and no conflict is settled behind the app's back")
  func dropboxGaps() throws {
    try simulate { suite in
      let (a, b) = try await Self.pair(suite)
      try await a.store.write(
        Device.table, cells: [CellValue("name", .text("x")), CellValue("number", .integer(1))],
        contents: [ObjectValue("photo", Self.photo(1))])
      // Found by its cells, read by its object: one row in one write.
      try await b.until("both are at b") { try await b.photo("x") == Self.photo(1) }
      #expect(try await b.numbers() == ["x": 1])
      for name in ["a", "b"] { suite.hub.disconnect(name) }
      try await a.update("x", 2)
      try await b.store.write(
        Device.table, cells: [], contents: [ObjectValue("photo", Self.photo(2))], selection: Selection("name = 'x'"))
      suite.hub.reconnect("a")
      try await a.until("a's change is at the cloud") { try await a.isSettled() }
      suite.hub.reconnect("b")
      try await b.until("b has a conflict") { try await !b.store.conflicts(Device.table).isEmpty }
      try await b.clock.sleep(for: .seconds(3_600))
      // Other columns of the same row: a merge by columns would make a row that nobody wrote.
      #expect(try await a.numbers() == ["x": 2])
      #expect(try await a.photo("x") == Self.photo(1))
      #expect(try await b.numbers() == ["x": 1])
      #expect(try await b.photo("x") == Self.photo(2))
      let conflict = try #require(try await b.store.conflicts(Device.table).first)
      #expect(conflict.theirs?.cells.contains(CellValue("number", .integer(2))) == true)
      #expect(try await b.rows()[0].state == .conflict)
    }
  }
}
