public import CaravanModel

/// One push as the store has written it down before anything is sent (UNI-08): sent again byte for byte after a lost
/// reply, settled after a crash.
public struct PushPlan: Sendable, Hashable {
  /// With the device's name and `epoch` the op id of the commit (UNI-07).
  public let op: UInt64
  public let epoch: UInt64
  public let table: TableID
  /// Record type of its rows.
  public let type: UInt32
  /// Oldest local change first, at most one for each row.
  public let mutations: [Mutation]
  /// False: read back after a restart, it lacks what the cloud needs to decide conflicts of it. It can be settled, and
  /// made anew.
  public let canBeSent: Bool
  /// An app has changed them together: the cloud takes all of them or none (REC-23).
  public let isAtomic: Bool
  /// So many of them may be lost.
  public let toleratedRows: Int
  /// So many of those within what the table may lose now.
  public let losableRows: Int

  /// - Parameter mayLose: rows that the table may lose now.
  public init(
    op: UInt64, epoch: UInt64, table: TableID, type: UInt32, mutations: [Mutation], isAtomic: Bool = false,
    canBeSent: Bool = true, toleratedRows: Int = 0, mayLose: UInt64 = 0
  ) {
    self.op = op
    self.epoch = epoch
    self.table = table
    self.type = type
    self.mutations = mutations
    self.isAtomic = isAtomic
    self.canBeSent = canBeSent
    self.toleratedRows = toleratedRows
    losableRows = min(toleratedRows, Int(clamping: mayLose))
  }

  /// It is no reason to speak.
  public var isTolerated: Bool { toleratedRows == mutations.count }

  /// Every chunk the bodies name, each once, in order of first use.
  public var chunks: [ChunkHash] {
    var seen: Set<ChunkHash> = []
    var list: [ChunkHash] = []
    for case .save(_, _, let chunks) in mutations.lazy.map(\.change) {
      for hash in chunks where seen.insert(hash).inserted { list.append(hash) }
    }
    return list
  }

  /// Bytes of the bodies.
  public var bodyBytes: Int { mutations.reduce(0) { $0 + $1.bodyBytes } }
}

extension Mutation {
  public var bodyBytes: Int { if case .save(_, let body, _) = change { body.count } else { 0 } }
}

/// What applying a push's outcomes came to.
public struct PushSummary: Sendable, Hashable {
  public var accepted = 0
  public var conflicts = 0
  /// Dirty again: edited while in flight, or not applied.
  public var dirty = 0
  /// Chunks of the cloud's copies in conflict that the device lacks; they are among `missingChunks` of the table.
  public var lacksChunks = false
  /// Why the cloud will not take one of the rows as it is.
  public var refusal: CaravanError?

  public init() {}
}

/// One entry of a change page.
public struct IncomingEntry: Sendable, Hashable {
  public var entry: Entry
  /// Written by this device in this epoch: it comes without a body.
  public var isOwn: Bool
  /// Nothing that the table keeps, as the cloud says: it comes without a body (UNI-15).
  public var isOutsideFilter: Bool

  public init(entry: Entry, isOwn: Bool = false, isOutsideFilter: Bool = false) {
    self.entry = entry
    self.isOwn = isOwn
    self.isOutsideFilter = isOutsideFilter
  }
}

/// What applying a change page, or staging chunks, came to.
public struct PullSummary: Sendable, Hashable {
  /// Rows whose content changed; the app has been told, or will be.
  public var applied = 0
  public var removed = 0
  public var conflicts = 0
  /// Entries kept until their chunks are there, or until their row is free.
  public var staged = 0
  /// The page echoes writes this store knows nothing about: its file is older than what it once sent. Begin a new
  /// epoch and reset the table.
  public var isUnexplained = false
  private var lacks: Lacks = []

  private struct Lacks: OptionSet, Hashable {
    let rawValue: UInt8
    static let older = Lacks(rawValue: 1)
    static let bodies = Lacks(rawValue: 2)
    static let outsideFilter = Lacks(rawValue: 4)

    subscript(_ lack: Lacks) -> Bool {
      get { contains(lack) }
      set { if newValue { insert(lack) } else { remove(lack) } }
    }
  }

  /// Read backwards in time, the table has not come to as many rows as it is to keep.
  public var lacksOlder: Bool {
    get { lacks[.older] }
    set { lacks[.older] = newValue }
  }

  /// Nothing of the page was taken in: what has become of a row that it does not have the body of concerns what was
  /// changed here. It is to be asked for without a filter.
  public var lacksBodies: Bool {
    get { lacks[.bodies] }
    set { lacks[.bodies] = newValue }
  }

  /// Its resync has left rows outside its filter out, and rows were changed here meanwhile: another one has to name all
  /// there are.
  public var lacksOutOfFilter: Bool {
    get { lacks[.outsideFilter] }
    set { lacks[.outsideFilter] = newValue }
  }

  public init() {}
}
