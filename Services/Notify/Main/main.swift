import Crypto
import Launch
import NotifyDriver
import Runtime

Command(
  "caravan-notify", "Tells Caravan's devices which of their subscriptions changed.",
  flags: .bus + [Flag<String>.ticketKey]
).serve { options, host, bus in
  let keys = try RingFile(options[Flag<String>.ticketKey], host: host)
  return [keys, NotifyService(bus: bus, host: host, ticketKey: keys)]
}
