import CaravanAgentCore
import Testing

/// Goal: an app is told of a row once, however often it changed. Method: events added one after the other.
@Suite struct PendingUpcallsTests {
  @Test("SIM-23: a row that changed twice is named once, where it changed last; the oldest names give way")
  func namedOnce() {
    var pending = PendingUpcalls(number: 1)
    pending.add(.changed, EventRows(count: 2, names: ["a", "b"]), limit: 3)
    pending.add(.changed, EventRows(count: 1, names: ["a"]), limit: 3)
    #expect(pending.changed == EventRows(count: 3, names: ["b", "a"]))
    pending.add(nil, EventRows(count: 2, names: ["c", "d"]), limit: 3)
    #expect(pending.changed == EventRows(count: 5, names: ["a", "c", "d"]))
    #expect(pending.lost.names.isEmpty && pending.contested.names.isEmpty)
  }
}
