package import CaravanModel
package import CaravanRuntime
import CaravanStorageCore
import CaravanStore
package import CaravanWire

/// Moves users from store to store, one at a time (CK-100): copies what never changes while the user's writes go on,
/// lets them wait while the rest is copied and compared, and says in one write where the user is from then on. Until
/// that write what was copied counts for nothing; after it, what was left behind does. So whatever dies, and whenever,
/// the next life finds in the placement what to do.
package final class OwnerMover: Sendable {
  private struct State {
    var placements: [UserID: Placement]
    var tallies: [UserID: MoveCounters] = [:]
  }

  private let store: RoutedStore
  private let host: Host
  private let relays: [String: LogRelay]
  private let state: Mutex<State>
  private let wanted = Signal()

  package init(_ store: RoutedStore, host: Host) {
    self.store = store
    self.host = host
    relays = Dictionary(
      uniqueKeysWithValues: store.neighbours.map { ($0.name, LogRelay($0, to: store.home, host: host)) })
    state = Mutex(State(placements: store.placements))
  }

  /// Until the task is cancelled.
  package func run() async {
    await withDiscardingTaskGroup { group in
      for relay in relays.values { group.addTask { await relay.run() } }
      while !Task.isCancelled {
        let hasFailed = await workOff()
        if hasFailed {
          try? await host.clock.sleep(for: StorageLimits.movePause)
        } else {
          await wanted.wait()
        }
      }
      group.cancelAll()
    }
  }

  // MARK: What is asked

  /// - Parameter target: nil: only says how it stands.
  /// - Throws: `invalidData` for a store that is not there.
  package func move(_ owner: UserID, to target: String?) async throws(CaravanError) -> MoveReply {
    if let target {
      guard target == Placement.main || store.neighbours.contains(where: { $0.name == target }) else {
        let names = ([Placement.main] + store.neighbours.map(\.name)).joined(separator: ", ")
        throw CaravanError(.invalidData, "there is no store '\(target)': there are \(names)")
      }
      let known = placement(of: owner)
      let next = try known.moving(to: target)
      if next != known {
        state.withLock { $0.tallies[owner] = nil }
        try await save(next, of: owner)
        wanted.raise()
      }
    }
    let (placement, counts) = (placement(of: owner), state.withLock { $0.tallies[owner]?.counts } ?? .init())
    return MoveReply(
      store: placement.store, to: placement.to ?? "", leaving: placement.leaving ?? "",
      records: UInt64(counts.records), chunks: UInt64(counts.chunks), bytes: UInt64(counts.bytes),
      heldMilliseconds: UInt64(counts.held.wholeMilliseconds), attempts: UInt32(counts.attempts),
      problem: counts.problem)
  }

  private func placement(of owner: UserID) -> Placement { state.withLock { $0.placements[owner] ?? Placement() } }

  /// What could not be written for certain is written again.
  private func save(_ placement: Placement, of owner: UserID) async throws(CaravanError) {
    while true {
      do throws(CaravanError) {
        try await store.placementCache.write(placement, of: owner)
        break
      } catch {
        guard error.code == .timedOut, !Task.isCancelled else { throw error }
      }
    }
    state.withLock { $0.placements[owner] = placement.isDefault ? nil : placement }
  }

  // MARK: What is done

  /// - Returns: whether something is left that failed.
  private func workOff() async -> Bool {
    var hasFailed = false
    let owners = state.withLock { $0.placements.filter { $0.value.next != .rest }.keys.sorted { $0.text < $1.text } }
    for owner in owners where !Task.isCancelled {
      do throws(CaravanError) {
        while try await step(owner), !Task.isCancelled {}
      } catch {
        hasFailed = true
        host.log.warning("a user could not be moved", [.user: owner, .error: error.message])
      }
    }
    return hasFailed
  }

  /// - Returns: whether there is more to do.
  private func step(_ owner: UserID) async throws(CaravanError) -> Bool {
    let placement = placement(of: owner)
    switch placement.next {
    case .rest: return false
    case .clear(let name):
      try await store.store(named: name).discard(owner)
      try await save(placement.cleared, of: owner)
    case .copy(let target): try await move(owner, placement, to: target)
    }
    return true
  }

  private func move(_ owner: UserID, _ placement: Placement, to target: String) async throws(CaravanError) {
    let counters = state.withLock { state in
      let counters = state.tallies[owner] ?? MoveCounters()
      state.tallies[owner] = counters
      return counters
    }
    counters.begin()
    do throws(CaravanError) { try await copy(owner, placement, to: target, counters) } catch {
      // Who was cut off while that was written does not know where the user is: the next life does.
      if error.code != .cancelled { store.gate.release(owner) }
      counters.failed(error.message)
      if counters.counts.attempts >= StorageLimits.moveAttempts { try await save(placement.givenUp, of: owner) }
      throw error
    }
    host.log.info("a user was moved", [.user: owner, .store: target, .count: counters.counts.records])
  }

  private func copy(
    _ owner: UserID, _ placement: Placement, to target: String, _ counters: MoveCounters
  ) async throws(CaravanError) {
    let copy = OwnerCopy(
      owner: owner, source: store.store(named: placement.store), target: store.store(named: target), counters: counters)
    // What an attempt that came to nothing has left is no copy of what there is now.
    try await copy.target.discard(owner)
    try await copy.copyChunks()
    let clock = host.clock
    let start = clock.now
    let deadline = start + StorageLimits.longestHold
    try await store.gate.hold(owner, until: deadline, clock: clock)
    // Commits here come before those there, in the log as in time.
    try await relays[placement.store]?.enterAll()
    try await copy.copyAll { () throws(CaravanError) in
      guard clock.now < deadline else {
        throw CaravanError(
          .timedOut, "the copy takes longer than \(StorageLimits.longestHold.components.seconds) s: it stays")
      }
      if Task.isCancelled { throw CaravanError(.cancelled, "the task was cancelled") }
    }
    try await save(placement.arrived, of: owner)
    store.gate.place(owner, in: target)
    store.gate.release(owner)
    counters.succeeded(held: clock.now - start)
  }
}
