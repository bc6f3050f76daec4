import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: after any mixture of writes, deletes, conflicts, lost messages, lost connections, changed links and killed
/// agents, all devices end with the same rows and nothing waits. Method: chance by seed, then quiet.
@Suite struct ChurnTests {
  private static let names = ["a", "b", "c"]

  @Test("Three devices converge after churn", arguments: 1...12)
  func converge(seed: UInt64) throws {
    let suite = try SuiteCluster(seed: seed)
    try suite.cluster.run(deadline: .seconds(20_000)) {
      var random = SplitMix64(seed: seed &* 77)
      var devices: [RunningDevice] = []
      for name in Self.names { devices.append(try await suite.start(name)) }
      for device in devices {
        try await device.createTable()
        try await device.register()
      }
      if seed.isMultiple(of: 2) {
        suite.faults.set(.init(lost: 40, duplicated: 40, delayed: 200, longestDelay: .milliseconds(300)))
      }
      for step in 0..<80 { try await Self.churn(step, &devices, suite, &random) }
      suite.faults.healAll()
      for name in Self.names { suite.hub.reconnect(name) }
      for device in devices { await device.agent.engine.linkChanged(to: .wired) }
      let (quiet, end) = (devices, devices[0].clock.now + .seconds(2_000))
      while try await !Self.isSettled(quiet) {
        guard quiet[0].clock.now < end else { throw NotYet(what: "all devices agree") }
        for device in quiet { try await Self.resolve(device, &random) }
        try await quiet[0].clock.sleep(for: .milliseconds(500))
        // Whoever notifies may still be finding its feet: that is not what this test is about.
        for device in quiet { try? await device.agent.engine.syncNow(RunningDevice.table, write: false, read: true) }
      }
      for device in quiet { #expect(try await device.store.problems() == []) }
    }
  }

  private static func churn(
    _ step: Int, _ devices: inout [RunningDevice], _ suite: SuiteCluster, _ random: inout SplitMix64
  ) async throws {
    let index = Int(random.next() % 3)
    let device = devices[index]
    let known = try await device.numbers().keys.sorted().randomElement(using: &random)
    switch (random.next() % 12, known) {
    case (0...3, _): try await device.write("r\(step)", Int64(step))
    case (4...5, let name?): try await device.update(name, Int64(1_000 + step))
    case (6, let name?): try await device.delete(name)
    case (7, _): suite.hub.disconnect(names[index])
    case (8, _): suite.hub.reconnect(names[index])
    case (9, _) where random.next() % 3 == 0:
      try await device.kill()
      devices[index] = try await suite.start(names[index])
    case (10, _): await device.agent.engine.linkChanged(to: random.next() % 2 == 0 ? nil : .wifi)
    default: break
    }
    try await device.clock.sleep(for: .milliseconds(Int64(random.next() % 200)))
  }

  private static func resolve(_ device: RunningDevice, _ random: inout SplitMix64) async throws {
    let views = try await device.store.conflicts(RunningDevice.table)
    guard !views.isEmpty else { return }
    try await device.store.beginResolution(RunningDevice.table, owner: 1)
    for view in views {
      // One may have ended by itself meanwhile: both sides had come to the same.
      try? await device.store.resolve(
        RunningDevice.table, row: view.mine.id, random.next() % 2 == 0 ? .mine : .theirs, owner: 1)
    }
    try await device.store.endResolution(RunningDevice.table, owner: 1)
  }

  private static func isSettled(_ devices: [RunningDevice]) async throws -> Bool {
    var contents: Set<[String: Int64]> = []
    for device in devices {
      contents.insert(try await device.numbers())
      guard let status = try await device.store.status(of: RunningDevice.table.app).first else { return false }
      if status.dirty + status.pending + status.conflicts > 0 { return false }
    }
    return contents.count == 1
  }
}

/// Goal: a page read before a deletion of ours was known does not bring the row back, nor looks like lost history.
/// Method: the real store, calls by hand.
@Suite struct StalePageTests {
  @Test("I9: a stale entry of a row this device deleted is ignored, its own echo too; a newer one counts")
  func stale() throws {
    let cluster = Simulation(seed: 1)
    let directory = try TemporaryDirectory()
    try cluster.run {
      let store = try await LocalStore.open(directory.path, host: cluster.host("device").host)
      let table = RunningDevice.table
      try await store.createTable(table, schema: try SchemaText(parsing: "name VARCHAR"), localOnly: false)
      try await store.agree(
        on: RecordType(
          id: 1, definition: 1, name: "album",
          fields: [CaravanModel.FieldDefinition(id: 1, name: "name", kind: .text)]),
        for: table)
      let id = try #require(try await store.write(table, cells: [CellValue("name", .text("x"))]).first)
      let saved = try #require(try await store.collect(table, maximumRows: 9, maximumBytes: 999))
      try await store.record([.accepted(version: 5)], of: saved.op)
      _ = try await store.delete(table, selection: nil)
      let deleted = try #require(try await store.collect(table, maximumRows: 9, maximumBytes: 999))
      try await store.record([.accepted(version: 6)], of: deleted.op)
      let body = RecordFields([1: .text("x")]).body
      for (version, isOwn, applied) in [(5, true, 0), (5, false, 0), (8, false, 1)] as [(Seq, Bool, Int)] {
        let entry = CaravanModel.Entry(
          name: id, version: version, created: 5, type: 1, body: isOwn ? [] : body, writer: isOwn ? "me" : "other")
        let summary = try await store.apply(
          [IncomingEntry(entry: entry, isOwn: isOwn)], to: table, token: [1], end: .last)
        #expect(summary.applied == applied)
        #expect(!summary.isUnexplained)
      }
      await store.close()
    }
  }
}
