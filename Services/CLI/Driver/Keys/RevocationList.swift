internal import CaravanCrypto
internal import CaravanModel

/// Which user keys are out, as the account's token tells the broker. The token travels whole with each change, so the
/// list is kept short: a key is forgotten when the last credentials that were signed for it are over anyhow.
struct RevocationList: Equatable {
  /// When each was revoked, in Unix seconds: what was signed for it until then is void.
  private(set) var times: [PublicNKey: Int64]
  /// Those whose credentials all end by themselves. Credentials of earlier releases, and of extensions, do not.
  private(set) var ending: Set<PublicNKey>

  /// What a message of the broker's can carry of them (94 bytes each, of 4 MiB).
  static let most = 40_000
  /// From how many on the operator is told.
  static let warning = most / 10 * 8
  /// Clocks of gateway and broker may differ.
  static let margin: Int64 = 86_400

  init(times: [PublicNKey: Int64] = [:], ending: Set<PublicNKey> = []) {
    self.times = times
    self.ending = ending.intersection(times.keys)
  }

  /// - Parameters:
  ///   - isEnding: whether all credentials of these keys end by themselves.
  ///   - now: Unix seconds.
  /// - Throws: `limitExceeded` when the broker could not be told of so many.
  mutating func revoke(_ keys: [PublicNKey], isEnding: Bool, at now: Int64) throws(CaravanError) {
    for key in ending {
      guard let time = times[key], time + Limits.deviceCredentialSeconds + Self.margin < now else { continue }
      times[key] = nil
      ending.remove(key)
    }
    for key in keys {
      times[key] = now
      if isEnding { ending.insert(key) } else { ending.remove(key) }
    }
    guard times.count <= Self.most else {
      throw CaravanError(
        .limitExceeded,
        "\(times.count) keys are revoked, and the broker takes \(Self.most): those of devices are forgotten after "
          + "\((Limits.deviceCredentialSeconds + Self.margin) / 86_400) days; until then use another account "
          + "(caravan keys init)")
    }
  }
}
