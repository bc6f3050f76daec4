import Launch
import Runtime
import SchemaDriver

Command("caravan-schema", "Caravan's registry of record types.", flags: .bus).serve { _, host, bus in
  [SchemaService(bus: bus, host: host)]
}
