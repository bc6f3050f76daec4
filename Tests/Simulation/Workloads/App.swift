internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanAgentSync
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit

/// The apps of one device: they write, edit, delete, read and resolve at random, and remember what they were told.
struct App: Sendable {
  let device: SimulatedDevice
  let ground: Ground
  let contents: Contents
  let places: [(table: Scale.Table, place: Place)]
  let pause: Int
  var dice: Dice
  /// Of what tables keep, and of larger objects.
  var shareDice: Dice
  private let hasShares: Bool
  let hasFlakyLinks: Bool
  let hasLargeChunks: Bool
  /// Nil: what it writes is the same in all runs of its cluster.
  let secret: Secret?
  private let hasRot: Bool
  /// Set up in this life of the agent.
  private var preparedLife = 0
  /// The last deletion of each key, where the row may still lie deleted.
  var deletions: [String: ChangeTag] = [:]

  init(_ device: SimulatedDevice, in suite: Suite, contents: Contents, seed: UInt64) {
    self.device = device
    self.contents = contents
    ground = suite.ground
    places = suite.scale.places(of: device.user)
    pause = suite.scale.appPause
    dice = Dice(seed: seed, "app \(device.name)")
    shareDice = Dice(seed: seed, "shares of \(device.name)")
    hasShares = !suite.scale.shares.isEmpty
    hasFlakyLinks = suite.scale.hasFlakyLinks
    hasLargeChunks = suite.scale.hasLargeChunks
    secret = ground.secret?.user == device.user ? ground.secret : nil
    hasRot = suite.scale.hasRot
  }

  typealias Session = AgentSlot.Session
  /// The only session that an agent of the simulation has.
  static let owner: UInt64 = 1

  private enum Action {
    case insert, update, editObject, delete, read, resolve, sync, burst, flurry, batch, register
  }

  private static let actions: [(weight: Int, element: Action)] = [
    (20, .insert), (22, .update), (16, .editObject), (9, .delete), (14, .read), (10, .resolve), (6, .sync), (3, .burst),
    (5, .flurry), (5, .batch), (2, .register),
  ]

  /// Until `end`.
  mutating func run(until end: Instant, clock: any Clock) async {
    while clock.now < end {
      guard (try? await clock.sleep(for: dice.milliseconds(1...(2 * pause)))) != nil else { return }
      guard clock.now < end else { return }
      await act()
    }
  }

  /// One thing, if the device is up.
  mutating func act() async {
    guard let session = device.slot.session, await prepare(session) else { return }
    if hasShares, shareDice.happens(60) { await reconsider(session) }
    let (table, place) = dice.pick(places)
    switch dice.pick(weighted: Self.actions) {
    case .burst:
      // Pushes of many rows.
      for _ in 0..<dice.within(3...8) { await insert(table, place, session) }
    case .flurry:
      // Changes that overtake the push of those before.
      for _ in 0..<dice.within(3...8) {
        await perform(dice.pick([.update, .update, .delete, .insert, .editObject]), table, place, session)
        await rest(dice.milliseconds(0...150))
      }
    case let action: await perform(action, table, place, session)
    }
  }

  private mutating func perform(
    _ action: Action, _ table: Scale.Table, _ place: Place, _ session: Session
  ) async {
    switch action {
    case .insert: await insert(table, place, session)
    case .update: await update(table, place, session)
    case .editObject: await table.hasObject ? editObject(table, place, session) : update(table, place, session)
    case .delete: await delete(place, session)
    case .read: await read(place, session)
    case .resolve: await resolve(table, place, session)
    case .sync: await sync(place, session)
    case .batch: await batch(table, place, session)
    case .register: await register(table, place, session)
    case .burst, .flurry: preconditionFailure("\(action) is many actions")
    }
  }

  // MARK: Setting up

  /// What is written over in place is at the cloud only, until the write is closed: where that loses it, nobody has it.
  var mode: StoreMode { !hasRot && (device.name.utf8.last ?? 0).isMultiple(of: 2) ? .inPlace : .copyOnWrite }

  /// What was set up is not what is wanted any more.
  mutating func setUpAnew() { preparedLife = 0 }

  /// Makes sure of tables and registrations, once a life.
  /// - Returns: whether they are there.
  mutating func prepare(_ session: Session) async -> Bool {
    guard preparedLife != session.life else { return true }
    let mode = mode
    for (table, place) in places {
      let share = ground.recorder.share(of: device.name, place)
      let properties = TableChange(replication: share?.replication, mode: mode)
      let isDone = await device.ask(session) { [linkCosts = device.linkCosts] (session) throws(CaravanError) in
        try await session.store.createTable(
          place.id, schema: SchemaText(parsing: table.schema), localOnly: share == .own, properties: properties)
        if share != nil { await session.engine.askForWhatIsLacking() }
        guard share != .own, let period = table.period else { return }
        let registration = SyncRegistration(
          periodMilliseconds: UInt32(period), delayToleranceMilliseconds: UInt32(table.delayTolerance), link: .cellular)
        let known = try await session.store.registrations().filter { $0.table == place.id }.map(\.direction)
        for direction in Direction.allCases where !known.contains(direction) {
          try await session.store.register(place.id, direction, registration)
        }
        await session.engine.registrationsChanged(of: place.id)
        linkCosts.registered(place.id, try await session.store.registrations())
      }
      guard case .done = isDone else { return false }
    }
    preparedLife = session.life
    return true
  }

  /// Registers anew, with another period: the device's list gets another generation.
  private mutating func register(_ table: Scale.Table, _ place: Place, _ session: Session) async {
    guard let period = table.period else { return }
    let isGivenUp = dice.happens(300)
    let registration = SyncRegistration(
      periodMilliseconds: UInt32(period + dice.pick([0, 1_000, 10_000])),
      delayToleranceMilliseconds: UInt32(table.delayTolerance), link: dice.pick([.wifi, .cellular]))
    ground.recorder.note("\(device.name) registers \(place) \(isGivenUp ? "anew" : "otherwise")")
    for direction in Direction.allCases {
      device.linkCosts.registers(place.id, for: isGivenUp ? nil : registration.link)
      _ = await device.ask(session) { [linkCosts = device.linkCosts] (session) throws(CaravanError) in
        if isGivenUp {
          try await session.store.unregister(place.id, direction)
          await session.engine.registrationsChanged(of: place.id)
        }
        try await session.store.register(place.id, direction, registration)
        await session.engine.registrationsChanged(of: place.id)
        linkCosts.registered(place.id, try await session.store.registrations())
      }
    }
  }

  func sync(_ place: Place, _ session: Session) async {
    device.linkCosts.demands(place.id)
    let answer = await device.ask(session) { (session) throws(CaravanError) in
      try await session.engine.syncNow(place.id, write: true, read: true)
    }
    device.linkCosts.demanded(place.id)
    ground.recorder.note("\(device.name) synced \(place): \(Self.word(answer))")
  }

  static func word<Value>(_ answer: SimulatedDevice.Answer<Value>) -> String {
    switch answer {
    case .done: "done"
    case .refused(let error): error.code.rawValue
    case .unknown: "unknown"
    }
  }

  // MARK: Outcomes

  /// - Parameter happened: whether an answer says that something was changed.
  func conclude<Value>(
    _ tag: ChangeTag, _ answer: SimulatedDevice.Answer<Value>, happened: (Value) -> Bool
  ) {
    switch answer {
    case .done(let value): ground.recorder.conclude(tag, happened(value) ? .acknowledged : .refused)
    case .refused: ground.recorder.conclude(tag, .refused)
    case .unknown: ground.recorder.note("\(tag) unknown")
    }
  }
}
