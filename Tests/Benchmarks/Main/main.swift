import CaravanBenchmarks
import CaravanRuntime

let host = Host.live(logLevel: .error)
Program.run { await BenchProgram.run($0, environment: Command.environment, host: host) }
