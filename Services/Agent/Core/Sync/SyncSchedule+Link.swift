public import CaravanModel

// Which link what may use: links, the user's policy, and budgets (MOB-44, MOB-45, MOB-47, UNI-21).
extension SyncSchedule {
  /// What the machine is connected by; of a link that nobody knows, what the registrations make of it.
  public var link: Link? { registrations.link(linkState.link) }
  /// The machine's word counts, not what was announced.
  public var isLinkAutomatic: Bool { linkState.isAutomatic }
  /// Nothing is paid by the byte.
  public var isFree: Bool { link.map { $0.cost <= .wifi } ?? false }

  /// - Returns: whether the link is another one now.
  public mutating func changeLink(_ change: (inout LinkState) -> Void) -> Bool {
    let before = link
    change(&linkState)
    return link != before
  }

  public mutating func setPolicy(_ policy: NetworkPolicy) { self.policy = policy }

  /// Whether the device may speak at all.
  public var permitsSpeaking: Bool { coalescer.permitsSpeaking }

  /// Whether a session of the key may go on over the link there is.
  /// - Parameter isDemanded: an app asked for it, so its registration's preference does not count.
  public func permits(_ key: Key, isDemanded: Bool) -> Bool { coalescer.permits(key, isDemanded: isDemanded) }

  /// The most expensive link that the next message of the key may go over; nil: the one there is costs more.
  public func limit(of key: Key, isDemanded: Bool) -> LinkClass? {
    coalescer.permits(key, isDemanded: isDemanded) ? coalescer.limit(of: key, isDemanded: isDemanded) : nil
  }

  /// Link, policy or budget are others: what may be sent is decided anew, and what waited for that is released
  /// (MOB-24).
  /// - Parameter budget: bytes that are left today; nil: the link has no budget.
  /// - Returns: whether the device may speak that might not before: everything registered is looked at.
  public mutating func decidePermissions(budget: UInt64?, at now: Moment) -> Bool {
    let couldSpeak = coalescer.permitsSpeaking
    coalescer.setLink(policy.maximumLink == nil ? nil : link?.cost)
    coalescer.setUserLink(policy.maximumLink ?? .wired)
    coalescer.setBudget(budget)
    guard coalescer.permitsSpeaking else { return false }
    coalescer.retryNow(at: now)
    guard !couldSpeak, isConnected else { return false }
    startAfresh(at: now)
    return true
  }

  /// The pull that rows wait for may not be permitted over the link that there is now: none waits until it has been
  /// tried again.
  /// - Returns: those whose rows wait no longer, in order.
  public mutating func releaseWaitingRows() -> [TableID] {
    let waited = tables.tables { $0.awaitsPush }
    for table in waited { tables[table].awaitPush(false) }
    return waited
  }

  /// A budget may have been used up since, or a new day have brought a new one.
  /// - Parameter day: of the budget, in days since 1970; nil: the link has none.
  /// - Returns: whether the device may speak that might not before, or the other way round.
  public mutating func lookAtBudget(left: UInt64?, day: Int64?, at now: Moment) -> Bool {
    let couldSpeak = coalescer.permitsSpeaking
    coalescer.setBudget(left)
    if let day {
      if day != budgetDay { coalescer.retryNow(at: now) }
      budgetDay = day
    }
    return couldSpeak != coalescer.permitsSpeaking
  }

  /// Tables of which notifications are to bring no rows (MOB-46, MOB-47).
  /// - Returns: nil: nobody knows, and nothing comes.
  public func toldOnly(hasBudget: Bool) -> Set<TableID>? {
    guard coalescer.permitsSpeaking else { return nil }
    return registrations.toldOnly(hasBudget: hasBudget) { coalescer.permits($0, isDemanded: false) }
  }

  /// Tables of which nothing may be pulled over this link; none while nobody knows, for nothing comes then.
  public var deferrable: Set<TableID> {
    guard coalescer.permitsSpeaking else { return [] }
    return registrations.deferrable { coalescer.permits($0, isDemanded: false) }
  }

  /// Tables whose changes leave as soon as they are made.
  public func immediateWrites(hasBudget: Bool) -> Set<TableID> {
    registrations.immediateWrites { key in
      isConnected && !hasBudget && mayCollect(key.table) && !tables[key.table].lacksRoom
        && coalescer.permits(key, isDemanded: false)
    }
  }

  /// The first table of an app that may be written over this link by its registration.
  public func permittedWrite(of app: ContainerID) -> Key? {
    registrations.keys.first {
      $0.table.app == app && $0.direction == .write && coalescer.permits($0, isDemanded: false)
    }
  }
}
