extension CaravanError {
  /// How a refusal inside the cloud reads on a device. What the cloud's own disk or code lacks is not the device's to
  /// mend, and names of the cloud's files, databases and machines are none of its business: those stay in the cloud's
  /// log.
  /// - Parameter retryAfter: milliseconds, for a refusal that may be gone and does not say when.
  public func forDevice(retryAfter: UInt32) -> CaravanError {
    switch code {
    case .storageFull:
      CaravanError(
        .unavailable, "the cloud has no room to write: nothing is lost here, and it is tried again by itself",
        retryAfterMilliseconds: Self.fullCloudMilliseconds)
    case .internalError:
      CaravanError(.internalError, "something failed in the cloud: its operator finds the reason in its log")
    case _ where isTransient && retryAfterMilliseconds == nil:
      CaravanError(code, message, retryAfterMilliseconds: retryAfter)
    default: self
    }
  }

  /// A full disk is not emptied at once.
  private static let fullCloudMilliseconds: UInt32 = 5_000

  /// Whether `forDevice` leaves out what the cloud's operator has to know.
  public var isOperators: Bool { code == .storageFull || code == .internalError }
}
