internal import CaravanCLICore
internal import CaravanCrypto
internal import CaravanEncoding
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// `caravan device add|revoke|renew|list`.
enum DeviceCommands {
  private static let user = Flag<String>("user", "U", "whose device it is: 1 to 63 of a-z, 0-9 and '-'")
  private static let owner = Flag<String?>(
    "user", "U", "whose device it is, where several users have one of that name")
  private static let name = Flag<String>("name", "N", "what its user calls it")
  private static let out = Flag<String>("out", "FILE", "where its credentials go; a secret")
  private static let environment = Flag<String>(
    "environment", "E", "development, or production: of every container it reaches that alone",
    default: Environment.development.rawValue)
  private static let json = Flag<Bool>("json", "for programs")

  static let tools = [
    Tool(
      Command(
        "caravan device add", "Enrols a device.",
        flags: [user, name, environment, out, Deployment.keys] + Deployment.gatewayFlags),
      changesCloud: true
    ) { options, terminal in try await add(options, terminal) },
    Tool(
      Command(
        "caravan device revoke", "Makes a device's credentials void and ends its connections.",
        operands: .init("NAME", 1...1), flags: [owner] + Deployment.allFlags), changesCloud: true
    ) { options, terminal in try await revoke(options, terminal) },
    Tool(
      Command(
        "caravan device renew", "Has a device's credentials made anew after they were over; run on the device.",
        operands: .init("FILE", 1...1),
        flags: [Deployment.gateway, Deployment.gatewayAuthority, Flag<Bool>.insecure, Flag<String?>.suiteDirectory])
    ) { options, terminal in try await DeviceRenewal.run(options, terminal) },
    Tool(
      Command("caravan device list", "Shows every device.", flags: [json] + Deployment.gatewayFlags)
    ) { options, terminal in try await list(options, terminal) },
  ]

  // MARK: Add

  private static func add(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let user = try person(options[user])
    let device = try DeviceID(options[name])
    let environment = try Environment(flag: options[environment])
    let file = options[out]
    let deployment = Deployment(options: options, host: terminal.host)
    let gateway = try deployment.gatewayClient()
    if CredentialsFile.exists(file) {
      try await confirm(file, user, device, environment, gateway, of: deployment)
      _ = try deployment.issueCertificate(of: device, beside: file)
      return terminal.say("device '\(device)' of user '\(user)' is enrolled already: \(file)")
    }
    try await CredentialsFile.write(file) { () async throws(CaravanError) in
      let key = try crypto { () throws(CryptoError) in try NKey.generate(.user) }
      let jwt = try await gateway.enrol(user, device, environment, key).jwt
      return try crypto { () throws(CryptoError) in try Credentials(jwt: jwt, key: key) }
    }
    let certificate = try deployment.issueCertificate(of: device, beside: file)
    let demand = try demand(of: deployment, certificate)
    terminal.say("device '\(device)' of user '\(user)' is enrolled: \(file)\(demand)")
  }

  /// What a device needs beside its credentials.
  static func demand(
    of deployment: Deployment, _ certificate: KeyDirectory.PairFiles? = nil
  ) throws(CaravanError) -> String {
    let authority = try deployment.suite()?.authority
    let files = [
      authority.map { "\($0) as tls-ca" }, certificate.map { "\($0.certificate) as tls-cert" },
      certificate.map { "\($0.key) as tls-key" },
    ].compactMap(\.self)
    return files.isEmpty ? "" : "; it needs \(files.joined(separator: ", "))"
  }

  /// That the file holds this device's credentials and that they still count: the command may be run again.
  private static func confirm(
    _ file: String, _ user: UserID, _ device: DeviceID, _ environment: Environment, _ gateway: GatewayClient,
    of deployment: Deployment
  ) async throws(CaravanError) {
    let known = try? Credentials.reading(file)
    guard let claims = known?.jwt.claims, let known,
      let enrolled = try? EnrolledDevice(credentials: claims.name, user: claims.userTag),
      enrolled.user == user, enrolled.device == device, enrolled.environment == environment
    else { throw CaravanError(.objectExists, "'\(file)' exists and is something else: choose another file for --out") }
    let record = try await gateway.call("GET", "/v1/devices/\(user)/\(device)")
    if let account = try deployment.account(), account.text != known.account.text {
      throw try CaravanError(
        .objectExists,
        "'\(file)' was signed with other keys than this suite has, as after a restore without them: say "
          + "caravan device renew \(file) --dir \(deployment.directory())")
    }
    guard record["public_key"]?.stringValue == known.key.publicKey.text, record["revoked"] == .null else {
      throw CaravanError(.objectExists, "'\(file)' holds credentials that are void: remove it and run this again")
    }
  }

