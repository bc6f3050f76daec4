import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: a batch in parts that the cloud does not take is not sent for ever, and holds back nothing else. Method: the
/// engine against a cloud that refuses a part, and the real services with a batch that is too large for them.
@Suite("Groups that the cloud refuses (REC-23, UNI-05)", .timeLimit(.minutes(3)))
struct RefusedGroupTests {
  private typealias Bench = EngineBench

  /// The table's rows are one batch, of three parts. Frame by frame, the cloud refuses the second one.
  private static func run(
    _ error: CaravanError, frames: Int, _ body: @escaping @Sendable (EngineBench) async throws -> Void
  ) throws {
    try Bench.run(prepare: { bench in
      bench.store.add(Bench.album, agreed: true)
      bench.store.register(Bench.album, .write)
      bench.store.state.withLock { $0.tables[Bench.album]?.isBatch = true }
    }) { bench in
      try await bench.until("hello") { !bench.cloud.frames.isEmpty }
      for _ in 0..<frames {
        bench.cloud.script(.refuse { if case .upload(let part) = $0, part.part == 1 { error } else { nil } })
      }
      for index in 0..<1_000 { bench.store.write("row \(index)", "text", in: Bench.album) }
      bench.engine.tableChanged(Bench.album, LocalChange(bytes: 1))
      try await body(bench)
    }
  }

  private static func begun(_ bench: EngineBench) -> Int {
    bench.cloud.frames.joined().count { if case .beginGroup = $0 { true } else { false } }
  }

  @Test(
    "what the cloud refuses of a group is seen in the table's status, and is not repeated by itself",
    arguments: [CaravanError(.limitExceeded, "too large"), CaravanError(.schemaViolation, "not like this")])
  func seen(_ error: CaravanError) throws {
    try Self.run(error, frames: 200) { bench in
      try await bench.pass(.seconds(100))
      #expect(Self.begun(bench) == 1 && bench.settles == [1])
      let table = bench.store.table(Bench.album)
      #expect(table.refusal == error.message && table.fault == TableFault(error))
      #expect(table.rows.values.allSatisfy { $0.isDirty && $0.op == nil })
    }
  }

  @Test("UNI-18: a type that the cloud lost while the parts were on their way is proposed again, once in a session")
  func lostType() throws {
    let error = CaravanError(.tableNotFound, "there is no such type")
    // Begin, two parts, and the question what became of them.
    try Self.run(error, frames: 4) { bench in
      try await bench.until("the rows are at the cloud") { bench.store.isClean(Bench.album) }
      #expect(bench.proposals == 1 && Self.begun(bench) == 2)
    }
    try Self.run(error, frames: 200) { bench in
      try await bench.until("the cloud is not believed a second time") {
        bench.store.table(Bench.album).refusal == error.message
      }
      #expect(bench.proposals == 1 && Self.begun(bench) == 2)
    }
  }

  @Test("a group that the cloud gave up while it was on its way is made anew")
  func givenUp() throws {
    try Self.run(CaravanError(.noOperationId, "the group is no more"), frames: 4) { bench in
      try await bench.until("the rows are at the cloud") { bench.store.isClean(Bench.album) }
      #expect(Self.begun(bench) == 2 && bench.store.table(Bench.album).refusal == nil)
    }
  }

  @Test("SIM-83: a batch with more bytes than the cloud commits at once holds back nothing else, and goes when it can")
  func tooLarge() throws {
    let suite = try SuiteCluster(seed: 14)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let device = try await suite.start("a")
      try await device.createTable()
      func change(_ names: Range<Int>, and other: String? = nil, bytes: Int) async throws {
        var held: [UInt64] = []
        let text = String(repeating: "x", count: bytes)
        for name in names {
          let cells = [CellValue("name", .text("\(name)\(text)"))]
          held.append(
            try await device.store.openWrite(RunningDevice.table, cells: cells, objects: [], owner: 1, isHeld: true)
              .handle)
        }
        if let other {
          held.append(
            try await device.store.openWrite(
              RunningDevice.table, cells: [CellValue("number", .integer(1))], objects: [],
              selection: Selection("name LIKE ?", [.text(other)]), owner: 1, isHeld: true
            ).handle)
        }
        try await device.store.closeWrites(held, isAtomic: true, owner: 1)
      }
      // Two batches that share a row.
      try await change(10..<28, bytes: 1_000_000)
      try await change(30..<48, and: "10x%", bytes: 1_000_000)
      try await device.write("alone", 1)
      try await device.register()
      func dirty() async throws -> Int { try await device.store.status(of: RunningDevice.table.app).first?.dirty ?? 0 }
      try await device.until("the other row is at the cloud") { try await dirty() == 36 }
      try await device.store.write(
        RunningDevice.table, cells: [CellValue("name", .text("short"))], selection: Selection("name LIKE '3%'"))
      try await device.until("the batch as well") { try await device.isSettled() }
      try await device.kill()
    }
  }
}
