internal import CaravanBus
internal import CaravanCrypto
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// `caravan extension add|revoke`: credentials of programs that decide conflicts (CK-36).
enum ExtensionCommands {
  private static let container = Flag<String>("container", "C", "the container: an app's name")
  private static let type = Flag<String>("type", "T", "the record type whose conflicts it decides")
  private static let out = Flag<String>("out", "FILE", "where its credentials go; a secret")

  private static let place: FlagList = [Flag<String?>.suiteDirectory, Deployment.keys]

  static let tools = [
    Tool(
      Command(
        "caravan extension add",
        "Makes credentials for a program that decides conflicts of one record type: it hears these, answers, and "
          + "may do nothing else.",
        flags: [container, type, out] + place)
    ) { options, terminal in try add(options, terminal) },
    Tool(
      Command(
        "caravan extension revoke", "Makes a program's credentials void and ends its connections.",
        operands: .init("FILE", 1...1), flags: [Flag<String?>.suiteDirectory] + Deployment.brokerFlags),
      changesCloud: true
    ) { options, terminal in try await revoke(options, terminal) },
  ]

  private static func add(_ options: Options, _ terminal: Terminal) throws(CaravanError) {
    let container = try ContainerID(options[container])
    let type = options[type]
    // Only a name that a subject can have is one of a record type.
    let subject: Subject
    do { subject = try Subject(parsing: Subject.extension(container, type: type).text) } catch {
      throw CaravanError(.invalidData, "'\(type.prefix(80))' is no name of a record type: letters, digits and _")
    }
    let file = options[out]
    let keys = try Deployment(options: options, host: terminal.host).keyDirectory()
    let claims = UserClaims(.explicit(.decider(of: container, type: type)))
    if unsafe access(file, F_OK) == 0 {
      let known = try? Credentials.reading(file)
      guard let known, known.jwt.claims.name == subject.text, known.jwt.claims.body == .user(claims),
        try keys.revocations()[known.key.publicKey] == nil
      else { throw CaravanError(.objectExists, "'\(file)' exists and is something else: choose another --out") }
      return terminal.say("a program at \(subject.text) has its credentials already: \(file)")
    }
    let credentials = try keys.credentials(
      named: subject.text, claims, at: terminal.host.clock.wallTime.milliseconds / 1000)
    try TextFile.writeSecret(credentials.rendered, to: file)
    terminal.say("a program may decide conflicts of '\(type)' at \(subject.text): \(file)")
  }

  private static func revoke(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let credentials = try Credentials.reading(options.operands[0])
    let name = credentials.jwt.claims.name
    guard case .extension? = try? Subject(parsing: name) else {
      throw CaravanError(.invalidData, "'\(options.operands[0])' holds the credentials of '\(name)', of no extension")
    }
    try await Deployment(options: options, host: terminal.host).revoke(credentials.key.publicKey)
    terminal.say("the program at \(name) is revoked")
  }
}
