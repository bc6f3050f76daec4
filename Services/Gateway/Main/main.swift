import Crypto
import GatewayDriver
import Launch
import Model
import Runtime

let http = Flag<HostPort>(
  "http", "HOST:PORT", "where HTTP is served", environment: "CARAVAN_HTTP", default: HostPort("127.0.0.1", 8080))
let signingKey = Flag<String>(
  "signing-key", "FILE", "the scoped key that signs devices: an account's seed", environment: "CARAVAN_SIGNING_KEY")
let adminToken = Flag<String>(
  "admin-token", "FILE", "what whoever enrols devices must present", environment: "CARAVAN_ADMIN_TOKEN")

Command(
  "caravan-gateway", "Caravan's HTTP side: health, metrics, the status page, enrolment of devices.",
  flags: .bus + [http, signingKey, adminToken]
).serve { options, host, bus in
  guard let credentials = try options[Flag<String?>.credentials].map(Credentials.reading) else {
    throw CaravanError(.invalidData, "--creds is required (or CARAVAN_CREDS): it says which account devices belong to")
  }
  let service = try GatewayService(
    address: options[http].host, port: options[http].port, bus: bus, host: host,
    authority: DeviceAuthority(signingKey: NKey.reading(options[signingKey]), account: credentials.account),
    adminToken: TextFile.firstLine(options[adminToken]))
  host.log.info("serving HTTP", [.address: options[http].host, .port: service.port])
  return [service]
}
