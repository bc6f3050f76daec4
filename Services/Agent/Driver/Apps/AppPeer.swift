internal import Client
internal import Encoding
internal import Glibc
internal import Model
internal import Wire

/// One connection from its hello to its end.
///
/// Local requests are answered one after the other, in the order they came; those that wait for the cloud are answered
/// when they are done. An app that does not wait for answers is slowed down by its socket.
struct AppPeer: Sendable {
  private let socket: FrameSocket
  private let owner: UInt64
  private let store: LocalStore
  private let sync: any SyncControl
  private let conduct: AppConduct

  init(_ socket: FrameSocket, owner: UInt64, store: LocalStore, sync: any SyncControl, conduct: AppConduct) {
    self.socket = socket
    self.owner = owner
    self.store = store
    self.sync = sync
    self.conduct = conduct
  }

  /// Serves the connection to its end. What cannot be understood ends it, with one answer that says why.
  func run(_ peers: AppPeers) async {
    do throws(CaravanError) {
      guard let session = try await welcome(peers) else {
        noteIfCutOff(nil)
        return socket.shutDown()
      }
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
    } catch {
      conduct.note(error, of: nil)
      refuse(0, error)
      socket.shutDown()
    }
  }

  private func noteIfCutOff(_ app: ContainerID?) { if socket.isCutOff { conduct.note(.standstill, of: app) } }

  // MARK: Hello

  /// - Returns: nil when the peer went without having said who it is.
  private func welcome(_ peers: AppPeers) async throws(CaravanError) -> AppSession? {
    while case .frame(let frame) = try await socket.next(within: AppLimits.helloPatience) {
      let request = try frame.request()
      guard case .hello(let hello)? = request.kind else {
        throw CaravanError(.notAuthenticated, "the first request must be a hello that names the app")
      }
      let app = try ContainerID(hello.app)
      let token = try await store.authenticate(app: app, token: try Self.token(hello.token), user: socket.user)
      if token == nil { try peers.identify(owner, as: app) }
      let welcome = AppWelcome(token: token.map(Hex.encode) ?? "", maxMessageBytes: UInt32(Limits.appMessageBytes))
      post(request.id, .welcome(welcome))
      // With a token in hand the app says hello again, and that is final.
      if token == nil { return AppSession(app: app, owner: owner, store: store, sync: sync, isOwner: isOwner) }
    }
    return nil
  }

  private static func token(_ text: String) throws(CaravanError) -> [UInt8] {
    do { return try Hex.decode(text) } catch {
      throw CaravanError(.notAuthenticated, "the token is damaged: use the app's token file")
    }
  }

  private var isOwner: Bool { socket.user == 0 || socket.user == geteuid() }

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
    if case .syncNow? = request.kind {
      return wait(request, of: session.app, peers, in: &group) { await session.answer(request.kind) }
    }
    var reply = await session.answer(request.kind)
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

  private func deliver(_ session: AppSession, _ peers: AppPeers) async {
    for upcall in await session.takeUpcalls() { post(0, .upcall(upcall)) }
    while let event = peers.takeEvent(owner) { post(0, .syncEvent(await session.completed(event))) }
  }

  private func post(_ id: UInt64, _ kind: AppReply.Kind) { socket.post(AppReply(id: id, kind: kind)) }

  private func refuse(_ id: UInt64, _ error: CaravanError) { post(id, .failure(Failure(error))) }
}

extension AppRequest {
  /// Nobody waits to hear that all is well.
  fileprivate func isWaived(_ reply: AppReply.Kind) -> Bool {
    guard case .writeObject(let piece)? = kind, piece.more else { return false }
    return reply == .done(Empty())
  }
}
