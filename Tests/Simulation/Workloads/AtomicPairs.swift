internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanAgentSync
internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStore
internal import CaravanTestKit
internal import CaravanWire

/// Somebody who writes records in twos, each two in one batch, and a device whose table shows snapshots: it never has
/// one without the other, and has what its own app wrote at once (UNI-13). Where the cloud was put back to a backup,
/// the pairs may come apart, since devices give back row by row what it lost; they still come to what the cloud has.
struct AtomicPairs: Rarity {
  static let container = "twins"
  private static let table = "pairs"
  private static let pairs = 5
  private static let schema = "n INTEGER, photo OBJECT"

  private let suite: Suite
  private let writer: Caller
  private let device: SimulatedDevice
  private let place: Place
  private var dice: Dice
  private var type: CaravanWire.RecordType?
  private var op: UInt64 = 0
  /// Rows that the device's app made and was told of.
  private var own: Set<String> = []
  /// Rows of which it is the device that said what they are, since a restore.
  private var decided: Set<String> = []

  init(_ suite: Suite, seed: UInt64) {
    self.suite = suite
    device = suite.devices[0]
    writer = Caller("parent", of: device.user, in: .development, on: suite.ground)
    place = Self.place(of: device.user)
    dice = Dice(seed: seed, "twins")
  }

  /// Not one of the device's own.
  static func isHalf(_ row: String) -> Bool { row.hasPrefix("p") }
  static func place(of user: String) -> Place { Place(user: user, app: container, table: table) }

