import CaravanModel
import CaravanNotifyCore
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: nobody's timer is forgotten, however many there are and whatever happens to them. Method: random events; the
/// partition's next wake is compared with what a look at every device says.
@Suite struct TimesTests {
  private static let devices = (0..<40).map { EnrolledDevice("alice", "d\($0)") }

  private static func list(_ random: SeededRandom, _ generation: UInt64) throws -> DeviceList {
    let names = ["a", "b", "c", "d"].prefix(Int(1 + random.below(4)))
    return try NotifyCoreTests.list(generation, names.map { ($0, [0, 500, 2_000, 60_000][Int(random.below(4))]) })
  }

  @Test("MOB-33, MOB-43 the next wake is the earliest of all devices', and ticking never misses one", arguments: 1...8)
  func earliest(seed: Int) throws {
    let random = SeededRandom(seed: UInt64(seed))
    var machine = PartitionNotifier(startedAt: 0, position: 0)
    var now = moment(0)
    var outstanding: [EnrolledDevice: UInt64] = [:]
    func note(_ effects: PartitionNotifier.Effects) {
      for pending in effects.sends { outstanding[pending.device] = pending.number }
    }
    for step in 1...2_000 {
      let device = Self.devices[Int(random.below(40))]
      now.monotonic += Int64(random.below(300))
      // Now and then the wall clock jumps, either way.
      now.wall += random.below(40) == 0 ? Int64(random.below(200_000)) - 100_000 : Int64(random.below(300))
      switch random.below(10) {
      case 0:
        let list = try Self.list(random, UInt64(step))
        note(try machine.setList(list, of: device, isCurrent: true, now: now))
      case 1: machine.remove(device)
      case 2: machine.sweep(device, now: now)
      case 3...5:
        let name = ["a", "b", "c", "d"][Int(random.below(4))]
        note(machine.changed(zone(name), writer: device.text, position: UInt64(step), now: now))
      case 6, 7:
        if let number = outstanding[device] { note(machine.acked(number, device: device, now: now)) }
      case 8: note(machine.attached(device, generation: UInt64(step), behind: nil, now: now))
      default: note(machine.tick(now))
      }
      let all = Self.devices.compactMap { machine[$0]?.wake }
      #expect(machine.nextWake() == all.reduce(Wake()) { $0.earlier($1) }, "step \(step)")
    }
    // Without anybody answering, everything comes to rest.
    for _ in 0..<10_000 {
      guard let delay = machine.nextWake().delay(from: now) else { break }
      now.monotonic += delay
      now.wall += delay
      _ = machine.tick(now)
    }
    #expect(machine.nextWake() == Wake())
  }
}
