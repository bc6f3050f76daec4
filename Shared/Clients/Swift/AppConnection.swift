internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// One connection to the agent, shared by any number of tasks: requests go out in the order they are made, answers come
/// back in any (MOB-21).
final class AppConnection: Sendable {
  typealias Answer = Swift.Result<AppReply.Kind, CaravanError>
  typealias Sent = (id: UInt64, answer: Promise<Answer>)

  private struct State {
    var waiting: [UInt64: Promise<Answer>] = [:]
    var last: UInt64 = 0
    /// Tasks that wait for upcalls.
    var listeners = 0
    var watchdog = Watchdog()
    /// The agent has let the app in: before, it takes nothing but a hello.
    var isLetIn = false
    /// It is of a release that knows cells with locations, references and lists.
    var knowsLists = false
    /// Somebody reads the app's notifications: upcalls of their table are for them.
    var readsNotifications = false
    /// Why the connection has ended.
    var end: CaravanError?

    var isAwaiting: Bool { end == nil && (!waiting.isEmpty || listeners > 0) }
  }

  private let upcalls = Mutex(UpcallQueue())
  private let upcallsArrived = Signal()
  private let events = Mutex(SyncEventQueue(capacity: ClientLimits.syncEvents))
  private let eventsArrived = Signal()
  private let notificationsArrived = Signal()
  private let socket: FrameSocket
  private let patience: Duration?
  private let state = Mutex(State())

  /// - Parameter patience: how long the agent may be silent while something is asked; nil: as long as it is there.
  init(_ socket: FrameSocket, within patience: Duration? = nil) {
    self.socket = socket
    self.patience = patience
  }

  /// Receives until the connection ends; then everybody who waits is told.
  func run() async {
    var end = CaravanError(.networkNotConnected, "the agent has closed the connection: connect again")
    do throws(CaravanError) {
      loop: while true {
        switch try await socket.next() {
        case .frame(let frame):
          state.withLock { $0.watchdog.heard() }
          try dispatch(try frame.reply())
        case .woken: continue
        case .closed: break loop
        }
      }
    } catch {
      end = error
    }
    socket.shutDown()
    close(end)
  }

  /// - Throws: what the agent refused; `networkNotConnected` when it went; `timedOut` when it was silent for longer
  ///   than the patience, `cancelled`: it may have happened or not.
  func request(_ kind: AppRequest.Kind) async throws(CaravanError) -> AppReply.Kind {
    let (id, promise) = try send(kind)
    do throws(CaravanError) { return try await promise.wait().get() } catch {
      state.withLock { _ = $0.waiting.removeValue(forKey: id) }
      throw error
    }
  }

  /// - Returns: nil: the task was cancelled.
  /// - Throws: why the connection has ended.
  func nextUpcall() async throws(CaravanError) -> CaravanWire.Upcall? {
    beginListening()
    defer { endListening() }
    while !Task.isCancelled {
      if let upcall = upcalls.withLock({ $0.next() }) {
        // Whoever connects next is told of what is behind it.
        if upcall.number > 0 { notify(.taken(CaravanWire.TakenUpcalls(table: upcall.table, number: upcall.number))) }
        return upcall
      }
      if let end = state.withLock({ $0.end }) { throw end }
      await upcallsArrived.wait()
    }
    return nil
  }

  /// - Returns: nil: the task was cancelled.
  /// - Throws: why the connection has ended.
  func nextEvent() async throws(CaravanError) -> CaravanWire.SyncEvent? {
    beginListening()
    defer { endListening() }
    while !Task.isCancelled {
      if let event = events.withLock({ $0.next() }) { return event }
      if let end = state.withLock({ $0.end }) { throw end }
      await eventsArrived.wait()
    }
    return nil
  }

  /// From now on upcalls of the table of notifications wake who waits for those, and are not the app's.
  func beginNotifications() { state.withLock { $0.readsNotifications = true } }

  /// Returns once the table of notifications may have changed since the last return, or the task is cancelled.
  /// - Throws: why the connection has ended.
  func awaitNotifications() async throws(CaravanError) {
    beginListening()
    defer { endListening() }
    if let end = state.withLock({ $0.end }) { throw end }
    await notificationsArrived.wait()
    if let end = state.withLock({ $0.end }) { throw end }
  }

  private func beginListening() {
    let isAlone = state.withLock { state in
      state.listeners += 1
      return state.watchdog.begin()
    }
    if isAlone { keepWatch() }
  }

  private func endListening() { state.withLock { $0.listeners -= 1 } }

  func letIn(knowsLists: Bool = false) {
    state.withLock { state in
      state.isLetIn = true
      state.knowsLists = knowsLists
    }
  }

  /// Waits are bounded by the agent's signs of life.
  private func keepWatch() {
    guard let patience else { return }
    EventLoop.main.call(after: patience / 2) { [weak self] in self?.look(patience) }
  }

  private func look(_ patience: Duration) {
    let (step, isLetIn) = state.withLock { state in
      (state.watchdog.look(isAwaited: state.isAwaiting), state.isLetIn)
    }
    switch step {
    case .end: return
    case .lookAgain: break
    // It refuses a request of no kind, which is an answer.
    case .ask: if isLetIn { notify(nil) }
    case .giveUp:
      let silence = "the agent gives no sign of life for \(patience.wholeMilliseconds) ms"
      close(CaravanError(.timedOut, "\(silence): is it stopped, or just starting?"))
      return socket.shutDown()
    }
    keepWatch()
  }

