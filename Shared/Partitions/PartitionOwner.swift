public import Bus
public import Model
public import Runtime
import StorageClient
import Wire

/// Shares the partitions of a service among its living instances by leases in the store, and runs the service's work
/// for each one this instance holds.
///
/// An instance that cannot renew stops before its leases can have expired elsewhere; one that dies is replaced when
/// they have. Nothing but the store decides, and the fencing token of a lease protects whatever is written under it.
public final class PartitionOwner: Service {
  private struct State {
    var ownership: Ownership
    var leases: [Partition: PartitionLease] = [:]
    /// Of the first round, those not served yet; nil before that round.
    var unsettled: Set<Partition>?
    var isShort = true
  }

  private let host: Host
  private let storage: StorageClient
  private let timing: LeaseTiming
  private let work: any PartitionWork
  private let state: Mutex<State>
  private let stop = Latch()
  private let settled = Latch()
  private let heldGauge: Gauge
  /// Leases belong to the whole store; they are asked for in one place.
  private static let home = Partition.all[0]

  /// - Parameters:
  ///   - service: names the leases; also in the store, so it never changes.
  ///   - member: tells this instance from others alive.
  ///   - partitions: to be shared; the same in every instance. Fewer than all are for simulations of a few users.
  public init(
    _ service: ServiceName, member: String, bus: any MessageBus, host: Host, timing: LeaseTiming = LeaseTiming(),
    partitions: [Partition] = Partition.all, work: any PartitionWork
  ) {
    self.host = host
    self.timing = timing
    self.work = work
    var policy = StorageClient.Policy()
    policy.deadline = (timing.duration - timing.margin) / 2
    policy.attempts = 1
    storage = StorageClient(bus: bus, host: host, writer: "@\(service.rawValue)", policy: policy)
    let ownership = Ownership(service: service.rawValue, member: member, timing: timing, partitions: partitions)
    state = Mutex(State(ownership: ownership))
    heldGauge = host.metrics.gauge(.partitionsHeld)
  }

  /// The partitions this instance acts for now.
  public var partitions: [Partition] { state.withLock { $0.leases.keys.sorted() } }

  /// Returns when what the first round brought is served, or `timing.settling` has passed.
  public func waitUntilSettled() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.settled.wait() }
      group.addTask { try? await self.host.clock.sleep(for: self.timing.settling) }
      await group.next()
      group.cancelAll()
    }
  }

  public func run() async throws {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.keepLeases() }
      await stop.wait()
      group.cancelAll()
    }
    await giveUpEverything()
  }

  public func shutDown() {
    stop.open()
    for lease in state.withLock({ $0.leases.values.sorted { $0.partition < $1.partition } }) { lease.revoke() }
  }

  // MARK: Rounds

  /// Ends when cancelled, after the work on every partition has ended.
  private func keepLeases() async {
    // The work outlives a cancelled round: it ends by its lease being revoked, so that it can say its last words.
    await withDiscardingTaskGroup { group in
      while !stop.isOpen && !Task.isCancelled {
        var pause = timing.eager
        do throws(CaravanError) {
          for lease in try await round() { group.addTask { await self.work(under: lease) } }
          pause = state.withLock { $0.isShort } ? timing.eager : timing.renewal
        } catch {
          host.log.warning("leases could not be kept", [.error: error.message, .code: error.code.rawValue])
        }
        if (try? await host.clock.sleep(for: pause)) == nil { break }
      }
    }
  }

  /// Renews, looks around, gives up what is too much and takes what is free.
  /// - Returns: new leases, to be worked under.
  private func round() async throws(CaravanError) -> [PartitionLease] {
    let (names, member, prefix) = state.withLock { state in
      let own = state.ownership
      return ([own.memberLease] + state.leases.keys.sorted().map(own.lease), own.member, own.prefix)
    }
    try await ask(for: names, member: member, isRenewal: true)
    let listed = try await storage.leases(beginning: prefix, in: Self.home)
    let (plan, wanted) = state.withLock { state in
      let plan = state.ownership.plan(listed, ending: Set(state.leases.keys))
      for partition in plan.release { state.leases[partition]?.revoke() }
      return (plan, plan.acquire.map(state.ownership.lease))
    }
    let new = plan.acquire.isEmpty ? [] : try await ask(for: wanted, member: member)
    state.withLock { state in
      state.isShort = state.ownership.isShort(listed)
      if state.unsettled == nil { state.unsettled = Set(new.map(\.partition)) }
    }
    settle(nil)
    return new
  }

  @discardableResult
  private func ask(
    for names: [String], member: String, isRenewal: Bool = false
  ) async throws(CaravanError) -> [PartitionLease] {
    let sent = host.clock.now
    let grants = try await storage.lease(names, holder: member, for: timing.duration, in: Self.home)
    return state.withLock { state in
      let (gained, lost) = state.ownership.answered(grants, sent: sent, isRenewal: isRenewal)
      for partition in lost { state.leases[partition]?.revoke() }
      for (partition, lease) in state.leases {
        if let held = state.ownership.held[partition] { lease.extend(until: held.until) }
      }
      let new = gained.compactMap { partition in
        state.ownership.held[partition].map { held in
          PartitionLease(
            partition, name: state.ownership.lease(partition), token: held.token, until: held.until, clock: host.clock,
            onServing: { [weak self] in self?.settle($0) })
        }
      }
      for lease in new { state.leases[lease.partition] = lease }
      heldGauge.set(state.leases.count)
      return new
    }
  }

  private func settle(_ partition: Partition?) {
    let isDone = state.withLock { state in
      if let partition { state.unsettled?.remove(partition) }
      return state.unsettled?.isEmpty == true
    }
    if isDone { settled.open() }
  }

  // MARK: Work

  private func work(under lease: PartitionLease) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.serve(lease) }
      group.addTask { await lease.waitUntilOver() }
      await group.next()
      group.cancelAll()
    }
    lease.revoke()
    await work.handOver(lease)
    let (member, isStopping) = state.withLock { state in
      state.leases[lease.partition] = nil
      state.ownership.ended(lease.partition)
      heldGauge.set(state.leases.count)
      return (state.ownership.member, stop.isOpen)
    }
    settle(lease.partition)
    // When everything stops, one request gives everything back.
    if !isStopping { _ = try? await storage.lease([lease.name], holder: member, for: .zero, in: Self.home) }
  }

  /// Works again after failures, until cancelled.
  private func serve(_ lease: PartitionLease) async {
    while lease.isHeld && !Task.isCancelled {
      do { try await work.serve(lease) } catch is CancellationError { return } catch {
        if Task.isCancelled { return }
        host.log.warning("work on a partition failed", [.partition: lease.partition.number, .error: "\(error)"])
      }
      if (try? await host.clock.sleep(for: timing.restart)) == nil { return }
    }
  }

  private func giveUpEverything() async {
    let (names, member) = state.withLock { state in
      (state.ownership.partitions.map(state.ownership.lease) + [state.ownership.memberLease], state.ownership.member)
    }
    // Those of others are not ours to give and stay as they are.
    _ = try? await storage.lease(names, holder: member, for: .zero, in: Self.home)
  }
}

extension GaugeName {
  static let partitionsHeld = GaugeName("caravan_partitions_held", "Partitions this instance acts for.")
}
