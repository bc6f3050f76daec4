internal import Glibc

extension Command {
  /// The whole life of a server: reads the command line, makes the services, runs them until one ends or SIGTERM or
  /// SIGINT comes, and exits with 0, 1 (failed) or 2 (wrong command line). The command has the flag `.logLevel`.
  /// `main.swift` calls this and nothing else.
  public func serve(_ services: @escaping @Sendable (Options, Host) async throws -> [any Service]) -> Never {
    Program.run { await run($0, environment: Self.environment, services) }
  }

  func run(
    _ arguments: [String], environment: [String: String],
    _ services: @Sendable (Options, Host) async throws -> [any Service]
  ) async -> Int32 {
    let options: Options
    do throws(CommandLineStop) { options = try parse(arguments, environment: environment) } catch {
      return error.report()
    }
    // A peer that hangs up is an error of one write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    // What a service keeps is its user's alone, whatever the shell that started it thinks.
    umask(0o077)
    let live = Host.live(logLevel: options[.logLevel])
    let host = live.with(log: live.log.with([.service: name, .process: live.process.identifier]))
    do {
      let group = ServiceGroup(try await services(options, host), host: host)
      TerminationSignals.handle { number in
        host.log.info("a signal asks to stop", [.signal: number])
        group.shutDown()
      }
      try await group.run()
      host.log.info("stopped")
      return ExitCode.success
    } catch {
      host.log.error("stopped by an error", [.error: "\(error)"])
      return ExitCode.failure
    }
  }

  /// The variables of this process, without those that are not UTF-8: no setting is among them (`Program`).
  public static var environment: [String: String] {
    var variables: [String: String] = [:]
    for text in Program.variables.lazy.compactMap({ String(validating: $0, as: UTF8.self) }) {
      guard let equals = text.firstIndex(of: "=") else { continue }
      variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
    }
    return variables
  }
}

extension CommandLineStop {
  /// Says it where it belongs.
  /// - Returns: the exit code.
  public func report() -> Int32 {
    switch self {
    case .help(let text):
      Standard.put(text)
      return ExitCode.success
    case .usage(let line):
      Standard.complain(line)
      return ExitCode.usage
    }
  }
}
