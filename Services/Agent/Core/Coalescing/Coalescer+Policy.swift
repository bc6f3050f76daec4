public import CaravanModel

// What follows from what waits. Nothing here changes anything.
extension Coalescer {
  /// The aggregate of all intents as they are (MOB-03); `takeTransfer` carries out what it says.
  public func policy(at now: Moment) -> TransferPolicy {
    var batch: [(deadline: UInt64, key: Key)] = []
    var start: TransferPolicy.Start?
    var (bytes, gathered) = (UInt64(0), UInt64(0))
    for (key, item) in waiting where permits(key, item) {
      let notBefore = notBefore(key)
      if let due = item.due {
        start = Self.earlier(start, TransferPolicy.Start(at: max(due.deadline, notBefore), trigger: due.trigger))
      }
      guard notBefore <= now.monotonic, item.due != nil || ridesAlong(key, at: now) else { continue }
      batch.append((item.due?.deadline ?? .max, key))
      bytes += item.bytes
      if item.due != nil { gathered += item.bytes }
    }
    for (key, item) in tolerated where waiting[key] == nil && permits(key, isDemanded: false) {
      guard underway[key] == nil, held[key] ?? 0 <= now.monotonic, ridesAlong(key, at: now) else { continue }
      batch.append((.max, key))
      bytes += item.bytes
    }
    if volumeBytes > 0, gathered >= volumeBytes, (start?.at ?? .max) > now.monotonic {
      start = TransferPolicy.Start(at: now.monotonic, trigger: .volume)
    }
    batch.sort { ($0.deadline, $0.key) < ($1.deadline, $1.key) }
    assert(gathered <= bytes, "more bytes are due than travel")
    assert(start == nil || permitsSpeaking, "a transfer would start over a link that may not be used")
    assert(Set(batch.map(\.key)).count == batch.count, "a table would travel twice in one transfer")
    return TransferPolicy(start: start, batch: batch.map(\.key), bytes: bytes)
  }

  /// Of two that are due at the same time, the one that says more.
  private static func earlier(_ a: TransferPolicy.Start?, _ b: TransferPolicy.Start) -> TransferPolicy.Start {
    guard let a else { return b }
    let order = Trigger.allCases
    let (rankA, rankB) = (order.firstIndex(of: a.trigger) ?? 0, order.firstIndex(of: b.trigger) ?? 0)
    return (a.at, rankA) <= (b.at, rankB) ? a : b
  }

  /// What waits for its period goes along with whatever is sent before, so that it need not have a transfer of its own
  /// later. But a period is also how often a table is looked at: beside one that never rests, not every time.
  private func ridesAlong(_ key: Key, at now: Moment) -> Bool {
    guard registrations[key] != nil else { return false }
    return paidUntil[key] ?? 0 <= now.monotonic + EngineLimits.ridesInARow * rest(of: key)
  }

  func rest(of key: Key) -> UInt64 {
    let part = UInt64(registrations[key]?.periodMilliseconds ?? 0) / EngineLimits.restsPerPeriod
    return min(part, EngineLimits.longestRestMilliseconds) * 1_000_000
  }

  // MARK: Links

  private func permits(_ key: Key, _ item: Waiting) -> Bool { permits(key, isDemanded: item.due?.trigger == .demand) }

  /// Whether a transfer of this item may go on over the link there is (MOB-44, MOB-45).
  /// - Parameter isDemanded: an app asked for it now, so its registration's preference does not count.
  public func permits(_ key: Key, isDemanded: Bool) -> Bool {
    guard let link, permitsSpeaking else { return false }
    return link <= limit(of: key, isDemanded: isDemanded)
  }

  /// The most expensive link that a transfer of this item may go over.
  public func limit(of key: Key, isDemanded: Bool) -> LinkClass {
    isDemanded ? userLink : min(registrations[key]?.link ?? .roaming, userLink)
  }

  /// Whether the device may speak at all.
  public var permitsSpeaking: Bool {
    guard let link, link <= userLink else { return false }
    return budget.map { $0 >= EngineLimits.leastBudgetBytes } ?? true
  }
}
