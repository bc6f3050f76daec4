import CaravanModel
import CaravanStore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: what every conflict policy makes of two writes that did not know of each other. Method: a record written by
/// one device, then a save of another that began with an older version, by table; then random histories.
@Suite struct PolicyTests {
  /// A record `r` that `phone` made (version 1), and changed (version 2) at `edited`.
  private static func zone(
    _ policy: CaravanModel.ConflictPolicy, from first: [UInt32: CaravanModel.Value],
    to second: [UInt32: CaravanModel.Value], edited: Int64
  ) -> PlannedZone {
    var zone = PlannedZone()
    let terms = WriteTerms(policy: policy, stamp: HybridStamp(milliseconds: 100))
    zone.commit(Sample.save("r", base: .absent, first, terms))
    let changed = WriteTerms(scope: .changed, policy: policy, stamp: HybridStamp(milliseconds: edited))
    zone.commit(Sample.save("r", base: .version(1), second, changed))
    return zone
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let id: Int
    let policy: CaravanModel.ConflictPolicy
    /// When the tablet's edit was made; the phone's was at 500.
    let stamp: Int64
    let scope: WriteTerms.Scope
    let body: [UInt32: CaravanModel.Value]
    /// What the record is then.
    let expected: [UInt32: CaravanModel.Value]
    /// nil: a conflict.
    let writes: Bool?
    var testDescription: String { "row \(id): \(policy.rawValue), \(scope)" }
  }

  /// The record was {1: a, 2: 2}; the phone made field 1 `phone` meanwhile.
  static let rows: [Row] = [
    Row(
      id: 1, policy: .manual, stamp: 900, scope: .changed, body: [1: .text("tab")],
      expected: [1: .text("phone"), 2: .integer(2)], writes: nil),
    Row(
      id: 2, policy: .serverExtension, stamp: 900, scope: .changed, body: [1: .text("tab")],
      expected: [1: .text("phone"), 2: .integer(2)], writes: nil),
    // DIF step 6: other fields both survive; of the same field the larger timestamp wins, a tie is the server's.
    Row(
      id: 3, policy: .fieldMerge, stamp: 1, scope: .changed, body: [2: .integer(9)],
      expected: [1: .text("phone"), 2: .integer(9)], writes: true),
    Row(
      id: 4, policy: .fieldMerge, stamp: 501, scope: .changed, body: [1: .text("tab"), 2: .integer(9)],
      expected: [1: .text("tab"), 2: .integer(9)], writes: true),
    Row(
      id: 5, policy: .fieldMerge, stamp: 499, scope: .changed, body: [1: .text("tab"), 2: .integer(9)],
      expected: [1: .text("phone"), 2: .integer(9)], writes: true),
    Row(
      id: 6, policy: .fieldMerge, stamp: 500, scope: .changed, body: [1: .text("tab")],
      expected: [1: .text("phone"), 2: .integer(2)], writes: false),
    Row(
      id: 7, policy: .fieldMerge, stamp: 900, scope: .changed, body: [1: .null],
      expected: [2: .integer(2)], writes: true),
    // A whole record does not say what its writer changed: only what the server had before the base is taken.
    Row(
      id: 8, policy: .fieldMerge, stamp: 900, scope: .whole, body: [1: .text("a"), 2: .integer(9)],
      expected: [1: .text("phone"), 2: .integer(9)], writes: true),
    Row(
      id: 9, policy: .fieldMerge, stamp: 900, scope: .whole, body: [1: .text("a")],
      expected: [1: .text("phone")], writes: true),
    Row(
      id: 10, policy: .lastWriterWins, stamp: 501, scope: .whole, body: [1: .text("tab")],
      expected: [1: .text("tab")], writes: true),
    Row(
      id: 11, policy: .lastWriterWins, stamp: 500, scope: .whole, body: [1: .text("tab")],
      expected: [1: .text("phone"), 2: .integer(2)], writes: false),
    Row(
      id: 12, policy: .lastWriterWins, stamp: 501, scope: .changed, body: [1: .text("tab")],
      expected: [1: .text("tab"), 2: .integer(2)], writes: true),
    // The tablet's id is larger than the phone's.
    Row(
      id: 13, policy: .deterministic, stamp: 900, scope: .whole, body: [1: .text("tab")],
      expected: [1: .text("phone"), 2: .integer(2)], writes: false),
  ]

