internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit
internal import CaravanWire

/// Two who write records that refer to one another, and delete some, often at the same time, and one who looks whether
/// what is left hangs together (CK-27, CK-28).
struct ReferenceGraph: Rarity {
  private static let container = "kindred"
  private static let zone = "tree"
  /// Few, so that they are met again: as targets, in circles, made anew.
  private static let names = (0..<12).map { "k\($0)" }
  /// Of the only field, the first that its type has.
  private static let field: UInt32 = 1

  private let ground: Ground
  private let writers: [Caller]
  private var reader: ZoneReader
  private var dice: Dice
  private var type: UInt32 = 0
  private var op: UInt64 = 0

  init(_ suite: Suite, seed: UInt64) {
    ground = suite.ground
    let user = suite.scale.users[0]
    writers = ["elder", "younger"].map { Caller($0, of: user, in: .development, on: suite.ground) }
    let genealogist = Caller("genealogist", of: user, in: .development, on: suite.ground)
    reader = ZoneReader(genealogist, container: Self.container, zone: Self.zone, maxBytes: 400)
    dice = Dice(seed: seed, "kindred")
  }

  mutating func run(until end: Instant, clock: any Clock) async {
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(300...6_000))) != nil else { return }
      guard await agree() else { continue }
      op += 1
      let pushes = writers.map { ($0, push()) }
      await withDiscardingTaskGroup { group in
        for (writer, push) in pushes { group.addTask { _ = await writer.insist(.push(push)) } }
      }
      if dice.happens(400) { await look() }
    }
  }

  mutating func conclude(_ clock: any Clock) async throws {
    for _ in 0..<20 {
      if await look() { break }
      try await clock.sleep(for: .seconds(1))
    }
    for caller in writers + [reader.caller] { caller.bus.close() }
  }

  private mutating func agree() async -> Bool {
    guard type == 0 else { return true }
    let person = CaravanModel.RecordType(
      id: 0, definition: 0, name: "person",
      fields: [CaravanModel.FieldDefinition(id: 0, name: "kin", kind: .reference, isList: true)])
    guard
      case .type(let made)? = await writers[0].insist(
        .propose(ProposeTable(container: Self.container, type: CaravanWire.RecordType(person))))
    else { return false }
    type = made.id
    return true
  }

  private mutating func push() -> Push {
    let names = Set((0..<dice.within(1...3)).map { _ in dice.pick(Self.names) }).sorted()
    return Push(
      container: Self.container, zone: Self.zone, op: op, mutations: names.map { mutation(of: $0) },
      atomic: dice.happens(500))
  }

  private mutating func mutation(of name: String) -> CaravanWire.Mutation {
    if dice.happens(350) { return CaravanWire.Mutation(name: name, kind: .delete) }
    let kin = (0..<dice.within(0...2)).map { _ in
      Value.reference(CaravanModel.Reference(to: dice.pick(Self.names), dice.happens(500) ? .owning : .validating))
    }
    let fields = RecordFields(kin.isEmpty ? [:] : [Self.field: .list(kin)])
    return CaravanWire.Mutation(name: name, kind: .save, type: type, body: fields.body)
  }

  /// - Returns: whether it came to the end.
  @discardableResult
  private mutating func look() async -> Bool {
    guard await reader.read() else { return false }
    let tree = SeenTree(reader.entries.mapValues { Self.kin(in: $0.body) })
    let links = tree.records.values.reduce(0) { $0 + $1.count }
    ground.recorder.saw("\(tree.records.count) records with \(links) references are seen") { $0.trees.append(tree) }
    return true
  }

  private static func kin(in body: [UInt8]) -> [String] {
    guard let fields = try? RecordFields(body: body), case .list(let kin) = fields[field] else { return [] }
    return kin.compactMap { if case .reference(let reference) = $0 { reference.target } else { nil } }
  }
}
