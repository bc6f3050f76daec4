internal import CaravanCLICore
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStorageClient
internal import CaravanWire

/// `caravan move`: a user's private databases into another store of the deployment (CK-100).
enum MoveCommand {
  private static let user = Flag<String>("user", "U", "whose private databases")
  private static let target = Flag<String?>(
    "to", "STORE", "where to: main, or one that storage was started with; not given: says where the user is")
  private static let json = Flag<Bool>("json", "for programs")

  private static let pause: Duration = .milliseconds(200)

  static let tools = [
    Tool(
      Command(
        "caravan move",
        "Moves a user from store to store while devices go on. Storage does it: asked again, or told to stop "
          + "watching, it goes on.",
        flags: [Flag<String?>.suiteDirectory, user, target, json] + Deployment.brokerFlags), changesCloud: true
    ) { options, terminal in try await run(options, terminal) }
  ]

  private static func run(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let owner = try UserID(options[user])
    let target = options[target]
    let bus = try Deployment(options: options, host: terminal.host).bus(.cli)
    let reply = try await bus.with(terminal.host) { bus throws(CaravanError) in
      let storage = StorageClient(bus: bus, host: terminal.host, writer: "@cli")
      var reply = try await storage.move(owner, to: target)
      var shown = ""
      while target != nil, !reply.to.isEmpty {
        if reply.problem != shown {
          Terminal.complain("caravan move: attempt \(reply.attempts) failed: \(reply.problem)")
          shown = reply.problem
        }
        do { try await terminal.host.clock.sleep(for: pause) } catch {
          throw CaravanError(.cancelled, "no longer watched: storage goes on")
        }
        reply = try await storage.move(owner, to: nil)
      }
      return reply
    }
    if let target, reply.store != target {
      throw CaravanError(.unavailable, "user '\(owner)' stays in store '\(reply.store)': \(reply.problem)")
    }
    terminal.say(options[json] ? object(reply).encoded() : text(of: reply, owner))
  }

  private static func object(_ reply: MoveReply) -> JSON {
    [
      "store": .string(reply.store), "to": .string(reply.to), "leaving": .string(reply.leaving),
      "records": .int(Int64(clamping: reply.records)), "chunks": .int(Int64(clamping: reply.chunks)),
      "bytes": .int(Int64(clamping: reply.bytes)), "held_ms": .int(Int64(clamping: reply.heldMilliseconds)),
      "problem": .string(reply.problem),
    ]
  }

  private static func text(of reply: MoveReply, _ owner: UserID) -> String {
    var text = "user '\(owner)' is in store '\(reply.store)'"
    if !reply.to.isEmpty { text += ", on the way to '\(reply.to)'" }
    guard reply.records + reply.chunks > 0 else { return text }
    text += ": \(reply.records) records and \(reply.chunks) chunks, \(reply.bytes) bytes, were copied"
    return reply.heldMilliseconds == 0 ? text : text + "; writes waited \(reply.heldMilliseconds) ms"
  }
}
