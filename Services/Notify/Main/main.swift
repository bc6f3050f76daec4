import CaravanCrypto
import CaravanLaunch
import CaravanNotifyDriver
import CaravanRuntime

Command(
  "caravan-notify", "Tells Caravan's devices which of their subscriptions changed.",
  flags: .bus + [Flag<String?>.tokenKey, Flag<String?>.oldTicketKey]
).serve { options, host, bus in
  let keys = try RingFile(options.tokenKeyFile(options[Flag<String?>.oldTicketKey]), host: host)
  return [keys, NotifyService(bus: bus, host: host, ticketKey: keys)]
}
