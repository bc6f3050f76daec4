import CaravanCLIDriver
import CaravanRuntime

let host = Host.live(logLevel: .error)
Program.run { await Caravan.run($0, environment: Command.environment, Terminal.standard(host)) }
