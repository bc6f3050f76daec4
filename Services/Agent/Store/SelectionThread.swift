internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// Where selections run that take long, so that no other app waits for them.
actor SelectionThread {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  init(_ executor: any SerialExecutor) { self.executor = executor }

  func run<Result: Sendable>(_ work: @Sendable () throws(CaravanError) -> Result) throws(CaravanError) -> Result {
    try work()
  }
}

/// A reader in the hands of a `SelectionThread`. `@unchecked Sendable` is safe because "separate threads are allowed to
/// use SQLite at the same time, as long as each thread is using a different database connection"
/// (https://sqlite.org/c3ref/open.html), and the store uses neither the reader nor the statement from when it lends
/// them until the thread has given its answer.
struct LentSelection: @unchecked Sendable {
  let reader: Reader
  let statement: Statement
}

/// Whose turn it is: every app has one slow selection at a time, so that one with many is no worse for the others than
/// one with one.
struct SelectionTurns {
  private let all = Limiter(permits: StoreLimits.selectionThreads, waiters: StoreLimits.waitingSelections)
  private var apps: [ContainerID: Limiter] = [:]
  private var idle: [SelectionThread] = []
  private var running: [UInt64: Stopper] = [:]

  mutating func limiters(of app: ContainerID) -> (Limiter, Limiter) {
    let mine = apps[app] ?? Limiter(permits: 1, waiters: StoreLimits.waitingSelections)
    apps[app] = mine
    return (mine, all)
  }

  mutating func begin(_ handle: UInt64, _ reader: Reader, _ host: Host) -> SelectionThread {
    running[handle] = reader.stopper
    return idle.popLast() ?? SelectionThread(host.executors.makeSerial("selections"))
  }

  mutating func end(_ handle: UInt64, _ thread: SelectionThread) {
    running[handle] = nil
    if idle.count < StoreLimits.idleReaders { idle.append(thread) }
  }

  /// Those that run.
  var count: Int { running.count }

  func stopAll() { for stopper in running.values { stopper.stop() } }
}

/// Rows that change while selections run beside the store: for each as many as one change may concern, and one more if
/// there are more.
final class TouchedRows {
  private var watches: [UInt64: (table: String, keys: Set<Int64>)] = [:]

  func begin(_ handle: UInt64, table: String, in database: Connection) {
    watches[handle] = (table, [])
    database.whenRowChanges { [self] table, key in
      for handle in watches.keys where takes(handle, table) { watches[handle]?.keys.insert(key) }
    }
  }

  private func takes(_ handle: UInt64, _ table: String) -> Bool {
    guard let watch = watches[handle], watch.table == table else { return false }
    return watch.keys.count <= StoreLimits.rowsPerChange
  }

  func end(_ handle: UInt64, in database: Connection?) -> Set<Int64> {
    let keys = watches.removeValue(forKey: handle)?.keys ?? []
    if watches.isEmpty { database?.whenRowChanges(nil) }
    return keys
  }
}

extension LocalStore {
  /// Runs `work` with a reader that nobody else uses meanwhile, when it is the app's turn. Other calls are answered
  /// until then.
  func beside<Result: Sendable>(
    _ reader: Reader, for app: ContainerID, _ work: @Sendable () throws(CaravanError) -> Result
  ) async throws(CaravanError) -> Result {
    let (mine, all) = selectionTurns.limiters(of: app)
    let handle = newHandle()
    try await mine.acquire()
    defer { mine.release() }
    try await all.acquire()
    defer { all.release() }
    _ = try database
    let thread = selectionTurns.begin(handle, reader, host)
    defer { selectionTurns.end(handle, thread) }
    return try await thread.run(work)
  }

  // MARK: Keys

  /// Rows that an update or a delete concerns, as of when this returns: no row is written between that and what the
  /// caller does before it waits for anything.
  /// - Throws: `tableNotFound`, also when the table went meanwhile; as `beginRead`; `serverBusy` when so much changed
  ///   while a slow selection ran that it has to be run again.
  func keys(of selection: Selection?, in table: TableID) async throws(CaravanError) -> [Int64] {
    let state = try state(table)
    let reader = try takeReader()
    let prepared: Reader.Prepared
    do throws(CaravanError) {
      prepared = try prepare(keysOf: selection, "", in: state, reader)
      if !prepared.isHeavy {
        let keys = try reader.within(.short) { () throws(CaravanError) in try Self.keys(prepared.statement) }
        if let keys {
          giveBack(reader)
          return keys
        }
      }
    } catch {
      giveBack(reader)
      throw error
    }
    let (handle, lent) = (newHandle(), LentSelection(reader: reader, statement: prepared.statement))
    touched.begin(handle, table: state.rows.name, in: try database)
    let found: [Int64]
    do throws(CaravanError) {
      found = try await beside(reader, for: table.app) { () throws(CaravanError) in
        try lent.reader.bounded { () throws(CaravanError) in try Self.keys(lent.statement) }
      }
    } catch {
      _ = touched.end(handle, in: connection)
      reader.close()
      throw error
    }
    let changed = touched.end(handle, in: connection)
    giveBack(reader)
    guard try self.state(table).number == state.number else {
      throw CaravanError(.tableNotFound, "table '\(table.name)' was dropped meanwhile, and made anew: select again")
    }
    return try changed.isEmpty ? found : again(found, changed, selection, in: table)
  }

  /// What changed while the selection ran is looked at once more.
  private func again(
    _ found: [Int64], _ changed: Set<Int64>, _ selection: Selection?, in table: TableID
  ) throws(CaravanError) -> [Int64] {
    let reader = try takeReader()
    defer { giveBack(reader) }
    let statement = try prepare(keysOf: selection, " AND _row = ?", in: try state(table), reader).statement
    let last = Int32(selection?.arguments.count ?? 0) + 1
    let kept = try reader.within(.short) { () throws(CaravanError) in
      var kept: [Int64] = []
      for key in changed {
        try statement.bind(key, at: last)
        kept += try Self.keys(statement)
      }
      return kept
    }
    guard let kept, changed.count <= StoreLimits.rowsPerChange else {
      throw CaravanError(
        .serverBusy, "many rows changed while the selection ran: narrow it, or retry", retryAfterMilliseconds: 500)
    }
    return (found.filter { !changed.contains($0) } + kept).sorted()
  }

  private func prepare(
    keysOf selection: Selection?, _ more: String, in state: TableState, _ reader: Reader
  ) throws(CaravanError) -> Reader.Prepared {
    let text = """
      SELECT _row FROM \(state.rows.quotedName) WHERE \(try condition(selection, of: state))\(more) ORDER BY _row
      """
    let prepared = try reader.prepared(text, SelectionGuard(state.rows))
    try bind(selection?.arguments ?? [], to: prepared.statement)
    return prepared
  }

  private static func keys(_ statement: Statement) throws(CaravanError) -> [Int64] {
    var keys: [Int64] = []
    defer { statement.reset() }
    while let row = try statement.next() {
      keys.append(row.integer(0))
      guard keys.count <= StoreLimits.rowsPerChange else {
        throw CaravanError(
          .limitExceeded, "the selection has more than \(StoreLimits.rowsPerChange) rows: change them in parts")
      }
    }
    return keys
  }
}
