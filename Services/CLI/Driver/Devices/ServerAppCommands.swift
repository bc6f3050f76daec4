internal import CaravanBus
internal import CaravanCLICore
internal import CaravanCrypto
internal import CaravanEncoding
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSchemaClient

/// `caravan server-app add|revoke|list`: credentials of programs on servers, for some containers each (MOB-56).
enum ServerAppCommands {
  private static let name = Flag<String>("name", "N", "what it is called: 1 to 55 of a-z, 0-9 and '-'")
  private static let containers = Flag<[String]>(
    "container", "C", "a container that it may use; several with commas, or given one by one")
  private static let environment = Flag<String>(
    "environment", "E", "development, or production: of its containers it reaches that alone",
    default: Environment.development.rawValue)
  private static let out = Flag<String>("out", "FILE", "where its credentials go; a secret")
  private static let json = Flag<Bool>("json", "for programs")

  static let tools = [
    Tool(
      Command(
        "caravan server-app add",
        "Makes credentials for a program on a server: it reaches these containers' public databases, private ones of "
          + "its own in them, and nothing else.",
        flags: [name, containers, environment, out] + Deployment.allFlags), changesCloud: true
    ) { options, terminal in try await add(options, terminal) },
    Tool(
      Command(
        "caravan server-app revoke", "Makes a server app's credentials void and ends its connections.",
        operands: .init("NAME", 1...1), flags: Deployment.allFlags), changesCloud: true
    ) { options, terminal in try await revoke(options, terminal) },
    Tool(
      Command("caravan server-app list", "Shows every server app.", flags: [json] + Deployment.gatewayFlags)
    ) { options, terminal in try await list(options, terminal) },
  ]

  /// A server app in one container, as the registry has it.
  private struct Place {
    let app: ServerApp
    let container: ContainerID
    let environment: String
    let key: String
    let issued: String
    /// nil: it may come in.
    let revoked: String?

    /// nil: it is a person's device.
    init?(_ json: JSON) throws(CaravanError) {
      guard let app = ServerApp(try UserID(GatewayClient.text(json, "user"))) else { return nil }
      self.app = app
      container = try ContainerID(GatewayClient.text(json, "device"))
      environment = json["environment"]?.stringValue ?? Environment.development.rawValue
      key = try GatewayClient.text(json, "public_key")
      issued = try GatewayClient.text(json, "issued")
      revoked = json["revoked"]?.stringValue
    }
  }

  private static func places(of app: ServerApp? = nil, _ gateway: GatewayClient) async throws(CaravanError) -> [Place] {
    var places: [Place] = []
    for json in try await gateway.devices() {
      if let place = try Place(json), app == nil || place.app == app { places.append(place) }
    }
    return places
  }

  // MARK: Add

  private static func add(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let app = try ServerApp(options[name])
    let environment = try Environment(flag: options[environment])
    let file = options[out]
    let deployment = Deployment(options: options, host: terminal.host)
    let keys = try deployment.keyDirectory()
    let gateway = try deployment.gatewayClient()
    let containers = try await registered(options[containers], environment, deployment, terminal.host)
    let valid = try await places(of: app, gateway).filter { $0.revoked == nil }
    if CredentialsFile.exists(file) {
      try confirm(file, app, containers, environment, valid)
      return terminal.say("server app '\(app)' has its credentials already: \(file)")
    }
    guard valid.isEmpty else {
      throw CaravanError(
        .objectExists,
        "there is a server app '\(app)' already: revoke it first (caravan server-app revoke \(app)), or choose another "
          + "name")
    }
    try await CredentialsFile.write(file) { () async throws(CaravanError) in
      let key = try crypto { () throws(CryptoError) in try NKey.generate(.user) }
      var names: [EnrolledDevice] = []
      for container in containers {
        names.append(try await gateway.enrol(app.user, DeviceID(container.text), environment, key).device)
      }
      return try keys.credentials(
        named: app.user.text, .serverApp(app, as: names), for: key, at: terminal.host.clock.wallTime.milliseconds / 1000
      )
    }
    let certificate = try deployment.issueCertificate(of: DeviceID(app.user.text), beside: file)
    let demand = try DeviceCommands.demand(of: deployment, certificate)
    let list = containers.map(\.text).joined(separator: ", ")
    terminal.say("server app '\(app)' may use \(list) (\(environment.rawValue)): \(file)\(demand)")
  }