  /// Sends a request and leaves its answer for later: several can be on their way, and are carried out in this order.
  /// - Parameter data: an object's, behind the request.
  func send(
    _ kind: AppRequest.Kind, data: ArraySlice<UInt8> = []
  ) throws(CaravanError) -> Sent {
    let promise = Promise<Answer>()
    let needsLists = kind.cells.first(where: \.needsLists)
    let (id, refusal) = state.withLock { state -> (UInt64, CaravanError?) in
      if let end = state.end { return (0, end) }
      if let needsLists, !state.knowsLists { return (0, .agentIsOlder(than: needsLists)) }
      guard state.waiting.count < ClientLimits.requestsInFlight else {
        return (
          0, CaravanError(.serverBusy, "\(ClientLimits.requestsInFlight) requests wait already: await some first")
        )
      }
      state.last += 1
      return (state.last, nil)
    }
    if let refusal { throw refusal }
    let message = AppRequest(id: id, kind: kind).encoded()
    let bytes = message.count + data.count
    guard bytes <= Limits.appMessageBytes else {
      throw CaravanError(
        .limitExceeded, "a request has \(bytes) bytes: the limit is \(Limits.appMessageBytes), use an object")
    }
    let isAlone = state.withLock { state in
      state.waiting[id] = promise
      return state.watchdog.begin()
    }
    if isAlone { keepWatch() }
    socket.post(message, data: data)
    return (id, promise)
  }

  /// No answer has come to these requests, of which only refusals are answered, and those behind them have been.
  /// - Throws: what the agent refused.
  func settle(_ requests: some Sequence<Sent>) throws(CaravanError) {
    for request in requests { state.withLock { _ = $0.waiting.removeValue(forKey: request.id) } }
    for request in requests { _ = try request.answer.value?.get() }
  }

  /// Sends a request whose answer nobody waits for.
  func notify(_ kind: AppRequest.Kind?) { socket.post(AppRequest(id: newNumber(), kind: kind).encoded()) }

  /// Unlike all other numbers of this connection.
  func newNumber() -> UInt64 {
    state.withLock { state in
      state.last += 1
      return state.last
    }
  }

  /// Ends the connection; `run` returns soon after.
  func shutDown() { socket.shutDown() }

  private func dispatch(_ reply: AppReply) throws(CaravanError) {
    switch reply.kind {
    case nil: return
    case .upcall(let upcall)? where upcall.table == NotificationLog.name && state.withLock(\.readsNotifications):
      // What an app has taken of them its cursor says; here it is enough that nobody is woken twice.
      if upcall.number > 0 { notify(.taken(CaravanWire.TakenUpcalls(table: upcall.table, number: upcall.number))) }
      notificationsArrived.raise()
    case .upcall(let upcall)?:
      upcalls.withLock { $0.add(upcall) }
      upcallsArrived.raise()
    case .syncEvent(let event)?:
      events.withLock { $0.add(event) }
      eventsArrived.raise()
    case .failure(let failure)?:
      guard let promise = state.withLock({ $0.waiting.removeValue(forKey: reply.id) }) else {
        // Of no request: why the agent is about to close the connection.
        if reply.id == 0 { throw failure.model() }
        return
      }
      promise.fulfil(.failure(failure.model()))
    case .some(let kind): state.withLock { $0.waiting.removeValue(forKey: reply.id) }?.fulfil(.success(kind))
    }
  }

  private func close(_ reason: CaravanError) {
    let waiting = state.withLock { state -> [Promise<Answer>] in
      state.end = state.end ?? reason
      defer { state.waiting = [:] }
      return state.waiting.sorted { $0.key < $1.key }.map(\.value)
    }
    for promise in waiting { promise.fulfil(.failure(reason)) }
    upcallsArrived.raise()
    eventsArrived.raise()
    notificationsArrived.raise()
  }
}

extension AppRequest.Kind {
  /// Those with an app's values in them.
  fileprivate var cells: [CaravanWire.Cell] {
    switch self {
    case .beginWrite(let request): request.cells + (request.selection?.arguments ?? [])
    case .beginRead(let request): request.selection?.arguments ?? []
    case .deleteRows(let request): request.selection?.arguments ?? []
    case .queryCloud(let request): request.selection?.arguments ?? []
    case .resolveConflict(let request): request.cells
    case .createTable(let request): request.properties?.replication?.query?.arguments ?? []
    case .updateTable(let request): request.properties?.replication?.query?.arguments ?? []
    case .hello, .dropTable, .writeObject, .truncateObject, .closeWrite, .nextPage, .closeCursor, .readObject,
      .registerSync, .unregisterSync, .syncNow, .beginResolution, .conflictedRows, .endResolution, .status, .setLink,
      .watch, .setPolicy, .taken, .resetTable, .resetDevice, .listen, .listApps, .allowApp, .forgetApp:
      []
    // An agent that knows these knows all cells.
    case .manageSubscriptions, .managePushTargets, .fetchRecords, .reserveNumbers, .changeRecords, .openObjects: []
    case .nextLive, .endLive: []
    case .beginLive(let request): request.selection?.arguments ?? []
    }
  }
}

extension CaravanError {
  /// An agent of an earlier release would take the cell for null.
  fileprivate static func agentIsOlder(than cell: CaravanWire.Cell) -> CaravanError {
    let column = cell.column.isEmpty ? "an argument" : "column '\(cell.column)'"
    return CaravanError(
      .featureDisabled,
      "\(column) got a location, a reference or a list, which this device's agent does not know: update caravan-agent")
  }
}
