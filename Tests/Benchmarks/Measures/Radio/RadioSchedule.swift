internal import CaravanAgentCore
internal import CaravanCompression
internal import CaravanModel
internal import CaravanWire

/// When which rows are sent: every way of syncing the same workload comes to one of these.
struct RadioSchedule {
  /// Rows that go together, and when; indices into the items.
  private(set) var transfers: [(at: Double, items: [Int])] = []

  private static let second = 1e9

  /// Each row at once, by itself: apps that know neither of each other nor of the radio.
  static func asMade(_ items: [RadioItem]) -> RadioSchedule {
    RadioSchedule(transfers: items.indices.map { (items[$0].at, [$0]) })
  }

  /// Each app with an agent of its own, whose timers are ahead of the wall clock by its phase.
  static func separate(_ apps: [RadioApp], _ items: [RadioItem], phases: [Double]) -> RadioSchedule {
    var all = RadioSchedule()
    for app in apps.indices {
      let own = items.indices.filter { items[$0].app == app }
      all.transfers += together(apps, items, own, phase: phases[app]).transfers
    }
    return all
  }

  /// The fewest transfers that meet every deadline; each takes along all that is there.
  static func optimum(_ apps: [RadioApp], _ items: [RadioItem]) -> RadioSchedule {
    let optimum = TransferOptimum(items.map { .init(release: $0.at, deadline: apps[$0.app].deadline(of: $0.at)) })
    var schedule = RadioSchedule(transfers: optimum.moments.map { ($0, []) })
    var next = 0
    for index in items.indices {
      while schedule.transfers[next].at < items[index].at { next += 1 }
      schedule.transfers[next].items.append(index)
    }
    return schedule
  }

  static func together(_ apps: [RadioApp], _ items: [RadioItem]) -> RadioSchedule {
    together(apps, items, Array(items.indices), phase: 0)
  }

  /// The agent's own coalescer on a clock that stands still unless it is asked to go on.
  private static func together(
    _ apps: [RadioApp], _ items: [RadioItem], _ chosen: [Int], phase: Double
  ) -> RadioSchedule {
    var schedule = RadioSchedule()
    var coalescer = Coalescer()
    coalescer.setLink(.cellular)
    var now: UInt64 = 0
    var waiting: [Coalescer.Key: [Int]] = [:]
    func moment() -> Moment {
      Moment(monotonic: now, wallMilliseconds: Int64(phase * 1000) + Int64(now / 1_000_000))
    }
    func take() {
      while let transfer = coalescer.takeTransfer(at: moment()) {
        let rows = transfer.items.flatMap { waiting.removeValue(forKey: $0) ?? [] }
        schedule.transfers.append((Double(now) / second, rows))
      }
    }
    func pass(until end: UInt64) {
      while let wake = coalescer.nextWake(after: moment()), wake <= end {
        now = max(now, wake)
        take()
      }
      now = max(now, end)
    }
    for app in apps { coalescer.register(app.key, app.registration, at: moment()) }
    for index in chosen {
      let item = items[index]
      pass(until: UInt64(item.at * second))
      waiting[apps[item.app].key, default: []].append(index)
      coalescer.noteChange(
        apps[item.app].key, bytes: UInt64(item.body.count + item.objectBytes), at: moment())
      take()
    }
    pass(until: now + UInt64(86_400 * second))
    return schedule
  }

  /// With what each transfer has on the wire: one frame for the rows of all its apps, compressed if a look at it says
  /// that this pays, and the chunks of its objects.
  func radioTransfers(_ apps: [RadioApp], _ items: [RadioItem]) throws(CaravanError) -> [RadioModel.Transfer] {
    var compressor = try Compressor()
    var result: [RadioModel.Transfer] = []
    for transfer in transfers {
      var byApp: [Int: [CaravanWire.Mutation]] = [:]
      var objects = 0
      for index in transfer.items {
        let item = items[index]
        let name = "01hf7yat00" + String(String(index + 1_000_000, radix: 32).suffix(16))
        byApp[item.app, default: []].append(CaravanWire.Mutation(name: name, kind: .save, type: 1, body: item.body))
        objects += item.objectBytes
      }
      let operations = byApp.sorted { $0.key < $1.key }.map { app, mutations in
        CaravanWire.Operation(
          kind: .push(Push(container: apps[app].name, zone: "data", op: 1, opFloor: 1, mutations: mutations)))
      }
      let body = Exchange(epoch: 1, operations: operations).encoded()
      let packed = worthCompressing(body) ? try compressor.compress(body, level: 1) : body
      result.append(RadioModel.Transfer(at: transfer.at, bytes: min(packed.count, body.count) + 16 + objects))
    }
    return result
  }
}
