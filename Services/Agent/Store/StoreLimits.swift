public import CaravanChunking
internal import CaravanModel
public import CaravanRuntime

/// What the local store holds at most at any one time.
public enum StoreLimits {
  public static let tablesPerApp = 200
  /// Apps that are bound to a user, and those of one user.
  public static let apps: Int64 = 1_024
  public static let appsPerUser: Int64 = 256
  /// Open writes of one app, and the rows with objects of one of them.
  public static let openWritesPerApp = 32
  public static let rowsPerObjectWrite = 100
  /// Writes of one app that wait to be closed together; their rows are `Limits.groupRecords` at most.
  public static let heldWritesPerApp = 1_000
  /// Rows that one update or delete may touch.
  public static let rowsPerChange = 100_000
  /// Bytes and separate pieces an open object keeps in memory before they become chunks.
  public static let overlayBytes = 4 << 20
  public static let overlaySegments = 1_000
  /// The same, of all open objects of one app: beyond it, whichever object bytes come for becomes chunks at once.
  public static let overlayBytesPerApp = 16 << 20
  /// Chunks of an open object that wait in memory for their names, besides those cut last.
  static let unnamedChunks = 8
  /// One object, as long as its chunks are of average length (`Limits.chunksPerObject`): 256 MiB for those of 64 KiB.
  public static func objectBytes(_ chunking: ChunkingParameters = .standard) -> Int {
    Limits.chunksPerObject * chunking.average
  }
  /// Cursors of one app; each keeps a snapshot, and with it the write-ahead log.
  public static let cursorsPerApp = 8
  /// A cursor nobody has used for this long is closed.
  public static let cursorIdle: Duration = .seconds(60)
  public static let idleReaders = 2
  public static let statementsPerReader = 64
  public static let pageRows = 1_000
  public static let pageBytes = 256 << 10
  /// One answer to a read of an object.
  public static let readBytes = 512 << 10
  /// One page of a selection, or all the rows that a change selects: instructions of SQLite's machine, and time.
  public static let selectionSteps = 200_000_000
  public static let selectionTime: Duration = .seconds(10)
  /// The same on the store's own thread: what takes longer goes on beside it. A page of ordinary rows takes a tenth.
  static let shortSelectionSteps = 200_000
  static let shortSelectionTime: Duration = .milliseconds(5)
  /// Of LIKE and GLOB.
  public static let patternBytes: Int32 = 1_000
  /// Selections that run beside the store, each of another app, and those of one app or of all that wait.
  static let selectionThreads = 2
  static let waitingSelections = 256
  public static let recentDeletions = 10_000
  /// Pushes that came to nothing and are remembered, each by a hash. Beyond it the oldest are forgotten: an app may
  /// then be asked about its own past.
  static let pushesInVain: Int64 = 1_000
  /// Of why the cloud refused a row.
  static let refusalCharacters = 300
  /// Torn rows of a table that its status names.
  public static let tornRowsNamed: Int64 = 100
  public static let cloudDamageNamed = 100
  /// Events of one table that are remembered at least; up to twice as many are. Who has not been told of older ones is
  /// told to look anew.
  public static let eventsKept = 256
  /// Rows that one event names, and one upcall. Beyond it the oldest names are left out; the number counts on.
  public static let rowsPerEvent = 100
  public static let rowsPerUpcall = 1_000
  /// Rows of a point that are looked at together: all of it shows in one transaction, and never lies in memory whole.
  static let shownAtOnce = 256
  /// Resolutions gathered between begin and end of conflict resolution.
  public static let resolutions = 10_000
  public static let conflictsPerPage = 100
  /// Live queries of one app.
  public static let liveQueriesPerApp = 32
  /// Rows of the answer to a live query.
  public static let liveRows = 10_000
  /// Ids and ordering values of the answers to all live queries of one app.
  public static let liveBytesPerApp = 16 << 20
  /// Rows that are looked at one by one to bring an answer up to date; of more the answer is read anew.
  static let liveKeysAtOnce = 256
  /// Deletions, moves, insertions and updates of one message to the app.
  static let liveSteps = 200
  /// Rows, and their bytes, that a live query asks of the cloud: of a table that keeps a part of its rows.
  public static let liveCloudRows = 1_000
  public static let liveCloudBytes = 1 << 20
  /// A live query asks the cloud once in this time at most.
  public static let liveCloudPause: Duration = .seconds(10)
  /// How long the store is waited for when another process has it, which may have been killed a moment ago.
  public static let ownerPatience: Duration = .seconds(5)
  /// Pages given back to the file system in one transaction when a table goes.
  static let vacuumPages = 4_096
}

/// How a local store is opened.
public struct LocalStoreOptions: Sendable {
  /// False only in simulations, whose disk is memory: then nothing waits for the disk.
  public var isDurable = true
  /// Memory for pages of the writing connection, and of each that reads.
  public var cacheBytes = 2 << 20
  /// Of a new file. A page that a change touches is written and summed whole; chunks have a file of their own.
  public var pageBytes = 4 << 10
  /// The write-ahead log is copied back when it has grown to this.
  public var logBytes = 8 << 20
  /// Neither the database nor the file of chunks may grow beyond this; 0: as far as the disk goes.
  public var maximumBytes = 0
  /// Kept free for what must go on when the disk is full (`DiskReserve`); all that the log holds fits into it.
  public var reserveBytes: Int { isDurable ? logBytes : 0 }
  /// Shorter chunks lie in the database itself. Longer ones are worth a second sync (measured on ext4: 16 KiB).
  public var inlineBytes = 16 << 10
  /// Asked before anything changes on the disk: for tests that break it.
  public var tap: (any DiskTap)?
  /// Rows of one table that wait and may be lost, at most.
  public var toleratedRows: UInt64 = 10_000
  /// How objects are cut; anything but the standard is for simulations, where small objects shall have many chunks.
  public var chunking = ChunkingParameters.standard
  /// An object of more chunks has them in a list; anything but the standard is for simulations, as above.
  public var chunksInRow = Limits.chunksInRow

  public init() {}
}
