import CaravanEncoding
import CaravanRuntime
import CaravanSyncCore

/// How a device and its user are called in one container, by whom others can see what it writes (CK-02).
package struct Alias: Hashable, Sendable {
  package let user: String
  package let device: String

  /// As the writer of records: `<user's alias>/<device's alias>`.
  package var writer: String { "\(user)/\(device)" }

  /// What nobody can guess, and nobody can derive.
  static func random(_ host: Host) -> String {
    Base32.encode(host.random.bytes(SyncLimits.aliasBytes)).lowercased()
  }
}
