/// How much of the chunks is to be read now, so that each of them is read once in `StorageLimits.scrubPeriod`, and no
/// faster: but once damage was found all of them are read at once, for what a disk has lost rarely is alone, and
/// devices that have the bytes are asked only for what is known.
package struct ScrubPace: Sendable {
  /// Bytes that are due, less those that were read too early.
  private var due: Double = 0
  private var last: UInt64?
  /// Rounds to be read without a pause: the one that is going on, and a whole one.
  private var roundsAtOnce = 0

  package init() {}

  /// - Parameters:
  ///   - kept: bytes of all chunks.
  ///   - now: nanoseconds of a monotonic clock.
  /// - Returns: how many bytes to read; nil: it is not worth a step yet.
  package mutating func portion(of kept: UInt64, at now: UInt64) -> Int? {
    let passed = now - min(now, last ?? now)
    last = now
    due += Double(kept) * Double(passed) / Double(StorageLimits.scrubPeriodNanoseconds)
    // After a long sleep it is not made up for at once.
    due = min(due, Double(StorageLimits.scrubStepBytes * StorageLimits.scrubStepsTogether))
    let worth = min(Double(StorageLimits.scrubStepBytes), Double(kept) / Double(StorageLimits.scrubStepsOfPeriod))
    guard kept > 0 else { return nil }
    if roundsAtOnce > 0 { return StorageLimits.scrubStepBytes }
    guard due >= max(1, worth) else { return nil }
    let portion = min(Int(due), StorageLimits.scrubStepBytes)
    precondition(portion > 0, "a step that reads nothing never ends a round")
    return portion
  }

  /// Rounds that are read at once put the next one off by no more than what is due.
  package mutating func read(bytes: Int) {
    precondition(bytes >= 0, "nothing is read backwards")
    due -= Double(bytes)
    if roundsAtOnce > 0 { due = max(0, due) }
  }

  package mutating func damageFound() { roundsAtOnce = 2 }

  package mutating func roundOver() { roundsAtOnce = max(0, roundsAtOnce - 1) }
}
