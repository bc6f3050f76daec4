internal import CaravanCrypto
internal import CaravanEncoding
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime

/// `caravan keys show`, `rotate`, `distrust`: other keys of tickets and tokens while services run (TRU-09).
enum RingCommands {
  private static let directory = Flag<String>("dir", "D", "where the keys are: a suite's directory, or that of keys")
  private static let json = Flag<Bool>("json", "for programs")
  private static let wait = Flag<Duration>(
    "wait", "TIME", "how long services get to read the new key before it seals: longer where they must be restarted",
    default: LaunchLimits.ringTravels)
  private static let names = RingPurpose.allCases.map(\.rawValue).joined(separator: " or ")

  static let tools = [
    Tool(
      Command(
        "caravan keys show", "Says which keys there are of tickets and tokens, and nothing of what is secret.",
        flags: [directory, json])
    ) { options, terminal in try show(options, terminal) },
    Tool(
      Command(
        "caravan keys rotate",
        "Gives \(names), or both, a new key while services run; nobody starts over. Cut short, it goes on when it is "
          + "run again.",
        operands: .init("[PURPOSE]", 0...1), flags: [directory, wait, json])
    ) { options, terminal in try await rotate(options, terminal) },
    Tool(
      Command(
        "caravan keys distrust",
        "Takes a key out of use at once, or all keys of \(names), or all: devices ask for tickets anew and compare "
          + "their tables with the cloud's; no unsent row is lost.",
        operands: .init("[PURPOSE] [ID]", 0...2), flags: [directory, json])
    ) { options, terminal in try await distrust(options, terminal) },
  ]

  /// The rings that are meant: of the purpose that comes first, or all.
  /// - Returns: what is left of the operands, too.
  private static func rings(_ options: Options) throws(CaravanError) -> (rings: [RingFolder], rest: ArraySlice<String>)
  {
    let all = try RingFolder.all(options[directory])
    guard let first = options.operands.first, let purpose = RingPurpose(rawValue: first) else {
      return (all, options.operands[...])
    }
    let rings = all.filter { $0.purpose == purpose }
    guard !rings.isEmpty else {
      throw CaravanError(
        .invalidData,
        "there is no \(purpose.file): one ring is for everything here, until caravan keys init or up was run")
    }
    return (rings, options.operands.dropFirst())
  }

  private static func show(_ options: Options, _ terminal: Terminal) throws(CaravanError) {
    var object = JSON.Object()
    for folder in try RingFolder.all(options[directory]) {
      let ring = try folder.ring()
      object[folder.purpose.rawValue] = ["sealing": .string(ring.sealing.id), "keys": list(ring.members.map(\.id))]
      guard !options[json] else { continue }
      for member in ring.members {
        let state = member == ring.sealing ? "seals" : member == ring.pending ? "opens, and is about to seal" : "opens"
        terminal.say("\(folder.purpose): key \(member.id) \(state)")
      }
    }
    if options[json] { terminal.say(JSON.object(object).encoded()) }
  }

  private static func rotate(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    let time = options[wait]
    guard time >= LaunchLimits.ringTravels else {
      throw CaravanError(
        .invalidData,
        "--wait \(time.seconds) s: services need \(LaunchLimits.ringTravels.seconds) s to read keys again")
    }
    let (rings, rest) = try rings(options)
    guard rest.isEmpty else { throw CaravanError(.invalidData, "'\(rest[rest.startIndex])' is not \(names)") }
    var begun: [(folder: RingFolder, beginning: RingFolder.Beginning)] = []
    for folder in rings {
      let beginning = try await folder.begin(terminal.host)
      begun.append((folder, beginning))
      guard !options[json] else { continue }
      let id = beginning.added.id
      for old in beginning.retired {
        terminal.say("\(folder.purpose): key \(old) has retired: nothing it sealed is in use")
      }
      terminal.say(
        beginning.isResumed
          ? "\(folder.purpose): key \(id) is there already, from a rotation that was cut short: going on with it"
          : "\(folder.purpose): key \(id) is added: services can open with it within \(time.seconds) s")
    }
    do { try await terminal.host.clock.sleep(for: time) } catch {
      let ids = begun.map(\.beginning.added.id).joined(separator: ", ")
      throw CaravanError(.cancelled, "key \(ids) opens and does not seal yet: rotate again to go on")
    }
    var object = JSON.Object()
    for (folder, beginning) in begun {
      let ring = try await folder.finish(beginning.added.id, terminal.host)
      object[folder.purpose.rawValue] = [
        "sealing": .string(ring.sealing.id), "resumed": .bool(beginning.isResumed), "retired": list(beginning.retired),
        "keys": list(ring.members.map(\.id)),
      ]
      guard !options[json] else { continue }
      terminal.say("\(folder.purpose): key \(ring.sealing.id) seals; \(ring.members.count - 1) more still open")
    }
    if options[json] { terminal.say(JSON.object(object).encoded()) }
  }

  private static func distrust(_ options: Options, _ terminal: Terminal) async throws(CaravanError) {
    var (rings, rest) = try rings(options)
    guard rest.count <= 1 else { throw CaravanError(.invalidData, "'\(rest[rest.startIndex])' is not \(names)") }
    if let id = rest.first {
      // Rings that began as copies of one have its keys in common.
      var having: [RingFolder] = []
      for folder in rings where try folder.ring().members.contains(where: { $0.id == id }) { having.append(folder) }
      if !having.isEmpty { rings = having }
    }
    var object = JSON.Object()
    for folder in rings {
      let (distrusted, ring) = try await folder.distrust(rest.first, terminal.host)
      object[folder.purpose.rawValue] = [
        "sealing": .string(ring.sealing.id), "distrusted": list(distrusted), "keys": list(ring.members.map(\.id)),
      ]
      guard !options[json] else { continue }
      for old in distrusted { terminal.say("\(folder.purpose): key \(old) is out: services forget it within seconds") }
      terminal.say("\(folder.purpose): key \(ring.sealing.id) seals")
    }
    if options[json] { terminal.say(JSON.object(object).encoded()) }
  }

  private static func list(_ ids: [String]) -> JSON { .array(ids.map { .string($0) }) }
}

extension Duration {
  fileprivate var seconds: Int64 { components.seconds }
}
