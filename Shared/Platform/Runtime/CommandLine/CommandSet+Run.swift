extension CommandSet {
  /// The whole life of a program that does one thing and ends: reads the command line, carries the command out, and
  /// exits with 0, 1 (failed, with one line that says why) or 2 (wrong command line).
  public func run(_ carryOut: @escaping @Sendable (Command, Options) async throws -> Void) -> Never {
    Program.run { arguments in
      do {
        let (command, rest) = try select(arguments)
        try await carryOut(command, command.parse(rest, environment: Command.environment))
        return ExitCode.success
      } catch let stop as CommandLineStop {
        return stop.report()
      } catch {
        Standard.complain("\(name): \(error)")
        return ExitCode.failure
      }
    }
  }
}
