/// The subcommands of one executable: `caravan up`, `caravan device enrol`. A subcommand's name is the executable's
/// and its own words.
public struct CommandSet: Sendable {
  public let name: String
  public let summary: String
  public let commands: [Command]

  public init(_ name: String, _ summary: String, _ commands: [Command]) {
    self.name = name
    self.summary = summary
    self.commands = commands
    precondition(commands.allSatisfy { $0.name.hasPrefix(name + " ") }, "a subcommand's name begins with '\(name) '")
  }

  /// The subcommand that the first arguments name, and the arguments behind its name.
  public func select(_ arguments: [String]) throws(CommandLineStop) -> (Command, [String]) {
    // The longest name wins: `app` may be a command beside `app shell`.
    for command in commands.sorted(by: { $0.name.count > $1.name.count }) {
      let words = command.name.split(separator: " ").dropFirst(name.split(separator: " ").count).map(String.init)
      if arguments.starts(with: words) { return (command, Array(arguments.dropFirst(words.count))) }
    }
    if arguments.contains("--help") || arguments.contains("-h") || arguments.first == "help" {
      throw .help(help(about: arguments.first))
    }
    if arguments.first == "--version" { throw .help(Command.release(of: name)) }
    guard let first = arguments.first else { throw .usage("\(name): a command is missing; see \(name) --help") }
    if commands.contains(where: { $0.name.hasPrefix("\(name) \(first) ") }) {
      let problem = arguments.count > 1 ? "there is no command '\(arguments[1])'" : "a command is missing"
      throw .usage("\(name) \(first): \(problem); see \(name) \(first) --help")
    }
    throw .usage("\(name): there is no command '\(first)'; see \(name) --help")
  }

  /// All commands, or those that begin with `word` if there are any.
  private func help(about word: String?) -> String {
    let chosen = commands.filter { $0.name.split(separator: " ").dropFirst().first.map(String.init) == word }
    let rows = (chosen.isEmpty ? commands : chosen).map { ($0.name, $0.summary) }
    return """
      usage: \(name) COMMAND …

      \(summary)

      \(Command.table(rows))
      \(name) COMMAND --help says more; \(name) --version says which release this is.

      """
  }
}
