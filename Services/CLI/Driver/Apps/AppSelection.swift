internal import CaravanCLICore
internal import CaravanClient
internal import CaravanModel
internal import CaravanRuntime

/// `--where TEXT`, or `--query TEXT`, and the operands that are its arguments.
struct AppSelection: Sendable {
  static let flag = Flag<String?>(
    "where", "TEXT", "which rows: an SQL expression with '?' for the arguments, which follow as operands")

  private static let all = Flag<Bool>("all", "every row of the table")
  /// Of commands that change what they select.
  static let flags: FlagList = [flag, all]

  let selection: Table.Selection
  /// Operands that are no arguments.
  let rest: [String]
  private let flag: String

  /// - Parameters:
  ///   - operands: behind the table's name.
  ///   - flag: that the text came with.
  init(
    _ text: String?, _ operands: some Sequence<String>, schema: SchemaText?, flag: String = "--where"
  ) throws(CaravanError) {
    let operands = Array(operands)
    self.flag = flag
    guard let text else {
      selection = .all
      rest = operands
      return
    }
    let kinds = try ArgumentKinds(text, schema: schema)
    guard operands.count >= kinds.count else {
      throw CaravanError(
        .invalidData, "\(flag) has \(kinds.count) '?' and \(operands.count) arguments follow: give one for each")
    }
    selection = Table.Selection(text, try kinds.values(operands.prefix(kinds.count)))
    rest = Array(operands.dropFirst(kinds.count))
  }

  /// - Throws: also `invalidData` when neither `--where` nor `--all` is given: a slip must not cost a table.
  init(
    required options: Options, _ operands: some Sequence<String>, schema: SchemaText?
  ) throws(CaravanError) {
    let text = options[Self.flag]
    guard (text != nil) != options[Self.all] else {
      throw CaravanError(.invalidData, "which rows? Give either --where TEXT or --all")
    }
    try self.init(text, operands, schema: schema)
  }

  /// For commands that say what to change.
  func requireMore() throws(CaravanError) -> [String] {
    guard !rest.isEmpty else {
      throw CaravanError(.invalidData, "nothing to change: name COLUMN=VALUE behind the arguments of --where")
    }
    return rest
  }

  /// For commands that take no other operands.
  func requireNothingElse() throws(CaravanError) {
    guard let first = rest.first else { return }
    throw CaravanError(.invalidData, "'\(first)' is one argument too many: \(flag) has a '?' for each")
  }
}
