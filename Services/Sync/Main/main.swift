import Crypto
import Launch
import Runtime
import SyncDriver

Command(
  "caravan-sync", "Caravan's device protocol: push, pull, subscriptions, tickets.",
  flags: .bus + [Flag<String>.ticketKey, Flag<String>.faults] + RateFlags.all + FeatureFlags.all
).serve { options, host, bus in
  let key = try TicketKey.reading(options[Flag<String>.ticketKey])
  let faults = try FaultSwitch(options[Flag<String>.faults])
  let features = try FeatureFlags.features(options)
  let rates = RateFlags.limits(options)
  return [try SyncService(bus: bus, host: host, ticketKey: key, rates: rates, features: features, faults: faults)]
}
