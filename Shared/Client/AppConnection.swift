internal import Model
internal import Runtime
internal import Wire

/// One connection to the agent, shared by any number of tasks: requests go out in the order they are made, answers come
/// back in any (MOB-21).
final class AppConnection: Sendable {
  typealias Answer = Swift.Result<AppReply.Kind, CaravanError>
  typealias Sent = (id: UInt64, answer: Promise<Answer>)

  private struct State {
    var waiting: [UInt64: Promise<Answer>] = [:]
    var last: UInt64 = 0
    /// Why the connection has ended.
    var end: CaravanError?
  }

  let upcalls = BoundedQueue<Wire.Upcall>(capacity: ClientLimits.upcalls)
  private let socket: FrameSocket
  private let state = Mutex(State())

  init(_ socket: FrameSocket) { self.socket = socket }

  /// Receives until the connection ends; then everybody who waits is told.
  func run() async {
    var end = CaravanError(.networkNotConnected, "the agent has closed the connection: connect again")
    do throws(CaravanError) {
      loop: while true {
        switch try await socket.next() {
        case .frame(let frame): try dispatch(try frame.reply())
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

  /// - Parameter patience: how long an answer may take; nil: as long as the agent is there.
  /// - Throws: what the agent refused; `networkNotConnected` when it went; `timedOut` after the patience; `cancelled`:
  ///   it may have happened or not.
  func request(
    _ kind: AppRequest.Kind, within patience: Duration? = nil
  ) async throws(CaravanError) -> AppReply.Kind {
    let (id, promise) = try send(kind)
    if let patience { EventLoop.main.call(after: patience) { [weak self] in self?.giveUp(id, after: patience) } }
    do throws(CaravanError) { return try await promise.wait().get() } catch {
      state.withLock { _ = $0.waiting.removeValue(forKey: id) }
      throw error
    }
  }

  private func giveUp(_ id: UInt64, after patience: Duration) {
    let silence = CaravanError(
      .timedOut, "the agent has not answered for \(patience.components.seconds) s: is it stopped, or just starting?")
    state.withLock { $0.waiting.removeValue(forKey: id) }?.fulfil(.failure(silence))
  }

  /// Sends a request and leaves its answer for later: several can be on their way, and are carried out in this order.
  /// - Parameter data: an object's, behind the request.
  func send(
    _ kind: AppRequest.Kind, data: ArraySlice<UInt8> = []
  ) throws(CaravanError) -> Sent {
    let promise = Promise<Answer>()
    let (id, refusal) = state.withLock { state -> (UInt64, CaravanError?) in
      if let end = state.end { return (0, end) }
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
    state.withLock { $0.waiting[id] = promise }
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
  func notify(_ kind: AppRequest.Kind) {
    let id = state.withLock { state in
      state.last += 1
      return state.last
    }
    socket.post(AppRequest(id: id, kind: kind).encoded())
  }

  /// Ends the connection; `run` returns soon after.
  func shutDown() { socket.shutDown() }

  private func dispatch(_ reply: AppReply) throws(CaravanError) {
    switch reply.kind {
    case nil: return
    case .upcall(let upcall)?:
      // Full: the app has not looked for long; upcalls say "look", and one more says nothing new.
      _ = upcalls.push(upcall)
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
      state.end = reason
      defer { state.waiting = [:] }
      return state.waiting.sorted { $0.key < $1.key }.map(\.value)
    }
    for promise in waiting { promise.fulfil(.failure(reason)) }
    upcalls.finish()
  }
}
