import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentStore

/// Goal: where a record type has a conflict policy, devices that changed one row without each other end with the same
/// row, and no app is asked (UNI-02). Method: two devices with real stores, cut off from each other by their user's
/// word, and the real services, in one simulated cluster.
@Suite struct PolicyTests {
  private static let years = Duration.seconds(10 * 365 * 86_400)

  /// Two devices with the table, whose type was registered with the policy, and a row `x` of 0 on both.
  private static func simulate(
    _ policy: CaravanModel.ConflictPolicy, aheadOfA ahead: Duration = .zero, seed: UInt64 = 1,
    _ body: @escaping @Sendable (SuiteCluster, RunningDevice, RunningDevice) async throws -> Void
  ) throws {
    let suite = try SuiteCluster(seed: seed)
    try suite.cluster.run(deadline: .seconds(7_200)) {
      try await suite.registerType(CaravanModel.TypeSettings(conflicts: policy))
      let (a, b) = (try await suite.start("a", ahead: ahead), try await suite.start("b"))
      for device in [a, b] {
        try await device.createTable()
        try await device.register()
      }
      try await a.write("x", 0)
      try await b.until("x is at b") { try await b.numbers() == ["x": 0] }
      try await body(suite, a, b)
      for device in [a, b] {
        #expect(try await device.store.problems() == [])
        #expect(try await device.rows().allSatisfy { $0.state == .clean })
      }
    }
  }

  /// Both change `x` without each other, the second a second later; then one is back, and when it has nothing left to
  /// say, the other.
  /// - Parameter number: nil: it deletes the row.
  private static func apart(
    _ suite: SuiteCluster, _ first: RunningDevice, _ one: Int64?, _ second: RunningDevice, _ other: Int64?,
    backwards: Bool = false
  ) async throws {
    for device in [first, second] { suite.hub.disconnect(device.name) }
    try await change(first, to: one)
    try await first.clock.sleep(for: .seconds(1))
    try await change(second, to: other)
    let back = backwards ? [second, first] : [first, second]
    suite.hub.reconnect(back[0].name)
    try await back[0].until("its change is settled") { try await back[0].isSettled() }
    suite.hub.reconnect(back[1].name)
  }

  private static func change(_ device: RunningDevice, to number: Int64?) async throws {
    if let number { return try await device.update("x", number) }
    try await device.store.delete(RunningDevice.table, selection: Selection("name = ?", [.text("x")]))
  }

  private static func until(_ a: RunningDevice, _ b: RunningDevice, have number: Int64?) async throws {
    for device in [a, b] {
      try await device.until("x is \(number.map(String.init) ?? "gone")") {
        guard try await device.numbers()["x"] == number else { return false }
        return try await device.isSettled()
      }
    }
  }

  @Test(
    "E16, DIF-31: a device whose clock is ten years ahead wins no conflict by it, neither now nor later",
    arguments: [CaravanModel.ConflictPolicy.lastWriterWins, .fieldMerge])
  func fastClock(policy: CaravanModel.ConflictPolicy) throws {
    try Self.simulate(policy, aheadOfA: Self.years) { suite, a, b in
      try await a.update("x", 1)
      try await Self.until(a, b, have: 1)
      try await b.update("x", 2)
      try await Self.until(a, b, have: 2)
      try await Self.apart(suite, a, 3, b, 4)
      try await Self.until(a, b, have: 4)
      try await Self.apart(suite, b, 5, a, 6)
      try await Self.until(a, b, have: 6)
      try await b.update("x", 7)
      try await Self.until(a, b, have: 7)
    }
  }

  @Test(
    "UNI-02, E16: the later edit stays, whichever comes first to the cloud, and whatever a device's clock says",
    arguments: [CaravanModel.ConflictPolicy.lastWriterWins, .fieldMerge], [-1, 0, 1])
  func laterEdit(policy: CaravanModel.ConflictPolicy, ahead: Int) throws {
    try Self.simulate(policy, aheadOfA: Self.years * ahead) { suite, a, b in
      var number: Int64 = 0
      for (first, second) in [(a, b), (b, a)] {
        for backwards in [false, true] {
          number += 2
          try await Self.apart(suite, first, number - 1, second, number, backwards: backwards)
          try await Self.until(a, b, have: number)
        }
      }
    }
  }

