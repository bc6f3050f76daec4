public import CaravanBus
public import CaravanBusNATS
public import CaravanCrypto
public import CaravanModel
public import CaravanRuntime

extension Flag where Value == String? {
  public static var tlsAuthority: Flag<String?> {
    Flag(
      "tls-ca", "FILE", "certificate (PEM) of whoever signed the bus's; turns TLS on (tls:// alone: the system's)",
      environment: "CARAVAN_TLS_CA")
  }
  public static var tlsCertificate: Flag<String?> {
    Flag("tls-cert", "FILE", "client certificate (PEM), where the bus asks for one", environment: "CARAVAN_TLS_CERT")
  }
  public static var tlsKey: Flag<String?> {
    Flag("tls-key", "FILE", "its key (PEM)", environment: "CARAVAN_TLS_KEY")
  }

  /// Storage's. It may hold a password, so it is better given as a variable: others see command lines.
  public static var postgres: Flag<String?> {
    Flag(
      "postgres", "URL", "PostgreSQL that keeps the data: postgres://USER@HOST:PORT/DATABASE, or 'host=… dbname=…'",
      environment: "CARAVAN_POSTGRES")
  }
}

extension Flag where Value == Bool {
  public static var insecure: Flag<Bool> {
    Flag("insecure", "lets data and tokens go in clear to other machines", environment: "CARAVAN_INSECURE")
  }
}

extension Flag where Value == [String] {
  /// Storage's. Addresses may hold passwords.
  public static var stores: Flag<[String]> {
    Flag(
      "store", "NAME=DIR|URL",
      "another store beside the main one, in a directory or a PostgreSQL, that users can be moved to (caravan move); "
        + "repeatable", environment: "CARAVAN_STORES", default: [])
  }
}

extension FlagList {
  /// What every process on the bus understands: `--config --nats --creds --tls-ca --tls-cert --tls-key
  /// --insecure --ready-file --log-level`.
  public static var bus: FlagList {
    [
      Flag<String?>.configuration, Flag<[String]>.nats, Flag<String?>.credentials, Flag<String?>.tlsAuthority,
      Flag<String?>.tlsCertificate, Flag<String?>.tlsKey, Flag<Bool>.insecure, Flag<String?>.readyFile,
      Flag<LogLevel>.logLevel,
    ]
  }
}

extension NATSOptions {
  /// From the flags of `FlagList.bus`.
  /// - Parameter name: of the process, for the broker's tools.
  /// - Throws: `invalidData` when an address is none, the credentials cannot be read or TLS files do not come together.
  public init(_ options: Options, name: String) throws(CaravanError) {
    for url in options[Flag<[String]>.nats] where HostPort(brokerURL: url) == nil {
      throw CaravanError(.invalidData, "--nats '\(url)' is no address: write nats://HOST:PORT, or tls://HOST:PORT")
    }
    let credentials = try options[Flag<String?>.credentials].map(Credentials.reading)
    self.init(urls: options[Flag<[String]>.nats], credentials: credentials, name: name)
    if let file = options[Flag<String?>.credentials] { renewed = { try? Credentials.reading(file) } }
    tls = try TLS.given(by: options)
    allowsClear = options[Flag<Bool>.insecure]
  }
}

extension NATSOptions.TLS {
  /// From `--tls-ca --tls-cert --tls-key`; nil: as the addresses and the broker say.
  /// - Throws: `invalidData` when they do not come together.
  public static func given(by options: Options) throws(CaravanError) -> NATSOptions.TLS? {
    let files = (options[Flag<String?>.tlsCertificate], options[Flag<String?>.tlsKey])
    guard (files.0 == nil) == (files.1 == nil) else {
      throw CaravanError(.invalidData, "--tls-cert and --tls-key come together: give both or neither")
    }
    let authority = options[Flag<String?>.tlsAuthority]
    guard authority != nil || files.0 != nil else { return nil }
    return NATSOptions.TLS(authorityFile: authority, certificateFile: files.0, keyFile: files.1)
  }
}

extension Credentials {
  /// - Throws: `invalidData` naming the file.
  public static func reading(_ path: String) throws(CaravanError) -> Credentials {
    do {
      return try Credentials(parsing: TextFile.read(path))
    } catch let error as CryptoError {
      throw CaravanError(.invalidData, "credentials file '\(path)': \(error.message)")
    } catch let error as CaravanError {
      throw error
    } catch {
      throw CaravanError(.internalError, "\(error)")
    }
  }
}

extension Command {
  /// The whole life of a service process: command line (the flags are `FlagList.bus` and the service's own), bus,
  /// services until one ends or a signal comes, drain, exit code. `main.swift` calls this and nothing else.
  ///
  ///     Command("caravan-sync", "…", flags: .bus).serve(onBus: { options, host, bus in [SyncService(…)] })
  public func serve(
    onBus services: @escaping @Sendable (Options, Host, any MessageBus) async throws -> [any Service]
  ) -> Never {
    serve { options, live in
      let host = live.loggingContext(options[Flag<LogLevel>.logLevel], name)
      var nats = try NATSOptions(options, name: name)
      nats.pingInterval = LaunchLimits.brokerPings
      let bus = try await NATSBus.connect(nats, host: host)
      // Whoever answers on the bus must have one to begin with; later it may come and go.
      let brokers = options[Flag<[String]>.nats].joined(separator: ",")
      let outage = Outage(host, "no broker at \(brokers) yet: waiting for it", over: "the broker is there")
      try await outage.told(after: LaunchLimits.outageNotice) { () async throws(CaravanError) in
        try await bus.waitUntilConnected(deadline: LaunchLimits.connectDeadline)
      }
      outage.ended()
      let served = try await services(options, host, bus)
      return [BusLifetime(bus, host: host.with(log: host.log.with([.address: brokers])))] + served
        + ReadyFile.services(options, host: host) {
          bus.isConnected && served.allSatisfy { $0.trouble == nil }
        }
    }
  }
}

extension Host {
  /// With a log whose lines say to which request they belong.
  fileprivate func loggingContext(_ level: LogLevel, _ service: String) -> Host {
    let log = Log(level: level, clock: clock, sink: ContextLogSink(DescriptorLogSink.standardError))
    return with(log: log.with([.service: service, .process: process.identifier]))
  }
}

public enum LaunchLimits {
  /// How long a service waits for its first connection before it gives up and lets its supervisor start it again.
  public static let connectDeadline: Duration = .seconds(30)
  /// After how long without one its log says so.
  public static let outageNotice: Duration = .seconds(4)
  /// How often a service asks whether its broker still answers. One that hangs is given up after three of them.
  public static let brokerPings: Duration = .seconds(3)
  /// How often a service looks whether its ticket keys have changed.
  public static let ringRereads: Duration = .seconds(5)
  /// After so long every service that runs has read them.
  public static let ringTravels: Duration = .seconds(15)
  /// Beyond it, it is the wrong file.
  public static let ringFileBytes = 16 << 10
  /// Within `ServiceGroup.shutDownDeadline`.
  public static let drainDeadline: Duration = .seconds(3)
  /// Different refusals of a broker that one process writes down.
  public static let denialsLogged = 64
  /// For a broker that is started here.
  public static let brokerStartDeadline: Duration = .seconds(10)
}