  /// The ids of containers, sorted, each once.
  /// - Throws: `noSuchObject` for one that is not there, or not in that environment; `limitExceeded`.
  private static func registered(
    _ names: [String], _ environment: Environment, _ deployment: Deployment, _ host: Host
  ) async throws(CaravanError) -> [ContainerID] {
    let names = Set(names)
    guard (1...Limits.containersPerServerApp).contains(names.count) else {
      throw CaravanError(
        .limitExceeded,
        "\(names.count) containers are named: credentials are for 1 to \(Limits.containersPerServerApp)")
    }
    return try await deployment.bus(.cli).with(host) { bus throws(CaravanError) in
      let schema = SchemaClient(bus: bus)
      var found: Set<ContainerID> = []
      for name in names.sorted() {
        let container = try await schema.container(named: name)
        guard container.environments.contains(environment) else {
          throw CaravanError(
            .noSuchObject,
            "container '\(name)' is not in \(environment.rawValue) yet: say whose it is (caravan container create "
              + "\(name) --owner USER)")
        }
        found.insert(container.id)
      }
      return found.sorted()
    }
  }

  /// That the file holds this app's credentials, for these containers, and that they still count: the command may be
  /// run again.
  private static func confirm(
    _ file: String, _ app: ServerApp, _ containers: [ContainerID], _ environment: Environment, _ valid: [Place]
  ) throws(CaravanError) {
    guard let known = try? Credentials.reading(file), known.jwt.claims.name == app.user.text else {
      throw CaravanError(.objectExists, "'\(file)' exists and is something else: choose another file for --out")
    }
    let own = valid.filter { $0.key == known.key.publicKey.text && $0.environment == environment.rawValue }
    guard own.count == valid.count, own.map(\.container).sorted() == containers else {
      throw CaravanError(
        .objectExists,
        "'\(file)' holds credentials of '\(app)' that are void, or for other containers: revoke the app (caravan "
          + "server-app revoke \(app)), remove the file and run this again")
    }
  }

  // MARK: Revoke

  private static func revoke(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let app = try ServerApp(options.operands[0])
    let deployment = Deployment(options: options, host: terminal.host)
    let gateway = try deployment.gatewayClient()
    let places = try await places(of: app, gateway)
    guard !places.isEmpty else {
      throw CaravanError(.noSuchObject, "there is no server app '\(app)': `caravan server-app list` shows them")
    }
    // Its credentials do not end, so the broker keeps in mind for ever that they are void.
    for text in Set(places.filter { $0.revoked == nil }.map(\.key)).sorted() {
      try await deployment.revoke(crypto { () throws(CryptoError) in try PublicNKey(text, kind: .user) })
    }
    // Where that was cut off, this removes the rest of what the cloud keeps to reach the app.
    for place in places { _ = try await gateway.call("DELETE", "/v1/devices/\(app.user)/\(place.container)") }
    terminal.say("server app '\(app)' is revoked")
  }

  // MARK: List

  private static func list(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let gateway = try Deployment(options: options, host: terminal.host).gatewayClient()
    let places = try await places(gateway)
    if options[json] { return terminal.say(JSON.array(places.map(described)).encoded()) }
    var table = TextTable(["SERVER APP", "CONTAINER", "ENVIRONMENT", "ADDED", "STATE"])
    for place in places {
      table.add([
        place.app.name, place.container.text, place.environment, String(place.issued.prefix(19)),
        place.revoked.map { "revoked \($0.prefix(19))" } ?? "active",
      ])
    }
    terminal.say(table.isEmpty ? "there is no server app: caravan server-app add" : table.text)
  }

  private static func described(_ place: Place) -> JSON {
    [
      "app": .string(place.app.name), "container": .string(place.container.text),
      "environment": .string(place.environment), "public_key": .string(place.key), "issued": .string(place.issued),
      "revoked": place.revoked.map { .string($0) } ?? .null,
    ]
  }
}
