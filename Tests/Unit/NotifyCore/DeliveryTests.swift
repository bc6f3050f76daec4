import CaravanModel
import CaravanNotifyCore
import CaravanTestKit
import Testing

/// Goal: every change reaches every other device of its zone, in as few notifications as the answers allow.
/// Method: the pure machine of one partition.
@Suite struct DeliveryTests {
  @Test("SIM-66 a change at period 0 is offered at once") func atOnce() throws {
    var machine = try partition([phone: list(7, [("a", 0), ("b", 0)])])
    let pending = machine.changed(zone("b"), writer: "alice/tablet/1", position: 1, now: moment(0)).sends.first
    #expect(pending?.bitmap.bytes == [0b10])
    #expect(pending?.generation == 7)
  }

  @Test("CK-81 who made the change does not hear of it, others do") func originExcluded() throws {
    var machine = try partition([phone: list(1, [("a", 0)]), tablet: list(1, [("a", 0)])])
    let effects = machine.changed(zone("a"), writer: "alice/phone/1", position: 1, now: moment(0))
    #expect(effects.sends.map(\.device) == [tablet])
  }

  @Test("MOB-40 a burst becomes two notifications: the first change, and all the others once that is answered")
  func burst() throws {
    var machine = try partition([phone: list(1, [("a", 0), ("b", 0)])])
    let first = machine.changed(zone("a"), writer: "x", position: 1, now: moment(0)).sends
    var coalesced = 0
    for position in 2...100 {
      let effects = machine.changed(
        zone(position % 2 == 0 ? "a" : "b"), writer: "x", position: UInt64(position), now: moment(0))
      #expect(effects.sends.isEmpty)
      coalesced += effects.coalesced
    }
    #expect(coalesced == 97)
    let second = machine.acked(first[0].number, device: phone, now: moment(1)).sends
    #expect(second.map(\.bitmap.set) == [[0, 1]])
    #expect(machine.acked(second[0].number, device: phone, now: moment(2)).sends.isEmpty)
    #expect(machine.wake == Wake())
  }

  @Test("MOB-43 no answer: sent again with growing waits, then the device is away and nothing is lost")
  func retriesThenAway() throws {
    var machine = try partition([phone: list(1, [("a", 0), ("b", 60_000)])])
    let first = machine.changed(zone("a"), writer: "x", position: 1, now: moment(0)).sends[0]
    _ = machine.changed(zone("b"), writer: "x", position: 2, now: moment(0))
    var sendings = 1
    var time: Int64 = 0
    var gaps: [Int64] = []
    while let due = machine.wake.monotonic {
      gaps.append(due - time)
      time = due
      let effects = machine.tick(moment(time))
      if !effects.gaveUp.isEmpty { break }
      #expect(effects.resends == [first])
      sendings += 1
    }
    #expect(sendings == NotifyLimits.sendings)
    #expect(gaps == [1_000, 2_000, 4_000, 8_000, 16_000, 16_000])
    #expect(machine[phone]?.presence == .away)
    #expect(machine.wake == Wake())
    #expect(machine.changed(zone("a"), writer: "x", position: 3, now: moment(time)).sends.isEmpty)
    let back = machine.attached(phone, generation: 1, behind: nil, now: moment(time + 1)).sends
    #expect(back.map(\.bitmap.set) == [[0, 1]])
  }

  @Test("MOB-43 an answer to another notification changes nothing") func foreignAck() throws {
    var machine = try partition([phone: list(1, [("a", 0)])])
    let first = machine.changed(zone("a"), writer: "x", position: 1, now: moment(0)).sends[0]
    _ = machine.acked(first.number + 1, device: phone, now: moment(1))
    _ = machine.acked(first.number, device: EnrolledDevice("mallory", "phone"), now: moment(1))
    #expect(machine.tick(moment(1_000)).resends == [first])
  }

  @Test("MOB-43 attaching offers what the store has more of, and what changed while that was found out")
  func attachPending() throws {
    var machine = try partition([phone: list(1, [("a", 0), ("b", 0), ("c", 0)])])
    let first = machine.changed(zone("a"), writer: "x", position: 1, now: moment(0)).sends[0]
    machine.attachBegan(phone)
    _ = machine.changed(zone("b"), writer: "x", position: 2, now: moment(1))
    var behind = Bitmap(count: 3)
    behind[2] = true
    let pending = machine.attached(phone, generation: 1, behind: behind, now: moment(2)).sends
    // `a` was seen by the device, though its answer is not here yet.
    #expect(pending.map(\.bitmap.set) == [[1, 2]])
    #expect(machine.acked(first.number, device: phone, now: moment(3)).sends.isEmpty)
    #expect(machine.tick(moment(1_002)).resends == pending)
  }

  @Test("MOB-43 what is offered once more after an attachment holds the cursor back like the first offer")
  func attachHoldsCursor() throws {
    var machine = try partition([phone: list(1, [("a", 0)])])
    _ = machine.changed(zone("a"), writer: "x", position: 4, now: moment(0))
    #expect(machine.confirmed == 3)
    machine.attachBegan(phone)
    var behind = Bitmap(count: 1)
    behind[0] = true
    let pending = machine.attached(phone, generation: 1, behind: behind, now: moment(1)).sends[0]
    #expect(machine.confirmed == 3)
    _ = machine.acked(pending.number, device: phone, now: moment(2))
    #expect(machine.confirmed == 4)
  }

