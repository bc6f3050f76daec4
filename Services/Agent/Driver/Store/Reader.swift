internal import AgentCore
internal import Model
internal import SQLite

/// A connection that reads what apps ask for, in a snapshot of its own.
final class Reader {
  let connection: Connection
  private var statements: [String: Statement] = [:]

  init(_ path: String, _ options: LocalStoreOptions) throws(CaravanError) {
    var reading = LocalStore.connectionOptions(options)
    reading.isReadOnly = true
    reading.cacheBytes = min(options.cacheBytes, 1 << 20)
    connection = try Connection(.file(path), reading)
    try connection.defend()
  }

  func close() {
    statements = [:]
    connection.close()
  }

  /// A statement with an app's text in it, compiled under the guard.
  func statement(_ text: String, _ selection: SelectionGuard) throws(CaravanError) -> Statement {
    if let known = statements[text] { return known }
    let statement: Statement
    do {
      statement = try connection.prepare(text) { selection.answer(to: $0) }
    } catch {
      throw selection.explain(error)
    }
    if statements.count >= StoreLimits.statementsPerReader { statements = [:] }
    statements[text] = statement
    return statement
  }

  /// Runs `body`, which ends with `limitExceeded` when it takes too many steps.
  func bounded<Result>(_ body: () throws(CaravanError) -> Result) throws(CaravanError) -> Result {
    var left = StoreLimits.selectionSteps / Int(StoreLimits.stepsPerQuestion)
    connection.setProgressHandler(everySteps: StoreLimits.stepsPerQuestion) {
      left -= 1
      return left > 0 ? .goOn : .stop
    }
    defer { connection.setProgressHandler(everySteps: 0, nil) }
    do { return try body() } catch {
      guard error.code == .cancelled else { throw error }
      throw CaravanError(.limitExceeded, "the selection takes too long: narrow it, or read fewer rows a page")
    }
  }
}

/// What a selection may use: the columns of its own table, and functions that only compute (architecture §4). Our own
/// columns are used by the statement around it, so they pass; an app that reads them learns nothing but its own state.
struct SelectionGuard {
  let rows: RowTable
  /// Those of the statement around it.
  private let selects: Int
  private let box = Box()

  private final class Box {
    var selects = 0
    var refusal: String?
  }

  static let functions: Set<String> = [
    "abs", "char", "coalesce", "glob", "hex", "ifnull", "iif", "instr", "length", "like", "lower", "ltrim", "max",
    "min", "nullif", "round", "rtrim", "sign", "substr", "substring", "trim", "typeof", "unicode", "upper",
  ]

  init(_ rows: RowTable, selects: Int = 1) {
    self.rows = rows
    self.selects = selects
  }

  func answer(to request: AuthorizerRequest) -> AuthorizerAnswer {
    switch request {
    case .select:
      box.selects += 1
      return box.selects <= selects ? .allow : refuse("a selection cannot contain another SELECT")
    case .read(let table, _):
      return table == rows.name ? .allow : refuse("a selection can use the columns of its own table only")
    case .function(let name):
      return Self.functions.contains(name.lowercased()) ? .allow : refuse("the function '\(name)' is not available")
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
