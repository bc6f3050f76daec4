package import Model

/// Which database a device's operation means. The user comes from the subject, which the broker proves.
package enum DeviceScope {
  /// - Throws: `invalidData` for a malformed name; `zoneDoesNotExist` for Caravan's own container (CK-65).
  package static func database(
    container: String, environment: Environment, of user: UserID
  ) throws(CaravanError) -> DatabaseID {
    let container = try ContainerID(container)
    guard container != .system else {
      throw CaravanError(.zoneDoesNotExist, "there is no container '\(container)': use your app's name")
    }
    return DatabaseID(container: container, environment: environment, owner: user)
  }
}
