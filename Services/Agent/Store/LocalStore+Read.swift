public import CaravanAgentCore
internal import CaravanChunkFiles
public import CaravanModel
internal import CaravanQuery
internal import CaravanRuntime
internal import CaravanSQLite

/// A row as its app sees it.
public struct RowView: Sendable, Hashable {
  public enum State: Sendable, Hashable {
    case clean
    /// Changed here, and the cloud does not have it yet.
    case dirty
    /// On its way to the cloud.
    case pending
    case conflict
  }

  public struct ObjectSize: Sendable, Hashable {
    public let column: String
    public let size: UInt64

    public init(column: String, size: UInt64) {
      self.column = column
      self.size = size
    }
  }

  public let id: String
  /// Of the copy at the cloud it is based on (MOB-15); 0: none.
  public let version: Seq
  public let state: State
  public let cells: [CellValue]
  /// Object columns that hold an object.
  public let objects: [ObjectSize]
  /// Why the cloud does not take the row as it is (SIM-83); empty: it has not said so.
  public var refused = ""
  /// When and by whom it was made and last changed at the cloud, where that was asked for; nil: nobody knows.
  public var authorship: RowAuthorship?

  public init(id: String, version: Seq, state: State, cells: [CellValue], objects: [ObjectSize]) {
    self.id = id
    self.version = version
    self.state = state
    self.cells = cells
    self.objects = objects
  }
}

public struct RowsPage: Sendable, Hashable {
  /// 0: closed.
  public let cursor: UInt64
  public let rows: [RowView]
  /// More follow.
  public let hasMore: Bool
}

public struct ReadRequest: Sendable, Hashable {
  public var table: TableID
  /// None: all.
  public var columns: [String]
  public var selection: Selection?
  public var order: [OrderTerm]
  /// 0: as many as fit.
  public var pageRows: Int
  /// Keep the snapshot after the last page, for reading objects: the cursor is then closed by hand.
  public var isHeld: Bool
  /// The changes that are kept aside since the table's zone is said not to exist, in place of its rows.
  public var isAside: Bool
  /// With `RowView.authorship`.
  public var wantsAuthorship = false

  public struct OrderTerm: Sendable, Hashable {
    /// A column that is no OBJECT, or a `SystemField`.
    public var column: String
    public var isDescending: Bool

    public init(_ column: String, isDescending: Bool = false) {
      self.column = column
      self.isDescending = isDescending
    }
  }

  public init(
    table: TableID, columns: [String] = [], selection: Selection? = nil, order: [OrderTerm] = [], pageRows: Int = 0,
    isHeld: Bool = false, isAside: Bool = false
  ) {
    self.table = table
    self.columns = columns
    self.selection = selection
    self.order = order
    self.pageRows = pageRows
    self.isHeld = isHeld
    self.isAside = isAside
  }
}

/// A read in progress: a snapshot, and a statement standing in the middle of its rows.
struct ReadCursor {
  let owner: UInt64
  let table: TableID
  let reader: Reader
  /// Nil once the last row was read.
  var statement: Statement?
  let shape: PageShape
  let isHeld: Bool
  /// Rows whose objects were being written in place when the read began: its snapshot has neither version of them.
  let overwritten: Set<String>
  var lastUse: Instant
  /// Rows that its pages have gone over.
  var steps = 0
  /// Its pages are made beside the store.
  var isSlow: Bool
  /// One of them is being made there: the reader is not the store's now.
  var isLent = false
}

extension LocalStore {
  /// The first page of a read. All its pages, and objects read through its cursor, are of one moment (SIM-15).
  /// - Throws: `schemaViolation` for an unknown column, `invalidData` for a selection that is no plain expression over
  ///   the table's columns, `limitExceeded` for one that costs too much or for too many cursors.
  public func beginRead(_ request: ReadRequest, owner: UInt64) async throws(CaravanError) -> RowsPage {
    guard let cursor = try readers.begin(request, owner: owner) else {
      return RowsPage(cursor: 0, rows: [], hasMore: false)
    }
    return try await readers.page(of: cursor, handle: newHandle())
  }

  /// - Throws: `leaseExpired` for a cursor that was closed, read to its end, or not used for long; `serverBusy` while
  ///   another page of it is being made.
  public func nextPage(_ handle: UInt64, owner: UInt64) async throws(CaravanError) -> RowsPage {
    let cursor = try readers.cursor(handle, owner: owner)
    readers.cursors[handle] = nil
    return try await readers.page(of: cursor, handle: handle)
  }

  /// Closing a cursor that is closed already does nothing.
  public func closeCursor(_ handle: UInt64, owner: UInt64) {
    if let cursor = readers.cursors[handle], cursor.owner == owner { readers.close(cursor, handle: handle) }
  }

  /// Closes cursors that nobody uses any more, also where nobody asks for anything else; until the task is cancelled.
  package func closeCursorsInTime() async {
    let idleAlarm = readers.idleAlarm
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await idleAlarm.run() }
      while !Task.isCancelled {
        await readers.idleSignal.wait()
        readers.closeIdle()
        lives.closeIdle()
      }
    }
  }
}
