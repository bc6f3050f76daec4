internal import CaravanCLICore
internal import CaravanModel
package import CaravanRuntime
internal import Glibc

/// One command of `caravan`, and what it does.
package struct Tool: Sendable {
  package typealias Work = @Sendable (Options, Terminal) async throws -> Void

  package let command: Command
  /// Whether an answer that was lost leaves it unknown what the cloud has now.
  package let changesCloud: Bool
  package let work: Work

  /// The program beside this one that does it instead, with all words behind the command's name.
  let program: String?

  package init(_ command: Command, changesCloud: Bool = false, _ work: @escaping Work) {
    self.command = command
    self.changesCloud = changesCloud
    self.work = work
    program = nil
  }

  init(_ command: Command, becomes program: String) {
    self.command = command
    changesCloud = false
    work = { _, _ in preconditionFailure("'\(command.name)' is another program's") }
    self.program = program
  }

  /// One line for people.
  func complaint(_ error: CaravanError) -> String {
    let isUnknown = error.code == .timedOut && changesCloud
    return "\(command.name): \(error.message)\(isUnknown ? " (it may or may not have happened)" : "")"
  }
}

/// The command line as a whole.
package enum Caravan {
  package static let tools: [Tool] =
    SuiteCommands.tools + DeviceCommands.tools + QueryCommands.tools + ObjectCommands.tools + AppCommands.tools
    + AgentCommands.tools + KeyCommands.tools + RingCommands.tools + SchemaCommands.tools + SchemaChangeCommands.tools
    + TemplateCommands.tools + RoleCommands.tools + ExtensionCommands.tools + ServerAppCommands.tools
    + DeletionCommands.tools + DoctorCommand.tools + QuotaCommands.tools + BackupCommands.tools + MoveCommand.tools
    + ConnectionCommands.tools + DamageCommands.tools + ContainerCommands.tools + [bench]

  /// Operators need not install it.
  private static let bench = Tool(
    Command("caravan bench", "Measures a suite of its own, where caravan-bench is beside caravan."),
    becomes: "caravan-bench")

  private static let commands = CommandSet(
    "caravan", "Caravan keeps rows and objects of devices and cloud the same.", tools.map(\.command))

  /// - Parameter arguments: without the executable's name.
  /// - Returns: the exit code: 0 done, 1 refused with the reason on standard error, 2 not understood.
  package static func run(_ arguments: [String], environment: [String: String], _ terminal: Terminal) async -> Int32 {
    // A reader that hangs up is an error of one write.
    signal(SIGPIPE, SIG_IGN)
    do throws(CommandLineStop) {
      let (command, rest) = try commands.select(normalised(arguments))
      guard let tool = tools.first(where: { $0.command.name == command.name }) else {
        preconditionFailure("the command '\(command.name)' does nothing")
      }
      if let program = tool.program {
        Terminal.complain(tool.complaint(Program.become("\(Program.directory)/\(program)", rest)))
        return ExitCode.failure
      }
      let options = try command.parse(rest, environment: environment)
      return await run(tool, options, terminal)
    } catch {
      return error.report()
    }
  }

  private static func normalised(_ arguments: [String]) -> [String] {
    guard arguments.first == "app" else { return arguments }
    return ["app"] + AppArguments.wordFirst(Array(arguments.dropFirst()), valued: AppCommands.leadingFlags)
  }

  private static func run(_ tool: Tool, _ options: Options, _ terminal: Terminal) async -> Int32 {
    do {
      try await tool.work(options, terminal)
      return ExitCode.success
    } catch let stop as CommandLineStop {
      return stop.report()
    } catch let error as CaravanError {
      Terminal.complain(tool.complaint(error))
    } catch {
      Terminal.complain("\(tool.command.name): \(error)")
    }
    return ExitCode.failure
  }
}
