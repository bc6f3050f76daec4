internal import CaravanCLICore
internal import CaravanCrypto
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// A directory's ring of ticket keys, and the key of aliases, which is another (TRU-09).
extension KeyDirectory {
  static let ringFile = RingPurpose.tickets.file

  // MARK: Making

  /// Aliases came from the ticket key once, and must stay as they are: there the key is copied, byte for byte.
  func ensureAliasKey() throws(CaravanError) { try RingFolder(folder: folder).ensureAliasKey() }

  /// Whoever calls it has made the key of aliases, which a new directory's ticket key is not. Where one ring was for
  /// everything, each purpose begins with a copy of it, so that what it sealed opens until its keys retire.
  func ensureRings() throws(CaravanError) {
    let old = try folder.text(Self.ringFile)
    for purpose in RingPurpose.allCases where !folder.contains(purpose.file) {
      if let old, purpose.wasOfTickets {
        try folder.write(old + "\n", to: purpose.file, as: Self.ringFile)
      } else {
        let key = try crypto { () throws(CryptoError) in try TicketKey.generate() }
        try folder.write(KeyRing(key).fileText, to: purpose.file)
      }
    }
  }
}

/// What rotates and distrusts the keys of one purpose. It needs no other key.
struct RingFolder: Sendable {
  /// How long a key stays after another took its place: storage keeps tombstones as long for a device that is away, so
  /// one that comes later may start over anyway.
  static let keptSeconds: Int64 = 30 * 86_400
  /// For whoever changes keys too.
  private static let patience: Duration = .seconds(30)

  let folder: Folder
  let purpose: RingPurpose

  init(folder: Folder, _ purpose: RingPurpose = .tickets) {
    self.folder = folder
    self.purpose = purpose
  }

  /// - Parameter path: the directory of keys, or that of a suite, which has them in `keys`.
  /// - Throws: `invalidData` when there are no ticket keys.
  init(_ path: String, _ purpose: RingPurpose = .tickets) throws(CaravanError) {
    let candidates = [path, SuiteDirectory(path).keys].map { Folder(existing: $0) }
    guard let folder = candidates.first(where: { $0.contains(KeyDirectory.ringFile) }) else {
      throw CaravanError(.invalidData, "'\(path)' has no \(KeyDirectory.ringFile): is it a directory of keys?")
    }
    self.init(folder: folder, purpose)
  }

  /// The rings of a directory; one of before has one for everything, until `caravan keys init` or `up` runs there.
  static func all(_ path: String) throws(CaravanError) -> [RingFolder] {
    let first = try RingFolder(path)
    return RingPurpose.allCases.filter { first.folder.contains($0.file) }.map { RingFolder(folder: first.folder, $0) }
  }

  func ring() throws(CaravanError) -> KeyRing { try KeyRing.reading(folder.file(purpose.file)) }

  // MARK: Changes

  struct Beginning: Sendable {
    /// The key that all services can open with before it seals.
    let added: KeyRing.Member
    /// An earlier rotation was cut short: this one goes on with its key.
    let isResumed: Bool
    let retired: [String]
  }

  /// The first step of a rotation. Asked again before the second, it finds the key that is there.
  /// - Throws: `limitExceeded` when the ring is full.
  func begin(_ host: Host) async throws(CaravanError) -> Beginning {
    try await locked(host) { () throws(CaravanError) in
      let (now, before) = (Self.seconds(host), try self.ring())
      var ring = before.retiring(endedBy: now - Self.keptSeconds)
      let retired = before.members.filter { !ring.members.contains($0) }.map(\.id)
      let pending = ring.pending
      if pending == nil {
        guard ring.members.count < KeyRing.most else { throw Self.full(ring) }
        ring = try crypto { () throws(CryptoError) in try ring.adding(.generate(), at: now) }
      }
      guard let added = ring.pending else { throw CaravanError(.internalError, "the ring has no new key") }
      if ring != before { try self.write(ring) }
      return Beginning(added: added, isResumed: pending != nil, retired: retired)
    }
  }

  /// The second step: the key seals.
  /// - Throws: `unavailable` when somebody has distrusted the key since.
  func finish(_ id: String, _ host: Host) async throws(CaravanError) -> KeyRing {
    try await locked(host) { () throws(CaravanError) in
      guard let ring = try self.ring().sealing(with: id, at: Self.seconds(host)) else {
        throw CaravanError(.unavailable, "key \(id) has gone from the ring meanwhile: rotate again")
      }
      try self.write(ring)
      return ring
    }
  }

  /// - Parameter id: of the key that is distrusted; nil: all are.
  /// - Throws: `invalidData` when there is no such key.
  func distrust(_ id: String?, _ host: Host) async throws(CaravanError) -> (distrusted: [String], ring: KeyRing) {
    try await locked(host) { () throws(CaravanError) in
      let before = try self.ring()
      let ids = before.members.map(\.id).filter { id == nil || $0 == id }
      guard !ids.isEmpty else {
        let names = before.members.map(\.id).joined(separator: ", ")
        throw CaravanError(
          .invalidData, "the ring of \(purpose) has no key '\((id ?? "").prefix(80))': it has \(names)")
      }
      let ring = try crypto { () throws(CryptoError) in
        try before.distrusting(Set(ids), for: .generate(), at: Self.seconds(host))
      }
      try self.write(ring)
      return (ids, ring)
    }
  }

  /// - Throws: `invalidData` when the key that aliases came from is lost.
  func ensureAliasKey() throws(CaravanError) {
    guard !folder.contains(TicketKey.aliasFile) else { return }
    guard folder.contains(KeyDirectory.ringFile) else {
      let key = try crypto { () throws(CryptoError) in try TicketKey.generate() }
      return try folder.write(key.fileText, to: TicketKey.aliasFile)
    }
    guard let key = try RingFolder(folder: folder).ring().original else {
      throw CaravanError(
        .invalidData,
        "'\(folder.path)' lacks \(TicketKey.aliasFile), and the ticket key was rotated: put it back from a copy, for "
          + "it gives the aliases that sync has not written down yet")
    }
    try folder.write(key.fileText, to: TicketKey.aliasFile, as: KeyDirectory.ringFile)
  }

  // MARK: The file

  private func locked<R: Sendable>(
    _ host: Host, _ body: () throws(CaravanError) -> R
  ) async throws(CaravanError) -> R {
    let lock = try await DirectoryLock.whenFree(folder.path, within: Self.patience, clock: host.clock)
    defer { lock.release() }
    // No key may go before aliases have their own. One that has gone already holds up no distrust.
    if try RingFolder(folder: folder).ring().original != nil { try ensureAliasKey() }
    return try body()
  }

  private func write(_ ring: KeyRing) throws(CaravanError) {
    try folder.write(ring.fileText, to: purpose.file, as: purpose.file)
  }

  private static func seconds(_ host: Host) -> Int64 { host.clock.wallTime.milliseconds / 1000 }

  private static func full(_ ring: KeyRing) -> CaravanError {
    let days = keptSeconds / 86_400
    return CaravanError(
      .limitExceeded,
      "the ring has \(ring.members.count) keys, as many as it takes: one goes \(days) days after another took its "
        + "place; rotate then, or distrust one")
  }
}
