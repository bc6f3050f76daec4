/// How much there is to do.
package enum Load: Sendable, Hashable, Comparable, CaseIterable {
  case quiet
  /// More than half of what can be done at once: what can wait had better.
  case busy
  /// Soon, or already, some are turned away.
  case overloaded
}

/// Watches how much there is to do in this process, and whether those behind it have turned work away lately.
package struct LoadMeter: Sendable {
  private let capacity: Int
  private var underway = 0
  private var overloadedUntil: UInt64 = 0

  package init(capacity: Int = SyncLimits.framesInFlight) {
    precondition(capacity > 0, "nothing can be done at once")
    self.capacity = capacity
  }

  package mutating func begin() { underway += 1 }

  package mutating func end() {
    precondition(underway > 0, "more frames ended than began")
    underway -= 1
  }

  /// Storage has too much to do.
  package mutating func turnedAway(at now: UInt64) {
    overloadedUntil = max(overloadedUntil, now + SyncLimits.overloadNanoseconds)
  }

  package func load(at now: UInt64) -> Load {
    if overloadedUntil > now || underway * 4 > capacity * 3 { return .overloaded }
    return underway * 2 > capacity ? .busy : .quiet
  }
}

/// What is done with an operation under load, by what its app has declared (MOB-06, MOB-08): first what can wait is put
/// off, within the time that it has; then what may be lost is given up, by the device, which counts, and never more
/// than declared; what is wanted at once comes last.
package enum Admission: Sendable, Hashable {
  case admit
  /// Within what the operation says it can wait.
  case postpone(milliseconds: UInt32)
  /// The device gives up what may be lost of it and comes again with the rest.
  case shed(milliseconds: UInt32)

  package struct Intent: Sendable, Hashable {
    /// How much later it may still come.
    package var slackMilliseconds: UInt32
    /// Rows of it that may be lost.
    package var toleratedRows: UInt32

    package init(slackMilliseconds: UInt32, toleratedRows: UInt32 = 0) {
      self.slackMilliseconds = slackMilliseconds
      self.toleratedRows = toleratedRows
    }
  }

  /// - Parameter random: any number; spreads those that are put off together.
  package static func decide(_ intent: Intent, under load: Load, random: UInt64) -> Admission {
    switch load {
    case .quiet: return .admit
    case .busy: return postponed(intent, random) ?? .admit
    case .overloaded:
      if let postponed = postponed(intent, random) { return postponed }
      return intent.toleratedRows > 0 ? .shed(milliseconds: SyncLimits.retryAfterMilliseconds) : .admit
    }
  }

  /// By half to all of what it can wait, and no longer than is worth asking for.
  private static func postponed(_ intent: Intent, _ random: UInt64) -> Admission? {
    guard intent.slackMilliseconds >= SyncLimits.leastSlackMilliseconds else { return nil }
    let longest = min(intent.slackMilliseconds, SyncLimits.longestPostponementMilliseconds)
    let wait = longest / 2 + UInt32(random % UInt64(longest / 2 + 1))
    precondition(wait > 0, "who is put off by nothing comes again at once")
    precondition(wait <= intent.slackMilliseconds, "\(wait) ms are more than its app can wait")
    return .postpone(milliseconds: wait)
  }
}
