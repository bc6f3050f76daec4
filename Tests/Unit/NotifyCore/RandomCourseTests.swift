import CaravanModel
import CaravanNotifyCore
import CaravanTestKit
import Testing

/// Goal: nothing that changed stays untold, whatever is lost, late, or set back. Method: random courses of one
/// partition beside the set of what each device has not heard yet; the notifier stops the test where what it keeps does
/// not agree.
@Suite struct RandomCourseTests {
  private struct Course {
    var machine = PartitionNotifier(startedAt: 0, position: 0)
    var chance: SplitMix64
    let devices = [phone, tablet, EnrolledDevice("alice", "watch")]
    let zones = ["a", "b", "c", "d"]
    /// Zones of its list that have changed since a notification was sent that says so.
    var untold: [EnrolledDevice: Set<ZoneID>] = [:]
    /// Those that the notification speaks of that is out.
    var underway: [EnrolledDevice: Set<ZoneID>] = [:]
    var pending: [EnrolledDevice: [PendingNotification]] = [:]
    var numbers: Set<UInt64> = []
    var generation: UInt64 = 0
    var position: UInt64 = 0
    var time: Int64 = 1_000_000
    var wallAhead: Int64 = 0

    var now: Moment { moment(time, wallAhead: wallAhead) }

    mutating func take(_ effects: PartitionNotifier.Effects) {
      for sent in effects.sends {
        let isNew = numbers.insert(sent.number).inserted
        #expect(isNew, "a number was given twice")
        pending[sent.device, default: []].append(sent)
        let items = machine[sent.device]?.list.items ?? []
        let told = Set(sent.bitmap.set.map { items[$0].zone })
        untold[sent.device, default: []].formUnion(underway[sent.device] ?? [])
        untold[sent.device]?.subtract(told)
        underway[sent.device] = told
      }
      for pending in effects.resends { #expect(numbers.contains(pending.number)) }
    }

    mutating func setList(_ device: EnrolledDevice) throws {
      generation += 1
      let (periods, tolerances): ([UInt32], [UInt32]) = ([0, 1_000, 60_000], [0, 0, 5_000, 600_000])
      let items = zones.filter { _ in Bool.random(using: &chance) }.map { name in
        DeviceList.Item(
          zone: zone(name), period: periods.randomElement(using: &chance) ?? 0,
          tolerance: tolerances.randomElement(using: &chance) ?? 0)
      }
      let new = try DeviceList(generation: generation, items: items)
      let wanted = Set(new.items.map(\.zone))
      // A device looks at the zones of a new list by itself.
      untold[device] = untold[device, default: []].intersection(wanted)
      underway[device] = underway[device, default: []].intersection(wanted)
      take(try machine.setList(new, of: device, isCurrent: true, now: now))
    }

    mutating func change() {
      position += UInt64.random(in: 1...3, using: &chance)
      let changed = zone(zones.randomElement(using: &chance) ?? "a")
      let writer = devices.randomElement(using: &chance) ?? phone
      let inlinePage = InlinePage(
        incarnation: 1, low: position - 1, high: position, page: [UInt8](repeating: 1, count: 3_000))
      take(machine.changed(changed, writer: writer.text, position: position, now: now) { inlinePage })
      for device in devices where device != writer {
        guard machine[device]?.list.items.contains(where: { $0.zone == changed }) == true else { continue }
        untold[device, default: []].insert(changed)
      }
    }

    /// The device confirms a notification; one that is late says nothing.
    mutating func acknowledge(_ device: EnrolledDevice) {
      guard let chosen = pending[device]?.randomElement(using: &chance) else { return }
      let isLast = chosen.number == pending[device]?.last?.number
      let before = machine[device]?.oldestUnconfirmed
      if isLast, machine[device]?.presence == .present, machine[device]?.list.generation == chosen.generation {
        underway[device] = []
      }
      take(machine.acked(chosen.number, device: device, now: now))
      if !isLast { #expect(machine[device]?.oldestUnconfirmed == before) }
    }

    mutating func step() throws {
      let device = devices.randomElement(using: &chance) ?? phone
      switch Int.random(in: 0..<12, using: &chance) {
      case 0: try setList(device)
      case 1: wallAhead += Int64.random(in: -100_000...100_000, using: &chance)
      case 2:
        machine.attachBegan(device)
        if Bool.random(using: &chance) { change() }
        let generation = machine[device]?.list.generation ?? 0
        take(machine.attached(device, generation: generation, behind: nil, now: now))
      case 3: machine.sweep(device, now: now)
      case 4...6: change()
      case 7...8: acknowledge(device)
      default:
        time += Int64.random(in: 0...20_000, using: &chance)
        take(machine.tick(now))
      }
      #expect(machine.confirmed <= position)
    }
  }

  @Test("MOB-40, MOB-43: whatever happened, once every device attaches and answers, each has heard of all that changed")
  func nothingUntold() throws {
    for seed in 1..<151 as Range<UInt64> {
      var course = Course(chance: SplitMix64(seed: seed))
      for device in course.devices { try course.setList(device) }
      for _ in 0..<200 { try course.step() }
      let expected = course.untold.merging(course.underway) { $0.union($1) }
      for device in course.devices {
        guard let list = course.machine[device]?.list else { continue }
        // What changed and was not confirmed is held in the log, or the device is away and will ask.
        course.machine.attachBegan(device)
        course.pending[device] = []
        course.take(
          course.machine.attached(device, generation: list.generation, behind: nil, now: course.now))
        var heard: Set<ZoneID> = []
        for _ in 0..<50 {
          for pending in course.pending[device] ?? [] {
            heard.formUnion(pending.bitmap.set.map { list.items[$0].zone })
          }
          guard let last = course.pending[device]?.last else { break }
          course.pending[device] = []
          course.take(course.machine.acked(last.number, device: device, now: course.now))
        }
        let untold = expected[device] ?? []
        #expect(untold.isSubset(of: heard), "seed \(seed): \(device) has not heard of \(untold.subtracting(heard))")
        #expect(course.machine[device]?.oldestUnconfirmed == nil)
      }
      #expect(course.machine.confirmed == course.position, "seed \(seed)")
    }
  }
}
