import Dispatch
import Glibc

/// The subcommands of one program.
public struct CommandSet: Sendable {
  let name: String
  let summary: String
  let commands: [Command]

  public init(_ name: String, _ summary: String, _ commands: [Command]) {
    self.name = name
    self.summary = summary
    self.commands = commands
  }

  /// Reads the command line, carries the command out, and exits with 0, with 1 and a line that says why it failed, or
  /// with 2 and a line that says what is wrong with the command line.
  public func run(_ carryOut: @escaping @Sendable (Command, Options) async throws -> Void) -> Never {
    Task { exit(await status(of: carryOut)) }
    dispatchMain()
  }

  private func status(of carryOut: (Command, Options) async throws -> Void) async -> Int32 {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      guard let command = commands.first(where: { $0.name == "\(name) \(arguments.first ?? "")" }) else {
        throw stop(arguments.first)
      }
      try await carryOut(command, command.parse(Array(arguments.dropFirst()), environment: environment(of: command)))
      return 0
    } catch CommandLineStop.help(let text) {
      print(text)
      return 0
    } catch CommandLineStop.usage(let problem) {
      complain(problem)
      return 2
    } catch {
      complain("\(name): \(error)")
      return 1
    }
  }

  /// The variables that stand for flags of the command.
  private func environment(of command: Command) -> [String: String] {
    var values: [String: String] = [:]
    for variable in command.flags.compactMap(\.environment) {
      values[variable] = getenv(variable).map { String(cString: $0) }
    }
    return values
  }

  private func complain(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }

  private func stop(_ word: String?) -> CommandLineStop {
    switch word {
    case "--help", "-h", "help":
      .help("usage: \(name) COMMAND …\n\n\(summary)\n\n\(table(commands.map { ($0.name, $0.summary) }))")
    case let word?: .usage("\(name): there is no command '\(word)'; see \(name) --help")
    case nil: .usage("\(name): a command is missing; see \(name) --help")
    }
  }
}
