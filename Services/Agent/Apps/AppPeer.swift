internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanAgentSync
internal import CaravanClient
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanWire

/// One connection from its hello to its end.
///
/// Local requests are answered one after the other, in the order they came; those that wait for the cloud are answered
/// when they are done. An app that does not wait for answers is slowed down by its socket.
struct AppPeer: Sendable {
  /// What all connections share.
  struct Places: Sendable {
    let store: LocalStore
    let sync: any SyncControl
    let register: AppRegister
    let tokens: TokenDirectory
    let conduct: AppConduct
  }

  /// Who has said hello.
  private enum Guest {
    case app(AppSession)
    case owner
  }

  private let socket: FrameSocket
  private let owner: UInt64
  private let places: Places
  private var conduct: AppConduct { places.conduct }

  init(_ socket: FrameSocket, owner: UInt64, _ places: Places) {
    self.socket = socket
    self.owner = owner
    self.places = places
  }

  /// Serves the connection to its end. What cannot be understood ends it, with one answer that says why.
  func run(_ peers: AppPeers) async {
    do throws(CaravanError) {
      switch try await welcome(peers) {
      case .app(let session): await run(session, peers)
      case .owner:
        try await serveOwner(peers)
        socket.shutDown()
      case nil:
        noteIfCutOff(nil)
        socket.shutDown()
      }
    } catch {
      conduct.note(error, of: nil)
      refuse(0, error)
      socket.shutDown()
    }
  }

  private func run(_ session: AppSession, _ peers: AppPeers) async {
    await withDiscardingTaskGroup { group in
      do throws(CaravanError) { try await self.serve(session, peers, in: &group) } catch {
        self.conduct.note(error, of: session.app)
        self.refuse(0, error)
      }
      self.noteIfCutOff(session.app)
      self.socket.shutDown()
      await session.end()
      group.cancelAll()
    }
  }

  private func noteIfCutOff(_ app: ContainerID?) { if socket.isCutOff { conduct.note(.standstill, of: app) } }

  // MARK: Hello

  /// - Returns: nil when the peer went without having said who it is.
  private func welcome(_ peers: AppPeers) async throws(CaravanError) -> Guest? {
    while case .frame(let frame) = try await socket.next(within: AppLimits.helloPatience) {
      let request = try frame.request()
      guard case .hello(let hello)? = request.kind else {
        throw CaravanError(.notAuthenticated, "the first request must be a hello that names the app")
      }
      if hello.owner { return try welcomeOwner(request.id) }
      let app = try ContainerID(hello.app)
      let token = try await places.register.authenticate(app, token: try Self.token(hello.token), user: socket.user)
      if token == nil {
        try peers.identify(owner, as: app)
      } else {
        try places.tokens.makeRoom(for: app, of: socket.user)
      }
      let welcome = AppWelcome(
        token: token.map(Hex.encode) ?? "", maxMessageBytes: UInt32(Limits.appMessageBytes), knowsLists: true)
      guard token == nil else {
        // With the token in hand the app says hello again, and that is final.
        post(request.id, .welcome(welcome))
        continue
      }
      socket.admit()
      post(request.id, .welcome(welcome))
      return .app(
        AppSession(
          app: app, owner: owner, store: places.store, sync: places.sync, isOwner: isOwner,
          knowsLists: hello.knowsLists))
    }
    return nil
  }

  private func welcomeOwner(_ id: UInt64) throws(CaravanError) -> Guest {
    guard isOwner else {
      throw CaravanError(
        .notAuthenticated, "who may come is decided by the user the agent runs as, or by root: ask them")
    }
    post(id, .welcome(AppWelcome(maxMessageBytes: UInt32(AppLimits.helloBytes))))
    return .owner
  }

  private static func token(_ text: String) throws(CaravanError) -> [UInt8] {
    do { return try Hex.decode(text) } catch {
      throw CaravanError(.notAuthenticated, "the token is damaged: use the app's token file")
    }
  }

  private var isOwner: Bool { places.register.admission.isOwner(socket.user) }

  // MARK: The device's owner

  private func serveOwner(_ peers: AppPeers) async throws(CaravanError) {
    while case .frame(let frame) = try await socket.next(within: AppLimits.ownerPatience) {
      let request = try frame.request()
      do throws(CaravanError) { post(request.id, try await carryOut(request.kind, peers)) } catch {
        refuse(request.id, error)
      }
    }
  }

