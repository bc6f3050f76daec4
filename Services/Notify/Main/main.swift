import Launch
import NotifyDriver
import Runtime

await Command(
  "caravan-notify", "Tells Caravan's devices which of their subscriptions changed.", flags: .bus
).serve { _, host, bus in
  [NotifyService(bus: bus, host: host)]
}
