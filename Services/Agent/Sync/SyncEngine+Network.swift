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
      throw CaravanError(
        .invalidData, "this agent does not watch its link: start it with --link auto, or say what its link is")
    }
  }

  private func change(_ body: (inout LinkState) -> Void) async {
    if schedule.changeLink(body) { await permissionsChanged() }
  }

  /// - Throws: when it cannot be written down; then nothing has changed.
  public func setPolicy(_ policy: NetworkPolicy) async throws(CaravanError) {
    try await store.save(policy)
    schedule.setPolicy(policy)
    meter.use(policy)
    await permissionsChanged()
  }

  /// What may be sent is decided anew, and what waited for that is released (MOB-24).
  func permissionsChanged() async {
    meter.use(schedule.link?.cost)
    if schedule.decidePermissions(budget: meter.budget?.left, at: moment) { signal.raise() }
    if !schedule.permitsSpeaking {
      failWaiters(
        CaravanError(.networkNotPermitted, "the link may not be used: what was written is kept and goes later"))
    }
    await renumberList()
    speech.tell(schedule.permitsSpeaking)
    let released = schedule.releaseWaitingRows()
    await planAtOnceWhatGoesAtOnce()
    for table in released { await noteRows(of: table) }
    signal.raise()
  }

  // MARK: What comes unasked

  private var toldOnly: Set<TableID>? { schedule.toldOnly(hasBudget: meter.budget != nil) }

  /// Numbers the list of tables to hear of as it is now, and has the cloud told.
  /// - Parameter patience: in milliseconds, for what is new in it. Rows that are not to come any more do not wait.
  func numberList(patience: UInt64) async throws(CaravanError) {
    var (next, told, mayWait) = (SubscriptionList(), toldOnly, schedule.deferrable)
    while true {
      next = try await store.subscriptions(toldOnly: told, deferrable: mayWait)
      if told == toldOnly, mayWait == schedule.deferrable { break }
      (told, mayWait) = (toldOnly, schedule.deferrable)
    }
    // The cloud ignores an older list of the same device. A new store counts from the beginning, but epochs, which have
    // the time in their upper bits, grow from one store of a device to the next.
    next.generation += await store.epoch >> 16
    schedule.number(next, patience: patience, at: moment)
  }

  func renumberList() async {
    // Before the registrations have been read there is none.
    guard !schedule.hasNoRegistrations else { return }
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
    let isOther = schedule.lookAtBudget(left: budget?.left, day: budget?.day, at: moment)
    if let budget { alarm.set(host.clock.now + min(budget.untilTomorrow, EngineLimits.dayCheck)) }
    if isOther { speech.tell(schedule.permitsSpeaking) }
    guard let due = meter.saveDue else { return }
    if due <= host.clock.now { group.addTask { await self.meter.save() } } else { alarm.set(due) }
  }
}
