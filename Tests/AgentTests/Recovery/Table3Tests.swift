import AgentCore
import Testing

/// Goal: Simba's Table 3, row by row, as far as it is decided in values. Method: the printed rows as data, each a test;
/// what the agent makes of them is in the matrix of failures.
@Suite("Table 3")
struct Table3Tests {
  struct Disconnect: Sendable, CustomTestStringConvertible {
    let row: Disruption
    let detected: Disruption
    let policy: Disruption.Policy
    let action: Disruption.Action
    var testDescription: String { "\(row.rawValue): \(policy) → \(action)" }
  }

  static let disconnects = [
    Disconnect(row: .u1, detected: .upstream(inFlight: false, .missing), policy: .notNeeded, action: .none),
    Disconnect(row: .u2, detected: .upstream(inFlight: true, .missing), policy: .resetAndRetry, action: .sendAgain),
    Disconnect(row: .u3, detected: .upstream(inFlight: true, .whole), policy: .rollForward, action: .none),
    Disconnect(
      row: .u4, detected: .upstream(inFlight: true, .lacksObjects), policy: .resetAndRetry, action: .completeConflict),
    Disconnect(
      row: .d1, detected: .downstream(notified: false, asked: false, .missing), policy: .notNeeded, action: .none),
    Disconnect(
      row: .d2, detected: .downstream(notified: true, asked: false, .missing), policy: .normalOperation, action: .ask),
    Disconnect(
      row: .d3, detected: .downstream(notified: true, asked: true, .missing), policy: .retry, action: .askAgain),
    Disconnect(
      row: .d4, detected: .downstream(notified: true, asked: true, .whole), policy: .rollForward, action: .takeIn),
    Disconnect(
      row: .d5, detected: .downstream(notified: true, asked: true, .lacksObjects), policy: .resetAndRetry,
      action: .takeIn),
  ]

  @Test("SIM-70 Table 3(a)", arguments: disconnects)
  func disconnected(_ line: Disconnect) {
    #expect(line.detected == line.row)
    #expect(line.row.policy == line.policy)
    #expect(line.row.action == line.action)
  }

  @Test("SIM-70 Table 3(a) has nine rows")
  func complete() { #expect(Self.disconnects.map(\.row) == Disruption.allCases) }

  @Test(
    "SIM-70: only U2 and U4 touch the flags, and E1: SP never falls without TD rising", arguments: Disruption.allCases)
  func flags(after disruption: Disruption) {
    for packed in Int64(0)..<16 {
      let before = RowFlags(packed: packed)
      for changedObjects in [false, true] {
        let after = disruption.recovered(before, changedObjects: changedObjects)
        guard disruption == .u2 || disruption == .u4 else {
          #expect(after == before)
          continue
        }
        #expect(!after.syncPending && after.tableDirty)
        #expect(after.objectDirty == (before.objectDirty || changedObjects))
        #expect(after.inConflict == before.inConflict)
      }
    }
  }

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
      let after = Disruption.u4.recovered(before, changedObjects: sent.objects)
      #expect(RowChange(cells: after.tableDirty, objects: after.objectDirty) == expected)
      #expect(!after.syncPending)
      // The agent records the answer at once, and the row is in conflict while the cloud's copy is completed.
      var head = RowHead(flags: before, version: 3)
      #expect(head.settle(.conflict(.init(version: 5, content: .different)), armed: sent) == .conflict)
      var recorded = after
      recorded.inConflict = true
      #expect(head.flags == recorded)
    }
  }

  // MARK: 3(c)

  struct Arrived: Sendable, CustomTestStringConvertible {
    let td, od: Bool?
    let lacksObjects: Bool
    let becomes: DownstreamRecovery
    var testDescription: String {
      func text(_ bit: Bool?) -> String { bit.map { $0 ? "1" : "0" } ?? "*" }
      let printed = td == false && od == true ? " (E2, not printed)" : ""
      return "TD=\(text(td)) OD=\(text(od)) RU_O=\(lacksObjects ? 1 : 0) → \(becomes)\(printed)"
    }
  }

  static let arrivals = [
    Arrived(td: nil, od: nil, lacksObjects: true, becomes: .fetchObjects),
    Arrived(td: false, od: false, lacksObjects: false, becomes: .update),
    Arrived(td: true, od: nil, lacksObjects: false, becomes: .conflict),
    Arrived(td: false, od: true, lacksObjects: false, becomes: .conflict),
  ]

  @Test("SIM-72 Table 3(c)", arguments: arrivals)
  func arrived(_ line: Arrived) {
    for td in [false, true] where line.td ?? td == td {
      for od in [false, true] where line.od ?? od == od {
        let flags = RowFlags(tableDirty: td, objectDirty: od)
        #expect(DownstreamRecovery.of(flags, lacksObjects: line.lacksObjects) == line.becomes)
        guard !line.lacksObjects else { continue }
        let decision = ArrivalDecision.of(Arrival(version: 9), at: RowHead(flags: flags, version: 3), isBusy: false)
        #expect(decision == (line.becomes == .update ? .apply : .conflict))
      }
    }
  }
}
