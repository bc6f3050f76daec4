internal import CaravanAgentApps
internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanAgentSync
internal import CaravanBus
internal import CaravanChunking
internal import CaravanCrypto
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit

/// A device: its agent can die, and apps reach the one that is alive.
struct SimulatedDevice: Sendable {
  let name: String
  let user: String
  let identity: EnrolledDevice
  let slot: AgentSlot
  let part: Part
  let egressGuard: EgressGuard
  let linkCosts: LinkCostChecker

  /// - Parameters:
  ///   - isAmongUsers: there are devices of other users.
  ///   - forgotten: what its disk does not sync, so that the power's end takes it; nil: it does not end.
  ///   - enrolled: as what, with which token; nil: under its name, and nobody revokes it.
  init(
    _ name: String, of user: String, hasLargeChunks: Bool = false, isAmongUsers: Bool = false, on ground: Ground,
    breakage: Breakage? = nil, forgetting forgotten: CarelessDisk.Forgotten? = nil,
    as enrolled: (device: EnrolledDevice, token: JWT)? = nil
  ) {
    egressGuard = ground.egressGuard
    let identity = enrolled?.device ?? EnrolledDevice(user, name)
    // Where the bytes are a secret, no object has two chunks: where one ends and the next begins, the bytes say.
    let chunking = hasLargeChunks ? AgentSlot.largeChunks : AgentSlot.smallChunks
    let slot = AgentSlot(
      identity, ground.secret?.user == user ? .standard : chunking,
      listener: isAmongUsers ? Listener(name, of: user, ground.recorder) : nil,
      ground.heard?.ear(of: name, of: user), breakage)
    self.name = name
    self.user = user
    self.identity = identity
    self.slot = slot
    let bearer: Bearer = if let enrolled { .token(enrolled.token) } else { .device(identity) }
    part = Part(name, as: bearer, on: ground, forgetting: forgotten) {
      try await slot.run($0)
    }
    linkCosts = LinkCostChecker(clock: part.machine.host.clock)
  }

  var isUp: Bool { slot.session != nil }

  func crash(isLast: Bool = false) {
    let life = slot.leaveBehind()
    let clock = part.machine.host.clock
    part.crash(isLast: isLast) { [slot] in
      // The store closes when the agent is cancelled, and nobody may be inside then.
      while slot.isBusy(life) { try? await clock.sleep(for: .milliseconds(10)) }
    }
  }

  enum Answer<Value: Sendable>: Sendable {
    case done(Value)
    case refused(CaravanError)
    /// The agent died meanwhile: perhaps it happened, perhaps not.
    case unknown
  }

  /// One request of an app, to the agent of a life that may be over.
  func ask<Value: Sendable>(
    _ session: AgentSlot.Session, _ request: @Sendable (AgentSlot.Session) async throws(CaravanError) -> Value
  ) async -> Answer<Value> {
    guard slot.enter(session.life) else { return .refused(CaravanError(.unavailable, "the agent is down")) }
    let answer: Answer<Value>
    do throws(CaravanError) { answer = .done(try await request(session)) } catch { answer = .refused(error) }
    slot.leave(session.life)
    return slot.session?.life == session.life ? answer : .unknown
  }

  func setLink(_ link: LinkClass?) async {
    await checkLinkCosts()
    egressGuard.look(at: name, hasLink: true)
    egressGuard.ration(name, nil)
    slot.remember(link)
    linkCosts.linkChanges(to: link)
    if let session = slot.session { await session.engine.linkChanged(to: link.map { Link($0) }) }
    linkCosts.linkChanged(to: slot.link)
    // Another change may have overtaken this one.
    if link == nil, slot.link == nil { egressGuard.look(at: name, hasLink: false) }
  }

  func checkLinkCosts() async {
    guard let session = slot.session else { return }
    for excess in linkCosts.look(at: await session.engine.status().usage) {
      egressGuard.trespassed("\(name): \(excess)")
    }
  }
}

/// Where the agent that is alive is found.
final class AgentSlot: Sendable {
  /// The agent of one life.
  struct Session: Sendable {
    let life: Int
    let store: LocalStore
    let engine: SyncEngine
    let tap: Tap
    /// What its tables had carried when it began, and its machine's metrics had counted.
    let totalsBefore: [TableID: UsageLedger.Bytes]
    let wireBytesBefore: Int
  }

