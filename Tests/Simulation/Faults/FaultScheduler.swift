internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStore
internal import CaravanTestKit

/// Everything that goes wrong, one thing after the other, as the seed says.
struct FaultScheduler: Sendable {
  let suite: Suite
  private var dice: Dice
  private var ground: Ground { suite.ground }

  init(_ suite: Suite, seed: UInt64) {
    self.suite = suite
    dice = Dice(seed: suite.scale.faultSeed ?? seed, "turmoil")
  }

  private enum Fault {
    case linkFaults, crashService, crashDevice, crashCloud, brokerRestart, cut, unplug, link, wallClock, dropZone
  }

  private static let faults: [(weight: Int, element: Fault)] = [
    (3, .linkFaults), (3, .crashService), (4, .crashDevice), (1, .crashCloud), (1, .brokerRestart), (2, .cut),
    (2, .unplug), (2, .link), (1, .wallClock), (1, .dropZone),
  ]

  /// Until `end`; what is still broken then stays broken.
  mutating func run(until end: Instant, clock: any Clock) async {
    // What a fault takes away comes back by itself, while the next ones happen.
    await withDiscardingTaskGroup { group in
      var left = suite.scale.faults ?? .max
      while clock.now < end, left > 0 {
        left -= 1
        let pause = dice.milliseconds(1_000...(2 * suite.scale.faultPause))
        guard (try? await clock.sleep(for: pause)) != nil, clock.now < end else { break }
        let repair = cause(dice.pick(weighted: Self.faults))
        group.addTask { await repair(clock) }
      }
    }
  }

  private typealias Repair = @Sendable (any Clock) async -> Void

  private mutating func cause(_ fault: Fault) -> Repair {
    switch fault {
    case .linkFaults: return linkFaults()
    case .crashService: return crash([dice.pick(suite.services)])
    case .crashDevice: return crash([dice.pick(suite.people)])
    case .crashCloud: return suite.scale.hasPowerCuts && dice.happens(500) ? crash(suite.parts) : crashCloud()
    case .brokerRestart: return disconnect(suite.parts.map(\.name))
    case .cut: return cut()
    case .unplug: return disconnect([dice.pick(suite.people).name])
    case .link: return changeLink()
    case .wallClock: return jump()
    case .dropZone: return dropZone()
    }
  }

  /// - Returns: how long the trouble lasts: mostly seconds, sometimes about a minute.
  private mutating func duration() -> Duration {
    dice.happens(800) ? dice.milliseconds(50...6_000) : dice.milliseconds(6_000...70_000)
  }

  private mutating func linkFaults() -> Repair {
    let rates: [(weight: Int, element: FaultPlan.Rates)] = [
      (2, .init()), (3, .init(delayed: 900, longestDelay: .milliseconds(80))),
      (3, .init(lost: 30, duplicated: 30, delayed: 100, longestDelay: .milliseconds(400))),
      (2, .init(lost: 150, duplicated: 100, delayed: 300, longestDelay: .seconds(3))),
      (1, .init(lost: 20, duplicated: 300, delayed: 600, longestDelay: .seconds(25))),
    ]
    let chosen = dice.pick(weighted: rates)
    ground.recorder.note(
      "linkFaults: \(chosen.lost) lost, \(chosen.duplicated) doubled, \(chosen.delayed) delayed of 1000")
    ground.faults.set(chosen)
    return { _ in }
  }

  private mutating func crash(_ parts: [Part]) -> Repair {
    for part in parts { suite.crash(part) }
    let pauses = parts.map { _ in duration() }
    return { clock in
      await withDiscardingTaskGroup { group in
        for (part, pause) in zip(parts, pauses) {
          group.addTask {
            try? await clock.sleep(for: pause)
            part.start()
          }
        }
      }
    }
  }

  /// Sometimes it comes back without its key: every device's tokens are refused, and each table starts over.
  private mutating func crashCloud() -> Repair {
    let repair = crash(suite.services)
    if dice.happens(400) {
      ground.recorder.note("the cloud has lost its key")
      suite.keyring.renew(UInt8(dice.below(200)))
    }
    return repair
  }

  /// Somebody who looks after the cloud deletes a table; whoever writes next makes it anew (CK-45).
  private mutating func dropZone() -> Repair {
    // What a restore would bring back nobody could tell.
    guard !suite.scale.hasRestore else { return { _ in } }
    let (_, place) = dice.pick(suite.scale.places(of: dice.pick(suite.scale.users)))
    ground.recorder.note("\(place) is deleted at the cloud")
    return { [vault = suite.vault] _ in
      guard let zone = try? ZoneID(place.database, place.table) else { return }
      _ = try? await vault.store?.deleteZone(zone, writer: "operator")
    }
  }

  private mutating func disconnect(_ names: [String]) -> Repair {
    ground.recorder.note("no connection: \(names)")
    for name in names { ground.hub.disconnect(name) }
    let pause = duration()
    return { [ground] clock in
      try? await clock.sleep(for: pause)
      ground.recorder.note("connected again: \(names)")
      for name in names { ground.hub.reconnect(name) }
    }
  }

  private mutating func cut() -> Repair {
    let names = suite.parts.map(\.name)
    let (a, b) = (dice.pick(names), dice.pick(names))
    guard a != b else { return { _ in } }
    ground.recorder.note("nothing passes between \(a) and \(b)")
    ground.faults.cut(a, b)
    let pause = duration()
    return { [ground] clock in
      try? await clock.sleep(for: pause)
      ground.faults.heal(a, b)
    }
  }

  private mutating func changeLink() -> Repair {
    let device = dice.pick(suite.devices)
    let links: [(weight: Int, element: LinkClass?)] = [(3, nil), (2, .cellular), (1, .roaming), (1, .wired)]
    let link = dice.pick(weighted: links)
    ground.recorder.note("\(device.name) has \(link?.name ?? "no") link")
    let pause = duration()
    return { clock in
      await device.setLink(link)
      try? await clock.sleep(for: pause)
      await device.setLink(.wifi)
    }
  }

  /// Devices may be hours off, machines of the cloud seconds; storage's any time, until somebody sets it right.
  private mutating func jump() -> Repair {
    let part = dice.pick(suite.parts)
    if part.name == "storage" { return jumpFar(part) }
    let isDevice = suite.people.contains { $0.name == part.name }
    let reach = isDevice ? 7_200_000 : 20_000
    let jump = Duration.milliseconds(dice.within(0...(2 * reach)) - reach)
    ground.recorder.note("\(part.name)'s wall clock jumps by \(jump)")
    // It may be another day.
    ground.egressGuard.ration(part.name, nil)
    part.machine.adjustWallTime(by: jump)
    return { _ in }
  }

  private mutating func jumpFar(_ part: Part) -> Repair {
    let hour = Duration.seconds(3_600)
    let reach = dice.pick([hour, hour * 24, hour * 24 * 30, hour * 24 * 365, hour * 24 * 3_650])
    let jump = dice.happens(500) ? reach : .zero - reach
    ground.recorder.note("\(part.name)'s wall clock jumps by \(jump)")
    part.machine.adjustWallTime(by: jump)
    let pause = duration()
    return { [ground] clock in
      try? await clock.sleep(for: pause)
      ground.recorder.note("\(part.name)'s wall clock is set right")
      part.machine.adjustWallTime(by: .zero - jump)
    }
  }
}
