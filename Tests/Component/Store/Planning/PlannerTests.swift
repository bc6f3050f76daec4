import CaravanModel
import CaravanStore
import Testing

/// Goal: every decision of a commit, by table. Method: one record head, one base, one change; then batches.
@Suite struct PlannerTests {
  enum Head: String, CaseIterable {
    case none, live, tombstone

    /// Version 7, created 3; the zone stands at 9.
    var value: RecordHead? {
      switch self {
      case .none: nil
      case .live: RecordHead(version: 7, created: 3)
      case .tombstone: RecordHead(version: 7, created: 3, flags: .deleted)
      }
    }
  }

  enum Expected: Equatable {
    case write(created: Seq)
    case nothing(version: Seq)
    case conflict
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let id: Int
    let head: Head
    let base: Base
    let isDelete: Bool
    let expected: Expected
    var testDescription: String { "row \(id): \(isDelete ? "delete" : "save") on \(head.rawValue), base \(base)" }
  }

  static let rows: [Row] = [
    Row(id: 1, head: .none, base: .any, isDelete: false, expected: .write(created: 10)),
    Row(id: 2, head: .none, base: .absent, isDelete: false, expected: .write(created: 10)),
    Row(id: 3, head: .none, base: .version(7), isDelete: false, expected: .conflict),
    Row(id: 4, head: .live, base: .any, isDelete: false, expected: .write(created: 3)),
    Row(id: 5, head: .live, base: .absent, isDelete: false, expected: .conflict),
    Row(id: 6, head: .live, base: .version(7), isDelete: false, expected: .write(created: 3)),
    Row(id: 7, head: .live, base: .version(6), isDelete: false, expected: .conflict),
    // E11: what is made anew keeps the creation of what a device may still hold.
    Row(id: 8, head: .tombstone, base: .any, isDelete: false, expected: .write(created: 3)),
    Row(id: 9, head: .tombstone, base: .absent, isDelete: false, expected: .write(created: 3)),
    // UNI-09: whoever has seen the tombstone may undelete.
    Row(id: 10, head: .tombstone, base: .version(7), isDelete: false, expected: .write(created: 3)),
    Row(id: 11, head: .tombstone, base: .version(6), isDelete: false, expected: .conflict),
    Row(id: 12, head: .none, base: .any, isDelete: true, expected: .nothing(version: 0)),
    Row(id: 13, head: .none, base: .absent, isDelete: true, expected: .nothing(version: 0)),
    Row(id: 14, head: .none, base: .version(7), isDelete: true, expected: .conflict),
    Row(id: 15, head: .live, base: .any, isDelete: true, expected: .write(created: 3)),
    Row(id: 16, head: .live, base: .absent, isDelete: true, expected: .conflict),
    Row(id: 17, head: .live, base: .version(7), isDelete: true, expected: .write(created: 3)),
    Row(id: 18, head: .live, base: .version(6), isDelete: true, expected: .conflict),
    Row(id: 19, head: .tombstone, base: .any, isDelete: true, expected: .nothing(version: 7)),
    Row(id: 20, head: .tombstone, base: .absent, isDelete: true, expected: .nothing(version: 7)),
    Row(id: 21, head: .tombstone, base: .version(7), isDelete: true, expected: .nothing(version: 7)),
    Row(id: 22, head: .tombstone, base: .version(6), isDelete: true, expected: .conflict),
  ]

  @Test("CK-25, CK-43, E11: one mutation against one head", arguments: rows)
  func table(row: Row) throws {
    let mutation = Mutation(
      name: "r", base: row.base, change: row.isDelete ? .delete : .save(type: 1, body: [1], chunks: []))
    let facts = ZoneFacts(heads: row.head.value.map { ["r": $0] } ?? [:], referrers: ["r": []])
    let plan = ZoneCommit(zoneSeq: 9, facts: facts).plan(Sample.commit([mutation]))
    guard case .decided(let writes, let verdicts, let seq) = plan else { throw Unexpected(plan) }
    switch row.expected {
    case .conflict:
      #expect(writes.isEmpty && verdicts == [.conflict(name: "r")] && seq == 9)
    case .nothing(let version):
      #expect(writes.isEmpty && verdicts == [.accepted(version: version)] && seq == 9)
    case .write(let created):
      let write = try #require(writes.first)
      #expect(writes.count == 1 && verdicts == [.accepted(version: 10)] && seq == 10)
      #expect(write.version == 10 && write.created == created && write.isDeleted == row.isDelete)
      #expect(write.replaced == row.head.value && write.endsBatch)
    }
  }

