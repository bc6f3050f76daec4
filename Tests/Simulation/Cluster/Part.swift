internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit
internal import Glibc

/// A process of the suite: it can die at any moment, and be started again with what its files held then.
final class Part: Sendable {
  /// What a process is given when it starts.
  struct Incarnation: Sendable {
    let host: Host
    /// What the machine knows of time.
    let time: any MachineTime
    let bus: InProcessBus
    /// Makes another connection; the one before is closed.
    let reconnect: @Sendable () throws(CaravanError) -> InProcessBus
    let directory: String
    /// Where its files lie, if that is not to be trusted.
    let disk: CarelessDisk?
    /// False once it is dead, whatever still runs of it.
    let isCurrent: @Sendable () -> Bool
  }

  private struct State {
    var files: CrashFiles
    /// Of the present life, or the last.
    var disk: CarelessDisk?
    var running: (bus: InProcessBus, task: SimulatedTask<Void>)?
    /// Dead, and still cleaning up.
    var zombies: [SimulatedTask<Void>] = []
    var lives = 0

    mutating func die() { files.die(powerCutOn: disk?.survivor) }
  }

  let name: String
  let machine: SimulatedHost
  private let suite: Ground
  private let bearer: Bearer
  private let body: @Sendable (Incarnation) async throws -> Void
  private let forgotten: CarelessDisk.Forgotten?
  private let state: Mutex<State>

  /// - Parameters:
  ///   - bearer: as what the broker knows it.
  ///   - forgotten: what its disk does not sync, so that the power's end takes it; nil: it does not end.
  init(
    _ name: String, as bearer: Bearer, on suite: Ground, forgetting forgotten: CarelessDisk.Forgotten? = nil,
    _ body: @escaping @Sendable (Incarnation) async throws -> Void
  ) {
    self.name = name
    self.forgotten = forgotten
    self.suite = suite
    self.bearer = bearer
    self.body = body
    machine = suite.simulation.host(name)
    var files = CrashFiles("\(suite.directory)/\(name)")
    files.open()
    state = Mutex(State(files: files))
  }

  var isUp: Bool { state.withLock { $0.running != nil } }
  var lives: Int { state.withLock { $0.lives } }
  /// Whether everything that ran under this name has ended.
  var isGone: Bool { state.withLock { state in state.running == nil && state.zombies.allSatisfy { $0.result != nil } } }

  func start() {
    guard !isUp else { return }
    guard let bus = try? suite.gatehouse.connect(name, as: bearer) else {
      return suite.recorder.note("the broker does not let \(name) in")
    }
    let (directory, disk, number) = state.withLock { state in
      state.lives += 1
      state.disk = forgotten.map { CarelessDisk($0) }
      return (state.files.directory, state.disk, state.lives)
    }
    suite.recorder.note("\(name) starts")
    let life = Incarnation(
      host: machine.host, time: machine.time, bus: bus,
      reconnect: { [weak self] () throws(CaravanError) in
        guard let bus = try self?.reconnect(number) else { throw CaravanError(.unavailable, "this machine is down") }
        return bus
      }, directory: directory, disk: disk
    ) { [weak self] in self?.isCurrent(number) ?? false }
    let task = suite.simulation.start {
      do { try await self.body(life) } catch is CancellationError {} catch {
        if self.isCurrent(number) { self.suite.recorder.note("\(self.name) ends: \(error)") }
      }
      self.ended(number)
    }
    state.withLock { $0.running = (bus, task) }
  }

  private func reconnect(_ number: Int) throws(CaravanError) -> InProcessBus? {
    guard isCurrent(number) else { return nil }
    let bus = try suite.gatehouse.connect(name, as: bearer)
    let old = state.withLock { state in
      defer { state.running?.bus = bus }
      return state.running?.bus
    }
    old?.close()
    return bus
  }

  /// Where its files lie now.
  var directory: String { state.withLock { $0.files.directory } }

  /// Of one that is down: its files are lost.
  func loseFiles() { state.withLock { $0.files.lose() } }

