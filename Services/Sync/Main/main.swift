import CaravanCrypto
import CaravanLaunch
import CaravanRuntime
import CaravanSyncDriver

Command(
  "caravan-sync", "Caravan's device protocol: push, pull, subscriptions, tickets.",
  flags: .bus + [Flag<String>.ticketKey, Flag<String?>.tokenKey, Flag<String?>.aliasKey, Flag<String>.faults]
    + RateFlags.all + FeatureFlags.all
).serve { options, host, bus in
  let keys = try RingFile(options[Flag<String>.ticketKey], host: host)
  let tokenKeys = try RingFile(options.tokenKeyFile(options[Flag<String>.ticketKey]), host: host)
  let aliasKey = try options.aliasKey()
  let faults = try FaultSwitch(options[Flag<String>.faults])
  let features = try FeatureFlags.features(options)
  let rates = RateFlags.limits(options)
  return [
    keys,
    tokenKeys,
    try SyncService(
      bus: bus, host: host, ticketKey: keys, tokenKey: tokenKeys, aliasKey: aliasKey, rates: rates, features: features,
      faults: faults),
    AliasMigration(bus: bus, host: host, ticketKey: keys, aliasKey: aliasKey),
  ]
}
