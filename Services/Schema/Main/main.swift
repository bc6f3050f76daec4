import CaravanLaunch
import CaravanRuntime
import CaravanSchemaDriver

let opensContainers = Flag<Bool>(
  "open-containers", "whoever uses a container first has it, in development; else the operator makes them",
  environment: "CARAVAN_OPEN_CONTAINERS")

Command(
  "caravan-schema", "Caravan's registry of containers and record types.", flags: .bus + [opensContainers]
).serve { options, host, bus in
  [try SchemaService(bus: bus, host: host, opensContainers: options[opensContainers])]
}
