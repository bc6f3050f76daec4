internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanAgentSync
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit

/// Over which links a device's tables may be carried: what apps prefer and demand while it has them (MOB-44). Held
/// against what its agent counts for each table (I13). Where it is uncertain what was registered, or which link there
/// was, everything that may have been counts.
final class LinkCostChecker: Sendable {
  private struct State {
    var links: [LinkClass?] = [.wifi]
    /// The most expensive that each may have been registered for; others may go over all of them.
    var registered: [TableID: LinkClass] = [:]
    var demands: [TableID: Int] = [:]
    /// When a table last might be carried over a link.
    var permitted: [UsageLedger.Account: Instant] = [:]
    var looked: (at: Instant, carried: [UsageLedger.Account: UInt64])

    /// What holds until now.
    mutating func note(at now: Instant) {
      for link in links.compactMap(\.self) {
        for (table, limit) in registered where link <= limit || demands[table, default: 0] > 0 {
          permitted[UsageLedger.Account(link: link, table: table)] = now
        }
      }
    }
  }

  /// What was on its way when its link or its permission went may be counted so much later.
  private static let delay: Duration = .seconds(60)

  private let clock: any Clock
  private let state: Mutex<State>

  init(clock: any Clock) {
    self.clock = clock
    state = Mutex(State(looked: (clock.now, [:])))
  }

  private func change(_ body: (inout State) -> Void) {
    let now = clock.now
    state.withLock { state in
      state.note(at: now)
      body(&state)
      state.note(at: now)
    }
  }

  // MARK: What is permitted

  func linkChanges(to link: LinkClass?) { change { $0.links.append(link) } }
  /// - Parameter link: the last that the agent was told of.
  func linkChanged(to link: LinkClass?) { change { $0.links = [link] } }

  /// - Parameter link: nil: for none.
  func registers(_ table: TableID, for link: LinkClass?) {
    change { state in
      guard let known = state.registered[table] else { return }
      state.registered[table] = max(known, link ?? .roaming)
    }
  }
  /// - Parameter registrations: the table's, in its store.
  func registered(_ table: TableID, _ registrations: [TableRegistration]) {
    let links = registrations.filter { $0.table == table }.map(\.registration.link)
    change { $0.registered[table] = links.count == Direction.allCases.count ? links.max() : nil }
  }

  func demands(_ table: TableID) { change { $0.demands[table, default: 0] += 1 } }
  func demanded(_ table: TableID) { change { $0.demands[table, default: 0] -= 1 } }

  // MARK: What was carried

  /// - Returns: what was carried since the last look where it might not be.
  func look(at usage: [SyncStatus.Usage]) -> [String] {
    change { _ in }
    let carried = Dictionary(uniqueKeysWithValues: usage.map { ($0.account, $0.bytes.up + $0.bytes.down) })
    let now = clock.now
    return state.withLock { state in
      let before = state.looked
      state.looked = (now, carried)
      return usage.compactMap { usage in
        let (account, bytes) = (usage.account, carried[usage.account] ?? 0)
        // A new day, or a life that had not written down all of it, counts from less.
        let known = before.carried[account] ?? 0
        guard let table = account.table, state.registered[table] != nil, bytes > known else { return nil }
        if let last = state.permitted[account], before.at <= last + Self.delay { return nil }
        return "\(bytes - known) bytes of \(table) went over \(account.link.name)"
      }
    }
  }
}
