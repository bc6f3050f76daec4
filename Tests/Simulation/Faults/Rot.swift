internal import CaravanAgentStore
internal import CaravanAgentSync
internal import CaravanCrypto
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanStore
internal import CaravanStoreSQLite
internal import CaravanTestKit

/// The cloud's disk loses bytes of chunks, again and again: in the files of long ones and in rows of the databases, in
/// each store that there is (TRU-10). Devices hold what their rows name, so all of that must be whole in the end;
/// what somebody has written who is gone since must be named as damaged, and nothing else.
struct Rot: Rarity {
  static let container = ContainerID(unchecked: "archive")
  /// Two signs of life of a device, in which it hears what the cloud lacks, and time to send it.
  private static let patience: Duration = .seconds(600)
  private static let chunksListed = 10_000
  private static let scrubBytes = 1 << 20

  private let suite: Suite
  private let user: String
  private var dice: Dice
  /// Which file of which store. Only where there are several.
  private var places: Dice
  /// Whose bytes no device has, by record.
  private var archive: [String: ChunkBytes] = [:]
  private var lastOp: UInt64 = 0
  private var storage: Part { suite.services[0] }

  init(_ suite: Suite, seed: UInt64) {
    self.suite = suite
    user = suite.scale.users[0]
    dice = Dice(seed: seed, "rot")
    places = Dice(seed: seed, "places of rot")
  }

