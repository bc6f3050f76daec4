package import CaravanModel

/// Which database and zone a device's operation means. The user comes from the subject, which the broker proves.
package enum DeviceScope {
  /// - Throws: `invalidData` for a malformed name; `zoneDoesNotExist` for Caravan's own container (CK-65).
  package static func database(
    container: String, environment: Environment, of user: UserID, isPublic: Bool = false
  ) throws(CaravanError) -> DatabaseID {
    let container = try ContainerID(container)
    guard container != .system else {
      throw CaravanError(.zoneDoesNotExist, "there is no container '\(container)': use your app's name")
    }
    return DatabaseID(container: container, environment: environment, owner: isPublic ? nil : user)
  }

  /// - Throws: also `zoneDoesNotExist` for a zone of the public database that is not its default zone (CK-09).
  package static func zone(_ name: String, in database: DatabaseID) throws(CaravanError) -> ZoneID {
    guard database.owner != nil || name == DefaultZone.name else {
      throw CaravanError(
        .zoneDoesNotExist, "the public database has no zone '\(name.prefix(80))': its only one is \(DefaultZone.name)")
    }
    guard name != BuriedZones.name else {
      throw CaravanError(.zoneDoesNotExist, "there is no zone '\(name)': choose another name")
    }
    precondition(database.container != .system, "Caravan's own zones are no device's")
    return try ZoneID(database, name)
  }
}
