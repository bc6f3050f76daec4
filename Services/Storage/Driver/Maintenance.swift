import CaravanModel
import CaravanRuntime
import CaravanStorageCore
import CaravanStore

extension CounterName {
  static let maintenancePutOff = CounterName(
    "caravan_storage_maintenance_put_off_total", "Times that maintenance looked, and let requests go first.")
}

/// The store's maintenance, step by step, as long as there is something to do; it makes way for requests (CK-32).
struct Maintenance: Sendable {
  private let store: any Store
  private let actions: DelayedActions
  private let host: Host
  private let metrics: StorageMetrics
  private let moved: Signal
  private let requests: @Sendable () -> Int
  private let putOff: Counter
  private let trust: ClockWatch

  /// - Parameters:
  ///   - moved: there were commits.
  ///   - requests: how many are in flight.
  init(
    store: any Store, actions: DelayedActions, host: Host, metrics: StorageMetrics, moved: Signal,
    requests: @escaping @Sendable () -> Int, clock: TrustedClock? = nil, server: ServerTime? = nil
  ) {
    trust = ClockWatch(clock, server: server, host)
    self.store = store
    self.actions = actions
    self.host = host
    self.metrics = metrics
    self.moved = moved
    self.requests = requests
    putOff = host.metrics.counter(.maintenancePutOff)
  }

  /// Until the task is cancelled.
  func run() async {
    var expiry = Expiry(store: store, actions: actions, host: host)
    var damage = DamageWatch(store: store, host: host)
    var pace = MaintenancePace()
    let outage = Outage(host, "maintenance of the store fails", over: "maintenance of the store goes on")
    while !Task.isCancelled {
      await makeWay(&pace)
      let begin = host.clock.now.nanoseconds
      var hasMore = false
      do {
        hasMore = try await step(&expiry, &damage)
        outage.ended()
      } catch {
        outage.lasts(error)
      }
      pace.stepped(from: begin, to: host.clock.now.nanoseconds, hasMore: hasMore)
      if hasMore { continue }
      await moved.wait(atMost: StorageLimits.idleUpkeepInterval, clock: host.clock)
      try? await host.clock.sleep(for: StorageLimits.maintenanceInterval)
    }
  }

  private func makeWay(_ pace: inout MaintenancePace) async {
    while !Task.isCancelled, let wait = pace.wait(requests: requests(), at: host.clock.now.nanoseconds) {
      putOff.add()
      try? await host.clock.sleep(for: .nanoseconds(Int64(clamping: wait)))
    }
  }

  /// - Returns: whether there may be more to do at once.
  private func step(_ expiry: inout Expiry, _ damage: inout DamageWatch) async throws(CaravanError) -> Bool {
    var hasMore = false
    // Whatever goes because its time is over waits while nobody knows what time it is.
    if try await trust.look() {
      let collected = try await store.collect()
      let progress = try await expiry.step()
      metrics.expired.add(progress.deleted)
      metrics.actionsDone.add(progress.actions)
      hasMore = collected || progress.hasMore
    }
    let status = try await store.status()
    metrics.show(status)
    let isScrubDue = try await damage.step(status)
    return hasMore || isScrubDue
  }
}