  private func carryOut(_ request: AppRequest.Kind?, _ peers: AppPeers) async throws(CaravanError) -> AppReply.Kind {
    switch request {
    case .listApps: return .apps(AppList(apps: try await places.register.list()))
    case .allowApp(let request):
      try await places.register.allow(ContainerID(request.app), user: request.uid)
      return .done(Empty())
    case .forgetApp(let request):
      let app = try ContainerID(request.app)
      let tables = try await places.register.forget(app)
      peers.cutOff(app)
      return .affected(Affected(rows: UInt64(tables)))
    default:
      throw CaravanError(.invalidData, "a hello as the owner is for lists of apps: everything else takes an app's name")
    }
  }

  // MARK: Requests

  private func serve(
    _ session: AppSession, _ peers: AppPeers, in group: inout DiscardingTaskGroup
  ) async throws(CaravanError) {
    while true {
      switch try await socket.next() {
      case .closed: return
      case .woken: await deliver(session, peers)
      case .frame(let frame):
        let request = try frame.request()
        // Before it is carried out: there may be something to tell at once.
        if case .watch? = request.kind { peers.watches(owner) }
        await handle(request, session, peers, in: &group)
      }
    }
  }

  private func handle(
    _ request: AppRequest, _ session: AppSession, _ peers: AppPeers, in group: inout DiscardingTaskGroup
  ) async {
    do throws(CaravanError) { try peers.checkRoom(owner) } catch {
      conduct.note(error, of: session.app)
      return refuse(request.id, error)
    }
    if request.waitsForCloud {
      return wait(request, of: session.app, peers, in: &group) { await session.answer(request.kind) }
    }
    if case .nextLive(let live)? = request.kind { return await waitForLive(live, request.id, session, in: &group) }
    var reply = await session.answer(request.kind)
    if case .beginLive(let begun)? = request.kind, case .done = reply, let handle = await session.lives[begun.live] {
      group.addTask { await session.askCloud(for: handle) }
    }
    // There is such a table, says the session; who listens is the connection.
    if case .listen(let table)? = request.kind, case .done = reply {
      do throws(CaravanError) { try peers.listens(owner, to: session.table(table.table)) } catch {
        reply = .failure(Failure(error))
      }
    }
    if case .readObject(let read)? = request.kind, case .failure(let failure) = reply,
      failure.code == ErrorCode.chunksMissing.rawValue
    {
      wait(request, of: session.app, peers, in: &group) { await session.fetch(read) }
    } else if !request.isWaived(reply) {
      post(request.id, reply)
    }
  }

  /// Answers when the cloud has, and others meanwhile.
  private func wait(
    _ request: AppRequest, of app: ContainerID, _ peers: AppPeers, in group: inout DiscardingTaskGroup,
    _ answer: @escaping @Sendable () async -> AppReply.Kind
  ) {
    do throws(CaravanError) { try peers.beginWaiting(owner) } catch {
      conduct.note(error, of: app)
      return refuse(request.id, error)
    }
    group.addTask { [socket, owner] in
      let reply = await answer()
      peers.endWaiting(owner)
      socket.post(AppReply(id: request.id, kind: reply))
    }
  }

  /// Answers when there is something to tell. One at a time waits for each live query, of which there are few.
  private func waitForLive(
    _ live: LiveRef, _ id: UInt64, _ session: AppSession, in group: inout DiscardingTaskGroup
  ) async {
    do throws(CaravanError) {
      let handle = try await session.claimLive(live)
      group.addTask { [socket] in socket.post(AppReply(id: id, kind: await session.nextLive(live, handle))) }
    } catch {
      refuse(id, error)
    }
  }

  private func deliver(_ session: AppSession, _ peers: AppPeers) async {
    for upcall in await session.takeUpcalls() { post(0, .upcall(upcall)) }
    while let event = peers.takeEvent(owner) { post(0, .syncEvent(await session.completed(event))) }
  }

  private func post(_ id: UInt64, _ kind: AppReply.Kind) { socket.post(AppReply(id: id, kind: kind)) }

  private func refuse(_ id: UInt64, _ error: CaravanError) { post(id, .failure(Failure(error))) }
}

extension AppRequest {
  /// Nothing on this device answers it.
  fileprivate var waitsForCloud: Bool {
    switch kind {
    case .syncNow, .queryCloud, .manageSubscriptions, .managePushTargets, .fetchRecords, .changeRecords: true
    case .readObject(let read): read.publicDatabase
    default: false
    }
  }

  /// Nobody waits to hear that all is well.
  fileprivate func isWaived(_ reply: AppReply.Kind) -> Bool {
    guard case .writeObject(let piece)? = kind, piece.more else { return false }
    return reply == .done(Empty())
  }
}
