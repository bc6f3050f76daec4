import Crypto
import Launch
import NotifyDriver
import Runtime

Command(
  "caravan-notify", "Tells Caravan's devices which of their subscriptions changed.",
  flags: .bus + [Flag<String>.ticketKey]
).serve { options, host, bus in
  [NotifyService(bus: bus, host: host, ticketKey: try TicketKey.reading(options[Flag<String>.ticketKey]))]
}
