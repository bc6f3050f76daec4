import CaravanModel

/// Bounds of the registry.
package enum SchemaLimits {
  package static let nameBytes = 64
  /// Versions of one record type; each adds fields, or changes the settings.
  package static let versionsPerType = Limits.versionsPerType
  /// How long a server extension may take: less than a device waits for its frame.
  package static let extensionMilliseconds: UInt32 = 5_000
  /// A hundred years.
  package static let ttlMilliseconds: UInt64 = 100 * 366 * 86_400_000
  /// Type ids of one container and environment.
  package static let typesPerContainer: UInt32 = 10_000
  /// Of types and of versions of one, devices of users who develop nothing take half at most: developers always have
  /// room for more (TRU-03).
  package static func types(for standing: Standing) -> UInt32 {
    standing == .user ? typesPerContainer / 2 : typesPerContainer
  }
  package static func versions(for standing: Standing) -> Int {
    standing == .user ? versionsPerType / 2 : versionsPerType
  }
  /// Ids of types that are registered after a restore, and by how much ids of fields go on further there.
  package static let restoredTypes: Range<UInt32> = 1 << 20..<1 << 31
  package static let restoredFields: Range<UInt32> = 1 << 10..<1 << 17
  /// Proposals that met another's change and try again.
  package static let proposalAttempts = 8
  /// Definitions kept in memory by id: they never change, but may be gone with a restore.
  package static let cachedTypes = 4_096
  package static let cachedNames = 1_024
  /// A name's latest version, and whether a type is there, may be this much out of date.
  package static let freshness: Duration = .seconds(1)
  /// How long storage is waited for with what is known already: less than whoever asks waits.
  package static let confirmingDeadline: Duration = .milliseconds(300)
  /// Of a container's registry, to be read as a whole.
  package static let registryBytes = 32 << 20
  /// Of the types in it. Devices of users who develop nothing take half at most (TRU-03).
  package static func typeBytes(for standing: Standing) -> Int { standing == .user ? 8 << 20 : 16 << 20 }
  /// Registries that are read as a whole at once; of one container one.
  package static let registriesInFlight = 8
  /// Records of it that are asked for at once: types are some kilobytes.
  package static let recordsPerFetch = 100
  /// Changes of the history that are asked for at once: they may be large.
  package static let changesPerFetch: UInt32 = 3
  /// Types that one change concerns: with their names they fit into one transaction.
  package static let typesPerChange = 190
  /// Templates of subscriptions of one container and environment.
  package static let templatesPerContainer = 100
  /// Names that templates of one container and environment have had.
  package static let templateNamesEver = 1_000
  /// Ids that fields of one incarnation of a type have had: queries have a column for each.
  package static let fieldsEver = 1_024
  /// What one change of several types writes.
  package static let changeBytes = 2 << 20
  /// Changes that one answer shows of the history.
  package static let changesPerPage = 50
  /// Of the device on which something was said.
  package static let deviceNameBytes = 255
  /// An answer that lists the types of a container.
  package static let listBytes = 2 << 20
  package static let requestsInFlight = 64

  // MARK: Roles of a container's own

  /// Users who have them in one environment, counted once a role.
  package static let membersPerContainer: Int64 = 10_000
  /// What one answer lists of them.
  package static let membersPerPage = 500
  /// How often who has a role is written again where somebody has changed it meanwhile.
  package static let memberAttempts = 8

  // MARK: Containers

  package static let containersPerSuite: UInt32 = 10_000
  /// Owned by one user; the operator's count for the suite alone.
  package static let containersPerUser: UInt32 = 256
  package static let developersPerContainer = 100
  /// Of a container that is for members.
  package static let invitedPerContainer = 1_000
  package static let containerNameBytes = 255
  /// Of a container whose name is no token: 80 bits.
  package static let randomIDLetters = 16
  /// Registrations kept in memory.
  package static let cachedContainers = 4_096
  /// What one answer lists of them.
  package static let containersPerPage = 500
  /// Partitions that are asked at once for containers of a release before registrations.
  package static let partitionsInFlight = 16
  /// Zones that storage lists at most: who gets so many has not seen all.
  package static let zonesListed = 10_000
  /// Found containers that one commit registers, two records each.
  package static let containersPerCommit = 100
  /// When a device may ask again for a type that production lacks: its developer may have brought it there meanwhile.
  package static let productionRetryMilliseconds: UInt32 = 60_000
}
