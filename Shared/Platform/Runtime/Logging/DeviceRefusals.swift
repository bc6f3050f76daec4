public import CaravanModel

/// What devices are told of refusals inside the cloud, and what the cloud's log keeps of them: the reasons that are not
/// the devices' business, now and then, however many devices meet them.
public final class DeviceRefusals: Sendable {
  private static let period: Duration = .seconds(10)

  private let host: Host
  private let retryAfter: UInt32
  private let said = Mutex<Instant?>(nil)

  /// - Parameter retryAfter: milliseconds, for a refusal that may be gone and does not say when.
  public init(_ host: Host, retryAfter: UInt32) {
    self.host = host
    self.retryAfter = retryAfter
  }

  public func told(_ error: CaravanError) -> CaravanError {
    if error.isOperators, isDue() {
      host.log.warning("the cloud failed a device", [.code: error.code.rawValue, .error: error.message])
    }
    return error.forDevice(retryAfter: retryAfter)
  }

  private func isDue() -> Bool {
    let now = host.clock.now
    return said.withLock { said in
      if let last = said, now - last < Self.period { return false }
      said = now
      return true
    }
  }
}
