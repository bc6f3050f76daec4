internal import CaravanAgentApps
internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanBus
internal import CaravanClient
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit
internal import CaravanWire

/// An app of another user on a device where others are at work: it sends what is no request, opens what others have
/// open, asks for what is the owner's, and more than anybody can answer. Nothing of that may be granted, and the other
/// apps must not notice. In some clusters.
struct HostileApps: Rarity {
  /// Names its sessions to the store: nobody else has them.
  private static let owners: UInt64 = 1 << 50
  private static let app = ContainerID(unchecked: "mallory")
  private static let table = "loot"
  private static let flood = 64

  private let suite: Suite
  private var dice: Dice
  private var sessions: UInt64 = 0

  init(_ suite: Suite, seed: UInt64) {
    self.suite = suite
    dice = Dice(seed: seed, "hostile apps")
  }

  mutating func run(until end: Instant, clock: any Clock) async {
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(500...9_000))) != nil, clock.now < end else { return }
      let device = dice.pick(suite.devices)
      guard let session = device.slot.session else { continue }
      let app = hostile(session)
      switch dice.below(4) {
      case 0: await garble(device, session, app)
      case 1: await grab(device, session, app)
      case 2: await flood(device, session, app)
      default: await rule(device, session, app)
      }
      if dice.happens(700) { _ = await device.ask(session) { _ throws(CaravanError) in await app.end() } }
    }
  }

  private mutating func hostile(_ session: AgentSlot.Session) -> AppSession {
    sessions += 1
    return AppSession(
      app: Self.app, owner: Self.owners + sessions, store: session.store, sync: session.engine,
      isOwner: suite.breakage == .hostileOwner)
  }

  /// - Returns: nil: the agent died meanwhile.
  private func answer(
    _ kind: AppRequest.Kind?, _ device: SimulatedDevice, _ session: AgentSlot.Session, _ app: AppSession
  ) async -> AppReply.Kind? {
    let answer = await device.ask(session) { _ throws(CaravanError) in await app.answer(kind) }
    return if case .done(let reply) = answer { reply } else { nil }
  }

  /// Where anything but a refusal gives it what is not its own.
  private func expectRefusal(
    _ kinds: [AppRequest.Kind], _ device: SimulatedDevice, _ session: AgentSlot.Session, _ app: AppSession
  ) async {
    for kind in kinds {
      guard let reply = await answer(kind, device, session, app) else { return }
      if case .failure = reply { continue }
      suite.ground.recorder.intruded("a hostile app on \(device.name) is granted \(kind)")
    }
  }

  /// What it left goes with its table.
  func conclude(_ clock: any Clock) async throws {
    for device in suite.devices {
      guard let session = device.slot.session else { continue }
      let table = TableID(app: Self.app, name: Self.table)
      _ = await device.ask(session) { (session) throws(CaravanError) in
        try await session.store.dropTable(table, discardingUnsent: true)
      }
    }
  }

  // MARK: What it does

  /// Requests with bytes turned, cut off and made up. What can be read all the same is carried out.
  private mutating func garble(
    _ device: SimulatedDevice, _ session: AgentSlot.Session, _ app: AppSession
  ) async {
    suite.ground.recorder.note("a hostile app on \(device.name) sends garbled requests")
    for _ in 0..<dice.within(8...32) {
      let whole = AppRequest(id: 7, kind: dice.pick(orders)).encoded()
      var bytes = dice.happens(200) ? dice.bytes(dice.within(0...200)) : whole
      for _ in 0..<dice.within(1...4) where !bytes.isEmpty {
        bytes[dice.below(bytes.count)] = UInt8(truncatingIfNeeded: dice.word())
      }
      if dice.happens(300) { bytes.removeLast(dice.below(bytes.count + 1)) }
      let data = dice.happens(200) ? dice.bytes(dice.within(1...64)) : []
      guard let request = try? Frame(bytes, data: data).request() else { continue }
      // An object fetched on demand is awaited from the cloud for as long as there is a link.
      if case .syncNow? = request.kind { continue }
      _ = await answer(request.kind, device, session, app)
    }
  }

  private var orders: [AppRequest.Kind] {
    let name = suite.scale.tables[0].name
    return [
      .beginRead(Select(table: name)), .beginWrite(BeginWrite(table: Self.table)), .nextPage(CursorRef(cursor: 1)),
      .closeWrite(CloseWrite(writes: [1, 2, 3])), .dropTable(DropLocalTable(table: name)), .status(Empty()),
      .createTable(CreateTable(table: Self.table, schema: "a VARCHAR, b OBJECT", sync: .localOnly)),
      .readObject(ReadObject(table: name, row: "k1", object: "photo", length: 64)),
    ]
  }

  /// By the names and numbers that others have.
  private mutating func grab(
    _ device: SimulatedDevice, _ session: AgentSlot.Session, _ app: AppSession
  ) async {
    suite.ground.recorder.note("a hostile app on \(device.name) grabs what others have open")
    var kinds: [AppRequest.Kind] = []
    for number in 1...UInt64(dice.within(4...24)) {
      kinds += [
        .nextPage(CursorRef(cursor: number)),
        .writeObject(WriteObject(write: number, object: "photo", data: [1, 2, 3])),
        .truncateObject(TruncateObject(write: number, object: "photo")),
        .closeWrite(CloseWrite(writes: [number])),
      ]
    }
    for table in suite.scale.tables {
      let name = dice.pick([table.name, "../\(table.app)/\(table.name)", "\(table.app).\(table.name)"])
      kinds += [
        .beginRead(Select(table: name)), .dropTable(DropLocalTable(table: name, discardUnsent: true)),
        .deleteRows(DeleteRows(table: name)), .beginResolution(TableName(table: name)),
        .endResolution(EndResolution(table: name, abandon: true)), .listen(TableName(table: name)),
        .readObject(ReadObject(table: name, row: "k1", object: "photo", length: 64)),
        .unregisterSync(UnregisterSync(table: name)), .watch(Watch(table: name)),
      ]
    }
    await expectRefusal(kinds, device, session, app)
  }

  /// As if the device were its own.
  private func rule(_ device: SimulatedDevice, _ session: AgentSlot.Session, _ app: AppSession) async {
    suite.ground.recorder.note("a hostile app on \(device.name) gives orders")
    await expectRefusal(
      [
        .setLink(SetLink(link: .roaming)), .resetDevice(Empty()), .setPolicy(NetworkPolicy()), .listApps(Empty()),
        .allowApp(AllowApp(app: "album", uid: 7)), .forgetApp(AppName(app: "album")), .hello(AppHello(app: "album")),
      ], device, session, app)
  }

  /// Many at once, and it closes nothing.
  private func flood(_ device: SimulatedDevice, _ session: AgentSlot.Session, _ app: AppSession) async {
    suite.ground.recorder.note("a hostile app on \(device.name) floods its agent")
    _ = await answer(
      .createTable(CreateTable(table: Self.table, schema: "a VARCHAR, b OBJECT", sync: .localOnly)), device, session,
      app)
    await withDiscardingTaskGroup { group in
      for number in 0..<Self.flood {
        group.addTask {
          let write = BeginWrite(table: Self.table, objects: number.isMultiple(of: 2) ? ["b"] : [])
          _ = await self.answer(.beginWrite(write), device, session, app)
          _ = await self.answer(.beginRead(Select(table: Self.table)), device, session, app)
          _ = await self.answer(.status(Empty()), device, session, app)
        }
      }
    }
  }
}
