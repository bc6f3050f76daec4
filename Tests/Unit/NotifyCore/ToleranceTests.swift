import CaravanModel
import CaravanNotifyCore
import Testing

/// Goal: what may wait goes with what goes anyway, and no later than its subscription tolerates (MOB-57). Method: the
/// pure machine.
@Suite struct ToleranceTests {
  private static func list(
    _ generation: UInt64, _ items: [(zone: String, period: UInt32, tolerance: UInt32)]
  ) throws -> DeviceList {
    try DeviceList(
      generation: generation,
      items: items.map { DeviceList.Item(zone: zone($0.zone), period: $0.period, tolerance: $0.tolerance) })
  }

  private static func change(
    _ name: String, _ position: UInt64, at time: Int64, _ machine: inout PartitionNotifier
  ) -> [PendingNotification] {
    machine.changed(zone(name), writer: "alice/tablet/1", position: position, now: moment(time)).sends
  }

  @Test("MOB-57: alone it waits as long as it tolerates, and says how long it has waited")
  func alone() throws {
    var machine = try partition([phone: Self.list(1, [("a", 0, 5_000)])])
    #expect(Self.change("a", 1, at: 100, &machine).isEmpty)
    #expect(Self.change("a", 2, at: 3_000, &machine).isEmpty, "a later change has no time of its own")
    #expect(machine.wake == Wake(monotonic: 5_100) && machine[phone]?.oldestUnconfirmed == 1)
    #expect(machine.tick(moment(5_099)).sends.isEmpty)
    let sent = machine.tick(moment(5_100)).sends
    #expect(sent.map(\.bitmap.set) == [[0]] && sent.map(\.waited) == [5_000])
    #expect(machine.acked(sent[0].number, device: phone, now: moment(5_200)).sends.isEmpty)
    #expect(machine[phone]?.oldestUnconfirmed == nil && machine.wake == Wake())
  }

  @Test("MOB-57: it goes with what goes anyway, and then needs no notification of its own")
  func ridesAlong() throws {
    var machine = try partition([phone: Self.list(1, [("a", 0, 60_000), ("b", 0, 0), ("c", 0, 30_000)])])
    #expect(Self.change("a", 1, at: 0, &machine).isEmpty && Self.change("c", 2, at: 10, &machine).isEmpty)
    let sent = Self.change("b", 3, at: 2_000, &machine)
    #expect(sent.map(\.bitmap.set) == [[0, 1, 2]] && sent.map(\.waited) == [2_000])
    #expect(machine.acked(sent[0].number, device: phone, now: moment(2_100)).sends.isEmpty)
    #expect(machine.tick(moment(100_000)).sends.isEmpty && machine.wake == Wake())
    #expect(machine.confirmed == 3)
  }

  @Test("MOB-57: of several that wait, the least patient takes the others along")
  func leastPatient() throws {
    var machine = try partition([phone: Self.list(1, [("a", 0, 60_000), ("b", 0, 5_000)])])
    #expect(Self.change("a", 1, at: 0, &machine).isEmpty && Self.change("b", 2, at: 1_000, &machine).isEmpty)
    #expect(machine.wake == Wake(monotonic: 6_000))
    let sent = machine.tick(moment(6_000)).sends
    #expect(sent.map(\.bitmap.set) == [[0, 1]] && sent.map(\.waited) == [6_000])
  }

  @Test("MOB-31, MOB-57: a tolerance begins when the period is over; before that nothing takes it along")
  func afterPeriod() throws {
    var machine = try partition([phone: Self.list(1, [("a", 60_000, 20_000), ("b", 0, 0)])])
    #expect(Self.change("a", 1, at: 10, &machine).isEmpty)
    let early = Self.change("b", 2, at: 20, &machine)
    #expect(early.map(\.bitmap.set) == [[1]] && early.map(\.waited) == [0])
    #expect(machine.acked(early[0].number, device: phone, now: moment(30)).sends.isEmpty)
    #expect(machine.tick(moment(60_000)).sends.isEmpty && machine.wake == Wake(monotonic: 80_000))
    let sent = Self.change("b", 3, at: 70_000, &machine)
    #expect(sent.map(\.bitmap.set) == [[0, 1]] && sent.map(\.waited) == [10_000])
  }

  @Test("MOB-40, MOB-57: while a notification is out, what has waited long enough waits for its answer")
  func behindAnother() throws {
    var machine = try partition([phone: Self.list(1, [("a", 0, 500), ("b", 0, 0)])])
    let first = Self.change("b", 1, at: 0, &machine)
    #expect(first.count == 1 && Self.change("a", 2, at: 100, &machine).isEmpty)
    #expect(machine.wake == Wake(monotonic: NotifyLimits.firstRetryMilliseconds), "only to ask again")
    #expect(machine.tick(moment(700)).sends.isEmpty)
    let next = machine.acked(first[0].number, device: phone, now: moment(800)).sends
    #expect(next.map(\.bitmap.set) == [[0]] && next.map(\.waited) == [700])
  }

  @Test("MOB-43, MOB-57: what waits survives another list, and is told at once to who attaches")
  func survives() throws {
    var machine = try partition([phone: Self.list(1, [("a", 0, 60_000)])])
    #expect(Self.change("a", 1, at: 0, &machine).isEmpty)
    let told = try machine.setList(
      Self.list(2, [("b", 0, 0), ("a", 0, 60_000)]), of: phone, isCurrent: true, now: moment(10)
    ).sends
    #expect(told.map(\.bitmap.set) == [[1]] && told.map(\.waited) == [10])
    _ = machine.acked(told[0].number, device: phone, now: moment(20))
    #expect(Self.change("a", 2, at: 30, &machine).isEmpty)
    machine.attachBegan(phone)
    let back = machine.attached(phone, generation: 2, behind: nil, now: moment(40)).sends
    #expect(back.map(\.bitmap.set) == [[1]] && back.map(\.waited) == [0])
  }

  @Test("MOB-57: nothing waits for longer than an hour, as it holds the log")
  func bounded() throws {
    var machine = try partition([phone: Self.list(1, [("a", 0, .max)])])
    #expect(Self.change("a", 1, at: 0, &machine).isEmpty)
    #expect(machine.wake == Wake(monotonic: 3_600_000))
    #expect(machine.tick(moment(3_600_000)).sends.map(\.waited) == [3_600_000])
  }
}
