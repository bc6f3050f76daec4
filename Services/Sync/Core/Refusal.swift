package import CaravanModel

/// How a refusal inside the cloud reads on the device.
package enum Refusal {
  /// The answer exists but does not fit what is left of the frame: the same operation gets it again.
  package static let replyFull = CaravanError(
    .serverBusy, "the answer does not fit what is left of this frame: send the same operation again",
    retryAfterMilliseconds: 1)
}
