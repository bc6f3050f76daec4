public import CaravanBus
public import CaravanModel
public import CaravanRuntime
import CaravanStorageClient
import CaravanWire

/// Shares the partitions of a service among its living instances by leases in the store, and runs the service's work
/// for each one this instance holds.
///
/// An instance that cannot renew stops before its leases can have expired elsewhere; one that dies is replaced when
/// somebody notices, or when they have. Nothing but the store decides, and the fencing token of a lease protects
/// whatever is written under it.
public final class PartitionOwner: Service {
  private struct State {
    var ownership: Ownership
    var leases: [Partition: PartitionLease] = [:]
    /// Of the first round that brought any, those not served yet; nil before that round.
    var unsettled: Set<Partition>?
  }

  private let service: ServiceName
  private let member: String
  private let bus: any MessageBus
  private let host: Host
  private let storage: StorageClient
  private let timing: LeaseTiming
  private let work: any PartitionWork
  private let watch: ChangeWatch
  private let state: Mutex<State>
  private let stop = Latch()
  private let settled = Latch()
  /// A round is wanted now.
  private let wanted = Signal()
  private let heldGauge: Gauge
  private let outage: Outage
  /// Leases belong to the whole store; they are asked for in one place.
  private static let home = Partition.all[0]
  /// Others that ask for a sign of life at once.
  private static let questionsWaiting = 64

  /// - Parameters:
  ///   - service: names the leases; also in the store, so it never changes.
  ///   - member: tells this instance from others alive; a name (`Subject`), it is asked there whether it lives.
  ///   - partitions: to be shared; the same in every instance. Fewer than all are for simulations of a few users.
  public init(
    _ service: ServiceName, member: String, bus: any MessageBus, host: Host, timing: LeaseTiming = LeaseTiming(),
    partitions: [Partition] = Partition.all, work: any PartitionWork
  ) {
    self.service = service
    self.member = member
    self.bus = bus
    self.host = host
    self.timing = timing
    self.work = work
    var policy = StorageClient.Policy()
    policy.deadline = timing.patience
    policy.attempts = 1
    storage = StorageClient(bus: bus, host: host, writer: "@\(service.rawValue)", policy: policy)
    watch = ChangeWatch(storage: storage, host: host)
    let ownership = Ownership(service: service.rawValue, member: member, timing: timing, partitions: partitions)
    state = Mutex(State(ownership: ownership))
    heldGauge = host.metrics.gauge(.partitionsHeld)
    outage = Outage(host, "leases cannot be kept", over: "leases are kept again", patience: timing.notice)
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
    let events = bus.events()
    let questions = try await bus.subscribe(.exact(sign(of: member)), group: nil, capacity: Self.questionsWaiting)
    defer { questions.cancel() }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.keepLeases() }
      group.addTask { await self.watchExpiry() }
      group.addTask { await self.watch.run() }
      group.addTask { await self.attend(events) }
      group.addTask { await self.answer(questions) }
      await stop.wait()
      group.cancelAll()
    }
    await giveUpEverything()
  }

  public func shutDown() {
    stop.open()
    for lease in state.withLock({ $0.leases.values.sorted { $0.partition < $1.partition } }) { lease.revoke() }
  }

  /// While there was no connection, leases may have gone to others, and change events were lost.
  private func attend(_ events: any BusEventStream) async {
    while let event = await events.next() {
      switch event {
      case .connected:
        wanted.raise()
        watch.lookNow()
      case .disconnected, .slowConsumer, .denied: continue
      case .closed: return
      }
    }
  }

  // MARK: Rounds

  /// Ends when cancelled, after the work on every partition has ended.
  private func keepLeases() async {
    // The work outlives a cancelled round: it ends by its lease being revoked, so that it can say its last words.
    await withDiscardingTaskGroup { group in
      while !stop.isOpen && !Task.isCancelled {
        var pause = timing.eager
        do throws(CaravanError) {
          let (new, isSettled) = try await round()
          outage.ended()
          for lease in new { group.addTask { await self.work(under: lease) } }
          if isSettled { pause = timing.renewal }
        } catch {
          outage.lasts(error)
        }
        await wanted.wait(atMost: pause, clock: host.clock)
      }
    }
  }

  /// Renews, looks around, gives up what is too much and takes what is free.
  /// - Returns: new leases, to be worked under; and whether nothing more is to be expected soon.
  private func round() async throws(CaravanError) -> ([PartitionLease], isSettled: Bool) {
    let (names, prefix) = state.withLock { state in
      let own = state.ownership
      return ([own.memberLease] + state.leases.keys.sorted().map(own.lease), own.prefix)
    }
    let (_, listed) = try await ask(for: names, listing: prefix, isRenewal: true)
    let living = try await withoutDead(listed)
    let (plan, wanted) = state.withLock { state in
      let plan = state.ownership.plan(living, ending: Set(state.leases.keys))
      for partition in plan.release { state.leases[partition]?.revoke() }
      return (plan, plan.acquire.map(state.ownership.lease))
    }
    let new = plan.acquire.isEmpty ? [] : try await ask(for: wanted).new
    let isSettled = state.withLock { state in
      let isSettled = !state.ownership.isShort(living) && state.ownership.suspects.isEmpty
      if state.unsettled == nil, isSettled || !new.isEmpty { state.unsettled = Set(new.map(\.partition)) }
      return isSettled
    }
    settle(nil)
    return (new, isSettled)
  }

  private func ask(
    for names: [String], listing prefix: String = "", isRenewal: Bool = false
  ) async throws(CaravanError) -> (new: [PartitionLease], living: [LeaseGrant]) {
    let sent = host.clock.now
    let (grants, living) = try await storage.lease(
      names, holder: member, for: timing.duration, listing: prefix, in: Self.home)
    return state.withLock { state in
      let (gained, lost) = state.ownership.answered(grants, sent: sent, isRenewal: isRenewal)
      for partition in lost { state.leases[partition]?.revoke() }
      for (partition, lease) in state.leases {
        if let held = state.ownership.held[partition] { lease.extend(until: held.until) }
      }
      let new = gained.compactMap { partition in
        state.ownership.held[partition].map { held in
          PartitionLease(
            partition, name: state.ownership.lease(partition), token: held.token, until: held.until, watch: watch,
            clock: host.clock, onServing: { [weak self] in self?.settle($0) })
        }
      }
      for lease in new { state.leases[lease.partition] = lease }
      heldGauge.set(state.leases.count)
      return (new, living)
    }
  }

  /// Ends the work under leases that can have expired.
  private func watchExpiry() async {
    while true {
      let leases = state.withLock { $0.leases.values.sorted { $0.partition < $1.partition } }
      for lease in leases where !lease.isHeld { lease.revoke() }
      // Those gained meanwhile end later.
      let soonest = leases.compactMap(\.expiry).min() ?? state.withLock { $0.ownership.expiry(sent: host.clock.now) }
      guard (try? await host.clock.sleep(until: soonest)) != nil else { return }
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
    state.withLock { state in
      state.leases[lease.partition] = nil
      state.ownership.ended(lease.partition)
      heldGauge.set(state.leases.count)
    }
    settle(lease.partition)
    // When everything stops, one request gives everything back.
    if !stop.isOpen { _ = try? await storage.lease([lease.name], holder: member, for: .zero, in: Self.home) }
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
    let names = state.withLock { state in
      state.ownership.partitions.map(state.ownership.lease) + [state.ownership.memberLease]
    }
    // Those of others are not ours to give and stay as they are.
    _ = try? await storage.lease(names, holder: member, for: .zero, in: Self.home)
  }
}