  private func isCurrent(_ number: Int) -> Bool { state.withLock { $0.lives == number && $0.running != nil } }

  /// It ended by itself; whoever watches over it may start it again.
  private func ended(_ number: Int) {
    guard isCurrent(number) else { return }
    let bus = state.withLock { state in
      defer { state.running = nil }
      return state.running?.bus
    }
    bus?.close()
    state.withLock { $0.die() }
  }

  /// `kill -9`.
  /// - Parameters:
  ///   - isLast: nobody comes after it.
  ///   - burial: what must happen before its tasks are cancelled.
  func crash(isLast: Bool = false, burial: @escaping @Sendable () async -> Void = {}) {
    let dead = state.withLock { state in
      defer { state.running = nil }
      return state.running
    }
    guard let dead else { return }
    suite.recorder.note("\(name) dies")
    dead.bus.close()
    let grave = suite.simulation.start {
      await burial()
      dead.task.cancel()
      _ = try? await dead.task.value()
    }
    state.withLock { state in
      if !isLast { state.die() }
      state.zombies.removeAll { $0.result != nil }
      state.zombies.append(grave)
    }
  }
}

/// What all parts stand on.
struct Ground: Sendable {
  /// The hub has the egress guard, which is to reach the hub.
  private struct Held: Sendable {
    weak var hub: InProcessHub?
    weak var gatehouse: Gatehouse?
  }

  let simulation: Simulation
  let hub: InProcessHub
  let gatehouse: Gatehouse
  let faults: FaultPlan
  let egressGuard: EgressGuard
  let recorder: Recorder
  let directory: String
  /// What is another in another run of this cluster, and what came to those whom that is to mean nothing.
  let secret: Secret?
  let heard: Heard?

  /// - Parameter directory: where the files of this cluster's disks get a directory of their own.
  init(
    _ simulation: Simulation, directory: String, listener: (@Sendable (String) -> Void)?, breakage: Breakage? = nil,
    secret: Secret? = nil
  ) throws {
    self.simulation = simulation
    self.secret = secret
    recorder = Recorder(simulation, listener: listener)
    faults = FaultPlan()
    let machine = simulation.host("hub").host
    heard = secret.map { Heard($0, clock: machine.clock) }
    let held = Mutex(Held())
    let snapped = Mutex<Set<String>>([])
    let chances = secret.map { _ in Chances(simulation: simulation) }
    egressGuard = EgressGuard(faults, recorder, chances, clock: machine.clock) { name, outage in
      // What breaks under a connection that is away already does not bring it back once more.
      guard let hub = held.withLock({ $0.hub }), snapped.withLock({ $0.insert(name).inserted }) else { return }
      hub.disconnect(name)
      machine.clock.call(at: machine.clock.now + outage) {
        snapped.withLock { _ = $0.remove(name) }
        hub.reconnect(name)
      }
    }
    let random = chances?.ofGroups ?? machine.random
    hub = InProcessHub(clock: machine.clock, random: random, faults: egressGuard) { [recorder] refusal in
      held.withLock { $0.gatehouse }?.refused(refusal)
      // An answer that comes too late is refused rightly: nobody waits for it any more.
      let isLate = refusal.action == .publish && refusal.subject.hasPrefix("inbox.") && refusal.subject.contains(".r.")
      if !refusal.peer.hasPrefix(Gatehouse.trying), !isLate { recorder.denied("\(refusal)") }
    }
    gatehouse = try Gatehouse(hub, clock: machine.clock, breakage)
    held.withLock { [hub, gatehouse] in ($0.hub, $0.gatehouse) = (hub, gatehouse) }
    self.directory = "\(directory)/\(simulation.seed)"
    guard unsafe mkdir(self.directory, 0o700) == 0 else {
      throw SeedFailure(what: "\(self.directory) cannot be made")
    }
  }

  /// Of somebody whom the broker lets in.
  func connect(_ name: String, as bearer: Bearer) -> InProcessBus {
    do throws(CaravanError) { return try gatehouse.connect(name, as: bearer) } catch {
      preconditionFailure("the broker does not let \(name) in: \(error)")
    }
  }
}
