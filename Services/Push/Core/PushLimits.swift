/// Bounds of the push service.
package enum PushLimits {
  /// Of a target's address.
  package static let urlBytes = 2_048
  /// A Web Push message before it is encrypted: push services take 4,096 bytes of it after (RFC 8030 §7.2).
  package static let webPushBytes = 3_900
  /// Deliveries that are asked for at once.
  package static let inFlight = 64
  /// Calls on their way, each on a thread of its own.
  package static let lanes = 16
  /// Of these, calls for one container, and to one host: who does not answer holds up few.
  package static let lanesPerContainer = 8
  package static let lanesPerHost = 4
  /// Of all, calls to targets that failed the last time, and those of them for one container.
  package static let lanesForRetries = 4
  package static let retryLanesPerContainer = 2
  /// A server that is busy is asked again so much later.
  package static let busyMilliseconds: UInt32 = 500
  /// For a connection, and for all of a call.
  package static let connectTime: Duration = .seconds(5)
  package static let callTime: Duration = .seconds(10)
  /// Of an answer, whose body nobody reads.
  package static let answerBytes = 16 << 10
  /// How long a proof of who sends is good for: 24 hours is the most (RFC 8292 §2).
  package static let proofSeconds: Int64 = 12 * 3_600
  /// A longer wait that a target asks for is cut to this.
  package static let longestWaitSeconds: UInt32 = 86_400
}