  mutating func run(until end: Instant, clock: any Clock) async {
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(100...3_000))) != nil else { return }
      guard clock.now < end, await agree() else { continue }
      // Some batches follow one another closely.
      for _ in 0..<dice.pick([1, 1, 1, 4]) { await write() }
      guard let session = device.slot.session, await prepare(session) else { continue }
      if dice.happens(150) { await writeHere(session) }
      await look(session)
    }
  }

  /// Once all is quiet the device has what the cloud has.
  mutating func conclude(_ clock: any Clock) async throws {
    var isEqual = false
    for _ in 0..<30 where !isEqual {
      if let session = device.slot.session, let store = suite.vault.store, await prepare(session) {
        _ = await device.ask(session) { [place] (session) throws(CaravanError) in
          try await session.engine.syncNow(place.id, write: true, read: true)
        }
        let there = try await store.entries(of: place).reduce(into: [:]) { $0[$1.name] = $1.version }
        let here = await look(session)?.reduce(into: [:]) { $0[$1.id] = $1.version }
        isEqual = here == there
      }
      if !isEqual { try await clock.sleep(for: .seconds(2)) }
    }
    if !isEqual { suite.ground.recorder.starved("\(place): \(device.name) does not come to what the cloud has") }
    writer.bus.close()
  }

  // MARK: The writer

  private mutating func agree() async -> Bool {
    guard type == nil else { return true }
    let pair = CaravanModel.RecordType(
      id: 0, definition: 0, name: Self.table,
      fields: [
        CaravanModel.FieldDefinition(id: 0, name: "n", kind: .integer),
        CaravanModel.FieldDefinition(id: 0, name: "photo", kind: .object),
      ])
    guard
      case .type(let made)? = await writer.insist(
        .propose(ProposeTable(container: Self.container, type: CaravanWire.RecordType(pair))))
    else { return false }
    type = made
    return true
  }

  private mutating func write() async {
    guard let type, let number = type.fields.first(where: { $0.name == "n" })?.id,
      let photo = type.fields.first(where: { $0.name == "photo" })?.id
    else { return }
    op += 1
    let pair = dice.below(Self.pairs)
    var chunks: [CaravanWire.Chunk] = []
    let isGone = dice.happens(200)
    let mutations = ["a", "b"].map { half in
      let name = "p\(pair)\(half)"
      guard !isGone else { return CaravanWire.Mutation(name: name, kind: .delete) }
      var fields = RecordFields([number: .integer(Int64(op))])
      // The writer keeps nothing: what the cloud's disk loses before the device has it is lost for good.
      if !suite.scale.hasRot, dice.happens(400) {
        let chunk = LocalChunk(containing: dice.bytes(dice.within(1...900)))
        fields[photo] = .asset(AssetManifest(parts: [.init(hash: chunk.hash, length: UInt32(chunk.bytes.count))]))
        chunks.append(Chunk(hash: chunk.hash.bytes, data: chunk.bytes))
      }
      return CaravanWire.Mutation(name: name, kind: .save, type: type.id, body: fields.body)
    }
    let push = Push(
      container: Self.container, zone: Self.table, op: op, opFloor: op, mutations: mutations, chunks: chunks,
      atomic: true)
    _ = await writer.insist(.push(push))
  }

  // MARK: The device

  private func prepare(_ session: AgentSlot.Session) async -> Bool {
    let answer = await device.ask(session) { [place] (session) throws(CaravanError) in
      try await session.store.createTable(
        place.id, schema: SchemaText(parsing: Self.schema), localOnly: false,
        properties: TableChange(consistency: .snapshot))
      guard try await !session.store.registrations().contains(where: { $0.table == place.id }) else { return }
      let registration = SyncRegistration(periodMilliseconds: 0, delayToleranceMilliseconds: 0, link: .cellular)
      for direction in Direction.allCases { try await session.store.register(place.id, direction, registration) }
      await session.engine.registrationsChanged(of: place.id)
    }
    if case .done = answer { return true } else { return false }
  }

  private mutating func writeHere(_ session: AgentSlot.Session) async {
    let cells = [CellValue("n", .integer(Int64(dice.below(1_000))))]
    let answer = await device.ask(session) { [place] (session) throws(CaravanError) in
      try await session.store.write(place.id, cells: cells)
    }
    if case .done(let rows) = answer { own.formUnion(rows) }
  }

  /// What two lives of the cloud made of one row is for somebody to decide.
  private mutating func decide(_ session: AgentSlot.Session) async {
    let found = await device.ask(session) { [place] (session) throws(CaravanError) in
      try await session.store.conflicts(place.id)
    }
    guard case .done(let conflicts) = found, !conflicts.isEmpty else { return }
    decided.formUnion(conflicts.map(\.mine.id))
    _ = await device.ask(session) { [place] (session) throws(CaravanError) in
      try await session.store.beginResolution(place.id, owner: App.owner)
      for conflict in conflicts {
        try await session.store.resolve(place.id, row: conflict.mine.id, .theirs, owner: App.owner)
      }
      try await session.store.endResolution(place.id, owner: App.owner)
    }
  }

  /// - Returns: what is there; nil: nobody answered.
  @discardableResult
  private mutating func look(_ session: AgentSlot.Session) async -> [RowView]? {
    let own = own
    if suite.scale.hasRestore { await decide(session) }
    let decided = decided
    let answer = await device.ask(session) { [place] (session) throws(CaravanError) in
      try await session.store.beginRead(ReadRequest(table: place.id, pageRows: 1_000), owner: App.owner).rows
    }
    guard case .done(let rows) = answer else { return nil }
    var numbers: [String: Int64] = [:]
    for row in rows {
      if case .integer(let number)? = row.cells.first(where: { $0.column == "n" })?.value { numbers[row.id] = number }
    }
    let pairs = rows.filter { Self.isHalf($0.id) }
    let settled = pairs.filter { $0.state == .clean && !decided.contains($0.id) }
    let observation = SeenPairs(
      device: device.name, pairs: numbers.filter { Self.isHalf($0.key) },
      versions: Dictionary(uniqueKeysWithValues: settled.map { ($0.id, $0.version) }),
      unsettled: decided.union(pairs.map(\.id)).subtracting(settled.map(\.id)),
      lacksOwn: own.filter { numbers[$0] == nil }.sorted())
    suite.ground.recorder.saw("\(device.name) sees \(observation.pairs.count) pairs, \(rows.count) rows") {
      var observation = observation
      // Devices give back what a restore took row by row.
      if $0.restores > 0 { observation.pairs = [:] }
      $0.seenPairs.append(observation)
    }
    return rows
  }
}
