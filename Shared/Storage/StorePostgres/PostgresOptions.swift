internal import CaravanCrypto
internal import CaravanModel
public import CaravanPostgreSQL
public import CaravanRuntime
public import CaravanStore

public struct PostgresOptions: Sendable {
  public var address: ConnectionString
  /// Connections that write; a partition is always written on the same one of this process's. Each takes what waits for
  /// its partitions into one transaction, so more of them means smaller groups.
  public var writers = 4
  public var readers = 4
  /// How long a call waits for a server that cannot be reached before it is told so: less than anybody waits for the
  /// answer. Who can wait longer asks again. Of a server that hangs it is told after
  /// `PostgresLimits.silenceMilliseconds` and `connectSeconds`, or where it waited for a new attempt to connect, after
  /// `patience` and `connectSeconds`: half a second before whoever asks storage gives up.
  public var patience: Duration = .milliseconds(500)
  /// nil: the database's clock decides about leases and grace times, which is the same for every process. Another one
  /// is for tests that have time in their hands.
  public var clock: (any Clock)?
  public var quotas = DefaultQuotas.unlimited
  public var tombstones = TombstoneRule()

  /// Whether records with objects are noted for the object store.
  public var queuesObjects = false

  /// Whether a chunk has the bytes that its hash names: the server itself does not see when they rot.
  public var isWhole: @Sendable (ChunkBytes) -> Bool = { SHA256.hash($0.bytes).bytes == $0.hash.bytes }

  public init(_ address: ConnectionString) { self.address = address }
}

/// Bounds of this store.
enum PostgresLimits {
  /// Of one connection.
  static let queue = WriteQueueLimits(
    waitingWrites: 1_024, waitingBytes: 24 << 20, groupWrites: 256, groupBytes: 8 << 20)
  /// How long opening waits for one, at most: whoever started it wants to know.
  static let openPatience: Duration = .seconds(3)
  /// Between attempts to connect: at once, then this, and twice as long from failure to failure, but no longer than a
  /// call waits: each makes an attempt.
  static let firstRetry: Duration = .milliseconds(50)
  static let lastRetry: Duration = .milliseconds(500)
  /// Of an attempt, for each host; libpq knows no less.
  static let connectSeconds = 2
  /// After so long without an answer the server is asked whether it is there, for as long as connecting may take. If it
  /// is, the statement is slow and waited for: it has the 20 seconds that the server gives it.
  static let silenceMilliseconds: Int32 = 500
  /// Transactions that met others, in a row, before a call is answered `serverBusy`.
  static let conflictsInARow = 20
  static let conflictPause: Duration = .milliseconds(5)
  /// Between two tries of a partition whose row somebody else holds.
  static let heldPause: Duration = .milliseconds(500)
  /// Chunks whose counts one statement changes: it compares each with each.
  static let chunksPerStatement = 256
  /// Rows one step of maintenance removes.
  static let collectedRows = 512
  static let collectedChunks = 64
  /// Ids of zones that one step looks at, and the most of them that were deleted long ago and go with it.
  static let zonesLookedAt: Int64 = 4_096
  static let zonesPerBurial = 16
  /// Milliseconds that the database's time may step back in daily use.
  static let clockStep: Int64 = 60_000
  /// Outcomes of ops that one step forgets.
  static let forgottenOutcomes = 4_096
  /// Chunks that are read together to see whether they are whole, and those that one step of scrubbing reads.
  static let readTogether = 32
  static let scrubbedChunks = 256
  /// The same of records.
  /// About so long is a record, where nobody counts.
  static let recordGuess: UInt64 = 1_024
  static let recordsReadTogether = 64
  static let scrubbedRecords = 4_096
  /// Rows that a page is sought among, at least: tombstones that the reader need not see are among them.
  static let leastScanned = 64
  /// And at most as many as fill it if each takes so many bytes: PostgreSQL adds up the bytes of all rows that it may
  /// look at, also behind the end of the page. A page of shorter ones has fewer than there is room for.
  static let rowBytes = 128
  static func scanned(records: Int, bytes: Int) -> Int { max(leastScanned, min(records + 1, bytes / rowBytes)) }
  /// Zones of one partition: their ids share an incarnation with the partition's life.
  static let highestZone: Int64 = (1 << 24) - 1
  /// The number with which a warning says that they run out: four in five.
  static let fewZonesLeft = highestZone / 5 * 4
  /// How often the making of the tables is tried beside other processes that do the same. An attempt fails when another
  /// process has made something meanwhile, so at most as often as there are things to make, with room for deadlocks.
  static let layoutAttempts = 50
  /// Between two looks at indexes that may have thinned out.
  static let indexPause: Duration = .seconds(600)
  /// Of an index whose keys are a partition, a zone and a version: 24 bytes, 12 of administration, a tenth of air.
  static let indexEntryBytes: Int64 = 40
  /// What it may have beyond that, and beyond as much again.
  static let indexSlack: Int64 = 1 << 20
}

extension ConnectionOptions {
  /// What it does may take long: it is waited for as long as the server is there.
  static func maintenance(_ address: ConnectionString) -> ConnectionOptions {
    var options = store(address)
    options.applicationName = "caravan-maintenance"
    options.replyMilliseconds = .max
    options.preamble += ["SET statement_timeout = 0", "SET idle_in_transaction_session_timeout = 0"]
    return options
  }

  /// A group waits for no partition for long: what it could do meanwhile waits with it.
  static func writer(_ address: ConnectionString) -> ConnectionOptions {
    var options = store(address)
    options.preamble.append("SET lock_timeout = '2s'")
    return options
  }

  /// Every statement of this store finds its rows by key, so a plan that reads whole tables or partitions, which the
  /// server may make while it has no statistics and keep, is never the right one. A session whose client is gone must
  /// not hold its locks for long.
  static func store(_ address: ConnectionString) -> ConnectionOptions {
    var options = ConnectionOptions(address)
    options.applicationName = "caravan-storage"
    options.connectSeconds = PostgresLimits.connectSeconds
    options.silenceMilliseconds = PostgresLimits.silenceMilliseconds
    options.preamble = [
      "SET enable_seqscan = off", "SET enable_bitmapscan = off", "SET enable_material = off",
      "SET enable_hashjoin = off", "SET enable_mergejoin = off", "SET jit = off",
      "SET plan_cache_mode = force_generic_plan", "SET statement_timeout = '20s'", "SET lock_timeout = '10s'",
      "SET idle_in_transaction_session_timeout = '10s'", "SET default_toast_compression = 'lz4'",
      // What is acknowledged must be on disk; stronger settings than `on` stay.
      "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
    ]
    return options
  }
}
