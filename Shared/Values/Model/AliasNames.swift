/// Where the aliases of users and devices lie (CK-02): records of zones of Caravan's own public database, in the
/// environment that they are of. Sync makes them; storage removes those of a user of whom everything is deleted.
public enum AliasNames {
  /// The field of each record that has a text: the alias, or whose it is.
  public static let content: UInt32 = 1
  private static let prefix = "aliases."

  /// The database that holds the aliases of every container in this environment.
  public static func home(_ environment: Environment) -> DatabaseID {
    DatabaseID(container: .system, environment: environment, owner: nil)
  }

  /// The zone of one container's aliases.
  public static func zone(of container: ContainerID, in environment: Environment) throws(CaravanError) -> ZoneID {
    try ZoneID(home(environment), "\(prefix)\(container)")
  }

  /// Whether the zone holds aliases, of whichever container.
  public static func isOfAliases(_ zone: ZoneID) -> Bool { zone.name.hasPrefix(prefix) }

  /// The record that says a user's alias.
  public static func name(_ user: UserID) -> String { "user:\(user)" }
  /// The record that says a device's alias.
  public static func name(_ device: EnrolledDevice) -> String { "device:\(device.text)" }
  /// The record that says whose an alias is.
  public static func name(alias: String) -> String { "\(aliasPrefix)\(alias)" }

  private static let aliasPrefix = "alias:"

  /// Whether a record says something of the user, or of a device of theirs.
  public static func isRecord(_ name: String, _ text: String, of user: UserID) -> Bool {
    let what = name.hasPrefix(aliasPrefix) ? text : name
    return what == self.name(user) || what.hasPrefix("device:\(user)/")
  }
}