  @Test("MOB-43 a device that is behind in nothing hears nothing") func attachedAndCurrent() throws {
    var machine = try partition([phone: list(1, [("a", 0)])])
    _ = machine.changed(zone("a"), writer: "x", position: 1, now: moment(0))
    machine.attachBegan(phone)
    #expect(machine.attached(phone, generation: 1, behind: Bitmap(count: 1), now: moment(2)).sends.isEmpty)
    #expect(machine.wake == Wake())
  }

  @Test("E13 the order changes while a notification is out: offered again under the new generation")
  func generationChanges() throws {
    var machine = try partition([phone: list(1, [("a", 0), ("b", 0)])])
    let first = machine.changed(zone("b"), writer: "x", position: 1, now: moment(0)).sends[0]
    let effects = try machine.setList(
      list(2, [("b", 0), ("c", 0)]), of: phone, isCurrent: true, now: moment(1))
    #expect(effects.sends.map(\.generation) == [2])
    #expect(effects.sends.map(\.bitmap.set) == [[0]])
    #expect(effects.sends[0].number > first.number)
    // The late answer to the old numbering confirms nothing.
    #expect(machine.acked(first.number, device: phone, now: moment(2)).sends.isEmpty)
    #expect(machine.tick(moment(1_001)).resends == effects.sends)
  }

  @Test("E13 a dropped table leaves its bit out, a stale list from the store changes nothing")
  func dropAndStaleList() throws {
    var machine = try partition([phone: list(3, [("a", 0), ("b", 0)])])
    _ = try machine.setList(list(2, [("b", 0)]), of: phone, isCurrent: false, now: moment(0))
    #expect(machine[phone]?.list.generation == 3)
    _ = try machine.setList(list(4, [("b", 0)]), of: phone, isCurrent: true, now: moment(0))
    #expect(machine.changed(zone("a"), writer: "x", position: 1, now: moment(0)).sends.isEmpty)
    #expect(machine.changed(zone("b"), writer: "x", position: 2, now: moment(0)).sends.map(\.bitmap.set) == [[0]])
  }

  @Test("E13 what was seen under another generation is not believed") func attachWithForeignGeneration() throws {
    var machine = try partition([phone: list(2, [("a", 0)])])
    machine.attachBegan(phone)
    _ = machine.changed(zone("a"), writer: "x", position: 1, now: moment(0))
    let pending = machine.attached(phone, generation: 1, behind: Bitmap(count: 1), now: moment(1)).sends
    #expect(pending.map(\.bitmap.set) == [[0]])
  }

  @Test("the cursor stays behind what is not confirmed, and passes who is away") func cursor() throws {
    var machine = try partition([phone: list(1, [("a", 0), ("b", 60_000)]), tablet: list(1, [("c", 0)])])
    #expect(machine.confirmed == 0)
    let first = machine.changed(zone("a"), writer: "x", position: 5, now: moment(0)).sends[0]
    _ = machine.changed(zone("b"), writer: "x", position: 6, now: moment(0))
    _ = machine.changed(zone("z"), writer: "x", position: 9, now: moment(0))
    #expect(machine.confirmed == 4)
    _ = machine.acked(first.number, device: phone, now: moment(1))
    #expect(machine.confirmed == 5)
    let second = machine.tick(moment(60_000)).sends[0]
    #expect(machine.confirmed == 5)
    _ = machine.acked(second.number, device: phone, now: moment(60_001))
    #expect(machine.confirmed == 9)
    _ = machine.changed(zone("c"), writer: "x", position: 10, now: moment(60_002))
    #expect(machine.confirmed == 9)
    while let due = machine.wake.monotonic { _ = machine.tick(moment(due)) }
    #expect(machine.confirmed == 10)
  }

  @Test("MOB-43 a new owner offers everything once, spread, unless the device attaches") func sweep() throws {
    var machine = try partition([phone: list(1, [("a", 0), ("b", 60_000)]), tablet: list(1, [("a", 0)])])
    machine.sweep(phone, now: moment(0))
    machine.sweep(tablet, now: moment(0))
    machine.attachBegan(tablet)
    _ = machine.attached(tablet, generation: 1, behind: Bitmap(count: 1), now: moment(0))
    let due = try #require(machine.wake.monotonic)
    #expect(due < NotifyLimits.sweepMilliseconds)
    let effects = machine.tick(moment(due))
    #expect(effects.sends.map(\.device) == [phone])
    #expect(effects.sends.map(\.bitmap.set) == [[0, 1]])
  }

  @Test("a partition takes no more devices than its bound") func bound() throws {
    var machine = PartitionNotifier(startedAt: 0, position: 0, deviceLimit: 1)
    _ = try machine.setList(list(1, []), of: phone, isCurrent: true, now: moment(0))
    let error = #expect(throws: CaravanError.self) {
      try machine.setList(list(1, []), of: tablet, isCurrent: true, now: moment(0))
    }
    #expect(error?.code == .limitExceeded)
    machine.remove(phone)
    _ = try machine.setList(list(1, []), of: tablet, isCurrent: true, now: moment(0))
    #expect(machine.deviceCount == 1)
  }
}
