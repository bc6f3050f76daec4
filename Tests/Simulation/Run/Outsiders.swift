internal import CaravanAgentApps
internal import CaravanAgentStore
internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit
internal import CaravanWire

/// Those who try what they may not, once all has been looked at; and who acts for what then.
struct Outsiders: Sendable {
  private static let uid: UInt64 = 1 << 40
  private static let patience = 90

  private let suite: Suite
  private let clock: any Clock
  private var recorder: Recorder { suite.ground.recorder }

  init(_ suite: Suite, clock: any Clock) {
    self.suite = suite
    self.clock = clock
  }

  func run() async throws {
    try await lookAtOwners()
    try await borrow()
    try await cross()
    for device in suite.devices { await setLink(of: device) }
  }

  /// Notify services share the partitions by leases; who has just started waits for those of the dead to end.
  private func lookAtOwners() async throws {
    let partitions = Suite.partitions(suite.scale)
    var held = suite.notifiers.partitions
    for _ in 0..<Self.patience where held != partitions {
      try await clock.sleep(for: .seconds(1))
      held = suite.notifiers.partitions
    }
    if held != partitions { recorder.ownersDisagree("notify acts for \(held), and there are \(partitions)") }
  }

  /// A device shows the chunk ticket of another (TRU-01): of the same user, who could have one of its own.
  private func borrow() async throws {
    let user = suite.scale.users[0]
    let lender = Caller("lender", of: user, in: .development, on: suite.ground)
    let borrower = Caller("borrower", of: user, in: .development, on: suite.ground)
    defer { for caller in [lender, borrower] { caller.bus.close() } }
    guard case .ticket(let ticket)? = await lender.insist(.ticket(RequestTicket(container: "album"))),
      let partition = try? Partition(ticket.partition)
    else { throw SeedFailure(what: "nobody gives a device a ticket, and all is quiet") }
    let hash = LocalChunk(containing: [1]).hash
    let request = ChunkRequest(ticket: ticket, get: hash.bytes)
    if await answers(request, lender, partition) != true {
      throw SeedFailure(what: "a device's own ticket is refused, and all is quiet")
    }
    if await answers(request, borrower, partition) != false {
      recorder.intruded("the ticket of \(lender.device) serves \(borrower.device)")
    }
  }

  /// A device in production, of the same user and name as one in development, looks for what that has (TRU-04).
  private func cross() async throws {
    let user = suite.scale.users[0]
    let tried = Caller("twin", of: user, in: .development, on: suite.ground)
    let used = Caller("twin", of: user, in: .production, on: suite.ground)
    defer { for caller in [tried, used] { caller.bus.close() } }
    let app = "album"
    await openProduction(of: app, for: user)
    guard case .zones(let zones)? = await tried.insist(.zones(ListZones(container: app))),
      case .zones(let seen)? = await used.insist(.zones(ListZones(container: app)))
    else { throw SeedFailure(what: "nobody lists the zones of \(app), and all is quiet") }
    if !seen.zones.isEmpty { recorder.intruded("production sees zones of development: \(seen.zones.map(\.zone))") }
    for zone in zones.zones {
      let pull = Pull(container: app, zone: zone.zone)
      guard case .pull(let page)? = await used.insist(.pull(pull)) else { continue }
      let entries = (try? EntryPage.decode(page.page).entries) ?? []
      if !entries.isEmpty { recorder.intruded("\(used.device) gets \(entries.count) rows of \(tried.device)") }
    }
    guard case .ticket(let ticket)? = await tried.insist(.ticket(RequestTicket(container: app))),
      let partition = try? Partition(ticket.partition)
    else { throw SeedFailure(what: "nobody gives a device a ticket, and all is quiet") }
    let request = ChunkRequest(ticket: ticket, get: LocalChunk(containing: [1]).hash.bytes)
    if await answers(request, used, partition) != false {
      recorder.intruded("the ticket of \(tried.device) serves \(used.device)")
    }
  }

  /// As the operator does. Nothing is said where that is done already.
  private func openProduction(of app: String, for user: String) async {
    let bus = suite.ground.hub.connect(as: "operator")
    defer { bus.close() }
    let request = ContainersRequest(name: app, create: true, owner: user)
    for _ in 0..<5 {
      do throws(CaravanError) {
        let _: ContainersReply = try await bus.call(request, to: .service(.schema, method: "containers"))
        return
      } catch { if !error.isTransient { return } }
      guard (try? await clock.sleep(for: .seconds(1))) != nil else { return }
    }
  }

  /// - Returns: nil: nobody said anything.
  private func answers(_ request: ChunkRequest, _ caller: Caller, _ partition: Partition) async -> Bool? {
    for _ in 0..<5 {
      do throws(CaravanError) {
        _ = try await caller.bus.request(
          Message(request.encoded()), to: .chunks(caller.device, partition), deadline: .seconds(4))
        return true
      } catch { if error.code == .notAuthenticated { return false } }
      guard (try? await clock.sleep(for: .seconds(1))) != nil else { return nil }
    }
    return nil
  }

  /// An app that another user runs says what the link is (TRU-05).
  private func setLink(of device: SimulatedDevice) async {
    guard let own = device.slot.session, let app = try? ContainerID("foreign") else { return }
    let session = AppSession(
      app: app, owner: Self.uid, store: own.store, sync: own.engine,
      isOwner: suite.breakage == .foreignLink)
    let answer = await session.answer(.setLink(SetLink(link: .wired)))
    if case .failure = answer { return }
    recorder.intruded("an app of another user sets the link of \(device.name)")
  }
}
