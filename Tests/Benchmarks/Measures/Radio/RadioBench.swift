internal import CaravanAgentCore
internal import CaravanModel

/// What coalescing saves a cellular radio (BEN-04, MOB-04, SIM-90): the same workload sent as it is made, by apps that
/// sync by themselves, and by one agent for all; beside the fewest transfers that meet every deadline. On a virtual
/// clock, with the agent's own coalescer and frames as they travel.
struct RadioBench: Sendable {
  let report: BenchReport
  let workload: RadioWorkload
  let seed: UInt64
  let radio = RadioModel()

  static let randomSeeds: UInt64 = 100
  static let randomApps = 20
  private static let alignedTables = [4, 16, 64]
  private static let alignedPeriods = [60.0, 120, 300, 600]

  func run() throws(CaravanError) {
    report.line(
      "model",
      [
        "promotion_s": radio.promotionSeconds, "tail_s": radio.tailSeconds, "uplink_mbit_s": radio.uplinkMegabits,
        "round_trip_s": radio.roundTripSeconds, "hours": workload.hours, "real_trace": workload.hasTrace ? 1 : 0,
        "real_photos": workload.hasPhotos ? 1 : 0,
      ])
    let uncoordinated = try measure(.asMade(workload.items), Self.apps(tolerance: 0))
    say("as_made", uncoordinated)
    var dice = RadioDice(seed: seed)
    let phases = (0..<3).map { _ in dice.unit() * 60 }
    let alone = Self.apps(tolerance: 0)
    say(
      "separate", try measure(.separate(alone, workload.items, phases: phases), alone), beside: uncoordinated)
    try together("together_dt0", Self.apps(tolerance: 0), uncoordinated)
    try together("together_notes_dt60", Self.apps(tolerance: 0, ofNotes: 60), uncoordinated)
    try together("together_dt60", Self.apps(tolerance: 60), uncoordinated)
    try randomApps()
    for tables in Self.alignedTables { alignment(of: tables) }
  }

  static func apps(tolerance: Double, ofNotes notes: Double? = nil) -> [RadioApp] {
    [
      RadioApp(name: "car", periodSeconds: 60, toleranceSeconds: tolerance),
      RadioApp(name: "photos", periodSeconds: 60, toleranceSeconds: tolerance),
      RadioApp(name: "notes", periodSeconds: 0, toleranceSeconds: notes ?? tolerance),
    ]
  }

  private func measure(_ schedule: RadioSchedule, _ apps: [RadioApp]) throws(CaravanError) -> RadioModel.Usage {
    radio.usage(of: try schedule.radioTransfers(apps, workload.items))
  }

  private func together(
    _ figure: String, _ apps: [RadioApp], _ uncoordinated: RadioModel.Usage
  ) throws(CaravanError) {
    let ours = RadioSchedule.together(apps, workload.items)
    let optimum = try measure(.optimum(apps, workload.items), apps)
    say(figure, try measure(ours, apps), beside: uncoordinated, optimum: optimum)
  }

  private func say(
    _ figure: String, _ usage: RadioModel.Usage, beside uncoordinated: RadioModel.Usage? = nil,
    optimum: RadioModel.Usage? = nil
  ) {
    let hours = workload.hours
    var values: [(String, Double)] = [
      ("transfers_per_h", Double(usage.transfers) / hours), ("clusters_per_h", Double(usage.clusters) / hours),
      ("radio_on_s_per_h", usage.onSeconds / hours), ("mb_up_per_h", Double(usage.bytes) / 1e6 / hours),
    ]
    if let uncoordinated { values.append(("times_less_radio", uncoordinated.onSeconds / usage.onSeconds)) }
    guard let optimum else { return report.line(figure, values) }
    values.append(("clusters_to_optimum", Double(usage.clusters) / Double(optimum.clusters)))
    values.append(("transfers_to_optimum", Double(usage.transfers) / Double(optimum.transfers)))
    report.line(
      figure, values,
      floor: [
        ("optimum_transfers_per_h", Double(optimum.transfers) / hours),
        ("optimum_clusters_per_h", Double(optimum.clusters) / hours),
      ])
  }

