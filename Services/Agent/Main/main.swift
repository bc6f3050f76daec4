import AgentDriver
import Bus
import BusNATS
import Launch
import Model
import Runtime

let socket = Flag<String>("socket", "PATH", "unix socket that apps connect to", environment: "CARAVAN_SOCKET")
let link = Flag<LinkChoice>(
  "link", "CLASS", "what this machine is connected by: wired, wifi, cellular, roaming or none",
  environment: "CARAVAN_LINK", default: LinkChoice(.wired))

Command(
  "caravan-agent", "The device's side of Caravan: keeps the data of all apps, and syncs it when it may.",
  flags: .bus + [Flag<String>.data, socket, link]
).serve { options, host in
  let nats = try NATSOptions(options, name: "caravan-agent")
  guard let credentials = nats.credentials else {
    throw CaravanError(.notAuthenticated, "--creds is missing: enrol this device and give the file here")
  }
  let configuration = Agent.Configuration(
    directory: options[Flag<String>.data], identity: try DeviceIdentity(credentials), link: options[link].link)
  // Apps work without a broker, so nothing here waits for one.
  let agent = try await Agent(configuration, host: host) { () throws(CaravanError) in
    let bus = try await NATSBus.connect(nats, host: host)
    try await bus.waitUntilConnected(deadline: LaunchLimits.connectDeadline)
    return bus
  }
  let inherited = try InheritedSocket.taken(from: Command.environment, process: host.process.identifier)
  let apps = try await AppServer(
    socket: options[socket], inherited: inherited?.descriptor, store: agent.store, sync: agent.engine, host: host)
  return [agent, apps] + ReadyFile.services(options, host: host)
    + SupervisorTies.services(host: host) { await agent.isServing() }
}