  @Test("UNI-02, DIF-25: a save on an older base, policy by policy", arguments: rows)
  func table(row: Row) {
    var zone = Self.zone(
      row.policy, from: [1: .text("a"), 2: .integer(2)], to: [1: .text("phone")], edited: 500)
    let terms = WriteTerms(scope: row.scope, policy: row.policy, stamp: HybridStamp(milliseconds: row.stamp))
    let verdict = zone.commit(Sample.save("r", base: .version(1), row.body, terms), by: "tablet")
    #expect(zone["r"] == row.expected)
    switch row.writes {
    case nil: #expect(verdict == .conflict(name: "r") && zone.seq == 2)
    case false?: #expect(verdict == .merged(name: "r") && zone.seq == 2)
    case true?:
      // Whose whole record stands as it was sent knows it; everybody else must be told.
      let isKnown = row.policy != .fieldMerge && row.scope == .whole
      #expect(verdict == (isKnown ? .accepted(version: 3) : .merged(name: "r")) && zone.seq == 3)
      #expect(zone.flags["r"]?.contains(.unseen) == !isKnown)
    }
  }

  @Test("CK-35: the smaller device id wins, whoever comes first, and its own later write over its earlier one")
  func deterministic() {
    var zone = PlannedZone()
    let terms = WriteTerms(policy: .deterministic)
    zone.commit(Sample.save("r", base: .absent, [1: .text("m")], terms), by: "m")
    #expect(zone.commit(Sample.save("r", base: .absent, [1: .text("z")], terms), by: "z") == .merged(name: "r"))
    #expect(
      zone.commit(Sample.save("r", base: .absent, [1: .text("c")], terms), by: "c") == .accepted(version: 2))
    #expect(
      zone.commit(Sample.save("r", base: .version(1), [1: .text("c2")], terms), by: "c") == .accepted(version: 3))
    #expect(zone.commit(Sample.delete("r", base: .version(1), terms), by: "z") == .merged(name: "r"))
    #expect(zone["r"] == [1: .text("c2")])
    #expect(zone.commit(Sample.delete("r", base: .version(1), terms), by: "a") == .accepted(version: 4))
    #expect(zone.commit(Sample.save("r", base: .version(3), [1: .text("b")], terms), by: "b") == .merged(name: "r"))
    #expect(zone.live == [])
  }

  @Test("UNI-09: deletes win over updates under fieldMerge, whatever the clocks say, and only there")
  func deletes() {
    let late = HybridStamp(milliseconds: 900)
    var merge = Self.zone(.fieldMerge, from: [1: .text("a")], to: [1: .text("b")], edited: 500)
    let terms = WriteTerms(scope: .changed, policy: .fieldMerge, stamp: late)
    #expect(
      merge.commit(Sample.delete("r", base: .version(1), WriteTerms(policy: .fieldMerge)), by: "t")
        == .accepted(version: 3))
    #expect(merge.commit(Sample.save("r", base: .version(2), [1: .text("c")], terms)) == .merged(name: "r"))
    #expect(merge.live == [])
    #expect(merge.commit(Sample.save("r", base: .version(3), [1: .text("c")], terms)) == .accepted(version: 4))

    var last = Self.zone(.lastWriterWins, from: [1: .text("a")], to: [1: .text("b")], edited: 500)
    let early = WriteTerms(policy: .lastWriterWins, stamp: HybridStamp(milliseconds: 400))
    #expect(
      last.commit(Sample.delete("r", base: .version(1), early), by: "t") == .merged(name: "r") && last.live == ["r"])
    let later = WriteTerms(policy: .lastWriterWins, stamp: HybridStamp(milliseconds: 600))
    #expect(last.commit(Sample.delete("r", base: .version(1), later), by: "t") == .accepted(version: 3))
    let between = WriteTerms(policy: .lastWriterWins, stamp: HybridStamp(milliseconds: 550))
    #expect(last.commit(Sample.save("r", base: .version(2), [1: .text("c")], between)) == .merged(name: "r"))
    let latest = WriteTerms(policy: .lastWriterWins, stamp: HybridStamp(milliseconds: 700))
    #expect(last.commit(Sample.save("r", base: .version(2), [1: .text("c")], latest)) == .accepted(version: 4))
  }

  @Test("E16, DIF-31: a clock years ahead wins once, then loses to whoever writes later")
  func fastClock() {
    let future = HybridStamp(milliseconds: 1 << 45)
    for policy in [CaravanModel.ConflictPolicy.fieldMerge, .lastWriterWins] {
      var zone = Self.zone(policy, from: [1: .text("a")], to: [1: .text("b")], edited: 500)
      zone.now = 2_000
      let fast = WriteTerms(policy: policy, stamp: future, fieldStamps: [1: future])
      zone.commit(Sample.save("r", base: .version(1), [1: .text("fast")], fast), by: "fast")
      #expect(zone["r"] == [1: .text("fast")])
      zone.now = 2_010
      let honest = WriteTerms(scope: .changed, policy: policy, stamp: HybridStamp(milliseconds: 2_005))
      zone.commit(Sample.save("r", base: .version(2), [1: .text("honest")], honest), by: "honest")
      #expect(zone["r"] == [1: .text("honest")])
    }
  }

  @Test("TRU-12: stamps of a clock that was years ahead do not beat what is edited once it is right")
  func storeClockAhead() {
    for policy in [CaravanModel.ConflictPolicy.fieldMerge, .lastWriterWins] {
      var zone = Self.zone(policy, from: [1: .text("a")], to: [1: .text("b")], edited: 500)
      zone.now = 1 << 40
      let wrong = WriteTerms(policy: policy, stamp: HybridStamp(milliseconds: 1 << 40))
      zone.commit(Sample.save("r", base: .version(2), [1: .text("wrong")], wrong), by: "one")
      zone.now = 100_000
      let later = WriteTerms(scope: .changed, policy: policy, stamp: HybridStamp(milliseconds: 99_000))
      zone.commit(Sample.save("r", base: .version(2), [1: .text("later")], later), by: "two")
      #expect(zone["r"] == [1: .text("later")])
    }
  }

  @Test("E16: a clock that is behind loses against what it did not know, never against what it knew")
  func slowClock() {
    for policy in [CaravanModel.ConflictPolicy.fieldMerge, .lastWriterWins] {
      var zone = Self.zone(policy, from: [1: .text("a")], to: [1: .text("b")], edited: 500)
      let slow = WriteTerms(
        policy: policy, stamp: HybridStamp(milliseconds: 3), fieldStamps: [1: HybridStamp(milliseconds: 3)])
      #expect(
        zone.commit(Sample.save("r", base: .version(1), [1: .text("slow")], slow), by: "slow") == .merged(name: "r"))
      #expect(
        zone.commit(Sample.save("r", base: .version(2), [1: .text("slow")], slow), by: "slow") == .accepted(version: 3))
      // What it wrote over 500 counts as later than 500.
      let other = WriteTerms(scope: .changed, policy: policy, stamp: HybridStamp(milliseconds: 500))
      #expect(
        zone.commit(Sample.save("r", base: .version(2), [1: .text("c")], other), by: "other") == .merged(name: "r"))
      #expect(zone["r"] == [1: .text("slow")])
    }
  }

  @Test("UNI-01: field versions tell seq, stamp and writer of every field, of removed ones too")
  func fieldVersions() {
    var zone = Self.zone(.fieldMerge, from: [1: .text("a"), 2: .integer(2)], to: [2: .null, 3: .real(1)], edited: 500)
    let first = FieldHistory.Item(seq: 1, stamp: HybridStamp(milliseconds: 100), writer: "phone")
    let second = FieldHistory.Item(seq: 2, stamp: HybridStamp(milliseconds: 500), writer: "phone")
    #expect(zone.versions("r") == [1: first, 2: second, 3: second])
    let terms = WriteTerms(scope: .changed, policy: .fieldMerge, stamp: HybridStamp(milliseconds: 700))
    zone.commit(Sample.save("r", base: .version(2), [1: .text("b"), 3: .real(1)], terms), by: "tablet")
    let third = FieldHistory.Item(seq: 3, stamp: HybridStamp(milliseconds: 700), writer: "tablet")
    #expect(zone.versions("r") == [1: third, 2: second, 3: second], "an equal value is no change")
    // Removed by a later write than this one.
    let late = WriteTerms(scope: .changed, policy: .fieldMerge, stamp: HybridStamp(milliseconds: 300))
    zone.commit(Sample.save("r", base: .version(1), [2: .integer(9)], late), by: "late")
    #expect(zone["r"] == [1: .text("b"), 3: .real(1)])
  }

  @Test("UNI-01: field versions come back from their bytes, which are the generated message's")
  func encoding() throws {
    let items: [UInt32: FieldHistory.Item] = [
      0: .init(seq: 7, stamp: HybridStamp(rawValue: .max), writer: "b"),
      4: .init(seq: 1 << 39, stamp: HybridStamp(rawValue: 0), writer: "a"),
      300: .init(seq: 0, stamp: HybridStamp(rawValue: 1), writer: "ü"),
    ]
    let bytes = FieldHistory(items).encoded(writer: "a")
    let wire = try CaravanWire.FieldVersions.decode(bytes)
    #expect(wire.encoded() == bytes && wire.fields.map(\.id) == [0, 4, 300])
    #expect(wire.fields.map(\.writer) == ["b", "", "ü"])
    #expect(FieldHistory(encoded: bytes, writer: "a") == FieldHistory(items))
    #expect(FieldHistory(encoded: [0x0a], writer: "a") == nil)
  }

  @Test(
    "I4, DIF-29: fieldMerge: whatever order updates arrive in, the later write of each field stays",
    arguments: 1...20 as ClosedRange<UInt64>)
  func converge(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    struct Edit {
      let device: String
      let field: UInt32
      let stamp: Int64
    }
    // Every device edits fields offline from version 1, each edit at a time of its own.
    let stamps = Array(101...160).shuffled(using: &random)
    let edits = stamps.prefix(24).map {
      Edit(
        device: "d\(Int.random(in: 0..<4, using: &random))", field: UInt32.random(in: 1...5, using: &random),
        stamp: Int64($0))
    }
    var expected: [UInt32: CaravanModel.Value] = [:]
    for field in 1...5 as ClosedRange<UInt32> {
      let last = edits.filter { $0.field == field }.max { $0.stamp < $1.stamp }
      expected[field] = .integer(last?.stamp ?? 0)
    }
    for _ in 0..<3 {
      var zone = PlannedZone()
      let start = Dictionary(
        uniqueKeysWithValues: (1...5 as ClosedRange<UInt32>).map { ($0, CaravanModel.Value.integer(0)) })
      zone.commit(
        Sample.save("r", start, WriteTerms(policy: .fieldMerge, stamp: HybridStamp(milliseconds: 100))), by: "maker")
      for edit in edits.shuffled(using: &random) {
        let terms = WriteTerms(scope: .changed, policy: .fieldMerge, stamp: HybridStamp(milliseconds: edit.stamp))
        zone.commit(Sample.save("r", base: .version(1), [edit.field: .integer(edit.stamp)], terms), by: edit.device)
      }
      #expect(zone["r"] == expected, "seed \(seed)")
    }
  }
}
