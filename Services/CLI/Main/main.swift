import CLIDriver
import Glibc
import Runtime

let host = Host.live(logLevel: .error)
exit(
  await Caravan.run(
    Array(CommandLine.arguments.dropFirst()), environment: Command.environment, Terminal.standard(host)))
