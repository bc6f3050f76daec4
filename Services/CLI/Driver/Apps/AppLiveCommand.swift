internal import CaravanCLICore
internal import CaravanClient
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// `live`: rows of a table, and what changes in them.
enum AppLiveCommand {
  private static let columns = Flag<[String]>("columns", "A,B", "columns to show; all without it", default: [])
  private static let order = Flag<String?>(
    "order-by", "COLUMNS",
    "COLUMN [asc|desc], several with commas; also ___createTime, ___modTime; rows of equal rank by their ids")
  private static let limit = Flag<Int?>("limit", "N", "most rows of the answer")
  private static let count = Flag<Int?>("count", "N", "end after so many differences")

  static let tool = AppSession.tool(
    "live", "Shows rows, and then what changes in them, until it is interrupted.",
    .init("TABLE [ARGUMENT ...]", 1...AppCommands.operandLimit),
    details: """
      A difference begins with a line of how many rows there are, and says whether there may be others in the cloud.
      Then come, a line each, rows that went (-) and moved (>), by their former places, and rows that came (+) and
      changed (~), by their new ones. 'cloud' is said of a row that is not on this device: of a table that keeps a part
      of its rows.
      """, flags: [AppSelection.flag, columns, order, limit, count]
  ) { session in try await live(session) }

  private static func live(_ session: AppSession) async throws {
    let schema = try await session.schema()
    let selected = try AppSelection(session.options[AppSelection.flag], session.operands.dropFirst(), schema: schema)
    try selected.requireNothingElse()
    var left = session.options[count] ?? .max
    guard left > 0 else { throw CaravanError(.invalidData, "--count \(left): give 1 or more") }
    let keys = try session.options[order].map(SortText.keys) ?? []
    guard keys.allSatisfy({ $0.near == nil }) else {
      throw CaravanError(.invalidData, "--order-by: distances are for the cloud: caravan app query")
    }
    let names = session.options[columns]
    let shown = names.isEmpty ? schema?.columns.map(\.name) ?? [] : names
    var rows: [LiveRow] = []
    let changes = session.table.live(
      selected.selection, columns: names,
      orderBy: keys.map { (column: $0.field, descending: $0.isDescending) }, limit: session.options[limit])
    for try await change in changes {
      try change.apply(to: &rows)
      session.say(text(change, of: rows.count, shown, schema), json: json(change, of: rows.count, shown))
      left -= 1
      if left == 0 { return }
    }
  }

  static func text(_ change: LiveDifference, of count: Int, _ columns: [String], _ schema: SchemaText?) -> String {
    func line(_ sign: String, _ place: Int, _ words: [String]) -> String {
      (["\(sign) \(place)"] + words).joined(separator: "  ")
    }
    func row(_ sign: String, _ change: LiveDifference.Change) -> String {
      let row = change.row.row
      let standing = change.row.isHere ? row.standing : "cloud"
      return line(sign, change.index, [row.id, standing] + columns.map { row.shown($0, schema) })
    }
    var head = "\(count) row\(count == 1 ? "" : "s")"
    if !change.isComplete {
      head += change.refusal.map { ", of this device: \($0.message)" } ?? ", of this device: the cloud is being asked"
    }
    return
      ([head] + change.deletions.map { line("-", $0.index, [$0.id]) }
      + change.moves.map { line(">", $0.from, ["\($0.to)", $0.id]) } + change.insertions.map { row("+", $0) }
      + change.updates.map { row("~", $0) }).joined(separator: "\n")
  }

  private static func json(_ change: LiveDifference, of count: Int, _ columns: [String]) -> JSON {
    func number(_ value: Int) -> JSON { .int(Int64(value)) }
    func row(_ change: LiveDifference.Change) -> JSON {
      ["index": number(change.index), "here": .bool(change.row.isHere), "row": change.row.row.json(columns)]
    }
    return [
      "rows": number(count), "complete": .bool(change.isComplete),
      "refused": change.refusal.map { .string($0.description) } ?? .null,
      "deletions": .array(change.deletions.map { ["index": number($0.index), "id": .string($0.id)] }),
      "moves": .array(
        change.moves.map { ["from": number($0.from), "to": number($0.to), "id": .string($0.id)] }),
      "insertions": .array(change.insertions.map(row)), "updates": .array(change.updates.map(row)),
    ]
  }
}