  mutating func run(until end: Instant, clock: any Clock) async {
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(3_000...20_000))) != nil, clock.now < end else { return }
      await keepForGood()
      switch dice.below(6) {
      case 0: await whileDown(clock) { rot in rot.flipRow() }
      case 1: await whileDown(clock) { rot in rot.lose() }
      case 2: cut()
      default: flip()
      }
    }
  }

  // MARK: Damage

  /// A file of a store, without what its name ends with.
  private mutating func file() -> String {
    let isSecond = suite.scale.hasMoves && places.happens(400)
    let directory = isSecond ? "\(storage.directory)/\(Suite.secondStore)" : storage.directory
    return "\(directory)/store-\(places.below(suite.scale.files))"
  }

  private mutating func chunkFile() -> (path: String, bytes: [UInt8])? {
    let path = "\(file()).chunks"
    return Files.read(path).flatMap { $0.isEmpty ? nil : (path, $0) }
  }

  /// Under the hands of storage, if it is up.
  private mutating func flip() {
    guard let (path, was) = chunkFile() else { return }
    var bytes = was
    // Chunks begin at blocks, and are shorter than those here.
    let block = dice.below(1 + (bytes.count - 1) / ChunkFileLayout.block) * ChunkFileLayout.block
    let place = min(bytes.count - 1, block + dice.below(AgentSlot.inlineBytes))
    bytes[place] ^= UInt8(1 << dice.below(8))
    Files.write(bytes, to: path)
    note("byte \(place) of the cloud's chunks is another", path)
  }

  private mutating func cut() {
    guard let (path, bytes) = chunkFile() else { return }
    let rest = dice.below(bytes.count)
    Files.write(Array(bytes.prefix(rest)), to: path)
    note("the file of the cloud's chunks ends after \(rest) bytes of \(bytes.count)", path)
  }

  private mutating func whileDown(_ clock: any Clock, _ damage: (inout Rot) -> Void) async {
    guard storage.isUp else { return }
    suite.crash(storage)
    damage(&self)
    try? await clock.sleep(for: dice.milliseconds(50...2_000))
    storage.start()
  }

  private mutating func lose() {
    guard let (path, _) = chunkFile() else { return }
    note("the file of the cloud's chunks is empty", path)
    Files.write([], to: path)
  }

  private mutating func flipRow() {
    do {
      let path = "\(file()).db"
      let db = try Connection(.file(path), StoreOptions.connection)
      defer { db.close() }
      let rows = try db.all(
        "SELECT id, bytes FROM chunk_bytes ORDER BY id", read: { (id: $0.integer(0), bytes: $0.bytes(1)) })
      guard !rows.isEmpty else { return }
      var row = dice.pick(rows)
      guard !row.bytes.isEmpty else { return }
      row.bytes[dice.below(row.bytes.count)] ^= 1
      try db.run("UPDATE chunk_bytes SET bytes = ? WHERE id = ?", row.bytes, row.id)
      note("a byte of row \(row.id) of the cloud's chunks is another", path)
    } catch { suite.ground.recorder.note("no row could be damaged: \(error)") }
  }

  private func note(_ what: String, _ path: String) {
    suite.ground.recorder.note("\(what), in \(path.dropFirst(storage.directory.count + 1))")
  }

  // MARK: What no device has

  private func zone() throws(CaravanError) -> ZoneID {
    try ZoneID(DatabaseID(container: Self.container, environment: .development, owner: UserID(user)), "old")
  }

  private mutating func keepForGood() async {
    guard let store = suite.vault.store else { return }
    lastOp += 1
    let name = "r\(lastOp)"
    let bytes = SeededRandom(seed: UInt64(dice.below(1 << 30))).bytes(dice.pick([100, 700, 5_000]))
    guard let hash = ChunkHash(SHA256.hash(bytes).bytes) else { return }
    let chunk = ChunkBytes(hash: hash, bytes: bytes)
    let save = CaravanModel.Mutation(name: name, base: .any, change: .save(type: 1, body: [1], chunks: [hash]))
    do throws(CaravanError) {
      let zone = try zone()
      try await store.stage([chunk], in: zone.database)
      let op = OpID(writer: "archivist", epoch: 1, number: lastOp)
      let result = try await store.commit(Commit(zone: zone, op: op, isAtomic: false, mutations: [save]))
      // It is refused where its user has no room.
      if case .applied(let outcomes, _, _, _) = result, case .accepted? = outcomes.first { archive[name] = chunk }
    } catch { suite.ground.recorder.note("nothing is kept for good now: \(error)") }
  }

  // MARK: The end

  mutating func conclude(_ clock: any Clock) async throws {
    try await suite.waitForMoves()
    guard let store = suite.vault.store else { throw SeedFailure(what: "storage is down, and all is quiet") }
    while try await !store.scrub(bytes: Self.scrubBytes).isRoundOver {}
    let known = try await store.damage(in: nil, atMost: Self.chunksListed)
    let end = clock.now + Self.patience
    var held = try await held(of: known)
    while !held.isEmpty, clock.now < end {
      try await clock.sleep(for: .seconds(5))
      await syncOnDemand()
      held = try await self.held(of: store.damage(in: nil, atMost: Self.chunksListed))
    }
    let problems = held + (try await archiveProblems(store, known: Set(known.map(\.hash))))
    suite.ground.recorder.saw("\(known.count) chunks of the cloud were damaged") { $0.end.damageProblems += problems }
    // Whoever counts chunks in the end knows nothing of these.
    if !archive.isEmpty { _ = try await store.deleteZone(zone(), writer: "operator") }
  }

  /// What the cloud asks for goes over a link that tables may be written over: where no table is registered, apps have
  /// to ask for a sync.
  private func syncOnDemand() async {
    for device in suite.devices {
      guard let session = device.slot.session else { continue }
      for (table, place) in suite.scale.places(of: device.user) where table.period == nil {
        device.linkCosts.demands(place.id)
        _ = await device.ask(session) { (session) throws(CaravanError) in
          try await session.engine.syncNow(place.id, write: true, read: true)
        }
        device.linkCosts.demanded(place.id)
      }
    }
  }

  /// What is damaged at the cloud, named by a record there, and whole on a device. A device may still have old versions
  /// as long as an app has writes open, and nobody asks for those.
  private func held(of damage: [DamagedChunk]) async throws -> [String] {
    var held: [String] = []
    for chunk in damage where chunk.isHeld {
      for device in suite.devices where device.user == chunk.database.owner?.text {
        guard let session = device.slot.session else { continue }
        let here = try await session.store.held([chunk.hash])
        if !here.isEmpty { held.append("\(device.name) has \(chunk.hash), which the cloud has lost, and is not asked") }
      }
    }
    return held
  }

  private func archiveProblems(_ store: any Store, known: Set<ChunkHash>) async throws -> [String] {
    guard !archive.isEmpty else { return [] }
    let zone = try zone()
    var problems: [String] = []
    let named = try await store.records(naming: known, in: zone.database, atMost: Int(lastOp))
    let there = Set(try await store.fetch(archive.keys.sorted(), fields: nil, in: zone).map(\.name))
    for (name, chunk) in archive.sorted(by: { $0.key < $1.key }) {
      if !there.contains(name) { problems.append("record \(name), which names a chunk, is gone") }
      let found = try await store.chunks([chunk.hash], in: zone.database, maxBytes: chunk.bytes.count)
      let isNamed = named.contains { $0.name == name && $0.chunks == [chunk.hash] }
      switch found.first?.bytes {
      case chunk.bytes?: if isNamed { problems.append("the chunk of \(name) is whole, and said to be damaged") }
      case nil: if !isNamed { problems.append("the chunk of \(name) is lost, and nobody says so") }
      default: problems.append("the chunk of \(name) has other bytes than it was written with")
      }
    }
    return problems
  }
}

/// As far as damage must know it.
private enum ChunkFileLayout {
  static let block = 4_096
}

extension StoreOptions {
  fileprivate static var connection: ConnectionOptions {
    var options = ConnectionOptions()
    options.durability = .none
    return options
  }
}
