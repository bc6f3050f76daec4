public import CaravanAgentCore
public import CaravanModel
internal import CaravanSQLite

/// One column's value, as an app gives it.
public struct CellValue: Sendable, Hashable {
  public var column: String
  public var value: Value

  public init(_ column: String, _ value: Value) {
    self.column = column
    self.value = value
  }
}

/// One object column's whole content.
public struct ObjectValue: Sendable, Hashable {
  public var column: String
  public var bytes: [UInt8]

  public init(_ column: String, _ bytes: [UInt8]) {
    self.column = column
    self.bytes = bytes
  }
}

/// WHERE text with `?` for the arguments.
public struct Selection: Sendable, Hashable {
  public var text: String
  public var arguments: [Value]

  public init(_ text: String, _ arguments: [Value] = []) {
    self.text = text
    self.arguments = arguments
  }
}

/// What `openWrite` gives: a handle, and the ids of the rows whose objects are open.
public struct OpenedWrite: Sendable, Hashable {
  public let handle: UInt64
  public let rows: [String]
  /// What the app may rely on once it is closed.
  public let promise: WritePromise
}

/// A write whose objects are still open. Nothing of it is visible.
struct OpenWrite {
  struct Target {
    /// Nil: a row that does not exist yet.
    let key: Int64?
    let id: String
    /// By column.
    var drafts: [Int: ObjectDraft]
    /// The row counts these objects as open (OO).
    var isCounted = false
    /// Chunks that were overwritten where they lie, by column.
    var claimed: [Int: Set<ChunkHash>] = [:]

    /// Whether this is of that row, and not of one that was there before it and had its key.
    func isRow(_ row: StoredRow) -> Bool { key == row.key && id == row.id }
  }

  enum Action {
    /// Values by column; what is not listed stays as it is.
    case write([Int: SQLValue])
    case deletion
  }

  enum Life {
    /// Opened and closed by one call: no crash finds it open.
    case closedAtOnce
    case open
    /// Closed together with others.
    case held
  }

  let owner: UInt64
  let table: TableID
  let action: Action
  let isHeld: Bool
  let intent: WriteIntent
  let promise: WritePromise
  var targets: [Target]
  /// Ids of the targets.
  private let names: Set<String>

  init(
    owner: UInt64, table: TableID, _ action: Action, _ life: Life, intent: WriteIntent, promise: WritePromise,
    targets: [Target]
  ) {
    (self.owner, self.table, self.action) = (owner, table, action)
    isHeld = life == .held
    (self.intent, self.promise, self.targets) = (intent, promise, targets)
    names = Set(targets.map(\.id))
  }

  var isDeletion: Bool {
    switch action {
    case .write: false
    case .deletion: true
    }
  }

  /// Of the values that wait.
  var cellBytes: Int {
    switch action {
    case .write(let cells): cells.values.reduce(0) { $0 + $1.bodyBytes }
    case .deletion: 0
    }
  }

  func has(row id: String) -> Bool { names.contains(id) }

  var rows: [String] { targets.map(\.id) }

  var waitingBytes: Int { targets.lazy.flatMap(\.drafts.values).reduce(0) { $0 + $1.waitingBytes } }

  /// Puts what was written into chunks; the database hears of them with the rest of the write.
  mutating func fold(_ table: ChunkTable) throws(CaravanError) {
    for index in targets.indices {
      for column in targets[index].drafts.keys.sorted() { _ = try targets[index].drafts[column]?.fold(table) }
    }
  }

  var claimed: Set<ChunkHash> { targets.reduce(into: []) { $0.formUnion($1.claimed.values.joined()) } }
}
