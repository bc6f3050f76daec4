public import CaravanModel

/// The one place that says what a principal may reach, and what they may do there (face.md 4). What they may not see is
/// answered as what is not there (CK-65); what they see and may not do is `accessDenied`.
///
/// Whether they may use the container at all, the registry has said before.
public struct Access: Sendable, Hashable {
  public let principal: Principal

  public init(_ principal: Principal) { self.principal = principal }

  // MARK: Databases and zones

  /// - Throws: `invalidData` for a malformed name; `zoneDoesNotExist` for Caravan's own container, and for any but the
  ///   one of a server app, whether or not there is such a container.
  public func container(_ name: String) throws(CaravanError) -> ContainerID {
    let container = try ContainerID(name)
    guard container != .system else {
      throw CaravanError(.zoneDoesNotExist, "there is no container '\(container)': use your app's name")
    }
    if let own = principal.container, container != own {
      throw CaravanError(
        .zoneDoesNotExist,
        "there is no container '\(container)' for these credentials, which are a server app's for '\(own)': the "
          + "operator adds others (caravan server-app add)")
    }
    return container
  }

  /// - Parameter isPublic: the container's public database; else the principal's private one.
  /// - Throws: as `container`; `zoneDoesNotExist` for the private database of nobody.
  public func database(_ container: String, isPublic: Bool = false) throws(CaravanError) -> DatabaseID {
    let container = try self.container(container)
    guard isPublic || principal.user != nil else {
      throw CaravanError(.zoneDoesNotExist, "a private database is a user's: sign in")
    }
    return DatabaseID(
      container: container, environment: principal.environment, owner: isPublic ? nil : principal.user)
  }

  /// - Throws: `zoneDoesNotExist` also for a zone of the public database that is not its default zone (CK-09), and for
  ///   Caravan's own; `invalidData` for a malformed name.
  public func zone(_ name: String, in database: DatabaseID) throws(CaravanError) -> ZoneID {
    guard database.owner != nil || name == DefaultZone.name else {
      throw CaravanError(
        .zoneDoesNotExist, "the public database has no zone '\(name.prefix(80))': its only one is \(DefaultZone.name)")
    }
    guard name != BuriedZones.name, name != SubscriptionZone.name else {
      throw CaravanError(.zoneDoesNotExist, "there is no zone '\(name)': choose another name")
    }
    precondition(database.container != .system, "Caravan's own zones are nobody's")
    precondition(database.owner == nil || database.owner == principal.user, "'\(database)' is another user's")
    return try ZoneID(database, name)
  }

  /// Whether a zone that is there is one of theirs to know of.
  public func isZone(_ name: String, in database: DatabaseID) -> Bool { (try? zone(name, in: database)) != nil }

  // MARK: Records of public databases (CK-04)

  /// Whether they see a record.
  /// - Parameters:
  ///   - type: the id with which it was written.
  ///   - isTheirs: they made it.
  ///   - roles: of the container's own that they have.
  public func mayRead(
    type: UInt32, isTheirs: Bool, _ visibility: RecordVisibility, roles: Set<String> = []
  ) -> Bool {
    let grants = visibility.granted.first { $0.versions.contains(type) }?.grants ?? .standard
    return rights(grants, isCreator: isTheirs, roles).contains(.read)
  }

  /// What a commit of theirs may do, as the store is told.
  /// - Parameter roles: as above.
  public func rights(_ visibility: RecordVisibility, roles: Set<String> = []) -> [TypeRights] {
    let isUser = principal.user != nil
    return visibility.granted.map { type in
      TypeRights(
        types: type.versions, own: rights(type.grants, isCreator: isUser, roles),
        others: rights(type.grants, isCreator: false, roles))
    }
  }

  private func rights(_ grants: TypeGrants, isCreator: Bool, _ roles: Set<String>) -> TypeGrants.Rights {
    grants.rights(
      isUser: principal.user != nil, isServerApp: principal.isServerApp, isCreator: isCreator, roles: roles)
  }
}
