public import CaravanModel
public import CaravanRuntime

extension Flag<Duration> {
  /// For the gateway, which signs devices, and for whoever starts it.
  public static let deviceCredentials = Flag(
    "device-credentials", "TIME", "how long devices' credentials are good; agents renew them when half of it is over",
    environment: "CARAVAN_DEVICE_CREDENTIALS", default: .seconds(Limits.deviceCredentialSeconds))
}

extension Options {
  /// Seconds.
  /// - Throws: `invalidData` when it is longer than revocations are kept, or too short to be renewed in time.
  public func deviceCredentialSeconds() throws(CaravanError) -> Int64 {
    let seconds = self[Flag<Duration>.deviceCredentials].components.seconds
    guard (60...Limits.deviceCredentialSeconds).contains(seconds) else {
      throw CaravanError(
        .invalidData,
        "--device-credentials is 1m to \(Limits.deviceCredentialSeconds / 86_400)d: revocations are kept as long")
    }
    return seconds
  }
}
