internal import CaravanCLICore
internal import CaravanCrypto
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime

/// `caravan keys init`: what a composed deployment begins with.
enum KeyCommands {
  private static let directory = Flag<String>("dir", "KEYS", "where the keys are")
  static let names = Flag<[String]>(
    "tls-name", "NAME", "a name or address under which the broker and the gateway are reached; repeatable", default: [])
  static let connections = Flag<Int>(
    "connections", "N", "how many connections the broker takes altogether, the last bound",
    default: ConnectionLimits.standardAll, in: 100...1_000_000)
  private static let deviceTLS = Flag<Bool>("device-tls", "the broker asks everybody for a certificate")
  private static let brokerData = Flag<String>(
    "nats-data", "DIR", "where the broker's container keeps its data", default: "/data")
  private static let owner = Flag<Int?>("owner", "UID", "the user that containers run as: gets the files")

  static let tools = [
    Tool(
      Command(
        "caravan keys init",
        "Makes the keys, credentials and certificates of a deployment; what is there already stays.",
        flags: [directory, names, connections, deviceTLS, brokerData, owner])
    ) { options, terminal in try initialise(options, terminal) }
  ]

  private static func initialise(_ options: Options, _ terminal: Terminal) throws(CaravanError) {
    let seconds = terminal.host.clock.wallTime.milliseconds / 1000
    let keys = try KeyDirectory.ensure(options[directory], connections: options[connections], at: seconds)
    let isNew = !keys.folder.contains("nats.conf")
    var configuration = NATSConfiguration(host: "0.0.0.0", port: 4222)
    configuration.monitor = HostPort("127.0.0.1", 8222)
    configuration.operator = try keys.brokerOperator(directory: "\(options[brokerData])/jwt")
    if options[deviceTLS] {
      guard !options[names].isEmpty else {
        throw CaravanError(.invalidData, "--device-tls needs the broker's own certificate: give --tls-name")
      }
      for holder in Holder.allCases { _ = try keys.ensureClientCertificate(of: holder, at: seconds) }
    }
    if !options[names].isEmpty {
      _ = try keys.ensureBrokerCertificate(options[names], at: seconds)
      _ = try keys.ensureHTTPCertificate(options[names], at: seconds)
      configuration.tls = NATSConfiguration.TLS(
        certificateFile: "/run/secrets/nats-cert.pem", keyFile: "/run/secrets/nats-key.pem",
        clientAuthorityFile: options[deviceTLS] ? "/run/secrets/ca.pem" : nil)
    }
    try keys.folder.write(configuration.text, to: "nats.conf")
    if let owner = options[owner] { try give(keys, to: owner) }
    terminal.say(isNew ? "keys made in \(options[directory])" : "keys in \(options[directory]) are complete")
  }

  private static func give(_ keys: KeyDirectory, to owner: Int) throws(CaravanError) {
    guard let user = UInt32(exactly: owner) else {
      throw CaravanError(.invalidData, "--owner \(owner): user ids are not negative")
    }
    for name in ["creds", "tls", "tls/clients"] where keys.folder.contains(name) {
      try Folder(making: keys.folder.file(name)).giveTo(user)
    }
    try keys.folder.giveTo(user)
  }
}
