import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit

/// Apps with random periods, tolerances and preferences that write at random, on one coalescer and a clock by hand.
struct RandomApps {
  struct Write {
    let key: Coalescer.Key
    let release: UInt64
    /// By the rules as the requirements state them: the period's next wall-clock multiple, plus the tolerance.
    let deadline: UInt64
    var taken: UInt64?
  }

  struct Sent {
    let at: UInt64
    let network: Network
    let transfer: Coalescer.Transfer
  }

  /// What the machine is connected by, and what its user allows.
  struct Network {
    var since: UInt64 = 0
    var link: LinkClass? = .wired
    var user = LinkClass.roaming

    func permits(_ registration: SyncRegistration) -> Bool { link.map { $0 <= min(registration.link, user) } ?? false }
  }

  static let second: UInt64 = 1_000_000_000
  static let epoch: Int64 = 1_700_000_000_000

  let random: SeededRandom
  let tables: [(key: Coalescer.Key, registration: SyncRegistration, pause: UInt64)]
  var coalescer: Coalescer
  private(set) var now: UInt64 = 0
  /// The wall clock's error, in milliseconds.
  private(set) var error: Int64 = 0
  private(set) var writes: [Write] = []
  private var untaken: [Coalescer.Key: [Int]] = [:]
  private(set) var sent: [Sent] = []
  private(set) var networks = [Network()]

  init(seed: UInt64, count: Int, links: [LinkClass] = [.roaming]) {
    let random = SeededRandom(seed: seed)
    tables = (0..<count).map { number in
      let app = ContainerID(unchecked: "app\(number)")
      let period = random.below(4) == 0 ? 0 : UInt32(5 + random.below(900)) * 1000
      let tolerance = UInt32(random.below(3) == 0 ? 0 : random.below(300)) * 1000
      let link = links[Int(random.below(UInt64(links.count)))]
      let registration = SyncRegistration(
        periodMilliseconds: period, delayToleranceMilliseconds: tolerance, link: link)
      return (
        Coalescer.Key(TableID(app: app, name: "t"), .write), registration, (1 + random.below(240)) * Self.second
      )
    }
    coalescer = Coalescer(volume: { _ in 0 })
    coalescer.setLink(.wired)
    self.random = random
    for table in tables { coalescer.register(table.key, table.registration, at: moment) }
  }

  var moment: Moment {
    Moment(monotonic: now, wallMilliseconds: Self.epoch + Int64(now / 1_000_000) + error)
  }

  mutating func jump(by milliseconds: Int64) {
    error += milliseconds
    take()
  }

  mutating func connect(_ link: LinkClass?, user: LinkClass) {
    networks.append(Network(since: now, link: link, user: user))
    coalescer.setLink(link)
    coalescer.setUserLink(user)
    take()
  }

  /// Lets time pass as the engine does: sleeps until the coalescer wants to be asked, or until `end`.
  mutating func pass(until end: UInt64) {
    while let wake = coalescer.nextWake(after: moment), wake <= end {
      precondition(wake > now || coalescer.policy(at: moment).start != nil, "woken for nothing")
      now = max(now, wake)
      take()
    }
    now = max(now, end)
  }

  /// Writes one object.
  mutating func write(_ index: Int, bytes: UInt64 = 100, within intent: UInt64? = nil) {
    let (key, registration, _) = tables[index]
    let tolerance = UInt64(registration.delayToleranceMilliseconds) * 1_000_000
    let period = Int64(registration.periodMilliseconds)
    let wait = period == 0 ? 0 : UInt64(period - moment.wallMilliseconds % period) * 1_000_000
    let deadline = now + (intent ?? wait + tolerance)
    untaken[key, default: []].append(writes.count)
    writes.append(Write(key: key, release: now, deadline: deadline))
    coalescer.noteChange(key, bytes: bytes, by: intent.map { now + $0 }, at: moment)
    take()
  }

  mutating func take() {
    while let transfer = coalescer.takeTransfer(at: moment) {
      sent.append(Sent(at: now, network: networks[networks.count - 1], transfer: transfer))
      for key in transfer.items {
        for index in untaken.removeValue(forKey: key) ?? [] { writes[index].taken = now }
      }
    }
  }

  /// Everybody writes at random for a while.
  /// - Parameter between: called before each write.
  mutating func live(
    for span: UInt64, intents: Bool = false, between: (inout RandomApps) -> Void = { _ in }
  ) {
    let end = now + span
    var next = tables.map { now + random.below($0.pause * 2) }
    while let first = next.indices.min(by: { next[$0] < next[$1] }), next[first] < end {
      // Whole milliseconds, as the wall clock has, but never on a multiple: whether such a write is before or after the
      // tick would be a matter of taste.
      pass(until: next[first] / Self.second * Self.second + 1_000_000 * (1 + random.below(998)))
      between(&self)
      let intent = intents && random.below(20) == 0 ? random.below(30) * Self.second : nil
      write(first, within: intent)
      next[first] = now + 1 + random.below(tables[first].pause * 2)
    }
    pass(until: end)
  }

  /// So that all deadlines pass.
  mutating func drain() { pass(until: now + 2_000 * Self.second) }
}
