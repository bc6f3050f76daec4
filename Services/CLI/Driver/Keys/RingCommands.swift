internal import Crypto
internal import Encoding
internal import Launch
internal import Model
internal import Runtime

/// `caravan keys rotate`, `caravan keys distrust`: other ticket keys while services run (issue 5, A9).
enum RingCommands {
  private static let directory = Flag<String>("dir", "D", "where the keys are: a suite's directory, or that of keys")
  private static let json = Flag<Bool>("json", "for programs")
  private static let wait = Flag<Duration>(
    "wait", "TIME", "how long services get to read the new key before it seals: longer where they must be restarted",
    default: LaunchLimits.ringTravels)

  static let tools = [
    Tool(
      Command(
        "caravan keys rotate",
        "Gives tickets and change tokens a new key while services run; nobody starts over. Cut short, it goes on when "
          + "it is run again.",
        flags: [directory, wait, json])
    ) { options, terminal in try await rotate(options, terminal) },
    Tool(
      Command(
        "caravan keys distrust",
        "Takes a ticket key out of use at once, or all: devices ask for tickets anew and compare their tables with the "
          + "cloud's; no unsent row is lost.",
        operands: .init("[ID]", 0...1), flags: [directory, json])
    ) { options, terminal in try await distrust(options, terminal) },
  ]

  private static func rotate(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let time = options[wait]
    guard time >= LaunchLimits.ringTravels else {
      throw CaravanError(
        .invalidData,
        "--wait \(time.seconds) s: services need \(LaunchLimits.ringTravels.seconds) s to read keys again")
    }
    let folder = try RingFolder(options[directory])
    let beginning = try await folder.begin(terminal.host)
    let id = beginning.added.id
    if !options[json] {
      for old in beginning.retired { terminal.say("key \(old) has retired: nothing it sealed is in use") }
      terminal.say(
        beginning.isResumed
          ? "key \(id) is there already, from a rotation that was cut short: going on with it"
          : "key \(id) is added: services can open with it within \(time.seconds) s")
    }
    do { try await terminal.host.clock.sleep(for: time) } catch {
      throw CaravanError(.cancelled, "key \(id) opens and does not seal yet: rotate again to go on")
    }
    let ring = try await folder.finish(id, terminal.host)
    guard options[json] else { return terminal.say("key \(id) seals; \(ring.members.count - 1) more still open") }
    let object: JSON = [
      "sealing": .string(id), "resumed": .bool(beginning.isResumed), "retired": list(beginning.retired),
      "keys": list(ring.members.map(\.id)),
    ]
    terminal.say(object.encoded())
  }

  private static func distrust(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let folder = try RingFolder(options[directory])
    let (distrusted, ring) = try await folder.distrust(options.operands.first, terminal.host)
    let id = ring.sealing.id
    guard options[json] else {
      for old in distrusted { terminal.say("key \(old) is out: services forget it within seconds") }
      return terminal.say("key \(id) seals")
    }
    let object: JSON = [
      "sealing": .string(id), "distrusted": list(distrusted), "keys": list(ring.members.map(\.id)),
    ]
    terminal.say(object.encoded())
  }

  private static func list(_ ids: [String]) -> JSON { .array(ids.map { .string($0) }) }
}

extension Duration {
  fileprivate var seconds: Int64 { components.seconds }
}
