internal import CaravanBus
internal import CaravanCrypto
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

extension KeyDirectory {
  /// Revocations follow one another, whichever process makes them: each begins with what the one before has written.
  private static let patience: Duration = .seconds(30)

  /// One key a line: those of `RevocationList.ending`.
  private static let endingFile = "revoked.ending"

  /// Makes everything void that was signed for these user keys until now, first at the broker, then for its next start.
  /// - Parameters:
  ///   - isEnding: whether all credentials of these keys end by themselves, so that they can be forgotten one day.
  ///   - bus: of the system account.
  func revoke(
    _ keys: [PublicNKey], isEnding: Bool = false, over bus: any MessageBus, _ host: Host
  ) async throws(CaravanError) {
    let lock = try await DirectoryLock.whenFree(folder.path, within: Self.patience, clock: host.clock)
    defer { lock.release() }
    let now = host.clock.wallTime.milliseconds / 1000
    var list = try revocationList()
    try list.revoke(keys, isEnding: isEnding, at: now)
    if list.times.count >= RevocationList.warning {
      host.log.warning(
        "many keys are revoked: the broker takes no more than the limit",
        [.count: list.times.count, .limit: RevocationList.most])
    }
    let token = try accountToken(list, at: now)
    try Self.check(
      await bus.request(Message(Array(token.text.utf8)), to: .claimsUpdate, deadline: BusSession.connectDeadline))
    try save(account: token, list)
  }

  func revocationList() throws(CaravanError) -> RevocationList {
    let lines = try folder.text(Self.endingFile)?.split(separator: "\n") ?? []
    // A key that cannot be read is kept for ever.
    return RevocationList(
      times: try revocations(), ending: Set(lines.compactMap { try? PublicNKey(String($0), kind: .user) }))
  }

  /// What the next start of a broker begins with.
  func save(account token: JWT, _ list: RevocationList) throws(CaravanError) {
    // The token comes first: a key that is thought to end for longer than it is listed is forgotten at the next change.
    try save(account: token)
    guard !list.ending.isEmpty || folder.contains(Self.endingFile) else { return }
    let lines = list.ending.map(\.text).sorted().map { $0 + "\n" }
    try folder.write(lines.joined(), to: Self.endingFile)
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
