import CaravanModel
import CaravanSyncCore
import Testing

/// Goal: a client of diff sync goes on from a height below which it knows everything (DIF-13).
@Suite struct TurnHeightTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var shown = ChangePosition(incarnation: 7, seq: 10)
    let outcomes: [Outcome]
    let zone: ChangePosition
    let expected: Seq
  }

  static let rows: [Row] = [
    Row(
      testDescription: "only its own writes came", outcomes: [.accepted(version: 11), .accepted(version: 12)],
      zone: ChangePosition(incarnation: 7, seq: 12), expected: 12),
    Row(
      testDescription: "another wrote between", outcomes: [.accepted(version: 12)],
      zone: ChangePosition(incarnation: 7, seq: 12), expected: 10),
    Row(
      testDescription: "one was written before: this is an answer that comes again",
      outcomes: [.accepted(version: 9), .accepted(version: 11)], zone: ChangePosition(incarnation: 7, seq: 11),
      expected: 10),
    Row(
      testDescription: "merged into what the client itself wrote", outcomes: [.merged(version: 11, server: entry("c"))],
      zone: ChangePosition(incarnation: 7, seq: 11), expected: 11),
    Row(
      testDescription: "merged into what another wrote", outcomes: [.merged(version: 11, server: entry("d"))],
      zone: ChangePosition(incarnation: 7, seq: 11), expected: 10),
    Row(
      testDescription: "the zone is another one since", outcomes: [.accepted(version: 11)],
      zone: ChangePosition(incarnation: 8, seq: 11), expected: 10),
    Row(
      testDescription: "there was no zone yet", shown: ChangePosition(incarnation: 0, seq: 0),
      outcomes: [.accepted(version: 1)], zone: ChangePosition(incarnation: 8, seq: 1), expected: 1),
    Row(
      testDescription: "one was refused", outcomes: [.accepted(version: 11), .aborted],
      zone: ChangePosition(incarnation: 7, seq: 11), expected: 10),
  ]

  @Test("DIF-13: the height after a client's diffs", arguments: rows)
  func table(row: Row) {
    #expect(TurnHeight(shown: row.shown, client: "c").after(row.outcomes, zone: row.zone) == row.expected)
  }

  private static func entry(_ writer: String) -> Entry {
    Entry(name: "x", version: 11, created: 0, isDeleted: false, writer: writer)
  }
}
