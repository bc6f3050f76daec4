internal import CaravanCLICore
internal import CaravanClient
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// `batch`: rows that belong together, from a file of lines like those of `write`, `update` and `delete`.
enum AppBatchCommand {
  private static let within = Flag<Seconds?>("within", "S", "send it within so many seconds, whatever is registered")

  static let tool = AppSession.tool(
    "batch", "Writes, changes and removes rows together: all or none, at the cloud as well.",
    .init("TABLE FILE|-", 2...2), flags: [within]
  ) { session in
    let schema = try await session.schema()
    let lines = try lines(of: session.operands[1], schema)
    let intent = WriteIntent(within: session.options[within]?.duration)
    let rows = try await session.table.batch(intent: intent) { batch in
      var rows: [String] = []
      for line in lines { rows += try await line.carryOut(in: batch) }
      return rows
    }
    let count = Set(rows).count
    session.say(
      "\(count) row\(count == 1 ? "" : "s") written, changed or removed together",
      json: ["rows": .array(rows.map(JSON.string))])
  }

  private static let commands = [
    Command("caravan app write", "Adds a row.", operands: .init("COLUMN=VALUE|COLUMN=@FILE ...", 1...operandLimit)),
    Command(
      "caravan app update", "Changes every row selected.",
      operands: .init("[ARGUMENT ...] COLUMN=VALUE|COLUMN=@FILE ...", 1...operandLimit), flags: AppSelection.flags),
    Command(
      "caravan app delete", "Removes every row selected.", operands: .init("[ARGUMENT ...]", 0...operandLimit),
      flags: AppSelection.flags),
  ]
  private static var operandLimit: Int { AppCommands.operandLimit }

  private enum Line: Sendable {
    case write(RowContent)
    case update(Table.Selection, RowContent)
    case delete(Table.Selection)

    /// - Returns: ids of the rows.
    nonisolated(nonsending) func carryOut(in batch: Batch) async throws -> [String] {
      switch self {
      case .write(let content):
        [try await batch.write(content.cells, objects: content.objects) { try await content.fill($0) }]
      case .update(let selection, let content):
        try await batch.update(selection, content.cells, objects: content.objects) { try await content.fill($0) }
      case .delete(let selection): try await batch.delete(selection)
      }
    }
  }

  private static func lines(of path: String, _ schema: SchemaText?) throws(CaravanError) -> [Line] {
    var lines: [Line] = []
    let text = try LocalFile.text(of: path)
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      do throws(CaravanError) {
        let words = try LineWords.split(String(line))
        if !words.isEmpty { lines.append(try self.line(words, schema)) }
      } catch {
        throw CaravanError(error.code, "line \(number + 1): \(error.message)")
      }
    }
    guard !lines.isEmpty else {
      throw CaravanError(.invalidData, "'\(path)' has no lines: give one for each of write, update and delete")
    }
    return lines
  }

  private static func line(_ words: [String], _ schema: SchemaText?) throws(CaravanError) -> Line {
    let (word, options) = try parsed(words)
    guard word != "write" else { return .write(try content(options.operands, schema)) }
    let selected = try AppSelection(required: options, options.operands, schema: schema)
    if word == "update" {
      return .update(selected.selection, try content(try selected.requireMore(), schema))
    }
    try selected.requireNothingElse()
    return .delete(selected.selection)
  }

  private static func parsed(_ words: [String]) throws(CaravanError) -> (String, Options) {
    guard let command = commands.first(where: { $0.name == "caravan app \(words[0])" }) else {
      throw CaravanError(.invalidData, "a line begins with write, update or delete, not with '\(words[0].prefix(40))'")
    }
    do throws(CommandLineStop) { return (words[0], try command.parse(Array(words.dropFirst()))) } catch {
      switch error {
      case .help(let text), .usage(let text): throw CaravanError(.invalidData, text)
      }
    }
  }

  private static func content(_ operands: [String], _ schema: SchemaText?) throws(CaravanError) -> RowContent {
    let content = try RowContent(Assignment.list(operands, schema: schema))
    guard !content.files.contains(where: { $0.path == "-" }) else {
      throw CaravanError(.invalidData, "standard input is none of a batch's objects: name a file")
    }
    return content
  }
}
