internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit
internal import CaravanWire

/// Somebody who writes groups, part by part, and somebody who looks whether all of a group is there, or nothing
/// (UNI-05, UNI-06).
struct GroupCommits: Rarity {
  private static let container = "porters"
  private static let zone = "parcels"

  private let ground: Ground
  private let writer: Caller
  private var reader: ZoneReader
  private var dice: Dice
  private var type: UInt32 = 0
  private var op: UInt64 = 0
  /// Groups by op: how many records each has, and whether its commit was acknowledged.
  private var groups: [UInt64: (size: Int, isCommitted: Bool)] = [:]

  init(_ suite: Suite, seed: UInt64) {
    ground = suite.ground
    writer = Caller("porter", of: suite.scale.users[0], in: .development, on: suite.ground)
    let receiver = Caller("receiver", of: suite.scale.users[0], in: .development, on: suite.ground)
    reader = ZoneReader(receiver, container: Self.container, zone: Self.zone, maxBytes: 150)
    dice = Dice(seed: seed, "porters")
  }

  mutating func run(until end: Instant, clock: any Clock) async {
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(500...9_000))) != nil else { return }
      guard await agree() else { continue }
      if dice.happens(500) { await carry() }
      await look()
    }
  }

  mutating func conclude(_ clock: any Clock) async throws {
    for _ in 0..<20 {
      if await look() { break }
      try await clock.sleep(for: .seconds(1))
    }
    for caller in [writer, reader.caller] { caller.bus.close() }
  }

  private mutating func agree() async -> Bool {
    guard type == 0 else { return true }
    let parcel = CaravanModel.RecordType(
      id: 0, definition: 0, name: "parcel", fields: [CaravanModel.FieldDefinition(id: 0, name: "n", kind: .integer)])
    guard
      case .type(let made)? = await writer.insist(
        .propose(ProposeTable(container: Self.container, type: CaravanWire.RecordType(parcel))))
    else { return false }
    type = made.id
    return true
  }

  private mutating func carry() async {
    op += 1
    let (op, parts) = (self.op, dice.within(1...3))
    let sizes = (0..<parts).map { _ in dice.within(1...4) }
    groups[op] = (sizes.reduce(0, +), false)
    let begin = BeginGroup(container: Self.container, zone: Self.zone, op: op, opFloor: op)
    guard await writer.insist(.beginGroup(begin)) != nil else { return }
    for (part, size) in sizes.enumerated() {
      let mutations = (0..<size).map { number in
        CaravanWire.Mutation(
          name: "g\(op).\(part).\(number)", kind: .save, type: type, body: RecordFields([1: .integer(Int64(part))]).body
        )
      }
      let upload = UploadPart(
        container: Self.container, zone: Self.zone, op: op, part: UInt32(part), mutations: mutations)
      guard await writer.insist(.upload(upload)) != nil else { return }
      // Some are given up half way; nobody ever sees any of those.
      if dice.happens(100) { return ground.recorder.note("group \(op) is given up after part \(part)") }
    }
    let commit = CommitGroup(
      container: Self.container, zone: Self.zone, op: op, opFloor: op, parts: UInt32(parts), atomic: true)
    guard case .commit(let reply)? = await writer.insist(.commitGroup(commit)), !reply.outcomes.isEmpty else { return }
    guard reply.outcomes.allSatisfy({ $0.verdict == .accepted }) else { return }
    ground.recorder.note("group \(op) is committed")
    groups[op]?.isCommitted = true
    _ = await writer.insist(
      .removeOperation(RemoveOperation(container: Self.container, zone: Self.zone, op: op)))
  }

  /// - Returns: whether it came to the end.
  @discardableResult
  private mutating func look() async -> Bool {
    let before = groups
    guard await reader.read() else { return false }
    for (op, group) in before.sorted(by: { $0.key < $1.key }) {
      let seen = reader.entries.keys.count { $0.hasPrefix("g\(op).") }
      let observation = SeenGroup(
        "group \(op)", size: group.size, seen: seen, isCommitted: group.isCommitted)
      ground.recorder.saw("of group \(op) \(seen) records of \(group.size) are seen") { $0.groups.append(observation) }
    }
    return true
  }
}
