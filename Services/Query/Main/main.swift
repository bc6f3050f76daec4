import Launch
import QueryDriver
import Runtime

Command(
  "caravan-query", "Answers queries over Caravan's records, from indexes that follow the change stream.",
  flags: .bus + [Flag<String>.data]
).serve { options, host, bus in
  [try QueryService(bus: bus, host: host, directory: options[Flag<String>.data])]
}
