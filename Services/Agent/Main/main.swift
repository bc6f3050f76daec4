import CaravanAgentApps
import CaravanAgentNetwork
import CaravanAgentStore
import CaravanAgentSync
import CaravanBus
import CaravanBusNATS
import CaravanCrypto
import CaravanLaunch
import CaravanModel
import CaravanRuntime

Command(
  "caravan-agent", "The device's side of Caravan: keeps the data of all apps, and syncs it when it may.",
  flags: .bus + .agent
).serve { options, host in
  var nats = try NATSOptions(options, name: "caravan-agent")
  // A device at rest has little to lose by a broker that hangs, and its pings would wake it twice a minute.
  nats.pingInterval = .seconds(300)
  guard let credentials = nats.credentials else {
    throw CaravanError(
      .notAuthenticated, "--creds is missing: caravan device add --out FILE enrols this device; give FILE here")
  }
  let choice = options[Flag<LinkChoice?>.link] ?? LinkChoice(unsaidWith: options[Flag<[String]>.nats])
  let announced: LinkClass? = if case .announced(let link) = choice { link } else { nil }
  let directory = options[Flag<String>.data]
  try LocalStore.makePrivate(directory)
  let own = DeviceCredentials(directory: directory, host: host) { [renewed = nats.renewed] in
    renewed?() ?? credentials
  }
  let configuration = Agent.Configuration(
    directory: directory, identity: try DeviceIdentity(own.current), link: announced)
  // Apps work without a broker, so nothing here waits for one.
  let agent = try await Agent(configuration, host: host, credentials: { own.current.digest }) {
    [nats] () throws(CaravanError) in
    try await own.connect { (credentials) throws(CaravanError) in
      let bus = try await NATSBus.connect(nats.with(credentials) { own.current }, host: host)
      try await bus.waitUntilConnected(deadline: LaunchLimits.connectDeadline)
      return bus
    }
  }
  let inherited = try InheritedSocket.taken(from: Command.environment, process: host.process.identifier)
  let apps = try await AppServer(
    socket: options[Flag<String>.socket], inherited: inherited?.descriptor,
    .init(isOpen: options[Flag<Bool>.openApps], packages: options[Flag<String>.packagedApps]), store: agent.store,
    sync: agent.engine, host: host)
  var services: [any Service] = [agent, apps, own]
  if case .automatic = choice {
    await agent.engine.linkIsWatched()
    let watched = LinkWatch.Configuration(
      brokers: options[Flag<[String]>.nats].compactMap { HostPort(brokerURL: $0)?.host },
      classes: Dictionary(
        options[Flag<[DeviceLink]>.deviceLinks].map { ($0.device, $0.link) }, uniquingKeysWith: { $1 }),
      isMetered: options[Flag<Bool>.metered], systemBus: options[Flag<String>.systemBus])
    services.append(LinkWatch(watched, host: host) { await agent.engine.linkDetected($0) })
  }
  services.append(Settling(host: host))
  return services + ReadyFile.services(options, host: host)
    + SupervisorTies.services(host: host) { await agent.isServing() }
}
