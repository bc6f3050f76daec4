import CaravanSyncCore
import Testing

/// Goal: under load, first what can wait waits, then what may be lost is lost, and what is wanted at once comes last.
@Suite struct AdmissionTests {
  enum Expected: String {
    case admit, postpone, shed
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let slack: UInt32
    let tolerated: UInt32
    let quiet: Expected
    let busy: Expected
    let overloaded: Expected
    var testDescription: String { "slack \(slack) ms, \(tolerated) rows may be lost" }
  }

  static let rows: [Row] = [
    Row(slack: 0, tolerated: 0, quiet: .admit, busy: .admit, overloaded: .admit),
    Row(slack: 5, tolerated: 0, quiet: .admit, busy: .admit, overloaded: .admit),
    Row(slack: 60_000, tolerated: 0, quiet: .admit, busy: .postpone, overloaded: .postpone),
    Row(slack: 0, tolerated: 3, quiet: .admit, busy: .admit, overloaded: .shed),
    // It can wait: nothing of it need be lost yet.
    Row(slack: 60_000, tolerated: 3, quiet: .admit, busy: .postpone, overloaded: .postpone),
    Row(slack: 19, tolerated: 3, quiet: .admit, busy: .admit, overloaded: .shed),
  ]

  @Test("MOB-06, MOB-08, UNI-16: what is done with what has been declared, by load", arguments: rows)
  func table(row: Row) {
    let intent = Admission.Intent(slackMilliseconds: row.slack, toleratedRows: row.tolerated)
    for (load, expected) in [(Load.quiet, row.quiet), (.busy, row.busy), (.overloaded, row.overloaded)] {
      for random: UInt64 in [0, 1, 29_999, .max] {
        switch Admission.decide(intent, under: load, random: random) {
        case .admit: #expect(expected == .admit)
        case .postpone(let wait):
          #expect(expected == .postpone && wait <= row.slack && wait >= row.slack / 2, "within what it can wait (I12)")
        case .shed(let wait): #expect(expected == .shed && wait > 0)
        }
      }
    }
  }

  @Test("Nothing is put off for longer than is worth asking, however long it could wait")
  func bounded() {
    let intent = Admission.Intent(slackMilliseconds: .max)
    let longest = SyncLimits.longestPostponementMilliseconds
    for random: UInt64 in [0, 77, .max] {
      guard case .postpone(let wait) = Admission.decide(intent, under: .busy, random: random) else {
        Issue.record("not postponed")
        continue
      }
      #expect((longest / 2...longest).contains(wait))
    }
  }

  @Test("Load is the share of frames at once; storage that turns work away is overload for a while")
  func load() {
    var meter = LoadMeter(capacity: 8)
    var seen: [Load] = []
    for _ in 0..<8 {
      meter.begin()
      seen.append(meter.load(at: 0))
    }
    #expect(seen == [.quiet, .quiet, .quiet, .quiet, .busy, .busy, .overloaded, .overloaded])
    for _ in 0..<8 { meter.end() }
    #expect(meter.load(at: 0) == .quiet)
    meter.turnedAway(at: 5)
    #expect(meter.load(at: 5) == .overloaded && meter.load(at: 5 + SyncLimits.overloadNanoseconds) == .quiet)
  }
}
