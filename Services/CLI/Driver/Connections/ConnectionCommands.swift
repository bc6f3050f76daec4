internal import CaravanBusNATS
internal import CaravanCLICore
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime

/// `caravan connections`: what `caravan up` does by itself, for a deployment of containers.
enum ConnectionCommands {
  static let each = Flag<Int>(
    "connections-per-device", "N", "how many connections a device may have; with more its credentials become void",
    default: ConnectionLimits.standardEach, in: 1...10_000)

  static let tools = [
    Tool(
      Command(
        "caravan connections",
        "Watches the connections that the broker has, and revokes devices with too many, until SIGINT or SIGTERM.",
        flags: [Flag<String?>.suiteDirectory, each, Flag<String?>.readyFile] + Deployment.brokerFlags)
    ) { options, terminal in try await watch(options, terminal) }
  ]

  private static func watch(_ options: Options, _ terminal: Terminal) async throws {
    let deployment = Deployment(options: options, host: terminal.host)
    let keys = try deployment.keyDirectory()
    let reach = try deployment.bus(.system).options
    let limits = ConnectionLimits(each: options[each], all: try keys.connections())
    let limiter = ConnectionLimiter(
      keys: keys, url: reach.urls[0], tls: reach.tls, allowsClear: reach.allowsClear, limits: limits,
      host: terminal.host)
    let group = ServiceGroup(
      [limiter] + ReadyFile.services(options, host: terminal.host) { limiter.isWatching }, host: terminal.host)
    TerminationSignals.handle { _ in group.shutDown() }
    try await group.run()
  }
}
