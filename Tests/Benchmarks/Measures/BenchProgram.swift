internal import CaravanEncoding
internal import CaravanModel
package import CaravanRuntime
internal import Glibc

/// `caravan-bench`, as a whole.
package enum BenchProgram {
  private static let commands = CommandSet(
    "caravan-bench", "Measures Caravan, with what the machine does without it beside each figure.",
    BenchCommand.commands + StoreCommands.commands)

  /// - Parameter arguments: without the executable's name.
  /// - Returns: the exit code: 0 done, 1 refused with the reason on standard error, 2 not understood.
  package static func run(_ arguments: [String], environment: [String: String], host: Host) async -> Int32 {
    // A reader that hangs up is an error of one write.
    signal(SIGPIPE, SIG_IGN)
    let command: Command
    let options: Options
    do throws(CommandLineStop) {
      let rest: [String]
      (command, rest) = try commands.select(arguments)
      options = try command.parse(rest, environment: environment)
    } catch { return error.report() }
    do {
      switch command.name {
      case "caravan-bench weigh": Standard.put(try StoreCommands.weigh(options).encoded() + "\n")
      case "caravan-bench floor": Standard.put(try await StoreCommands.floor(options, host).encoded() + "\n")
      case let name:
        let last = name.split(separator: " ").last.map(String.init) ?? ""
        try await BenchCommand.run(last, options, programs: try programs(), host: host)
      }
      return ExitCode.success
    } catch {
      Standard.complain("\(command.name): \((error as? CaravanError)?.message ?? "\(error)")")
      return ExitCode.failure
    }
  }

  /// The directory of this program, where Caravan's others are.
  private static func programs() throws(CaravanError) -> String {
    let directory = Program.directory
    guard unsafe access("\(directory)/caravan", X_OK) == 0 else {
      throw CaravanError(.invalidData, "caravan is not beside caravan-bench in '\(directory)': build all of them")
    }
    return directory
  }
}
