internal import CaravanRuntime
internal import CaravanTestKit

/// Something that goes on in some of the clusters only.
protocol Rarity: Sendable {
  /// Until `end`.
  mutating func run(until end: Instant, clock: any Clock) async
  /// The last look, once all is quiet.
  mutating func conclude(_ clock: any Clock) async throws
}

extension Rarity {
  mutating func conclude(_ clock: any Clock) async throws {}
}

/// What happens in some of the clusters only, so that all the others need not pay for it.
struct Rarities: Sendable {
  private let acts: [Act]

  init(_ suite: Suite, seed: UInt64) {
    let scale = suite.scale
    var all: [any Rarity] = []
    if scale.hasRestore { all.append(Disaster(suite, seed: seed)) }
    if scale.hasQuota { all.append(QuotaPressure(suite, seed: seed)) }
    if scale.hasGroups { all.append(GroupCommits(suite, seed: seed)) }
    if scale.hasSamples { all.append(Sampler(suite, seed: seed)) }
    if scale.hasLateReader { all.append(LateReader(suite, seed: seed)) }
    if scale.hasMoves { all.append(Moves(suite, seed: seed)) }
    if scale.hasSlowReader { all.append(SlowReader(in: suite, seed: seed)) }
    if scale.hasFlakyLinks { all.append(FlakyLinks(suite, seed: seed)) }
    if scale.hasBudgets { all.append(ByteBudget(suite, seed: seed)) }
    if scale.hasReferences { all.append(ReferenceGraph(suite, seed: seed)) }
    if scale.hasRot { all.append(Rot(suite, seed: seed)) }
    if scale.hasPairs { all.append(AtomicPairs(suite, seed: seed)) }
    if scale.hasSubscribers, scale.isQueried { all.append(Subscribers(suite, seed: seed)) }
    if let receiver = suite.pushReceiver {
      for user in scale.users.dropFirst() { all.append(Subscribers(suite, of: user, seed: seed)) }
      all.append(PushUsers(suite, receiver, seed: seed))
    }
    if scale.hasGuest { all.append(Guest(suite, seed: seed)) }
    if scale.hasHostileApps { all.append(HostileApps(suite, seed: seed)) }
    acts = all.map(Act.init)
  }

  /// Until `end`.
  func run(until end: Instant, clock: any Clock) async {
    await withDiscardingTaskGroup { group in
      for act in acts { group.addTask { await act.run(until: end, clock: clock) } }
    }
  }

  /// The last look, once all is quiet.
  func conclude(_ clock: any Clock) async throws { for act in acts { try await act.conclude(clock) } }

  /// Keeps what one knows from its run to the last look.
  private final class Act: Sendable {
    private let state: Mutex<any Rarity>

    init(_ rarity: any Rarity) { state = Mutex(rarity) }

    func run(until end: Instant, clock: any Clock) async {
      var rarity = state.withLock { $0 }
      await rarity.run(until: end, clock: clock)
      let ended = rarity
      state.withLock { $0 = ended }
    }

    func conclude(_ clock: any Clock) async throws {
      var rarity = state.withLock { $0 }
      try await rarity.conclude(clock)
    }
  }
}
