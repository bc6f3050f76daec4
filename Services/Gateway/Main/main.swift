import CaravanCrypto
import CaravanGatewayCore
import CaravanGatewayDriver
import CaravanHTTPServer
import CaravanLaunch
import CaravanModel
import CaravanRuntime

let http = Flag<HostPort>(
  "http", "HOST:PORT", "where HTTP is served", environment: "CARAVAN_HTTP", default: HostPort("127.0.0.1", 8080))
let certificate = Flag<String?>(
  "http-cert", "FILE",
  "certificate of HTTPS (PEM), read again when it changes; off the loopback there is no HTTP "
    + "without", environment: "CARAVAN_HTTP_CERT")
let certificateKey = Flag<String?>("http-key", "FILE", "its key (PEM)", environment: "CARAVAN_HTTP_KEY")
let signingKey = Flag<String>(
  "signing-key", "FILE", "the scoped key that signs devices: an account's seed", environment: "CARAVAN_SIGNING_KEY")
let adminToken = Flag<String>(
  "admin-token", "FILE", "what whoever enrols devices must present", environment: "CARAVAN_ADMIN_TOKEN")
let metricsToken = Flag<String?>(
  "metrics-token", "FILE", "what opens /metrics and /v1/status from other machines, as the admin token does",
  environment: "CARAVAN_METRICS_TOKEN")

let usual = HTTPLimits()
let connections = Flag<Int>(
  "http-connections", "N", "connections of HTTP", environment: "CARAVAN_HTTP_CONNECTIONS", default: usual.connections,
  in: 16...100_000)
let perAddress = Flag<Int>(
  "http-connections-per-address", "N", "those of one address; behind a trusted proxy, requests in flight of one",
  environment: "CARAVAN_HTTP_CONNECTIONS_PER_ADDRESS", default: usual.connectionsPerAddress, in: 1...100_000)
let headTimeout = Flag<Duration>(
  "http-head-timeout", "TIME", "within which a TLS handshake and a request's head must come",
  environment: "CARAVAN_HTTP_HEAD_TIMEOUT", default: usual.headTimeout)
let bodyTimeout = Flag<Duration>(
  "http-body-timeout", "TIME", "within which a body must come", environment: "CARAVAN_HTTP_BODY_TIMEOUT",
  default: usual.bodyTimeout)
let answerTimeout = Flag<Duration>(
  "http-answer-timeout", "TIME", "within which a client must have read its answer",
  environment: "CARAVAN_HTTP_ANSWER_TIMEOUT", default: usual.answerTimeout)
let proxies = Flag<[NetworkRange]>(
  "http-trusted-proxy", "ADDRESS[/BITS],…", "proxies whose X-Forwarded-For is believed",
  environment: "CARAVAN_HTTP_TRUSTED_PROXY", default: [])
let enrolmentEach = Flag<RateText>(
  "http-enrol-rate", "RATE[/BURST]", "how often a second one address may try to enrol, and at once; 0: any",
  environment: "CARAVAN_HTTP_ENROL_RATE", default: RateText(EnrolmentRate.standardEach))
let enrolmentAll = Flag<RateText>(
  "http-enrol-rate-all", "RATE[/BURST]", "the same for all addresses together",
  environment: "CARAVAN_HTTP_ENROL_RATE_ALL", default: RateText(EnrolmentRate.standardAll))

let limitFlags: FlagList = [
  connections, perAddress, headTimeout, bodyTimeout, answerTimeout, proxies, enrolmentEach, enrolmentAll,
]

func settings(_ options: Options) throws(CaravanError) -> GatewaySettings {
  var settings = GatewaySettings(
    address: options[http].host, port: options[http].port, adminToken: try TextFile.firstLine(options[adminToken]))
  settings.metricsToken = try options[metricsToken].map(TextFile.firstLine)
  settings.allowsClear = options[Flag<Bool>.insecure]
  switch (options[certificate], options[certificateKey]) {
  case (let certificate?, let key?): settings.certificate = CertificateFiles(certificate: certificate, key: key)
  case (nil, nil): break
  default: throw CaravanError(.invalidData, "--http-cert and --http-key come together: give both or neither")
  }
  settings.limits.connections = options[connections]
  settings.limits.connectionsPerAddress = options[perAddress]
  settings.limits.headTimeout = options[headTimeout]
  settings.limits.bodyTimeout = options[bodyTimeout]
  settings.limits.answerTimeout = options[answerTimeout]
  settings.limits.trustedProxies = options[proxies]
  let shortest = min(settings.limits.headTimeout, min(settings.limits.bodyTimeout, settings.limits.answerTimeout))
  guard shortest >= .seconds(1) else {
    throw CaravanError(.invalidData, "a timeout of HTTP is at least 1s: nobody far away is quicker")
  }
  settings.enrolment = EnrolmentRate(each: options[enrolmentEach].rate, all: options[enrolmentAll].rate)
  return settings
}

Command(
  "caravan-gateway", "Caravan's HTTP side: health, metrics, the status page, enrolment of devices.",
  flags: .bus + [
    http, certificate, certificateKey, signingKey, adminToken, metricsToken, Flag<Duration>.deviceCredentials,
  ]
    + limitFlags
).serve { options, host, bus in
  guard let credentials = try options[Flag<String?>.credentials].map(Credentials.reading) else {
    throw CaravanError(.invalidData, "--creds is required (or CARAVAN_CREDS): it says which account devices belong to")
  }
  let service = try GatewayService(
    settings(options), bus: bus, host: host,
    authority: DeviceAuthority(
      signingKey: NKey.reading(options[signingKey]), account: credentials.account,
      lifetime: options.deviceCredentialSeconds()))
  host.log.info("serving HTTP", [.address: options[http].host, .port: service.port])
  return [service]
}
