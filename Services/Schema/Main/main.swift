import Launch
import Runtime
import SchemaDriver

await Command("caravan-schema", "Caravan's registry of record types.", flags: .bus).serve { _, host, bus in
  [SchemaService(bus: bus, host: host)]
}
