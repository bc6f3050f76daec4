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
    let near = near(first).map { "did you mean '\($0)'? " } ?? ""
    throw .usage("\(name): there is no command '\(first)'; \(near)see \(name) --help")
  }

  /// The command that somebody who wrote `word` may have meant.
  private func near(_ word: String) -> String? {
    let words = Set(commands.map { String($0.name.dropFirst(name.count + 1).prefix { $0 != " " }) }).sorted()
    let found = words.map { (word: $0, distance: Self.distance($0, word), isOther: $0.first != word.first) }
      .min { ($0.distance, $0.isOther ? 1 : 0) < ($1.distance, $1.isOther ? 1 : 0) }
    return found.flatMap { $0.distance <= min(2, word.count / 2) ? $0.word : nil }
  }

  /// How many letters have to be put in, taken out or replaced to make one word of the other (Levenshtein's distance).
  private static func distance(_ a: String, _ b: String) -> Int {
    let b = Array(b.prefix(32))
    var row = Array(0...b.count)
    for (i, letter) in a.prefix(32).enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for j in b.indices {
        let replaced = diagonal + (letter == b[j] ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
      }
    }
    return row[b.count]
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
