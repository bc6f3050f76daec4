/// What a command line says: the values of its flags, and what is left.
public struct Options: Sendable {
  /// Arguments that are no flags, in order.
  public let operands: [String]
  let values: [String: String]

  /// The flag must be among the command's.
  public subscript<Value: FlagValue>(_ flag: Flag<Value>) -> Value {
    guard let value = values[flag.declaration.name].flatMap({ Value(flagText: $0) }) ?? flag.fallback else {
      preconditionFailure("--\(flag.declaration.name) is required, and parsing let it pass")
    }
    return value
  }
}

/// One subcommand of a program, by its whole name: `caravan-album show`.
public struct Command: Sendable {
  public let name: String
  let summary: String
  let operands: Operands
  let flags: [FlagDeclaration]

  /// Arguments that are no flags.
  public struct Operands: Sendable {
    let text: String
    let count: ClosedRange<Int>

    /// - Parameter text: how the help names them.
    public init(_ text: String, _ count: ClosedRange<Int>) {
      self.text = text
      self.count = count
    }
  }

  public init(_ name: String, _ summary: String, operands: Operands = Operands("", 0...0), flags: FlagList = []) {
    self.name = name
    self.summary = summary
    self.operands = operands
    self.flags = flags.declarations
  }

  /// - Parameter arguments: those behind the command's name.
  func parse(_ arguments: [String], environment: [String: String]) throws(CommandLineStop) -> Options {
    var (values, operands, rest): ([String: String], [String], ArraySlice<String>) = ([:], [], arguments[...])
    while let argument = rest.popFirst() {
      if argument == "--help" || argument == "-h" { throw .help(help) }
      guard argument.hasPrefix("--"), argument != "--" else {
        operands.append(argument)
        continue
      }
      let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let flag = flags.first(where: { $0.name == parts[0] }) else {
        throw usage("there is no flag '--\(parts[0])'")
      }
      let inline: String? = parts.count == 2 ? String(parts[1]) : flag.isSwitch ? "true" : nil
      guard let text = inline ?? rest.popFirst() else { throw usage("--\(flag.name) needs a value") }
      if let complaint = flag.complaint(text) { throw usage("--\(flag.name): \(complaint)") }
      guard values.updateValue(text, forKey: flag.name) == nil else { throw usage("--\(flag.name) is given twice") }
    }
    for flag in flags where values[flag.name] == nil {
      if let variable = flag.environment, let text = environment[variable], !text.isEmpty {
        if let complaint = flag.complaint(text) { throw usage("\(variable): \(complaint)") }
        values[flag.name] = text
      } else if flag.isRequired {
        throw usage("--\(flag.name) is required\(flag.environment.map { " (or \($0))" } ?? "")")
      }
    }
    if operands.count > self.operands.count.upperBound {
      throw usage("'\(operands[self.operands.count.upperBound])' is one argument too many")
    }
    if operands.count < self.operands.count.lowerBound { throw usage("\(self.operands.text) is missing") }
    return Options(operands: operands, values: values)
  }

  private func usage(_ problem: String) -> CommandLineStop { .usage("\(name): \(problem); see \(name) --help") }

  private var help: String {
    let rows = flags.map { ($0.spelling, $0.isRequired ? "\($0.help) (required)" : $0.help) }
    let required = flags.filter(\.isRequired).map { " \($0.spelling)" }.joined()
    return "usage: \(name)\(required) [flags] \(operands.text)\n\n\(summary)\n\n\(table(rows))"
  }
}

/// Why a command line does not lead to work.
enum CommandLineStop: Error {
  /// What was asked for.
  case help(String)
  /// One line that says what is wrong.
  case usage(String)
}

func table(_ rows: [(String, String)]) -> String {
  let width = rows.map(\.0.count).max() ?? 0
  return rows.map { "  \($0)\(String(repeating: " ", count: width - $0.count))  \($1)\n" }.joined()
}
