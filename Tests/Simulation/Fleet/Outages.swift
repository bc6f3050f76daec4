internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit

/// What goes wrong in the weeks of a fleet: with devices every day, with the cloud every few days.
struct Outages: Sendable {
  /// Mean time between two troubles of one device, and of the cloud.
  private static let devicePause = 2 * 86_400_000
  private static let cloudPause = 12 * 3_600_000

  private enum Trouble: String {
    case deviceDies = "device_dies"
    case away
    case cut
    case cellular
    case clock
    case serviceDies = "service_dies"
    case cloudDies = "cloud_dies"
    case brokerRestart = "broker_restart"
    case linkFaults
  }

  private static let ofDevices: [(weight: Int, element: Trouble)] = [
    (3, .deviceDies), (1, .away), (4, .cut), (2, .cellular), (1, .clock),
  ]
  private static let ofCloud: [(weight: Int, element: Trouble)] = [
    (4, .serviceDies), (1, .cloudDies), (1, .brokerRestart), (2, .linkFaults),
  ]

  let suite: Suite
  let reaches: [Reach]
  let counters: Counters
  private var dice: Dice

  init(_ suite: Suite, _ reaches: [Reach], _ counters: Counters, seed: UInt64) {
    self.suite = suite
    self.reaches = reaches
    self.counters = counters
    dice = Dice(seed: seed, "outages")
  }

  /// Until `end`; what is broken then is mended.
  mutating func run(until end: Instant, clock: any Clock) async {
    var devices = self
    await withDiscardingTaskGroup { group in
      group.addTask { [devices] in
        var cloud = devices
        cloud.dice = Dice(seed: cloud.dice.word(), "cloud")
        await cloud.visit(Self.ofCloud, every: Self.cloudPause, until: end, clock: clock)
      }
      await devices.visit(
        Self.ofDevices, every: Self.devicePause / suite.devices.count, until: end, clock: clock)
    }
  }

  private mutating func visit(
    _ troubles: [(weight: Int, element: Trouble)], every pause: Int, until end: Instant, clock: any Clock
  ) async {
    await withDiscardingTaskGroup { group in
      while clock.now < end {
        let pause = dice.milliseconds(1...(2 * pause))
        guard (try? await clock.sleep(for: min(pause, end - clock.now))) != nil, clock.now < end else { break }
        let trouble = dice.pick(weighted: troubles)
        counters.happened(trouble.rawValue)
        let (length, mend) = await cause(trouble)
        group.addTask {
          try? await clock.sleep(for: min(length, end - clock.now))
          await mend()
        }
      }
    }
  }

  private typealias Mending = @Sendable () async -> Void

  private mutating func minutes(_ range: ClosedRange<Int>) -> Duration { .seconds(60 * dice.within(range)) }

  /// - Returns: how long it lasts, and what ends it.
  private mutating func cause(_ trouble: Trouble) async -> (Duration, Mending) {
    let (hub, faults) = (suite.ground.hub, suite.ground.faults)
    let number = dice.below(suite.devices.count)
    let (device, reach) = (suite.devices[number], reaches[number])
    switch trouble {
    case .deviceDies: return (minutes(1...600), die([device.part]))
    case .away:
      await reach.put(.away)
      return (minutes(600...5_760), { await reach.remove(.away) })
    case .cut:
      hub.disconnect(device.name)
      return (minutes(1...60), { hub.reconnect(device.name) })
    case .cellular:
      await reach.use(.cellular)
      return (minutes(30...600), { await reach.use(.wifi) })
    case .clock:
      device.part.machine.adjustWallTime(by: .seconds(dice.within(0...600) - 300))
      return (.zero, {})
    case .serviceDies: return (dice.milliseconds(1_000...120_000), die([dice.pick(suite.services)]))
    case .cloudDies: return (minutes(5...120), die(suite.services))
    case .brokerRestart:
      let names = suite.parts.map(\.name)
      for name in names { hub.disconnect(name) }
      return (dice.milliseconds(500...30_000), { for name in names { hub.reconnect(name) } })
    case .linkFaults:
      faults.set(FaultPlan.Rates(lost: 30, duplicated: 30, delayed: 300, longestDelay: .seconds(2)))
      return (minutes(5...90), { faults.set(FaultPlan.Rates()) })
    }
  }

  private func die(_ parts: [Part]) -> Mending {
    for part in parts { suite.crash(part) }
    return { for part in parts { part.start() } }
  }
}
