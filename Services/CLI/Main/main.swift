import CLIDriver
import Glibc
import Runtime

let host = Host.live(logLevel: .error)
let arguments = Array(CommandLine.arguments.dropFirst())
exit(
  await withTaskExecutorPreference(EventLoop.main) {
    await Caravan.run(arguments, environment: Command.environment, Terminal.standard(host))
  })
