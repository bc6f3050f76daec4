internal import Bus
internal import Crypto
internal import Encoding
internal import Model
internal import Runtime
internal import SQLite

extension KeyDirectory {
  /// Revocations follow one another, whichever process makes them: each begins with what the one before has written.
  private static let patience: Duration = .seconds(30)

  /// Makes everything void that was signed for these user keys until now, first at the broker, then for its next start.
  /// - Parameter bus: of the system account.
  func revoke(_ keys: [PublicNKey], over bus: any MessageBus, _ host: Host) async throws(CaravanError) {
    let lock = try await DirectoryLock.whenFree(folder.path, within: Self.patience, clock: host.clock)
    defer { lock.release() }
    let token = try accountToken(revoking: keys, at: host.clock.wallTime.milliseconds / 1000)
    try Self.check(
      await bus.request(Message(Array(token.text.utf8)), to: .claimsUpdate, deadline: BusSession.connectDeadline))
    try save(account: token)
  }

  /// - Throws: `internalError` when the broker did not take the token.
  private static func check(_ answer: Message) throws(CaravanError) {
    let json: JSON?
    do { json = try JSON.parse(answer.payload) } catch { json = nil }
    guard json?["data"]?["code"]?.intValue == 200 else {
      let reason = json?["error"]?["description"]?.stringValue ?? String(decoding: answer.payload, as: UTF8.self)
      throw CaravanError(.internalError, "the broker does not take the revocation: \(reason.prefix(300))")
    }
  }
}
