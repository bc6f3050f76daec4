import CLIDriver
import Runtime

let host = Host.live(logLevel: .error)
let arguments = Array(CommandLine.arguments.dropFirst())
Program.run { await Caravan.run(arguments, environment: Command.environment, Terminal.standard(host)) }
