package import CaravanAgentCore
package import CaravanAgentStore
package import CaravanModel
package import CaravanRuntime

/// Stands before the wire: no message passes that the link's budget has no room for, and every byte is counted for
/// somebody (MOB-47).
package final class Meter: Sendable {
  private struct State {
    var ledger: UsageLedger
    /// What is paid for now; nil: no link.
    var link: LinkClass?
    /// The most expensive that the user allows; nil: none.
    var userLink: LinkClass?
    var savedAt = Instant(nanoseconds: 0)
    /// Of the next message whose reservation ends, or of another link.
    var settled = Promise<Void>()
  }

  private let state: Mutex<State>
  private let store: any SyncStore
  private let host: Host

  /// - Parameter record: what the store remembers.
  package init(_ record: NetworkRecord, store: any SyncStore, host: Host) {
    self.store = store
    self.host = host
    var ledger = UsageLedger(
      budgets: record.policy.dailyBytes, day: record.day, grants: record.grants, accounts: record.accounts,
      totals: record.totals)
    ledger.look(at: host.clock.wallTime.milliseconds)
    state = Mutex(State(ledger: ledger, userLink: record.policy.maximumLink))
  }

  private var now: Int64 { host.clock.wallTime.milliseconds }

  // MARK: What is allowed

  package func use(_ link: LinkClass?) { change { $0.link = link } }
  package func use(_ policy: NetworkPolicy) {
    change { state in
      state.userLink = policy.maximumLink
      state.ledger.setBudgets(policy.dailyBytes)
    }
  }

  /// Whoever waits for room looks again.
  private func change(_ body: (inout State) -> Void) {
    let settled = state.withLock { state in
      body(&state)
      defer { state.settled = Promise() }
      return state.settled
    }
    settled.fulfil(())
  }

  /// What is left today of the present link's budget, and how long today still is; nil: there is no budget.
  package var budget: (left: UInt64, day: Int64, untilTomorrow: Duration)? {
    state.withLock { state in
      state.ledger.look(at: now)
      guard let link = state.link, let left = state.ledger.left(of: link) else { return nil }
      return (left, state.ledger.day, .milliseconds(state.ledger.untilTomorrow(from: now)))
    }
  }

  /// Today's, in a fixed order.
  package var accounts: [(UsageLedger.Account, UsageLedger.Bytes)] {
    state.withLock { state in
      state.ledger.look(at: now)
      return state.ledger.accounts.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
    }
  }

  /// What each table has carried since it was made.
  package var totals: [TableID: UsageLedger.Bytes] { state.withLock { $0.ledger.totals } }
  package var deviceTotal: UsageLedger.Bytes { state.withLock { $0.ledger.deviceTotal } }
  package func forget(_ table: TableID) { state.withLock { $0.ledger.forget(table) } }

  package func spent(over link: LinkClass) -> UInt64 { state.withLock { $0.ledger.spent[link] ?? 0 } }

  // MARK: Messages

  /// Before a message of so many bytes goes, whose answer may have so many. Where they would fit if what is on its way
  /// takes less than is set apart for it, that is waited for.
  /// - Parameter limit: the most expensive link that it may go over.
  /// - Throws: `networkNotPermitted`: with the time until the budget is new, or without, where the link does not do.
  package func reserve(up: Int, down: UInt64, over limit: LinkClass) async throws(CaravanError)
    -> UsageLedger.Reservation
  {
    while true {
      let (answer, link, settled) = ask(up: up, down: down, over: limit)
      switch answer {
      case .granted(let reservation): return reservation
      case .needsGrant(let link, let day, let bytes):
        try await store.save(grant: bytes, over: link, on: day)
        state.withLock { $0.ledger.grant(bytes, on: link, day: day) }
      case .occupied:
        do { try await settled.wait() } catch { throw CaravanError(.cancelled, "the task was cancelled") }
      case .refused(let left): throw tooLittle(left, of: link)
      case nil: throw Self.noLink(link)
      }
    }
  }

  /// As `reserve`, where nothing has to be written down or waited for first, which is nearly always.
  /// - Returns: nil otherwise.
  package func reserveNow(up: Int, down: UInt64, over limit: LinkClass) throws(CaravanError) -> UsageLedger.Reservation?
  {
    let (answer, link, _) = ask(up: up, down: down, over: limit)
    switch answer {
    case .granted(let reservation): return reservation
    case .needsGrant, .occupied: return nil
    case .refused(let left): throw tooLittle(left, of: link)
    case nil: throw Self.noLink(link)
    }
  }

  /// Why so many bytes cannot go today; nil: they can.
  package func refusal(of bytes: Int) -> CaravanError? {
    let (unspent, link) = state.withLock { state in
      state.ledger.look(at: now)
      return (state.link.flatMap { state.ledger.unspent(of: $0) }, state.link)
    }
    guard let unspent, bytes > unspent else { return nil }
    return tooLittle(unspent, of: link)
  }

  /// Waits until a message that is on its way over the present link has taken what it takes of the budget.
  /// - Returns: false: there is none.
  package func hasSettled() async -> Bool {
    let settled = state.withLock { state -> Promise<Void>? in
      guard let link = state.link, state.ledger.left(of: link) != state.ledger.unspent(of: link) else { return nil }
      return state.settled
    }
    return await (try? settled?.wait()) != nil
  }

  private func ask(
    up: Int, down: UInt64, over limit: LinkClass
  ) -> (UsageLedger.Answer?, LinkClass?, settled: Promise<Void>) {
    state.withLock { state in
      guard let link = state.link, let userLink = state.userLink, link <= min(limit, userLink) else {
        return (nil, state.link, state.settled)
      }
      return (state.ledger.reserve(UInt64(up) + down, on: link, at: now), link, state.settled)
    }
  }

  private func tooLittle(_ left: UInt64, of link: LinkClass?) -> CaravanError {
    CaravanError(
      .networkNotPermitted,
      "today's budget of the \(link?.name ?? "") link has \(left) bytes left, too few: the rest goes tomorrow, or over "
        + "a cheaper link",
      retryAfterMilliseconds: budget.map { UInt32(clamping: $0.untilTomorrow.wholeMilliseconds) })
  }

  private static func noLink(_ link: LinkClass?) -> CaravanError {
    let reason = link.map { "the link is \($0.name) now" } ?? "there is no link"
    return CaravanError(.networkNotPermitted, "\(reason): what was written is kept and goes later")
  }

  package func settle(
    _ reservation: UsageLedger.Reservation, up: Int, down: Int, shares: UsageLedger.Shares = UsageLedger.Shares()
  ) {
    change { state in
      state.ledger.settle(reservation, UsageLedger.Bytes(up: UInt64(up), down: UInt64(down)), shares: shares)
    }
  }

  /// Something came that nobody asked for.
  package func received(_ bytes: Int) {
    state.withLock { state in
      guard let link = state.link else { return }
      state.ledger.look(at: now)
      state.ledger.record(UsageLedger.Bytes(down: UInt64(bytes)), on: link)
    }
  }

  // MARK: Keeping

  /// When what was carried is to be written down; nil: there is nothing.
  package var saveDue: Instant? {
    state.withLock { state in
      state.ledger.hasUnsaved ? state.savedAt + .milliseconds(Int64(EngineLimits.usageSaveMilliseconds)) : nil
    }
  }

  package func save() async {
    let unsaved = state.withLock { state in
      state.savedAt = host.clock.now
      return state.ledger.takeUnsaved()
    }
    guard !unsaved.isEmpty else { return }
    do throws(CaravanError) { try await store.save(unsaved) } catch {
      state.withLock { $0.ledger.putBack(unsaved) }
      host.log.debug("what the links carried was not written down", [.error: error])
    }
  }

  /// Before an orderly end: nothing is in flight any more.
  package func close() async {
    await save()
    let (day, grants) = state.withLock { $0.ledger.exactGrants }
    for (link, bytes) in grants.sorted(by: { $0.key < $1.key }) {
      try? await store.save(grant: bytes, over: link, on: day)
    }
  }
}
