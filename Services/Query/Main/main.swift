import CaravanLaunch
import CaravanQueryDriver
import CaravanRuntime
import Glibc

// Where there is too much to do, who saves comes before the index: a query takes in what waits.
_ = nice(5)

Command(
  "caravan-query", "Answers queries over Caravan's records, from indexes that follow the change stream.",
  flags: .bus + [Flag<String>.data]
).serve { options, host, bus in
  [try QueryService(bus: bus, host: host, directory: options[Flag<String>.data])]
}
