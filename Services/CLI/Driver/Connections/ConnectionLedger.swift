internal import CaravanBus
internal import CaravanCLICore
internal import CaravanCrypto
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

extension GaugeName {
  static let connections = GaugeName("caravan_connections", "Connections of the account that the broker has.")
  static let connectedDevices = GaugeName("caravan_connections_devices", "Devices that are connected.")
  static let connectionsAllowed = GaugeName("caravan_connections_allowed", "Connections that the account may have.")
}

extension CounterName {
  static let crowdsRevoked = CounterName(
    "caravan_connections_revoked_total", "Devices whose credentials were made void for too many connections.")
}

/// The table of connections, and what is done about it.
actor ConnectionLedger {
  /// Connections in one answer of a broker.
  private static let page = 128
  private static let answerWindow: Duration = .milliseconds(500)
  private static let servers = 32

  private let keys: KeyDirectory
  private let host: Host
  private var table: ConnectionTable
  private let limits: ConnectionLimits
  /// Told while a broker is being asked for all; they hold for what it lists.
  private var late: [Incoming]?
  /// Being revoked: the broker ends their connections one by one.
  private var revoked: Set<String> = []
  private let count: Gauge
  private let devices: Gauge
  private let revocations: Counter

  init(keys: KeyDirectory, limits: ConnectionLimits, host: Host) {
    self.keys = keys
    self.host = host
    self.limits = limits
    table = ConnectionTable(limits, signer: keys.deviceKey.publicKey.text)
    count = host.metrics.gauge(.connections)
    devices = host.metrics.gauge(.connectedDevices)
    revocations = host.metrics.counter(.crowdsRevoked)
    host.metrics.gauge(.connectionsAllowed).set(Double(limits.all))
  }

  /// A connection has begun or ended.
  func take(_ incoming: Incoming, over bus: any MessageBus) async {
    if late != nil {
      late?.append(incoming)
      return
    }
    guard let key = apply(incoming) else { return }
    report()
    if let crowd = table.crowd(of: key) {
      await revoke([crowd], over: bus)
    } else {
      revoked.remove(key)
    }
  }

  /// - Returns: the key of its user; nil: nothing can be said.
  private func apply(_ incoming: Incoming) -> String? {
    guard case .connection(_, let isOpen) = incoming.subject, let json = try? JSON.parse(incoming.message.payload),
      let connection = try? BrokerConnection(event: json)
    else { return nil }
    if isOpen { table.opened(connection) } else { table.closed(connection.id) }
    return connection.key
  }

  /// Asks the brokers which connections there are.
  func recount(over bus: any MessageBus) async throws(CaravanError) {
    guard late == nil else { return }
    late = []
    let listed: [BrokerConnection]
    do throws(CaravanError) { listed = try await list(over: bus) } catch {
      for incoming in late ?? [] { _ = apply(incoming) }
      late = nil
      throw error
    }
    table.replace(with: listed)
    for incoming in late ?? [] { _ = apply(incoming) }
    late = nil
    report()
    let crowds = table.crowds
    revoked.formIntersection(crowds.map(\.key))
    await revoke(crowds, over: bus)
  }

  private func list(over bus: any MessageBus) async throws(CaravanError) -> [BrokerConnection] {
    let subject = Subject.connections(account: keys.accountKey.publicKey.text)
    var listed: [BrokerConnection] = []
    var offset = 0
    var servers = Self.servers
    while listed.count < limits.all * 2 {
      let request: JSON = ["auth": true, "limit": .int(Int64(Self.page)), "offset": .int(Int64(offset))]
      let answers = try await bus.gather(
        Message(request.encodedBytes()), to: subject, within: Self.answerWindow, limit: servers)
      guard !answers.isEmpty else { throw CaravanError(.unavailable, "no broker lists its connections") }
      servers = answers.count
      var isFull = false
      for answer in answers {
        guard let json = try? JSON.parse(answer.payload), let server = json["server"]?["id"]?.stringValue else {
          continue
        }
        let page = json["data"]?["connections"]?.arrayValue ?? []
        listed += page.compactMap { BrokerConnection(listed: $0, by: server) }
        isFull = isFull || page.count >= Self.page
      }
      guard isFull else { break }
      offset += Self.page
    }
    return listed
  }

  private func report() {
    count.set(Double(table.count))
    devices.set(Double(table.devices))
    guard table.takeWarning() else { return }
    host.log.warning(
      "most of the account's connections are taken: beyond the limit nobody gets in (--connections)",
      [.count: table.count, .limit: limits.all])
  }

  private func revoke(_ crowds: [ConnectionTable.Crowd], over bus: any MessageBus) async {
    let new = crowds.filter { !revoked.contains($0.key) }
    let publicKeys = new.compactMap { try? PublicNKey($0.key, kind: .user) }
    guard !publicKeys.isEmpty else { return }
    for crowd in new { revoked.insert(crowd.key) }
    do throws(CaravanError) {
      try await keys.revoke(publicKeys, over: bus, host)
      for crowd in new {
        revocations.add()
        host.log.error(
          crowd.isServerApp
            ? "a server app has too many connections, its credentials are void from now on; caravan server-app revoke, "
              + "then add, makes new ones"
            : "a device has too many connections, its credentials are void from now on; caravan device renew, on the "
              + "device, makes new ones", [.device: crowd.name, .count: crowd.count, .limit: crowd.limit])
      }
    } catch {
      for crowd in new { revoked.remove(crowd.key) }
      host.log.error("a device with too many connections cannot be revoked", [.error: error.message])
    }
  }
}
