import CaravanClient
import CaravanWire
import Testing

/// Goal: an app that does not look for long is told all the same what it has to know, once (SIM-23, SIM-24, SIM-82).
/// Method: upcalls as the agent sends them.
@Suite struct UpcallQueueTests {
  private static func all(_ upcalls: [CaravanWire.Upcall]) -> [CaravanWire.Upcall] {
    var queue = UpcallQueue()
    for upcall in upcalls { queue.add(upcall) }
    var taken: [CaravanWire.Upcall] = []
    while let next = queue.next() { taken.append(next) }
    return taken
  }

  @Test("SIM-23, SIM-24: upcalls of one kind and table wait as one; news add up, conflicts are as many as there are")
  func merged() {
    let upcalls = [
      CaravanWire.Upcall(kind: .newData, table: "a", rows: 2), CaravanWire.Upcall(kind: .conflict, table: "a", rows: 3),
      CaravanWire.Upcall(kind: .newData, table: "b", rows: 1), CaravanWire.Upcall(kind: .newData, table: "a", rows: 5),
      CaravanWire.Upcall(kind: .conflict, table: "a", rows: 1),
    ]
    #expect(
      Self.all(upcalls) == [
        CaravanWire.Upcall(kind: .newData, table: "a", rows: 7),
        CaravanWire.Upcall(kind: .conflict, table: "a", rows: 1),
        CaravanWire.Upcall(kind: .newData, table: "b", rows: 1),
      ])
  }

  @Test("SIM-82: names of lost rows are not lost once more, however many upcalls there are")
  func lost() {
    var upcalls = (0..<500).map { CaravanWire.Upcall(kind: .newData, table: "t\($0 % 100)", rows: 1) }
    upcalls += [
      CaravanWire.Upcall(kind: .rowsLost, table: "a", rows: 2, lost: ["x", "y"]),
      CaravanWire.Upcall(kind: .rowsLost, table: "a", rows: 1, lost: ["z"]),
    ]
    let taken = Self.all(upcalls)
    #expect(taken.count == 101)
    #expect(taken.last == CaravanWire.Upcall(kind: .rowsLost, table: "a", rows: 3, lost: ["x", "y", "z"]))
    let many = (0..<3).map { part in
      let names = (0..<1_000).map { "\(part)-\($0)" }
      return CaravanWire.Upcall(kind: .rowsLost, table: "a", rows: 1_000, lost: names)
    }
    let last = Self.all(many)
    #expect(last.count == 1 && last[0].rows == 3_000)
    #expect(last[0].lost.count == ClientLimits.rowsNamed && last[0].lost.last == "2-999")
  }
}
