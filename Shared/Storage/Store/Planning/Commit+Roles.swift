public import CaravanModel

/// Rights that come from roles of the container's own count while the commit's user has these roles (CK-04). Who has
/// one, the store knows itself: it looks in the transaction that depends on it, so that nothing is written with a role
/// that somebody was told is taken away.
extension Commit {
  /// Where it is written who has roles; nil: nothing depends on any.
  public var roleZone: ZoneID? {
    get throws(CaravanError) { roles.isEmpty ? nil : try ZoneID(zone.database, OwnRole.zone) }
  }

  /// - Parameters:
  ///   - now: Unix milliseconds on the store's clock.
  ///   - head: of a record of `roleZone`.
  /// - Throws: `leaseExpired` where its user has one of the roles no more, or not yet.
  public func checkRoles(
    now: Int64, _ head: (_ record: String) throws(CaravanError) -> RecordHead?
  ) throws(CaravanError) {
    for record in roles {
      guard let head = try head(record), head.isLive(at: now) else {
        throw CaravanError(
          .leaseExpired, "the roles of the commit's user are other ones now: look at them again, and send it again")
      }
    }
  }
}