  // MARK: Revoke

  private static func revoke(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let device = try DeviceID(options.operands[0])
    let deployment = Deployment(options: options, host: terminal.host)
    let gateway = try deployment.gatewayClient()
    let user = try await holder(of: device, options[owner], gateway)
    let path = "/v1/devices/\(user)/\(device)"
    let record = try await gateway.call("GET", path)
    let publicKey = try GatewayClient.text(record, "public_key")
    let key = try crypto { () throws(CryptoError) in try PublicNKey(publicKey, kind: .user) }
    try await deployment.revoke(key, isEnding: record["credentials_end"] == .bool(true))
    _ = try await gateway.call("DELETE", path)
    terminal.say("device '\(device)' of user '\(user)' is revoked")
  }

  /// - Throws: `invalidData` when several users have a device of that name; `noSuchObject`.
  private static func holder(
    of device: DeviceID, _ given: String?, _ gateway: GatewayClient
  ) async throws(CaravanError) -> UserID {
    if let given { return try person(given) }
    var users: [String] = []
    for known in try await persons(gateway) where known["device"]?.stringValue == device.text {
      users.append(try GatewayClient.text(known, "user"))
    }
    guard let user = users.first else {
      throw CaravanError(.noSuchObject, "there is no device '\(device)': `caravan device list` shows them")
    }
    guard users.count == 1 else {
      throw CaravanError(
        .invalidData, "\(users.count) users have a device '\(device)': say whose it is with --user")
    }
    return try UserID(user)
  }

  /// Server apps have commands of their own.
  private static func persons(_ gateway: GatewayClient) async throws(CaravanError) -> [JSON] {
    var devices: [JSON] = []
    for device in try await gateway.devices()
    where ServerApp(try UserID(GatewayClient.text(device, "user"))) == nil {
      devices.append(device)
    }
    return devices
  }

  /// - Throws: `invalidData` for the user of a server app.
  private static func person(_ text: String) throws(CaravanError) -> UserID {
    let user = try UserID(text)
    if let app = ServerApp(user) {
      throw CaravanError(.invalidData, "'\(user)' is the server app '\(app)': caravan server-app add|revoke|list")
    }
    return user
  }

  // MARK: List

  private static func list(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let gateway = try Deployment(options: options, host: terminal.host).gatewayClient()
    let devices = try await persons(gateway)
    if options[json] { return terminal.say(JSON.array(devices).encoded()) }
    var table = TextTable(["DEVICE", "USER", "ENVIRONMENT", "ENROLLED", "STATE"])
    for device in devices {
      let revoked = device["revoked"]?.stringValue
      table.add([
        try GatewayClient.text(device, "device"), try GatewayClient.text(device, "user"),
        device["environment"]?.stringValue ?? Environment.development.rawValue,
        String(try GatewayClient.text(device, "issued").prefix(19)),
        revoked.map { "revoked \($0.prefix(19))" } ?? "active",
      ])
    }
    terminal.say(table.isEmpty ? "no device is enrolled: caravan device add" : table.text)
  }
}

extension Deployment {
  /// The certificate that a device shows to the broker, where that asks for one: beside its credentials.
  /// - Returns: nil: the broker asks for none, or the keys of the deployment are not here.
  func issueCertificate(of device: DeviceID, beside file: String) throws(CaravanError) -> KeyDirectory.PairFiles? {
    let isWanted =
      try suite().map { $0.client != nil } ?? (options[Self.keys].map(KeyDirectory.demandsClients) ?? false)
    guard isWanted else { return nil }
    let stem = file.hasSuffix(".creds") ? String(file.dropLast(6)) : file
    let files = KeyDirectory.PairFiles(certificate: "\(stem).cert.pem", key: "\(stem).key.pem")
    if unsafe access(files.certificate, F_OK) == 0 { return files }
    try keyDirectory().issueClientCertificate(
      named: device.text, to: files, at: host.clock.wallTime.milliseconds / 1000)
    return files
  }
}
