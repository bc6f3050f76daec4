/// Bounds that more than one part of Caravan relies on. A part's own bounds are in its own `Limits`.
public enum Limits {
  /// How long a device's credentials are good, if they are not renewed. What revokes them must be kept as long.
  public static let deviceCredentialSeconds: Int64 = 7 * 86_400
  /// Largest payload of one bus message; nats-server is configured with the same (`max_payload`).
  public static let messageBytes = 4 << 20
  /// Largest `Frame` a device sends or receives, before its envelope.
  public static let frameBytes = 2 << 20
  /// Operations in one frame of a device.
  public static let operationsPerFrame = 512
  /// What a message may take of memory once it is unpacked: so many bytes, and so many for each byte that it has on the
  /// wire. An honest one takes 2 to 20 for each.
  public static let unpackedBytes = 64 << 10
  /// Bytes of memory for each byte that a message has on the wire.
  public static let unpackedBytesPerByte = 64
  /// What is compressed may hold so many bytes for each that it takes, or `inflatedBytes` in any case, which is a chunk
  /// of zeros.
  public static let inflation = 256
  /// Bytes that compressed data may come to in any case.
  public static let inflatedBytes = chunkBytes
  /// CK-101: records of one commit.
  public static let recordsPerCommit = 400
  /// Of a group, which becomes visible at once (UNI-05): records, bytes of its mutations, parts, chunks that they name.
  public static let groupRecords = 10_000
  /// Bytes of the mutations of one group.
  public static let groupBytes = 32 << 20
  /// Parts of one group, each of which is a request.
  public static let groupParts = 256
  /// Chunks that the records of one group name.
  public static let groupChunks = 1 << 16
  /// Of one user: groups that are not committed yet, and operations that are remembered.
  public static let openGroupsPerUser = 8
  /// Operations of one user that are remembered at once.
  public static let operationsPerUser = 1_000
  /// CK-27: records that one commit deletes because their owners go. A larger tree is deleted from its leaves up.
  public static let cascadedRecords = 4_000
  /// A record's encoded fields, object manifests included.
  public static let recordBytes = 1 << 20
  /// Bytes of a record's name in UTF-8.
  public static let recordNameBytes = 255
  /// Fields of one record type.
  public static let fieldsPerType = 256
  /// Versions of one record type.
  public static let versionsPerType = fieldsPerType
  /// Types of one container whose grants are not the standard ones: commits to the public database carry them all.
  public static let grantedTypes = 100
  /// Roles of one container's own to which its types grant something.
  public static let ownRoles = 32
  public static let roleNameBytes = 64
  /// Ids of removed types that a commit names, the newest: those that had the names of its own types.
  public static let retiredVersions = 256
  /// Owning and validating references of one record.
  public static let referencesPerRecord = 256
  /// Items of one list.
  public static let listItems = 4_096
  /// Bytes of one chunk, whatever the record type says.
  public static let chunkBytes = 256 << 10
  /// Of a frame over a link that does not let it pass whole, its envelope included.
  public static let chunksPerFrame = frameBytes / chunkBytes + 1
  /// Chunks of one object: 4,096 of 64 KiB are 256 MiB.
  public static let chunksPerObject = 4_096
  /// An object of more chunks has them listed in a chunk of its own: with each change of a row all of it travels.
  public static let chunksInRow = 32
  /// Chunks that one request may put, or ask for.
  public static let chunksPerRequest = 1_024
  /// Chunks that a patch may be made of, one after another.
  public static let basesPerPatch = 4
  /// Chunk bytes in one message, either way.
  public static let chunkBatchBytes = 1 << 20
  /// Bodies in one change page.
  public static let pageBytes = 1 << 20
  /// CK-101: bytes of chunks and of change pages that cost as much of a rate as one record: what storage reads at once.
  public static let bytesPerAccess = 4 << 10
  /// Devices, users and containers whose rates one process knows at once.
  public static let bucketsKept = 65_536
  /// Devices, users and containers have one in so many of production's rate in development.
  public static let developmentRates: UInt64 = 2
  /// Of places in flight and of what waits for them all devices of development together have this, so that production's
  /// find the rest free whatever they do.
  public static let developmentPercent = 75
  /// The part of a bound that all devices of development together may take; at least 1.
  public static func developmentShare(of whole: Int) -> Int {
    max(1, whole / 100 * developmentPercent + whole % 100 * developmentPercent / 100)
  }
  /// Subscriptions that one device may have at once.
  public static let subscriptionsPerDevice = 1_000
  /// MOB-56: containers that the credentials of one server app may be for.
  public static let containersPerServerApp = 16
  /// A message on the agent's socket.
  public static let appMessageBytes = 1 << 20
  /// Records in one page of a query's answer.
  public static let queryRows = 1_000
  /// Comparisons and combinations of one query or filter as it travels.
  public static let predicateTerms = 64
  /// Of a query as it is written: its bytes, its `?`, and the parentheses and NOTs within each other, since SQLite
  /// evaluates nested expressions recursively.
  public static let queryTextBytes = 8 << 10
  /// The `?` of one query.
  public static let queryArguments = 100
  /// Parentheses and NOTs of one query within each other.
  public static let queryDepth = 64
  /// Values of one IN, and bytes of what LIKE compares with.
  public static let queryListItems = 100
  /// Bytes of a pattern of LIKE, and of what MATCH looks for.
  public static let queryPatternBytes = 256
  /// Beginnings of words in what one MATCH looks for: each is as costly as all words that begin so.
  public static let queryPrefixes = 4
  /// Zones of which one query says how far its answer has to be.
  public static let querySeenZones = 16
  /// What a subscription has its notifications show (CK-85): bytes of a title and of a body, each.
  public static let notificationTextBytes = 1 << 10
  /// Bytes of a localisation key, and of a sound's name.
  public static let notificationKeyBytes = 128
  /// Fields whose values one notification carries.
  public static let notificationFields = 10
  /// Fields whose values the text of one localisation key takes.
  public static let notificationArguments = 10
  /// Values of one notification all together, in bytes: what does not fit is left out.
  public static let notificationValueBytes = 2 << 10
  /// Push targets of a user in one app, subscriptions that one names, and notifications it has not taken that are told.
  public static let pushTargets = 20
  /// And in all apps.
  public static let pushTargetsPerUser = 100
  public static let subscriptionsPerPushTarget = 100
  public static let pushDeadLetters = 10
}
