import Model

/// Bounds of the registry.
package enum SchemaLimits {
  package static let nameBytes = 64
  /// Versions of one record type; each adds at least one field.
  package static let versionsPerType = Limits.fieldsPerType
  /// Type ids of one container and environment.
  package static let typesPerContainer: UInt32 = 10_000
  /// Proposals that met another's change and try again.
  package static let proposalAttempts = 8
  /// Definitions kept in memory by id: immutable, so never stale.
  package static let cachedTypes = 4_096
  package static let cachedNames = 1_024
  /// A name's latest version may be this much out of date.
  package static let nameFreshness: Duration = .seconds(1)
  /// An answer that lists the types of a container.
  package static let listBytes = 2 << 20
  package static let requestsInFlight = 64
}
