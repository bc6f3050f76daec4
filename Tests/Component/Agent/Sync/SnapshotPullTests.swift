import CaravanAgentApps
import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: a device's table shows only states that its zone had, and comes to new ones however fast others write. Method:
/// the real services, a device whose link is slow, and somebody who writes all rows anew in one batch after the other.
@Suite("Pulls by snapshots") struct SnapshotPullTests {
  private static let device = "reader"
  private static let rows = 8
  /// A page has room for five of them.
  private static let noteBytes = 180_000

  /// What comes to the device takes its time.
  private struct SlowLink: FaultPolicy {
    func copies(of passage: Passage, random: any RandomSource) -> [Duration] {
      [passage.receiver == device ? .milliseconds(200) : .zero]
    }
  }

  /// Writes all rows in one batch.
  private struct Writer {
    let bus: InProcessBus
    let clock: any Clock
    let noteBytes: Int
    private var type = CaravanWire.RecordType()
    private(set) var batches: UInt64 = 0

    init(_ suite: SuiteCluster, noteBytes: Int = SnapshotPullTests.noteBytes) {
      bus = suite.hub.connect(as: "writer")
      clock = suite.cluster.host("writer").host.clock
      self.noteBytes = noteBytes
    }

    private func ask(_ kind: Operation.Kind) async throws -> CaravanWire.Result.Kind? {
      let exchange = Exchange(epoch: 1, operations: [Operation(kind: kind)]).encoded()
      let frame = Frame(plainBytes: UInt32(exchange.count), body: exchange)
      let answer = try await bus.request(
        Message(frame.encoded()), to: .exchange(EnrolledDevice("ada", "writer")),
        deadline: .seconds(4))
      let reply = try Frame.decode(answer.payload)
      #expect(reply.compression == .none)
      return try ExchangeReply.decode(reply.body).results.first?.kind
    }

    mutating func agree() async throws {
      let album = CaravanModel.RecordType(
        id: 0, definition: 0, name: "album",
        fields: [("name", .text), ("number", .integer), ("photo", .object)].map {
          CaravanModel.FieldDefinition(id: 0, name: $0, kind: $1)
        })
      let propose = ProposeTable(container: "photos", type: CaravanWire.RecordType(album))
      // The services have just been started.
      for _ in 0..<10 {
        if case .type(let made)? = try? await ask(.propose(propose)) { return type = made }
        try await clock.sleep(for: .milliseconds(10))
      }
      throw NotYet(what: "a type")
    }

    mutating func write() async throws {
      batches += 1
      let ids = Dictionary(uniqueKeysWithValues: type.fields.map { ($0.name, $0.id) })
      let mutations = (0..<rows).map { row in
        var fields = RecordFields([:])
        fields[ids["name"] ?? 0] = .text(String(repeating: "abcdefghi\(row)", count: noteBytes / 10))
        fields[ids["number"] ?? 0] = .integer(Int64(batches))
        return CaravanWire.Mutation(name: "r\(row)", kind: .save, type: type.id, body: fields.body)
      }
      let push = Push(
        container: "photos", zone: "album", op: batches, opFloor: batches, mutations: mutations, atomic: true)
      guard case .commit(let reply)? = try await ask(.push(push)) else { throw NotYet(what: "a commit") }
      #expect(reply.outcomes.allSatisfy { $0.verdict == .accepted })
    }
  }

  private static func numbers(_ device: RunningDevice) async throws -> [Int64] {
    let view = try await device.store.beginRead(ReadRequest(table: RunningDevice.table, columns: ["number"]), owner: 1)
    return view.rows.compactMap { row in
      if case .integer(let number)? = row.cells.first(where: { $0.column == "number" })?.value { number } else { nil }
    }
  }

  @Test("UNI-13, CK-53: a device at half the writer's speed sees whole batches only, and one after the other")
  func slowDevice() throws {
    let suite = try SuiteCluster(seed: 3, policy: SlowLink())
    try suite.cluster.run(deadline: .seconds(3_600)) {
      var writer = Writer(suite)
      try await writer.agree()
      try await writer.write()
      var device = try await suite.start(Self.device)
      try await device.createTable()
      try await device.store.updateTable(RunningDevice.table, TableChange(consistency: .snapshot))
      try await device.register()
      let numbersOf = Self.numbers
      // Two batches for each page.
      var seen: Set<Int64> = []
      for turn in 0..<100 {
        if turn % 30 == 25 {
          // What it was shown it is shown again, or something newer.
          try await device.kill()
          device = try await suite.start(Self.device)
        } else {
          try await writer.write()
          try await device.clock.sleep(for: .milliseconds(100))
        }
        let numbers = try await numbersOf(device)
        #expect(Set(numbers).count <= 1 && (numbers.isEmpty || numbers.count == Self.rows), "\(numbers)")
        let number = numbers.first ?? 0
        #expect(number >= seen.max() ?? 0)
        if number > 0 { seen.insert(number) }
      }
      #expect(seen.count >= 5, "\(seen.count) states")
      #expect(UInt64(seen.max() ?? 0) > writer.batches - 40)
      let last = Int64(writer.batches)
      try await device.until("the last batch is here") { try await numbersOf(device).first == last }
      #expect(try await device.store.problems() == [])
    }
  }

  @Test("UNI-13: what comes with a notification is a state of the zone, and shows without anybody asking")
  func notified() throws {
    let suite = try SuiteCluster(seed: 4)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      var writer = Writer(suite, noteBytes: 20)
      try await writer.agree()
      try await writer.write()
      let device = try await suite.start(Self.device)
      try await device.createTable()
      try await device.store.updateTable(RunningDevice.table, TableChange(consistency: .snapshot))
      try await device.register()
      let numbersOf = Self.numbers
      try await device.until("the first batch is here") { try await numbersOf(device).first == 1 }
      // By then the notifier owns its partitions.
      try await device.clock.sleep(for: .seconds(60))
      let takenIn = device.agent.engine.host.metrics.counter(.notifications, [.outcome: "takenIn"])
      let before = takenIn.value
      for number in 2...5 {
        try await writer.write()
        try await device.clock.sleep(for: .seconds(1))
        #expect(try await numbersOf(device) == Array(repeating: Int64(number), count: Self.rows))
      }
      #expect(takenIn.value == before + 4)
    }
  }
}
