import Model

/// Bounds of the registry.
public enum SchemaLimits {
  public static let nameBytes = 64
  /// Versions of one record type; each adds at least one field.
  public static let versionsPerType = Limits.fieldsPerType
  /// Type ids of one container and environment.
  public static let typesPerContainer: UInt32 = 10_000
  /// Proposals that met another's change and try again.
  public static let proposalAttempts = 8
  /// Definitions kept in memory by id: immutable, so never stale.
  public static let cachedTypes = 4_096
  public static let cachedNames = 1_024
  /// A name's latest version may be this much out of date.
  public static let nameFreshness: Duration = .seconds(1)
  /// An answer that lists the types of a container.
  public static let listBytes = 2 << 20
  public static let requestsInFlight = 64
}