// MARK: Signs of life

extension PartitionOwner {
  private func sign(of member: String) -> Subject { .service(service, method: member) }

  private func answer(_ questions: any BusSubscription) async {
    while let delivery = await questions.next() {
      guard case .message(let incoming) = delivery, let address = incoming.reply else { continue }
      // Whoever hears nothing waits for the lease to expire.
      try? await bus.reply(Message(), to: address)
    }
  }

  /// Gives back the leases of members that are gone, in their name.
  /// - Returns: those of the living.
  private func withoutDead(_ listed: [LeaseGrant]) async throws(CaravanError) -> [LeaseGrant] {
    let unreachable = await unreachable(state.withLock { $0.ownership.others(listed) })
    let dead = state.withLock { $0.ownership.dead(unreachable: unreachable) }
    for holder in dead.sorted() {
      let names = listed.filter { $0.holder == holder }.map(\.name)
      try await storage.lease(names, holder: holder, for: .zero, in: Self.home)
      host.log.info("gave back the leases of an instance that is gone", [.instance: holder, .count: names.count])
    }
    return listed.filter { !dead.contains($0.holder) }
  }

  /// Those whose question nobody hears. Who hears it and says nothing may live, for all that is known.
  private func unreachable(_ members: [String]) async -> Set<String> {
    await withTaskGroup(of: String?.self) { group in
      for other in members {
        group.addTask {
          let subject = self.sign(of: other)
          do throws(CaravanError) {
            _ = try await self.bus.request(Message(), to: subject, deadline: self.timing.patience)
            return nil
          } catch { return error == .nobodyServes(subject.text) ? other : nil }
        }
      }
      return await group.reduce(into: []) { unreachable, other in
        if let other { unreachable.insert(other) }
      }
    }
  }
}

extension GaugeName {
  static let partitionsHeld = GaugeName("caravan_partitions_held", "Partitions this instance acts for.")
}
