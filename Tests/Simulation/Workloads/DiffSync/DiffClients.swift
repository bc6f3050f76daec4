internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanAgentSync
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStore
internal import CaravanWire

/// Diff-sync clients and native devices on one zone.
struct DiffClients: Sendable {
  private static let rounds = 60

  let suite: Suite
  private let place: Place
  private var ground: Ground { suite.ground }

  init(_ suite: Suite) {
    self.suite = suite
    place = Place(user: suite.scale.users[0], app: DiffClient.container.text, table: DiffClient.table)
  }

  private var natives: [SimulatedDevice] { suite.devices.filter { $0.user == place.user } }
  /// The type of the objects, as the server has it.
  private var agreed: CaravanModel.RecordType? { suite.diffClients.lazy.compactMap(\.slot.agreed).first }

  // MARK: A native device

  /// Makes new rows and reads, until `end`.
  func liveNatively(seed: UInt64, until end: Instant, clock: any Clock) async {
    var dice = Dice(seed: seed, "diary of a native")
    guard let device = natives.first else { return }
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(1...(4 * suite.scale.appPause)))) != nil else { return }
      guard clock.now < end, let session = device.slot.session, await prepare(device, session) else { continue }
      let cells = [CellValue("a", .integer(Int64(dice.below(1_000))))]
      _ = await device.ask(session) { (session) throws(CaravanError) in
        try await session.store.write(place.id, cells: cells)
      }
      await sync(device, session)
    }
  }

  /// The clients of diff sync agree on the type first: a native device takes it as it is registered.
  private func prepare(_ device: SimulatedDevice, _ session: AgentSlot.Session) async -> Bool {
    guard agreed != nil else { return false }
    let made = await device.ask(session) { (session) throws(CaravanError) in
      try await session.store.createTable(
        place.id, schema: SchemaText(parsing: "a INTEGER, b INTEGER"), localOnly: false)
    }
    if case .done = made { return true } else { return false }
  }

  private func sync(_ device: SimulatedDevice, _ session: AgentSlot.Session) async {
    _ = await device.ask(session) { (session) throws(CaravanError) in
      try await session.engine.syncNow(place.id, write: true, read: true)
    }
  }

  // MARK: The end

  /// Everybody syncs until all agree.
  /// - Returns: what they do not agree on.
  func converge(_ clock: any Clock) async throws -> [String] {
    var problems: [String] = []
    for _ in 0..<Self.rounds {
      for diffClient in suite.diffClients { await diffClient.sync(ground) }
      for device in natives {
        if let session = device.slot.session, await prepare(device, session) { await sync(device, session) }
      }
      problems = try await differences()
      if problems.isEmpty { return [] }
      try await clock.sleep(for: .seconds(2))
    }
    return problems
  }

  private func differences() async throws -> [String] {
    guard let store = suite.vault.store else { return ["storage is down"] }
    var problems: [String] = []
    var cloud: [String: [String: Value]] = [:]
    for entry in try await store.entries(of: place) {
      let record = try RecordFields(body: entry.body)
      if agreed?.id != entry.type { problems.append("\(entry.name) is of type \(entry.type) at the cloud") }
      let fields = (agreed?.fields ?? []).map { ($0.name, record[$0.id]) }
      cloud[entry.name] = Dictionary(fields) { $1 }.filter { $0.value != .null }
    }
    for diffClient in suite.diffClients {
      guard let state = await diffClient.state() else {
        problems.append("\(diffClient.name) is down")
        continue
      }
      if state.pending > 0 { problems.append("\(diffClient.name) still has \(state.pending) diffs pending") }
      problems += Self.differences(state.objects, cloud).map { "\(diffClient.name): \($0)" }
    }
    for device in natives {
      guard let session = device.slot.session, let rows = try? await rows(session.store) else {
        problems.append("\(device.name) is down")
        continue
      }
      problems += Self.differences(rows, cloud).map { "\(device.name): \($0)" }
    }
    return problems
  }

  private func rows(_ store: LocalStore) async throws(CaravanError) -> [String: [String: Value]] {
    var page = try await store.beginRead(ReadRequest(table: place.id), owner: App.owner)
    var rows = page.rows
    while page.hasMore {
      page = try await store.nextPage(page.cursor, owner: App.owner)
      rows += page.rows
    }
    return Dictionary(
      rows.map { row in
        (row.id, Dictionary(row.cells.map { ($0.column, $0.value) }) { $1 }.filter { $0.value != .null })
      }
    ) { $1 }
  }

  private static func differences(
    _ here: [String: [String: Value]], _ cloud: [String: [String: Value]]
  ) -> [String] {
    Set(here.keys).union(cloud.keys).sorted().compactMap { uuid -> String? in
      let (held, kept) = (here[uuid].map { "\($0)" } ?? "absent", cloud[uuid].map { "\($0)" } ?? "absent")
      return here[uuid] == cloud[uuid] ? nil : "\(uuid) is \(held), at the cloud \(kept)"
    }
  }
}