  @Test("a batch takes contiguous seqs and marks its end; conflicts take none")
  func batch() throws {
    let plan = ZoneCommit(zoneSeq: 4, facts: ZoneFacts(heads: ["b": RecordHead(version: 2, created: 1)])).plan(
      Sample.commit([Sample.save("a"), Sample.save("b", base: .version(1)), Sample.save("c")]))
    guard case .decided(let writes, let verdicts, let seq) = plan else { throw Unexpected(plan) }
    #expect(writes.map(\.version) == [5, 6] && writes.map(\.name) == ["a", "c"])
    #expect(writes.map(\.endsBatch) == [false, true])
    #expect(verdicts == [.accepted(version: 5), .conflict(name: "b"), .accepted(version: 6)] && seq == 6)
  }

  @Test("CK-23: an atomic batch with one conflict writes nothing and takes no seq")
  func atomic() {
    let plan = ZoneCommit(zoneSeq: 4, facts: ZoneFacts(heads: ["b": RecordHead(version: 2, created: 1)])).plan(
      Sample.commit([Sample.save("a"), Sample.save("b", base: .version(1))], atomic: true))
    #expect(plan == .decided(writes: [], verdicts: [.aborted, .conflict(name: "b")], zoneSeq: 4))
  }

  @Test("a record named twice in one commit: the second sees the first")
  func twice() throws {
    let plan = ZoneCommit(zoneSeq: 0).plan(
      Sample.commit([Sample.save("a"), Sample.save("a", base: .absent), Sample.delete("a", base: .version(1))]))
    guard case .decided(let writes, let verdicts, _) = plan else { throw Unexpected(plan) }
    #expect(verdicts == [.accepted(version: 1), .conflict(name: "a"), .accepted(version: 2)])
    // Its name and three bytes.
    let origin = RecordOrigin(time: 0, writer: .name("phone"))
    #expect(writes.last?.replaced == RecordHead(version: 1, created: 1, bytes: 4, origin: origin))
    #expect(writes.last?.created == 1)
  }

  @Test("missing chunks: each once, only of what would be written; nothing is decided")
  func missing() {
    let (x, y, z) = (Sample.hash(1), Sample.hash(2), Sample.hash(3))
    let mutations = [
      Sample.save("a", chunks: [x, y, x]), Sample.save("b", base: .version(9), chunks: [z]),
      Sample.save("c", chunks: [y]),
    ]
    let plan = ZoneCommit(zoneSeq: 0, facts: ZoneFacts(lacking: [x, z, y])).plan(Sample.commit(mutations))
    #expect(plan == .missing([x, y]))
    let other = ZoneCommit(zoneSeq: 0, facts: ZoneFacts(lacking: [z])).plan(Sample.commit(mutations))
    guard case .decided(let writes, _, _) = other else {
      return #expect(Bool(false), "only the conflict lacks a chunk")
    }
    #expect(writes.map(\.name) == ["a", "c"])
  }

  @Test("an op outcome comes back from its bytes; damaged bytes are refused")
  func outcome() throws {
    let outcomes: [OpOutcome] = [
      .aborted, .decided(verdicts: [], zoneSeq: 0, incarnation: 0),
      .decided(
        verdicts: [
          .accepted(version: 0), .accepted(version: 1 << 39), .conflict(name: "ключ"), .aborted, .merged(name: "m"),
          .read(name: "", version: 9), .refused(CaravanError(.referenceViolation, "nein")),
        ], zoneSeq: 1 << 39, incarnation: .max),
    ]
    for outcome in outcomes {
      #expect(try OpOutcome(encoded: outcome.encoded) == outcome)
      for cut in 0..<outcome.encoded.count {
        #expect(throws: CaravanError.self) { try OpOutcome(encoded: Array(outcome.encoded.prefix(cut))) }
      }
    }
  }
}

struct Unexpected: Error, CustomStringConvertible {
  let description: String
  init(_ value: some Any) { description = "\(value)" }
}
