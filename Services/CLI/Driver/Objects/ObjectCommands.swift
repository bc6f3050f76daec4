internal import CaravanBus
internal import CaravanCLICore
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStorageClient
internal import CaravanWire

/// `caravan objects`: how the way to the object store stands.
enum ObjectCommands {
  private static let json = Flag<Bool>("json", "a JSON object")

  static let tools = [
    Tool(
      Command(
        "caravan objects", "Says how many records wait to have their objects copied to the object store.",
        flags: [Flag<String?>.suiteDirectory] + Deployment.brokerFlags + [json])
    ) { options, terminal in try await show(options, terminal) }
  ]

  private static func show(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let bus = try Deployment(options: options, host: terminal.host).bus(.cli)
    let status = try await bus.with(terminal.host) { bus throws(CaravanError) in
      try await StorageClient(bus: bus, host: terminal.host, writer: "@cli").status(of: Partition.all[0])
    }
    if options[json] {
      let values: JSON.Object = [
        "waiting": .int(Int64(clamping: status.objectsWaiting)),
        "failing": .int(Int64(clamping: status.objectsFailing)),
        "refused": .int(Int64(clamping: status.objectsRefused)), "problem": .string(status.objectProblem),
      ]
      terminal.say(JSON.object(values).encoded())
      return
    }
    var line = "\(status.objectsWaiting) waiting"
    if status.objectsFailing > 0 { line += ", \(status.objectsFailing) of them tried in vain" }
    if status.objectsRefused > 0 { line += ", \(status.objectsRefused) refused" }
    terminal.say(status.objectProblem.isEmpty ? line : "\(line): \(status.objectProblem)")
  }
}
