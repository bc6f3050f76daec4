internal import CaravanBus
internal import CaravanCLICore
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStorageClient
internal import CaravanWire

/// `caravan damage` and `caravan clock`: what storage cannot read, and whether it believes its machine's clock.
enum DamageCommands {
  private static let user = Flag<String?>("user", "NAME", "only this user's")
  private static let json = Flag<Bool>("json", "a JSON object a line")

  static let tools = [
    Tool(
      Command(
        "caravan damage",
        "Lists what the cloud's disk has lost: records, chunks of objects, and the records that name those.",
        flags: [Flag<String?>.suiteDirectory] + Deployment.brokerFlags + [user, json])
    ) { options, terminal in try await list(options, terminal) },
    Tool(
      Command(
        "caravan clock",
        "Says whether storage believes its clock (its machine's or PostgreSQL's); `accept`: it does.",
        operands: .init("[accept]", 0...1),
        flags: [Flag<String?>.suiteDirectory] + Deployment.brokerFlags + [json]), changesCloud: true
    ) { options, terminal in try await clock(options, terminal) },
  ]

  private static func storage<Value: Sendable>(
    _ options: Options, _ terminal: Terminal,
    _ body: @Sendable (StorageClient) async throws(CaravanError) -> Value
  ) async throws(CaravanError) -> Value {
    let bus = try Deployment(options: options, host: terminal.host).bus(.cli)
    return try await bus.with(terminal.host) { bus throws(CaravanError) in
      try await body(StorageClient(bus: bus, host: terminal.host, writer: "@cli"))
    }
  }

  private static func list(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let owner: UserID? = if let name = options[user] { try UserID(name) } else { nil }
    let damage = try await storage(options, terminal) { storage throws(CaravanError) in
      try await storage.damage(of: owner, hasRecords: true)
    }
    if !options[json], damage.chunks.isEmpty, damage.bodies.isEmpty {
      return terminal.say("nothing is damaged, as far as it has been read")
    }
    for body in damage.bodies { terminal.say(options[json] ? Self.json(body).encoded() : text(body)) }
    for chunk in damage.chunks { terminal.say(options[json] ? Self.json(chunk).encoded() : text(chunk)) }
  }

  private static func text(_ body: BodyDamage) -> String {
    "\(body.size) bytes  \(place(body.zone?.database))  \(body.zone?.zone ?? "?")/\(body.name)  (the record itself, "
      + "version \(body.version), found \(WallTime(milliseconds: Int64(clamping: body.foundMilliseconds))))"
  }

  private static func json(_ body: BodyDamage) -> JSON {
    [
      "record": .string(body.name), "zone": .string(body.zone?.zone ?? ""),
      "database": .string(place(body.zone?.database)), "version": .int(Int64(clamping: body.version)),
      "bytes": .int(Int64(clamping: body.size)), "found_milliseconds": .int(Int64(clamping: body.foundMilliseconds)),
    ]
  }

  private static func text(_ chunk: ChunkDamage) -> String {
    let hash = ChunkHash(chunk.hash).map { "\($0)" } ?? "?"
    let names = chunk.records.map { "\($0.zone)/\($0.name)" }.joined(separator: ", ")
    return
      "\(chunk.size) bytes  \(place(chunk.database))  \(names.isEmpty ? "in no record" : names)  (chunk \(hash), found "
      + "\(WallTime(milliseconds: Int64(clamping: chunk.foundMilliseconds))))"
  }

  private static func place(_ reference: DatabaseRef?) -> String {
    guard let database = try? reference?.model() else { return "?" }
    return "\(database)"
  }

  private static func json(_ chunk: ChunkDamage) -> JSON {
    [
      "chunk": .string(ChunkHash(chunk.hash).map { "\($0)" } ?? ""), "database": .string(place(chunk.database)),
      "bytes": .int(Int64(clamping: chunk.size)), "found_milliseconds": .int(Int64(clamping: chunk.foundMilliseconds)),
      "records": .array(chunk.records.map { ["zone": .string($0.zone), "name": .string($0.name)] }),
    ]
  }

  private static func clock(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let word = options.operands.first
    guard word == nil || word == "accept" else {
      throw CaravanError(.invalidData, "'\(word ?? "")': say accept, or nothing")
    }
    let reply = try await storage(options, terminal) { storage throws(CaravanError) in
      try await storage.clock(isAccepted: word == "accept")
    }
    if options[json] {
      let values: JSON = [
        "machine_milliseconds": .int(Int64(clamping: reply.machineMilliseconds)),
        "storage_milliseconds": .int(Int64(clamping: reply.storageMilliseconds)), "problem": .string(reply.problem),
      ]
      return terminal.say(values.encoded())
    }
    let time = WallTime(milliseconds: Int64(clamping: reply.storageMilliseconds))
    terminal.say(reply.problem.isEmpty ? "\(time): the clock is believed" : "\(time): \(reply.problem)")
  }
}
