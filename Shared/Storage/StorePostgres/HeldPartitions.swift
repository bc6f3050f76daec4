internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanRuntime

/// Partitions whose rows others hold for longer than a group waits: a session that hangs, a process that was stopped in
/// a transaction (TRU-13). Those who write to other partitions over the same connection do not wait for them: a
/// held partition is tried by itself, briefly, and now and then.
struct HeldPartitions {
  /// When each is tried again.
  private var until: [UInt32: Instant] = [:]

  var isEmpty: Bool { until.isEmpty }

  /// Whether it was held when somebody looked last, or may have been.
  func isKnown(_ partition: UInt32) -> Bool { until[partition] != nil }

  /// How long nobody should try; nil: try now.
  func wait(for partition: UInt32, at now: Instant) -> Duration? {
    guard let until = until[partition], now < until else { return nil }
    return until - now
  }

  /// Whether writes to these are not to be in one transaction.
  func keepApart(_ partitions: [UInt32]) -> Bool {
    partitions.contains { isKnown($0) } && Set(partitions).count > 1
  }

  /// A group could not take hold of them.
  /// - Returns: whether it is certain which of them is held: else each is to be tried by itself.
  mutating func met(_ partitions: [UInt32], at now: Instant) -> Bool {
    let all = Set(partitions)
    for partition in all { until[partition] = all.count == 1 ? now + PostgresLimits.heldPause : now }
    return all.count == 1
  }

  mutating func took(_ partitions: [UInt32]) {
    guard !isEmpty else { return }
    for partition in partitions { until[partition] = nil }
  }

  static func refusal(_ left: Duration) -> CaravanError {
    CaravanError(
      .serverBusy, "somebody else holds this part of the store in PostgreSQL: retry",
      retryAfterMilliseconds: UInt32(clamping: left.wholeMilliseconds))
  }
}

extension PostgresError {
  /// Another transaction has held a row for longer than this one waits.
  var isOfLock: Bool { state == "55P03" }
}
