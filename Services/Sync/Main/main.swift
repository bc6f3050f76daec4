import Crypto
import Launch
import Runtime
import SyncDriver

Command(
  "caravan-sync", "Caravan's device protocol: push, pull, subscriptions, tickets.",
  flags: .bus + [Flag<String>.ticketKey]
).serve { options, host, bus in
  let key = try TicketKey.reading(options[Flag<String>.ticketKey])
  return [try SyncService(bus: bus, host: host, ticketKey: key)]
}