  @Test("UNI-02, UNI-09: under lastWriterWins a deletion is an edit as any other", arguments: [false, true])
  func laterDeletion(backwards: Bool) throws {
    try Self.simulate(.lastWriterWins) { suite, a, b in
      try await Self.apart(suite, a, nil, b, 1, backwards: backwards)
      try await Self.until(a, b, have: 1)
      try await Self.apart(suite, b, 2, a, nil, backwards: backwards)
      try await Self.until(a, b, have: nil)
    }
  }

  @Test("UNI-09: under fieldMerge what was deleted stays deleted", arguments: [false, true])
  func deletionWins(backwards: Bool) throws {
    try Self.simulate(.fieldMerge) { suite, a, b in
      try await Self.apart(suite, a, nil, b, 1, backwards: backwards)
      try await Self.until(a, b, have: nil)
    }
  }

  @Test("UNI-02: of a row that both changed fieldMerge keeps what each changed alone, and asks nobody")
  func fields() throws {
    try Self.simulate(.fieldMerge) { suite, a, b in
      for device in [a, b] { suite.hub.disconnect(device.name) }
      try await a.update("x", 1)
      try await b.store.write(
        RunningDevice.table, cells: [CellValue("name", .text("y"))], selection: Selection("name = ?", [.text("x")]))
      for device in [a, b] { suite.hub.reconnect(device.name) }
      for device in [a, b] {
        try await device.until("both changes are there") {
          guard try await device.numbers() == ["y": 1] else { return false }
          return try await device.isSettled()
        }
      }
    }
  }

  @Test("CK-35: under deterministic the smaller device id wins, whoever comes first")
  func deterministic() throws {
    try Self.simulate(.deterministic) { suite, a, b in
      try await Self.apart(suite, a, 1, b, 2)
      try await Self.until(a, b, have: 1)
      try await Self.apart(suite, b, 3, a, 4)
      try await Self.until(a, b, have: 4)
    }
  }

  @Test("CK-34, CK-36: a program of the app gets all three copies of two agents' conflict, and both have what it makes")
  func program() throws {
    try Self.simulate(.serverExtension) { suite, a, b in
      let host = suite.cluster.host("program").host
      let disputes = Mutex<[Dispute]>([])
      let subject = Subject.extension(RunningDevice.table.app, type: RunningDevice.table.name)
      let endpoint = Endpoint("decide", .exact(subject), group: "program", maxInFlight: 8) {
        (dispute: Dispute, _) throws(CaravanError) in
        disputes.withLock { $0.append(dispute) }
        return Decision(kind: .merged(try Self.sum(dispute)))
      }
      let program = ServiceHost(
        name: "program", version: "1.0.0", bus: suite.hub.connect(as: "program"), host: host, endpoints: [endpoint])
      let task = suite.cluster.start { try await program.run() }
      try await host.clock.sleep(for: .seconds(1))
      try await a.update("x", 100)
      try await Self.until(a, b, have: 100)
      try await Self.apart(suite, a, 90, b, 130)
      try await Self.until(a, b, have: 120)
      #expect(disputes.withLock { $0.count } == 1)
      task.cancel()
      // Nobody there: it is the device's own, as a table without a policy has it.
      try? await task.value()
      try await Self.apart(suite, a, 1, b, 2)
      try await b.until("b has a conflict") { try await !b.store.conflicts(RunningDevice.table).isEmpty }
      let view = try #require(try await b.store.conflicts(RunningDevice.table).first)
      try await b.store.beginResolution(RunningDevice.table, owner: 1)
      try await b.store.resolve(RunningDevice.table, row: view.mine.id, .mine, owner: 1)
      try await b.store.endResolution(RunningDevice.table, owner: 1)
      try await Self.until(a, b, have: 2)
    }
  }

  /// What both added to the number.
  private static func sum(_ dispute: Dispute) throws(CaravanError) -> [UInt8] {
    var fields = try RecordFields(body: dispute.server)
    let copies = [dispute.client, dispute.server, dispute.ancestor]
    var numbers: [Int64] = []
    for copy in copies {
      if case .integer(let number) = try RecordFields(body: copy)[2] { numbers.append(number) }
    }
    guard numbers.count == 3 else { throw CaravanError(.invalidData, "a copy is missing") }
    fields[2] = .integer(numbers[0] + numbers[1] - numbers[2])
    return fields.body
  }
}
