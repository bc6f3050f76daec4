import AgentDriver
import Bus
import BusNATS
import Launch
import Model
import Runtime

let socket = Flag<String>("socket", "PATH", "unix socket that apps connect to", environment: "CARAVAN_SOCKET")
let link = Flag<LinkChoice>(
  "link", "CLASS",
  "what this machine is connected by: wired, wifi, cellular, roaming or none; auto: by its routes, whatever they are",
  environment: "CARAVAN_LINK", default: .announced(.wired))
let devices = Flag<[DeviceLink]>(
  "device-link", "DEVICE=CLASS,…", "with --link auto: what a device leads to, where the system does not know",
  environment: "CARAVAN_DEVICE_LINK", default: [])
let metered = Flag<Bool>(
  "metered", "with --link auto: bytes cost wherever NetworkManager does not say", environment: "CARAVAN_METERED")
let systemBus = Flag<String>(
  "system-bus", "PATH", "with --link auto: socket of the D-Bus where NetworkManager may be",
  environment: "CARAVAN_SYSTEM_BUS", default: "/run/dbus/system_bus_socket")

Command(
  "caravan-agent", "The device's side of Caravan: keeps the data of all apps, and syncs it when it may.",
  flags: .bus + [Flag<String>.data, socket, link, devices, metered, systemBus]
).serve { options, host in
  var nats = try NATSOptions(options, name: "caravan-agent")
  // A device at rest has little to lose by a broker that hangs, and its pings would wake it twice a minute.
  nats.pingInterval = .seconds(300)
  guard let credentials = nats.credentials else {
    throw CaravanError(.notAuthenticated, "--creds is missing: enrol this device and give the file here")
  }
  let announced: LinkClass? = if case .announced(let link) = options[link] { link } else { nil }
  let configuration = Agent.Configuration(
    directory: options[Flag<String>.data], identity: try DeviceIdentity(credentials), link: announced)
  // Apps work without a broker, so nothing here waits for one.
  let agent = try await Agent(configuration, host: host) { [nats] () throws(CaravanError) in
    let bus = try await NATSBus.connect(nats, host: host)
    try await bus.waitUntilConnected(deadline: LaunchLimits.connectDeadline)
    return bus
  }
  let inherited = try InheritedSocket.taken(from: Command.environment, process: host.process.identifier)
  let apps = try await AppServer(
    socket: options[socket], inherited: inherited?.descriptor, store: agent.store, sync: agent.engine, host: host)
  var services: [any Service] = [agent, apps]
  if case .automatic = options[link] {
    await agent.engine.linkIsWatched()
    let watched = LinkWatch.Configuration(
      classes: Dictionary(options[devices].map { ($0.device, $0.link) }, uniquingKeysWith: { $1 }),
      isMetered: options[metered], systemBus: options[systemBus])
    services.append(LinkWatch(watched, host: host) { await agent.engine.linkDetected($0) })
  }
  services.append(Settling(host: host))
  return services + ReadyFile.services(options, host: host)
    + SupervisorTies.services(host: host) { await agent.isServing() }
}
