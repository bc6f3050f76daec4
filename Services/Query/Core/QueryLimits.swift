/// Bounds of the query service.
package enum QueryLimits {
  /// Records of an answer to a query without a limit.
  package static let defaultRows = 100
  /// Bodies of one answer; a page ends early rather than go beyond.
  package static let answerBytes = 1 << 20
  /// A database that nobody has asked about for so long leaves the index, when it changes or its partition is taken
  /// over.
  package static let unaskedMilliseconds: Int64 = 30 * 86_400_000
  /// So exactly is known when it was asked about last: a question writes that down no more often.
  package static let askedMilliseconds: Int64 = 86_400_000
  /// Fields of one type in one database that are compared and sorted by, and have an index for that; what compares or
  /// sorts by more is answered by looking at each record.
  package static let keysPerTable = 16
  /// Fields whose words or members have an index, of one type in one database.
  package static let lookupsPerTable = 16
  /// An index that no query has used for so long makes room for another one.
  package static let unusedMilliseconds: Int64 = 86_400_000
  /// So exactly is known when an index was used last.
  package static let usedMilliseconds: Int64 = 3_600_000
  /// What an index takes of one field of one record; records that have more are looked at one by one.
  package static let membersPerRecord = 1_000
  package static let wordsPerRecord = 10_000
  /// Of one word.
  package static let wordBytes = 255
  /// Of all words of one record: a `tsvector` has no more than a mebibyte.
  package static let wordBytesPerRecord = 900_000
  /// Pages of the index that its writer and its reader keep, each.
  package static let cacheBytes = 32 << 20
  /// Pages in the write-ahead log before they are written back: an index is written at random places, and a page that
  /// is changed many times meanwhile is written back once.
  package static let checkpointPages = 2_048
  /// Records in one step of building an index; others use the index between two steps.
  package static let recordsPerBuildStep = 500
  package static let bytesPerBuildStep = 4 << 20
  /// How long a query waits for an index that it needs.
  package static let buildPatience: Duration = .seconds(4)
  /// How long a query waits for what its asker has seen.
  package static let seenPatience: Duration = .seconds(2)
  /// Where an index finds no more records than this, a query begins with them; else it reads records in the order of
  /// the answer.
  package static let fewRecords = 2_000
  /// Ways to begin that one query weighs up.
  package static let weighedSources = 8
  /// What one query may cost, in instructions of SQLite's; a record that the evaluator looks at costs as many as
  /// `recordCost`, one for each `bytesPerStep` of its body to have it, and one for each byte that a text is compared
  /// word by word or with a pattern.
  package static let steps = 50_000_000
  package static let recordCost = 500
  /// After so many of them it is asked whether there may be more.
  package static let stepsPerLook = 1_000
  package static let bytesPerStep = 32
  /// And how long it may run, as indexes of words count no instructions.
  package static let runTime: Duration = .seconds(4)
  /// Rows of the first step of a cursor of PostgreSQL's, and of the longest; of all but the first it is known how many
  /// have room.
  package static let firstFetched = 64
  package static let mostFetched = 512
  package static let fetchedBytes = 8 << 20
  /// Tables of the index whose indexes are remembered.
  package static let cachedTables = 4_096
  /// Standing queries that are kept as they are evaluated.
  package static let cachedStandings = 4_096
  /// Subscriptions of one user to one database, and of those to one type of it those of one user and of all that no
  /// index finds: each is looked at with each record of the type.
  package static let standingsPerUser: Int64 = 100
  package static let scansPerUser: Int64 = 10
  package static let scansPerTable: Int64 = 100
  /// Notifications that one commit writes to a log.
  package static let hitsPerCommit = 100
  /// Logs whose last numbers are remembered.
  package static let cachedLogs = 4_096
  /// Before a log that could not be written is tried again.
  package static let logPause: Duration = .seconds(1)
  /// And one that is full, or does not take what it is to take.
  package static let fullLogPause: Duration = .seconds(10)
  /// How long a subscription waits until it counts.
  package static let standingPatience: Duration = .seconds(4)
  /// Record types kept, by id.
  package static let cachedTypes = 4_096
  /// How long the latest type of a name is believed.
  package static let latestTypeMilliseconds: Int64 = 2_000
  /// For what another partition has of a default zone.
  package static let shardDeadline: Duration = .seconds(5)
  /// Requests of one partition at a time, of them those about the databases of one user or about one public database,
  /// and of these those of one viewer: some of them only wait, for an index or for what their asker has seen.
  package static let inFlight = 32
  package static let inFlightPerTenant = 6
  package static let inFlightPerViewer = 3
  /// Connections that answer queries, each for some of the partitions: what is costly holds up no others.
  package static let readers = 4
  /// Bytes of a statement that is kept prepared.
  package static let keptStatementBytes = 4 << 10
  /// How long a change may wait for others, to be indexed together with them in one transaction; a query does not wait.
  package static let lingerMilliseconds: Int64 = 1_000
  /// So many change events, or bytes of them, are indexed at once.
  package static let hintsPerGroup = 200
  package static let groupBytes = 1 << 20
}
