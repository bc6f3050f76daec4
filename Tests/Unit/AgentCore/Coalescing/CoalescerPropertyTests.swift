import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import Foundation
import Testing

/// Goal: promises hold whatever apps ask for, and no schedule does with fewer transfers. Method: random apps, many
/// seeds, and beside them the rules written out again, with the future known.
@Suite struct CoalescerPropertyTests {
  /// `CARAVAN_LONG` set: as many as the requirement names. `caravan bench radio` plays 100 of its own each time.
  private static let seeds: Range<UInt64> =
    ProcessInfo.processInfo.environment["CARAVAN_LONG"] == nil ? 1..<21 : 1..<101
  private static let hour: UInt64 = 3_600 * RandomApps.second

  @Test(
    "I12, MOB-09, MOB-31: every deadline is met, with at most 5 % more transfers than the optimum, for 20 random apps")
  func optimum() {
    var ratios: [Double] = []
    for seed in Self.seeds {
      var apps = RandomApps(seed: seed, count: 20)
      apps.live(for: Self.hour)
      apps.drain()
      let late = apps.writes.filter { $0.taken ?? .max > $0.deadline }
      #expect(late.isEmpty, "seed \(seed)")
      let optimum = TransferOptimum(apps.writes.map { .init(release: $0.release, deadline: $0.deadline) })
      ratios.append(Double(Set(apps.sent.map(\.at)).count) / Double(optimum.moments.count))
      #expect(apps.sent.map(\.transfer.late).allSatisfy { $0 == 0 })
    }
    let (best, worst) = (ratios.min() ?? 0, ratios.max() ?? 0)
    #expect(worst <= 1.05, "the worst seed takes \(worst) times the transfers of the optimum")
    #expect(best >= 1, "no schedule is better than the optimum: the oracle is wrong")
  }

  @Test("MOB-01, MOB-02: an object's own tolerance holds whatever its table's")
  func intents() {
    for seed in Self.seeds {
      var apps = RandomApps(seed: seed, count: 8)
      apps.live(for: Self.hour / 2, intents: true)
      apps.drain()
      let late = apps.writes.filter { $0.taken ?? .max > $0.deadline }
      #expect(late.isEmpty, "seed \(seed)")
    }
  }

  @Test("I13, MOB-44, MOB-45, MOB-46: no transfer over a link its table or the user refuses, none late for want of one")
  func links() {
    for seed in Self.seeds {
      var apps = RandomApps(seed: seed, count: 10, links: LinkClass.allCases)
      apps.live(for: Self.hour / 2) { apps in
        guard apps.random.below(4) == 0 else { return }
        let link = apps.random.below(5) == 0 ? nil : LinkClass.allCases[Int(apps.random.below(4))]
        apps.connect(link, user: apps.random.below(3) == 0 ? LinkClass.allCases[Int(apps.random.below(4))] : .roaming)
      }
      apps.drain()
      let wishes = Dictionary(uniqueKeysWithValues: apps.tables.map { ($0.key, $0.registration) })
      let refused = apps.sent.filter { sent in
        !sent.transfer.items.allSatisfy { wishes[$0].map(sent.network.permits) == true }
      }
      #expect(refused.isEmpty, "seed \(seed)")
      let late = apps.writes.filter { write in
        guard let wish = wishes[write.key] else { return false }
        // The first moment from the deadline on at which the link would have done.
        let atDeadline = apps.networks.last { $0.since <= write.deadline }
        let later = apps.networks.first { $0.since > write.deadline && $0.permits(wish) }?.since
        guard let allowed = atDeadline?.permits(wish) == true ? write.deadline : later else { return false }
        return write.taken ?? .max > allowed
      }
      #expect(late.isEmpty, "seed \(seed)")
    }
  }

  @Test("MOB-33: however the wall clock jumps, a change waits no longer than its period and tolerance")
  func jumps() {
    for seed in Self.seeds {
      var apps = RandomApps(seed: seed, count: 6)
      apps.live(for: Self.hour / 2) { apps in
        guard apps.random.below(10) == 0 else { return }
        let span = Int64(apps.random.below(7_200_000)) - 3_600_000
        apps.jump(by: span)
      }
      apps.drain()
      let registrations = Dictionary(uniqueKeysWithValues: apps.tables.map { ($0.key, $0.registration) })
      let late = apps.writes.filter { write in
        guard let registration = registrations[write.key] else { return true }
        let bound = UInt64(registration.periodMilliseconds + registration.delayToleranceMilliseconds) * 1_000_000
        return write.taken ?? .max > write.release + bound + 1_000_000
      }
      #expect(late.isEmpty, "seed \(seed)")
    }
  }

  @Test("A table beside one that never rests rides along every ten seconds and no more")
  func ridesBounded() {
    var c = Coalescer(volume: { _ in 0 })
    c.setLink(.wired)
    let app = ContainerID(unchecked: "app")
    let chat = Coalescer.Key(TableID(app: app, name: "chat"), .write)
    let log = Coalescer.Key(TableID(app: app, name: "log"), .write)
    func at(_ second: Int) -> Moment {
      Moment(monotonic: UInt64(second) * RandomApps.second, wallMilliseconds: RandomApps.epoch + Int64(second) * 1000)
    }
    c.register(
      chat, SyncRegistration(periodMilliseconds: 0, delayToleranceMilliseconds: 0, link: .roaming), at: at(0))
    c.register(
      log, SyncRegistration(periodMilliseconds: 600_000, delayToleranceMilliseconds: 0, link: .roaming), at: at(0))
    var rides = 0
    for second in 1...6_000 {
      c.noteChange(log, bytes: 1, at: at(second))
      c.noteChange(chat, bytes: 1, at: at(second))
      let transfer = c.takeTransfer(at: at(second))
      #expect(transfer?.items.first == chat || transfer?.items == [log, chat])
      rides += transfer?.items.contains(log) == true ? 1 : 0
    }
    #expect((590...611).contains(rides), "\(rides)")
  }
}
