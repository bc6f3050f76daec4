import CaravanModel
import CaravanStore
import CaravanWire
import Testing

/// Goal: what a save makes of a record, for every part of it that it may bring. Method: one record, one save, by table.
@Suite struct MergeTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let id: Int
    /// nil: no such record.
    let stored: [UInt32: CaravanModel.Value]?
    let base: Base
    let scope: WriteTerms.Scope
    let body: [UInt32: CaravanModel.Value]
    /// nil: a conflict.
    let expected: [UInt32: CaravanModel.Value]?
    /// Whether its writer does not know the result.
    var isUnseen = false
    var testDescription: String { "row \(id): \(scope) on \(stored == nil ? "nothing" : "a record"), base \(base)" }
  }

  /// The record stands at version 1; its writer's type knows the fields 1 and 2, field 3 is a newer one's.
  static let stored: [UInt32: CaravanModel.Value] = [1: .text("a"), 2: .integer(2), 3: .text("newer")]

  static let rows: [Row] = [
    // The body is all of it.
    Row(id: 1, stored: nil, base: .any, scope: .whole, body: [1: .text("x")], expected: [1: .text("x")]),
    Row(id: 2, stored: stored, base: .version(1), scope: .whole, body: [1: .text("x")], expected: [1: .text("x")]),
    Row(id: 3, stored: stored, base: .version(9), scope: .whole, body: [1: .text("x")], expected: nil),
    Row(id: 4, stored: stored, base: .absent, scope: .whole, body: [1: .text("x")], expected: nil),
    // Save-changed-keys: the others stay, a null removes its field, also under a base.
    Row(
      id: 5, stored: stored, base: .any, scope: .changed, body: [2: .integer(7)],
      expected: [1: .text("a"), 2: .integer(7), 3: .text("newer")], isUnseen: true),
    Row(
      id: 6, stored: stored, base: .version(1), scope: .changed, body: [1: .null, 4: .data([4])],
      expected: [2: .integer(2), 3: .text("newer"), 4: .data([4])]),
    Row(id: 7, stored: stored, base: .version(9), scope: .changed, body: [1: .null], expected: nil),
    Row(id: 8, stored: nil, base: .any, scope: .changed, body: [1: .text("x"), 2: .null], expected: [1: .text("x")]),
    // Save-all-keys: what the writer's type knows and does not send is gone, what it does not know stays (CK-26).
    Row(
      id: 9, stored: stored, base: .any, scope: .known(upTo: 2), body: [1: .text("x")],
      expected: [1: .text("x"), 3: .text("newer")], isUnseen: true),
    Row(
      id: 10, stored: stored, base: .version(1), scope: .known(upTo: 3), body: [2: .null], expected: [:]),
    Row(id: 11, stored: nil, base: .absent, scope: .known(upTo: 2), body: [2: .integer(1)], expected: [2: .integer(1)]),
  ]

  @Test("CK-25, CK-26: save modes", arguments: rows)
  func table(row: Row) throws {
    var zone = PlannedZone()
    if let stored = row.stored { zone.commit(Sample.save("r", stored)) }
    let before = zone.seq
    let verdict = zone.commit(Sample.save("r", base: row.base, row.body, WriteTerms(scope: row.scope)), by: "tablet")
    guard let expected = row.expected else {
      #expect(verdict == .conflict(name: "r") && zone.seq == before && zone["r"] == row.stored)
      return
    }
    #expect(verdict == .accepted(version: before + 1) && zone["r"] == expected)
    #expect(zone.flags["r"]?.contains(.unseen) == row.isUnseen)
  }

  @Test("UNI-09: a save under a tombstone's version brings the record back, whatever its scope")
  func undelete() {
    for scope in [WriteTerms.Scope.whole, .changed, .known(upTo: 9)] {
      var zone = PlannedZone()
      zone.commit(Sample.save("r", Self.stored))
      zone.commit(Sample.delete("r"))
      let verdict = zone.commit(Sample.save("r", base: .version(2), [1: .text("b")], WriteTerms(scope: scope)))
      #expect(verdict == .accepted(version: 3) && zone["r"] == [1: .text("b")])
    }
  }

  @Test("CK-26: bytes that this release does not know stay as they are, inside fields and beside them")
  func unknownBytes() throws {
    // Field 5 with a value number 12 (varint 1), and a private extension (number 100) beside the fields.
    let newer: [UInt8] = [0x0a, 0x04, 0x08, 0x05, 0x60, 0x01]
    let beside: [UInt8] = [0xa2, 0x06, 0x02, 0x07, 0x08]
    let body = RecordFields([1: .text("a")]).body + newer + beside
    var zone = PlannedZone()
    zone.commit(Sample.save("r", body: body))
    zone.commit(Sample.save("r", [1: .text("b"), 9: .integer(9)], WriteTerms(scope: .changed)))
    #expect(
      zone.entries["r"]?.body
        == RecordFields([1: .text("b")]).body + newer + RecordFields([9: .integer(9)]).body + beside)
  }

  @Test("a merge names the chunks and references that the whole record has")
  func merged() throws {
    let (x, y) = (Sample.hash(1), Sample.hash(2))
    func asset(_ hash: ChunkHash) -> CaravanModel.Value { .asset(AssetManifest(parts: [.init(hash: hash, length: 3)])) }
    let owner = CaravanModel.Reference(to: "owner", .owning)
    let start = Sample.save("r", [1: asset(x), 2: .list([asset(x), asset(y)]), 3: .reference(owner)])
    var zone = PlannedZone()
    zone.commit([Sample.save("owner", [:])])
    var whole = start
    whole.terms = WriteTerms(references: [owner])
    zone.commit(whole)
    let facts = ZoneFacts(
      heads: ["r": RecordHead(version: 2, created: 2, flags: [.holdsChunks, .holdsReferences])],
      entries: ["r": try #require(zone.entries["r"])])
    let patch = Sample.save("r", [1: .null], WriteTerms(scope: .changed))
    let plan = ZoneCommit(zoneSeq: 2, facts: facts).plan(Sample.commit([patch]))
    guard case .decided(let writes, _, _) = plan, let write = writes.first else { throw Unexpected(plan) }
    #expect(write.content.chunks == [x, y] && write.references == [owner])
    #expect(write.flags.isSuperset(of: [.holdsChunks, .holdsReferences]))
  }

  struct Guard: Sendable, CustomTestStringConvertible {
    let id: Int
    let guards: [UInt32: CaravanModel.Value]
    let holds: Bool
    var testDescription: String { "guard \(id)" }
  }

  static let guards: [Guard] = [
    Guard(id: 1, guards: [1: .text("a")], holds: true),
    Guard(id: 2, guards: [1: .text("a"), 2: .integer(2), 9: .null], holds: true),
    Guard(id: 3, guards: [1: .text("b")], holds: false),
    Guard(id: 4, guards: [1: .text("a"), 2: .integer(3)], holds: false),
    Guard(id: 5, guards: [1: .null], holds: false),
    Guard(id: 6, guards: [9: .text("a")], holds: false),
  ]

  @Test("E15: a save-changed-keys also checks the unchanged fields it depends on", arguments: guards)
  func guarded(row: Guard) {
    let terms = WriteTerms(scope: .changed, guards: RecordFields(row.guards).body)
    for change in [Sample.save("r", [3: .text("x")], terms), Sample.delete("r", terms)] {
      var zone = PlannedZone()
      zone.commit(Sample.save("r", Self.stored))
      let verdict = zone.commit(change)
      #expect(verdict == (row.holds ? .accepted(version: 2) : .conflict(name: "r")))
    }
  }

  @Test("E15: of a record that is not there, only the absence of fields holds")
  func guardedAbsence() {
    var zone = PlannedZone()
    let absent = WriteTerms(scope: .changed, guards: RecordFields([1: .null]).body)
    let present = WriteTerms(scope: .changed, guards: RecordFields([1: .text("a")]).body)
    #expect(zone.commit(Sample.save("r", [2: .integer(1)], present)) == .conflict(name: "r"))
    #expect(zone.commit(Sample.save("r", [2: .integer(1)], absent)) == .accepted(version: 1))
  }

  @Test("a merge that cannot be is refused for good: of bytes that are no fields, or beyond a record's size")
  func impossible() {
    var zone = PlannedZone()
    zone.commit([
      Sample.save("junk", body: [1, 2, 3]), Sample.save("r", [1: .data([UInt8](repeating: 1, count: 900_000))]),
    ])
    let terms = WriteTerms(scope: .changed)
    guard case .refused(let junk) = zone.commit(Sample.save("junk", [1: .integer(1)], terms)) else {
      return #expect(Bool(false), "bytes that are no fields were merged")
    }
    #expect(junk.code == .invalidData)
    let large = Sample.save("r", [2: .data([UInt8](repeating: 2, count: 900_000))], terms)
    guard case .refused(let size) = zone.commit(large) else {
      return #expect(Bool(false), "a record beyond the limit was made")
    }
    #expect(size.code == .limitExceeded && zone.seq == 2)
  }

  @Test("CK-23: reads in a batch are checks: an atomic one fails with them, and they take no seq")
  func reads() {
    var zone = PlannedZone()
    zone.commit([Sample.save("a"), Sample.save("b")])
    let good = [
      Sample.read("a", base: .version(1)), Sample.save("b", base: .version(2)), Sample.read("none", base: .absent),
    ]
    #expect(
      zone.commit(good, atomic: true) == [
        .read(name: "a", version: 1), .accepted(version: 3), .read(name: "none", version: 0),
      ] && zone.seq == 3
    )
    let stale = [Sample.read("b", base: .version(2)), Sample.save("a")]
    #expect(zone.commit(stale, atomic: true) == [.conflict(name: "b"), .aborted] && zone.seq == 3)
    #expect(zone.commit(stale) == [.conflict(name: "b"), .accepted(version: 4)])
    #expect(zone.commit([Sample.read("gone", base: .version(1))]) == [.conflict(name: "gone")])
  }

  @Test("one round of questions for plain saves, two for merges", arguments: [1, 400])
  func rounds(count: Int) {
    var zone = PlannedZone()
    zone.commit((0..<count).map { Sample.save("r\($0)", [1: .integer(1)]) }.map(\.plain))
    #expect(zone.rounds == 1)
    zone.commit((0..<count).map { Sample.save("r\($0)", [2: .integer(1)], WriteTerms(scope: .changed)) })
    #expect(zone.rounds == 2)
    zone.commit([])
    #expect(zone.rounds == 0)
  }
}

extension CaravanModel.Mutation {
  /// Without terms.
  fileprivate var plain: CaravanModel.Mutation { CaravanModel.Mutation(name: name, base: base, change: change) }
}
