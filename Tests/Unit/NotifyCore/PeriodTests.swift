import CaravanModel
import CaravanNotifyCore
import Testing

/// Goal: timers fire on multiples of their period on the wall clock. Method: tables of times, and the pure machine.
@Suite struct PeriodTests {
  @Test(
    "MOB-33 first delay is the period minus now modulo the period",
    arguments: [
      (wall: 0, period: 60_000, next: 60_000), (1, 60_000, 60_000), (59_999, 60_000, 60_000), (60_000, 60_000, 120_000),
      (61_000, 120_000, 120_000), (1_700_000_000_123, 1_000, 1_700_000_001_000), (-1, 60_000, 0),
      (-60_000, 60_000, 0),
    ] as [(wall: Int64, period: UInt32, next: Int64)])
  func firstDelay(row: (wall: Int64, period: UInt32, next: Int64)) {
    #expect(PeriodClock.next(after: row.wall, period: row.period) == row.next)
  }

  @Test("MOB-33 a change waits for the next multiple, and not longer")
  func waitsForMultiple() throws {
    var machine = try partition([phone: list(1, [("a", 60_000)])])
    let now = moment(5_000, wallAhead: 50_000)
    #expect(machine.changed(zone("a"), writer: "alice/tablet/1", position: 1, now: now).sends.isEmpty)
    #expect(machine.wake == Wake(wall: 60_000))
    #expect(machine.tick(moment(9_999, wallAhead: 50_000)).sends.isEmpty)
    #expect(machine.tick(moment(10_000, wallAhead: 50_000)).sends.map(\.bitmap.set) == [[0]])
  }

  @Test("MOB-34, E10: 60 s and 120 s coincide on the 120th second: one notification covers both")
  func harmonicPeriodsCoincide() throws {
    var machine = try partition([phone: list(1, [("a", 60_000), ("b", 120_000)])])
    _ = machine.changed(zone("b"), writer: "alice/tablet/1", position: 1, now: moment(10_000))
    #expect(machine.tick(moment(60_000)).sends.isEmpty)
    _ = machine.changed(zone("a"), writer: "alice/tablet/1", position: 2, now: moment(61_001))
    let effects = machine.tick(moment(120_000))
    #expect(effects.sends.map(\.bitmap.set) == [[0, 1]])
  }

  @Test("MOB-33 a wall clock that goes back does not hold a timer for longer than its period")
  func clockGoesBack() throws {
    var machine = try partition([phone: list(1, [("a", 60_000)])])
    _ = machine.changed(zone("a"), writer: "alice/tablet/1", position: 1, now: moment(1_000, wallAhead: 3_600_000))
    #expect(machine.tick(moment(2_000)).sends.isEmpty)
    #expect(machine.wake == Wake(wall: 60_000))
    #expect(machine.tick(moment(60_000)).sends.count == 1)
  }

  @Test("MOB-31 what is at once takes along only what is ready: longer periods keep their time")
  func periodsKeepTheirTime() throws {
    var machine = try partition([phone: list(1, [("a", 0), ("b", 60_000)])])
    _ = machine.changed(zone("b"), writer: "alice/tablet/1", position: 1, now: moment(10))
    let first = machine.changed(zone("a"), writer: "alice/tablet/1", position: 2, now: moment(20))
    #expect(first.sends.map(\.bitmap.set) == [[0]])
    #expect(machine.acked(first.sends[0].number, device: phone, now: moment(30)).sends.isEmpty)
    #expect(machine.tick(moment(60_000)).sends.map(\.bitmap.set) == [[1]])
  }
}
