import CaravanAgentCore
import Testing

/// Goal: Simba's Table 3, row by row, as far as it is decided in values. Method: the printed rows as data, each a test;
/// what the agent makes of them is in the matrix of failures.
@Suite("Table 3")
struct Table3Tests {
  struct Disconnect: Sendable, CustomTestStringConvertible {
    let row: String
    let detected: Disruption
    var testDescription: String { "\(row)" }
  }

  static let disconnects = [
    Disconnect(row: "U1", detected: .upstream(inFlight: false, .missing)),
    Disconnect(row: "U2", detected: .upstream(inFlight: true, .missing)),
    Disconnect(row: "U3", detected: .upstream(inFlight: true, .whole)),
    Disconnect(row: "U4", detected: .upstream(inFlight: true, .lacksObjects)),
    Disconnect(row: "D1", detected: .downstream(notified: false, asked: false, .missing)),
    Disconnect(row: "D2", detected: .downstream(notified: true, asked: false, .missing)),
    Disconnect(row: "D3", detected: .downstream(notified: true, asked: true, .missing)),
    Disconnect(row: "D4", detected: .downstream(notified: true, asked: true, .whole)),
    Disconnect(row: "D5", detected: .downstream(notified: true, asked: true, .lacksObjects)),
  ]

  @Test("SIM-70 Table 3(a): where a sync was cut off", arguments: disconnects)
  func disconnected(_ line: Disconnect) { #expect(line.detected.rawValue == line.row) }

  @Test("SIM-70 Table 3(a) has nine rows")
  func complete() { #expect(Self.disconnects.map(\.row) == Disruption.allCases.map(\.rawValue)) }

  // MARK: 3(b)

  /// What was changed while the push was out, and what is armed after it; `objects`: the push carried changed objects.
  struct Armed: Sendable, CustomTestStringConvertible {
    let td, od: Bool
    let after: RowChange
    let afterObjects: RowChange
    var testDescription: String { "TD=\(td ? 1 : 0) OD=\(od ? 1 : 0), any RC_T → SP=0 TD=1, OD=1 if objects were sent" }
  }

  private static let cells = RowChange(cells: true, objects: false)
  private static let both = RowChange(cells: true, objects: true)

  static let partialResponses = [
    Armed(td: false, od: false, after: cells, afterObjects: both),
    Armed(td: false, od: true, after: both, afterObjects: both),
    Armed(td: true, od: false, after: cells, afterObjects: both),
    Armed(td: true, od: true, after: both, afterObjects: both),
  ]

  @Test("SIM-71 Table 3(b), with E1", arguments: partialResponses)
  func partialResponse(_ line: Armed) {
    for (sent, expected) in [(Self.cells, line.after), (Self.both, line.afterObjects)] {
      let before = RowFlags(tableDirty: line.td, objectDirty: line.od, syncPending: true)
      // The agent records the answer at once, and the row is in conflict while the cloud's copy is completed.
      var head = RowHead(flags: before, version: 3)
      #expect(head.settle(.conflict(.init(version: 5, content: .different)), armed: sent) == .conflict)
      #expect(
        head.flags == RowFlags(tableDirty: expected.cells, objectDirty: expected.objects, inConflict: true))
    }
  }

  // MARK: 3(c)

  /// Of rows all of whose objects are here; one whose objects are arriving is not looked at before (RU_O=1).
  struct Arrived: Sendable, CustomTestStringConvertible {
    let td, od: Bool?
    let becomes: ArrivalDecision
    var testDescription: String {
      func text(_ bit: Bool?) -> String { bit.map { $0 ? "1" : "0" } ?? "*" }
      let printed = td == false && od == true ? " (E2, not printed)" : ""
      return "TD=\(text(td)) OD=\(text(od)) RU_O=0 → \(becomes)\(printed)"
    }
  }

  static let arrivals = [
    Arrived(td: false, od: false, becomes: .apply),
    Arrived(td: true, od: nil, becomes: .conflict),
    Arrived(td: false, od: true, becomes: .conflict),
  ]

  @Test("SIM-72 Table 3(c)", arguments: arrivals)
  func arrived(_ line: Arrived) {
    for td in [false, true] where line.td ?? td == td {
      for od in [false, true] where line.od ?? od == od {
        let head = RowHead(flags: RowFlags(tableDirty: td, objectDirty: od), version: 3)
        #expect(ArrivalDecision.of(Arrival(version: 9), at: head, isBusy: false) == line.becomes)
      }
    }
  }
}
