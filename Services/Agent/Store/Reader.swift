internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

internal import struct Synchronization.Atomic

/// A connection that reads what apps ask for, in a snapshot of its own.
final class Reader {
  struct Prepared {
    let statement: Statement
    /// It uses what may take long for a single row.
    let isHeavy: Bool
  }

  let connection: Connection
  let pace: SelectionPace
  private var statements: [String: Prepared] = [:]

  init(_ path: String, _ options: LocalStoreOptions, _ clock: any Clock) throws(CaravanError) {
    pace = SelectionPace(clock: clock)
    var reading = LocalStore.connectionOptions(options)
    reading.isReadOnly = true
    reading.cacheBytes = min(options.cacheBytes, 1 << 20)
    connection = try Connection(.file(path), reading)
    try connection.defend()
    try connection.allowRowFunctions()
    connection.limitPatterns(to: StoreLimits.patternBytes)
  }

  func close() {
    statements = [:]
    connection.close()
  }

  /// A statement with an app's text in it, compiled under the guard.
  func prepared(_ text: String, _ selection: SelectionGuard) throws(CaravanError) -> Prepared {
    if let known = statements[text] { return known }
    let statement: Statement
    do {
      statement = try connection.prepare(text) { selection.answer(to: $0) }
    } catch {
      throw selection.explain(error)
    }
    if statements.count >= StoreLimits.statementsPerReader { statements = [:] }
    let prepared = Prepared(statement: statement, isHeavy: selection.isHeavy)
    statements[text] = prepared
    return prepared
  }

  /// Runs `body` as long as that is within the budget.
  /// - Returns: nil when it is not: the statement has to be reset then, and begins anew.
  func within<Result>(
    _ budget: SelectionBudget, _ body: () throws(CaravanError) -> Result
  ) throws(CaravanError) -> Result? { try pace.within(budget, on: connection, body) }
}

/// Ends statements that take longer than they may, or that nobody waits for any more.
struct SelectionPace: Sendable {
  let clock: any Clock
  let stopper = Stopper()

  /// Runs `body` as long as that is within the budget.
  /// - Returns: nil when it is not: the statement has to be reset then, and begins anew.
  func within<Result>(
    _ budget: SelectionBudget, on connection: Connection, _ body: () throws(CaravanError) -> Result
  ) throws(CaravanError) -> Result? {
    let (clock, stopper, end) = (clock, stopper, clock.now + budget.time)
    var left = budget.steps / Int(budget.stepsPerQuestion)
    var isUsedUp = false
    connection.setProgressHandler(everySteps: budget.stepsPerQuestion) {
      left -= 1
      isUsedUp = left <= 0 || clock.now >= end
      return isUsedUp || stopper.isStopped ? .stop : .goOn
    }
    defer { connection.setProgressHandler(everySteps: 0, nil) }
    do { return try body() } catch {
      guard error.code == .cancelled, isUsedUp else { throw error }
      return nil
    }
  }

  /// Runs `body` within the long budget.
  /// - Throws: `limitExceeded` when it is not.
  func bounded<Result>(
    on connection: Connection, _ body: () throws(CaravanError) -> Result
  ) throws(CaravanError) -> Result {
    if let result = try within(.long, on: connection, body) { return result }
    throw CaravanError(.limitExceeded, "the selection takes too long: narrow it, or read fewer rows a page")
  }
}

/// Ends what a reader is doing or begins to do, from any thread and for good: it fails with `cancelled`.
final class Stopper: Sendable {
  private let flag = Atomic(false)
  var isStopped: Bool { flag.load(ordering: .relaxed) }
  func stop() { flag.store(true, ordering: .relaxed) }
}

/// What a selection may take.
struct SelectionBudget {
  /// Instructions of SQLite's machine.
  let steps: Int
  let time: Duration
  /// It may go beyond its time by so many instructions, which are some rows.
  let stepsPerQuestion: Int32

  /// On the store's thread, where everybody waits for it.
  static let short = SelectionBudget(
    steps: StoreLimits.shortSelectionSteps, time: StoreLimits.shortSelectionTime, stepsPerQuestion: 200)
  /// On a thread of its own.
  static let long = SelectionBudget(
    steps: StoreLimits.selectionSteps, time: StoreLimits.selectionTime, stepsPerQuestion: 20)
}

/// What a selection may use: the columns of its own table, and functions that only compute (architecture §4). Our own
/// columns are used by the statement around it, so they pass; an app that reads them learns nothing but its own state.
struct SelectionGuard {
  let rows: RowTable
  /// Those of the statement around it.
  private let selects: Int
  /// What the statement around it calls, each of which may take long for a single row.
  private let called: Set<String>
  private let box = Box()

  private final class Box {
    var selects = 0
    var refusal: String?
    var isHeavy = false
  }

  static let functions: Set<String> = [
    "abs", "char", "coalesce", "glob", "hex", "ifnull", "iif", "instr", "length", "like", "lower", "ltrim", "max",
    "min", "nullif", "round", "rtrim", "sign", "substr", "substring", "trim", "typeof", "unicode", "upper",
  ]

  /// Of them, those that take more than in proportion to what they are given: a text as long as a row may be, compared
  /// with a pattern as long as it may be, takes a second.
  private static let heavy: Set<String> = ["glob", "instr", "like", "ltrim", "rtrim", "trim"]

  /// Known once the statement is compiled.
  var isHeavy: Bool { box.isHeavy }

  init(_ rows: RowTable, selects: Int = 1, calls functions: Set<String> = []) {
    self.rows = rows
    self.selects = selects
    called = functions
    box.isHeavy = !functions.isEmpty
  }

  func answer(to request: AuthorizerRequest) -> AuthorizerAnswer {
    switch request {
    case .select:
      box.selects += 1
      return box.selects <= selects ? .allow : refuse("a selection cannot contain another SELECT")
    case .read(let table, _):
      return table == rows.name ? .allow : refuse("a selection can use the columns of its own table only")
    case .function(let name):
      if Self.heavy.contains(name.lowercased()) { box.isHeavy = true }
      return Self.functions.union(called).contains(name.lowercased())
        ? .allow : refuse("the function '\(name)' is not available")
    case .recursive, .insert, .update, .delete, .transaction, .pragma, .attach, .other:
      return refuse("a selection is one expression over the table's columns")
    }
  }

  private func refuse(_ reason: String) -> AuthorizerAnswer {
    box.refusal = box.refusal ?? reason
    return .deny
  }

  func explain(_ error: CaravanError) -> CaravanError {
    if let refusal = box.refusal { return CaravanError(.invalidData, "selection: \(refusal)") }
    let columns = rows.columns.map(\.name).joined(separator: ", ")
    return CaravanError(.invalidData, "selection: \(error.message): the table's columns are \(columns.prefix(400))")
  }
}
