public import CaravanAgentCore
internal import CaravanAgentNetwork
internal import CaravanAgentStore
public import CaravanModel
internal import CaravanRuntime

// Links, the user's policy, and budgets (MOB-44, MOB-45, MOB-47, UNI-21).
extension SyncEngine {
  public func linkChanged(to link: Link?) async { await change { $0.announce(link) } }

  /// Somebody watches the machine's link from now on; until `linkDetected` there is none.
  public func linkIsWatched() async { await change { $0.watch() } }

  public func linkDetected(_ link: Link?) async { await change { $0.detected = link } }

  public func useDetectedLink() async throws(CaravanError) {
    var isWatched = false
    await change { isWatched = $0.becomeAutomatic() }
    guard isWatched else {
      throw CaravanError(.invalidData, "this agent does not watch its link: start it with --link auto")
    }
  }

  private func change(_ body: (inout LinkState) -> Void) async {
    let before = link
    body(&linkState)
    if link != before { await permissionsChanged() }
  }

  /// - Throws: when it cannot be written down; then nothing has changed.
  public func setPolicy(_ policy: NetworkPolicy) async throws(CaravanError) {
    try await store.save(policy)
    self.policy = policy
    meter.use(policy)
    await permissionsChanged()
  }

  func recallPolicy() async throws(CaravanError) {
    let record = try await store.networkRecord()
    policy = record.policy
    meter.recall(record)
    await admission.recall(record.refusal)
    await permissionsChanged()
  }

  /// What may be sent is decided anew, and what waited for that is released (MOB-24).
  func permissionsChanged() async {
    let couldSpeak = coalescer.permitsSpeaking
    let cost = link?.cost
    meter.use(cost)
    coalescer.setLink(policy.maximumLink == nil ? nil : cost)
    coalescer.setUserLink(policy.maximumLink ?? .wired)
    coalescer.setBudget(meter.budget?.left)
    if !coalescer.permitsSpeaking {
      failWaiters(
        CaravanError(.networkNotPermitted, "the link may not be used: what was written is kept and goes later"))
    } else {
      coalescer.retryNow(at: moment)
      if !couldSpeak, bus != nil { startAfresh() }
    }
    await renumberList()
    speech.tell(coalescer.permitsSpeaking)
    let waited = tables.tables { $0.awaitsPush }
    for table in waited { tables[table].awaitPush(false) }
    await planAtOnceWhatGoesAtOnce()
    for table in waited { await noteRows(of: table) }
    signal.raise()
  }

  // MARK: What comes unasked

  /// Tables of which notifications are to bring no rows: over this link they may not be pulled, or it has a budget, of
  /// which nothing can be set apart for what nobody asked for (MOB-46, MOB-47). nil: nobody knows, and nothing comes.
  private var toldOnly: Set<TableID>? {
    guard coalescer.permitsSpeaking else { return nil }
    return registered.toldOnly(hasBudget: meter.budget != nil) { coalescer.permits($0, isDemanded: false) }
  }

  /// Numbers the list of tables to hear of as it is now, and has the cloud told.
  /// - Parameter patience: in milliseconds, for what is new in it. Rows that are not to come any more do not wait.
  func numberList(patience: UInt64) async throws(CaravanError) {
    var (next, told) = (SubscriptionList(), toldOnly)
    while true {
      next = try await store.subscriptions(toldOnly: told)
      if told == toldOnly { break }
      told = toldOnly
    }
    // The cloud ignores an older list of the same device. A new store counts from the beginning, but epochs, which have
    // the time in their upper bits, grow from one store of a device to the next.
    next.generation += await store.epoch >> 16
    let isPressing = list.items.contains { !$0.isToldOnly && next.toldOnly.contains($0.table) }
    list = next
    controlMessages.listChanged(
      to: list.generation, by: host.clock.now.nanoseconds + (isPressing ? 0 : patience * 1_000_000))
  }

  func renumberList() async {
    // Before the registrations have been read there is none.
    guard !registered.isEmpty else { return }
    do throws(CaravanError) { try await numberList(patience: 0) } catch {
      host.log.warning("notifications go on bringing rows as before", [.error: error.description])
    }
  }

  // MARK: The connection

  func untilSpeakingIsPermitted() async { try? await speech.permitted.wait() }
  func untilSpeakingIsForbidden() async { try? await speech.forbidden.wait() }

  // MARK: Budgets

  /// A budget may have been used up since, or a new day have brought a new one; and what was carried is written down
  /// now and then.
  func lookAtBudget(in group: inout DiscardingTaskGroup) {
    let budget = meter.budget
    let couldSpeak = coalescer.permitsSpeaking
    coalescer.setBudget(budget?.left)
    if let budget {
      if budget.day != budgetDay { coalescer.retryNow(at: moment) }
      budgetDay = budget.day
      alarm.set(host.clock.now + min(budget.untilTomorrow, EngineLimits.dayCheck))
    }
    if couldSpeak != coalescer.permitsSpeaking { speech.tell(!couldSpeak) }
    guard let due = meter.saveDue else { return }
    if due <= host.clock.now { group.addTask { await self.meter.save() } } else { alarm.set(due) }
  }
}
