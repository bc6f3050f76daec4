internal import CaravanAgentCore
internal import CaravanCrypto
package import CaravanModel
internal import CaravanSQLite

/// Which user each app is, and how it shows that it is that app.
package struct AppBindings: StorePart {
  let context: StoreContext

  /// Checks who speaks for an app (MOB-16, MOB-18). The first contact, which `AppRegister` has let pass, binds the app
  /// to the peer's user and makes a token; the binding is final once a hello has brought the token back, so that a
  /// first answer that was lost locks nobody out.
  /// - Parameters:
  ///   - token: as it was given out; empty on first contact.
  ///   - user: of the peer, as the kernel says.
  /// - Returns: the new token on first contact, nil otherwise.
  /// - Throws: `notAuthenticated`, the same whatever was wrong.
  func authenticate(app: ContainerID, token: [UInt8], user: UInt32) throws(CaravanError) -> [UInt8]? {
    let bound = try database.first("SELECT uid, token, confirmed FROM apps WHERE app = ?", app.text) { row in
      (user: row.integer(0), token: row.bytes(1), isConfirmed: row.flag(2))
    }
    guard let bound else { return try bind(app, to: user) }
    guard bound.user == Int64(user) else { throw Self.boundToAnother(app) }
    // What the device's owner has allowed has no token yet, whatever an earlier one was.
    if bound.token.isEmpty || token.isEmpty && !bound.isConfirmed { return try bind(app, to: user) }
    guard constantTimeEqual(SHA256.hash(token).bytes, bound.token) else { throw Self.boundToAnother(app) }
    if !bound.isConfirmed {
      try database.transaction { () throws(CaravanError) in
        try database.run("UPDATE apps SET confirmed = 1 WHERE app = ?", app.text)
      }
    }
    return nil
  }

  // MARK: The owner's word

  /// An app that has come, or may.
  package struct KnownApp: Sendable {
    package let app: ContainerID
    package let user: UInt32
    /// It has been given a token.
    package let hasCome: Bool
  }

  func apps() throws(CaravanError) -> [KnownApp] {
    try database.prepare("SELECT app, uid, length(token) FROM apps ORDER BY app").all { row in
      KnownApp(
        app: ContainerID(unchecked: row.text(0)), user: UInt32(truncatingIfNeeded: row.integer(1)),
        hasCome: row.integer(2) > 0)
    }
  }

  /// Whose the app is; nil: nobody's.
  func user(of app: ContainerID) throws(CaravanError) -> UInt32? {
    try database.first("SELECT uid FROM apps WHERE app = ?", app.text) { row in
      UInt32(truncatingIfNeeded: row.integer(0))
    }
  }

  /// Has a user be the app; the app gets a token when it comes, and one that it had is void.
  /// - Throws: `objectExists` while it is another user's, `limitExceeded`.
  func allow(_ app: ContainerID, user: UInt32) throws(CaravanError) {
    if let bound = try self.user(of: app), bound != user {
      throw CaravanError(
        .objectExists, "app '\(app)' is user \(bound)'s, who has data in it: caravan agent forget \(app) comes first")
    }
    try keep(app, user, token: [])
  }

  /// Ends the app's binding; its tables stay, for whoever is this app next.
  /// - Throws: `noSuchObject` when there is no such app.
  func forget(_ app: ContainerID) throws(CaravanError) {
    guard try user(of: app) != nil else {
      throw CaravanError(.noSuchObject, "there is no app '\(app)' on this device: caravan agent apps lists them")
    }
    try database.transaction { () throws(CaravanError) in
      try database.run("DELETE FROM apps WHERE app = ?", app.text)
    }
  }

  // MARK: Binding

  private func bind(_ app: ContainerID, to user: UInt32) throws(CaravanError) -> [UInt8] {
    let token: [UInt8]
    do { token = try SecureRandom.bytes(32) } catch { throw CaravanError(.internalError, "\(error)") }
    try keep(app, user, token: SHA256.hash(token).bytes)
    return token
  }

  /// - Parameter token: its hash; empty: it has none yet.
  private func keep(_ app: ContainerID, _ user: UInt32, token: [UInt8]) throws(CaravanError) {
    try database.transaction { () throws(CaravanError) in
      let held = try database.first(
        "SELECT count(*), coalesce(sum(uid = ?1), 0) FROM apps WHERE app <> ?2", user, app.text
      ) { row in (all: row.integer(0), user: row.integer(1)) }
      guard let held, held.all < StoreLimits.apps, held.user < StoreLimits.appsPerUser else {
        throw CaravanError(
          .limitExceeded,
          "this device has \(held?.all ?? 0) other apps, \(held?.user ?? 0) of them of user \(user), which is the "
            + "limit: caravan agent forget takes one away")
      }
      try database.run("INSERT OR REPLACE INTO apps VALUES (?, ?, ?, 0)", app.text, user, token)
    }
  }

  private static func boundToAnother(_ app: ContainerID) -> CaravanError {
    CaravanError(
      .notAuthenticated,
      "app '\(app)' belongs to another user, or the token is not its own: use the app's token file, in the agent's "
        + "directory SOCKET.tokens, or have the device's owner say caravan agent allow")
  }
}