  /// What had been carried when the device's link was last changed.
  struct Mark: Sendable {
    let life: Int
    let link: LinkClass
    let usage: [SyncStatus.Usage]
    let carried: Tap.Bytes
    /// Usage is counted by days.
    let day: Int64
  }

  private struct State {
    var session: Session?
    var mark: Mark?
    /// Apps that are in a call, by life.
    var callers: [Int: Int] = [:]
    var link: LinkClass? = .wifi
    /// Nil: as its store has it.
    var policy: NetworkPolicy?
    var lives = 0
  }

  /// Small, so that objects of a few kilobytes have many chunks.
  static let smallChunks = ChunkingParameters(minimum: 64, average: 256, maximum: 1_024)
  static let largeChunks = ChunkingParameters(minimum: 2_048, average: 8_192, maximum: 32_768)
  /// Objects with a list and without, by their size.
  static let chunksInRow = 6
  /// Some chunks lie in the database, some in the file.
  static let inlineBytes = 256

  private let device: EnrolledDevice
  private let chunking: ChunkingParameters
  private let listener: Listener?
  private let ear: Ear?
  private let breakage: Breakage?
  private let state = Mutex(State())

  init(
    _ device: EnrolledDevice, _ chunking: ChunkingParameters, listener: Listener?, _ ear: Ear?, _ breakage: Breakage?
  ) {
    self.device = device
    self.chunking = chunking
    self.listener = listener
    self.ear = ear
    self.breakage = breakage
  }

  func run(_ life: Part.Incarnation) async throws {
    var options = LocalStoreOptions()
    options.isDurable = life.disk != nil
    options.tap = life.disk
    options.chunking = chunking
    options.inlineBytes = Self.inlineBytes
    options.chunksInRow = Self.chunksInRow
    let identity = DeviceIdentity(device: device)
    let configuration = Agent.Configuration(
      directory: life.directory, identity: identity, link: state.withLock { $0.link }, store: options)
    let tap = Tap(listener, ear)
    let agent = try await Agent(configuration, host: life.host) { [breakage] () throws(CaravanError) in
      let bus = TappedBus(try life.reconnect(), tap)
      return breakage?.wrap(device: bus) ?? bus
    }
    let totals = try await agent.store.networkRecord().totals
    let wireBytes = Figures.wireBytes(await agent.engine.status().counters)
    guard life.isCurrent() else { return await agent.store.close() }
    state.withLock { state in
      state.lives += 1
      state.session = Session(
        life: state.lives, store: agent.store, engine: agent.engine, tap: tap, totalsBefore: totals,
        wireBytesBefore: wireBytes)
    }
    // Whoever changed it meanwhile found nobody to tell.
    if link != configuration.link { await agent.engine.linkChanged(to: link.map { Link($0) }) }
    if let policy { try await agent.engine.setPolicy(policy) }
    try await agent.run()
  }

  var session: Session? { state.withLock { $0.session } }

  /// - Returns: the life that is over.
  func leaveBehind() -> Int? {
    state.withLock { state in
      defer { state.session = nil }
      return state.session?.life
    }
  }

  func isBusy(_ life: Int?) -> Bool {
    state.withLock { state in life.map { state.callers[$0, default: 0] > 0 } ?? false }
  }

  func enter(_ life: Int) -> Bool {
    state.withLock { state in
      guard state.session?.life == life else { return false }
      state.callers[life, default: 0] += 1
      return true
    }
  }

  func leave(_ life: Int) { state.withLock { $0.callers[life, default: 0] -= 1 } }

  var mark: Mark? { state.withLock { $0.mark } }
  func remember(mark: Mark?) { state.withLock { $0.mark = mark } }
  var policy: NetworkPolicy? { state.withLock { $0.policy } }
  func remember(_ policy: NetworkPolicy) { state.withLock { $0.policy = policy } }
  var link: LinkClass? { state.withLock { $0.link } }
  func remember(_ link: LinkClass?) { state.withLock { $0.link = link } }
}
