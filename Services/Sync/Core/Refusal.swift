package import Model

/// How a refusal inside the cloud reads on the device.
package enum Refusal {
  /// A transient one always says when to come back; the device's own mistakes pass as they are.
  package static func forDevice(_ error: CaravanError) -> CaravanError {
    guard error.isTransient, error.retryAfterMilliseconds == nil else { return error }
    return CaravanError(
      error.code, error.message, retryAfterMilliseconds: SyncLimits.retryAfterMilliseconds)
  }

  /// The answer exists but does not fit what is left of the frame: the same operation gets it again.
  package static let replyFull = CaravanError(
    .serverBusy, "the answer does not fit what is left of this frame: send the same operation again",
    retryAfterMilliseconds: 1)
}
