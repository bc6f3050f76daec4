internal import Crypto
public import Model
internal import SQLite

extension LocalStore {
  /// Checks who speaks for an app (MOB-16, MOB-18). The first contact binds the app to the peer's user and makes a
  /// token; the binding is final once a hello has brought the token back, so that a first answer that was lost locks
  /// nobody out.
  /// - Parameters:
  ///   - token: as it was given out; empty on first contact.
  ///   - user: of the peer, as the kernel says.
  /// - Returns: the new token on first contact, nil otherwise.
  /// - Throws: `notAuthenticated`, the same whatever was wrong.
  public func authenticate(app: ContainerID, token: [UInt8], user: UInt32) throws(CaravanError) -> [UInt8]? {
    let bound = try database.first("SELECT uid, token, confirmed FROM apps WHERE app = ?", app.text) { row in
      (user: row.integer(0), token: row.bytes(1), isConfirmed: row.flag(2))
    }
    guard let bound else { return try bind(app, to: user) }
    guard bound.user == Int64(user) else { throw Self.stranger(app) }
    if token.isEmpty, !bound.isConfirmed { return try bind(app, to: user) }
    guard constantTimeEqual(SHA256.hash(token).bytes, bound.token) else { throw Self.stranger(app) }
    if !bound.isConfirmed {
      try database.transaction { () throws(CaravanError) in
        try database.run("UPDATE apps SET confirmed = 1 WHERE app = ?", app.text)
      }
    }
    return nil
  }

  private func bind(_ app: ContainerID, to user: UInt32) throws(CaravanError) -> [UInt8] {
    let token: [UInt8]
    do { token = try SecureRandom.bytes(32) } catch { throw CaravanError(.internalError, "\(error)") }
    try database.transaction { () throws(CaravanError) in
      try database.run(
        "INSERT OR REPLACE INTO apps VALUES (?, ?, ?, 0)", app.text, user, SHA256.hash(token).bytes)
    }
    return token
  }

  private static func stranger(_ app: ContainerID) -> CaravanError {
    CaravanError(
      .notAuthenticated, "app '\(app)' belongs to another user, or the token is not its own: use the app's token file")
  }
}