  // MARK: Alignment

  /// An hour of tables that change all the time, registered at any time (BEN-15): with timers that begin at their
  /// registration, and at multiples of the wall clock as ours.
  private func alignment(of tables: Int) {
    var dice = RadioDice(seed: seed)
    let apps = (0..<tables).map { number in
      RadioApp(
        name: "table\(number)", periodSeconds: Self.alignedPeriods[dice.below(Self.alignedPeriods.count)],
        toleranceSeconds: 0)
    }
    let items = (0..<360).flatMap { step in
      apps.indices.map { RadioItem(app: $0, at: Double(step) * 10 + 0.5, body: []) }
    }
    let phases = apps.map { $0.periodSeconds * dice.unit() }
    func usage(_ schedule: RadioSchedule) -> RadioModel.Usage {
      radio.usage(of: schedule.transfers.map { .init(at: $0.at, bytes: 300 * $0.items.count) })
    }
    let (own, aligned) = (usage(.separate(apps, items, phases: phases)), usage(.together(apps, items)))
    report.line(
      "aligned",
      [
        "tables": Double(tables), "transfers_per_h": Double(aligned.transfers),
        "own_timers_transfers_per_h": Double(own.transfers), "radio_on_s_per_h": aligned.onSeconds,
        "own_timers_radio_on_s_per_h": own.onSeconds,
      ])
  }

  // MARK: Random apps

  /// Twenty apps of random periods and tolerances, again and again.
  private func randomApps() throws(CaravanError) {
    var worst = (clusters: 0.0, transfers: 0.0)
    var sum = (ours: 0.0, asMade: 0.0, separate: 0.0)
    for seed in 1...Self.randomSeeds {
      var dice = RadioDice(seed: seed)
      let apps = (0..<Self.randomApps).map { number in
        RadioApp(
          name: "app\(number)", periodSeconds: dice.below(4) == 0 ? 0 : Double(30 + dice.below(870)),
          toleranceSeconds: Double(10 + dice.below(600)))
      }
      let items = Self.randomItems(apps, &dice)
      let phases = apps.map { max(1, $0.periodSeconds) * dice.unit() }
      func usage(_ schedule: RadioSchedule) -> RadioModel.Usage {
        radio.usage(of: schedule.transfers.map { .init(at: $0.at, bytes: 300 * $0.items.count) })
      }
      let (ours, optimum) = (usage(.together(apps, items)), usage(.optimum(apps, items)))
      worst.clusters = max(worst.clusters, Double(ours.clusters) / Double(optimum.clusters))
      worst.transfers = max(worst.transfers, Double(ours.transfers) / Double(optimum.transfers))
      sum.ours += ours.onSeconds
      sum.asMade += usage(.asMade(items)).onSeconds
      sum.separate += usage(.separate(apps, items, phases: phases)).onSeconds
    }
    report.line(
      "random_apps",
      [
        "apps": Double(Self.randomApps), "seeds": Double(Self.randomSeeds),
        "worst_clusters_to_optimum": worst.clusters, "worst_transfers_to_optimum": worst.transfers,
        "times_less_radio": sum.asMade / sum.ours, "times_less_radio_than_separate": sum.separate / sum.ours,
      ])
  }

  private static func randomItems(_ apps: [RadioApp], _ dice: inout RadioDice) -> [RadioItem] {
    var items: [RadioItem] = []
    for app in apps.indices {
      let pause = 10 + 230 * dice.unit()
      var time = pause * dice.unit()
      while time < 3600 {
        items.append(RadioItem(app: app, at: time, body: []))
        time += pause * dice.unit()
      }
    }
    return items.sorted { ($0.at, $0.app) < ($1.at, $1.app) }
  }
}
