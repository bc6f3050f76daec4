internal import Model
internal import Runtime
internal import Synchronization
internal import Wire

/// One connection to the agent, shared by any number of tasks: requests go out in the order they are made, answers come
/// back in any (MOB-21).
final class AppConnection: Sendable {
  typealias Answer = Swift.Result<AppReply.Kind, CaravanError>

  private struct State {
    var waiting: [UInt64: Promise<Answer>] = [:]
    var last: UInt64 = 0
    var isClosed = false
  }

  let upcalls = BoundedQueue<Wire.Upcall>(capacity: ClientLimits.upcalls)
  private let socket: AppSocket
  private let sender: SocketThread
  private let receiver: SocketThread
  private let state = Mutex(State())

  init(_ socket: AppSocket, host: Host) {
    self.socket = socket
    sender = SocketThread(host.executors.makeSerial("app-send"))
    receiver = SocketThread(host.executors.makeSerial("app-receive"))
  }

  /// Receives until the connection ends; then everybody who waits is told.
  func run() async {
    var end = CaravanError(.networkNotConnected, "the agent has closed the connection: connect again")
    do throws(CaravanError) {
      while let bytes = try await receiver.receive(from: socket) { dispatch(try AppReply.decode(bytes)) }
    } catch {
      end = error
    }
    close(end)
  }

  func request(_ kind: AppRequest.Kind) async throws(CaravanError) -> AppReply.Kind {
    let promise = Promise<Answer>()
    let id = state.withLock { state -> UInt64? in
      guard !state.isClosed, state.waiting.count < ClientLimits.requestsInFlight else { return nil }
      state.last += 1
      state.waiting[state.last] = promise
      return state.last
    }
    guard let id else {
      throw CaravanError(.serverBusy, "the connection has ended, or \(ClientLimits.requestsInFlight) requests wait already")
    }
    let message = AppRequest(id: id, kind: kind).encoded()
    do throws(CaravanError) {
      guard message.count <= Limits.appMessageBytes else {
        throw CaravanError(
          .limitExceeded, "a request has \(message.count) bytes: the limit is \(Limits.appMessageBytes), use an object")
      }
      try await sender.send(message, over: socket)
      return try await promise.wait().get()
    } catch {
      state.withLock { _ = $0.waiting.removeValue(forKey: id) }
      throw error
    }
  }

  /// Ends the connection; `run` returns soon after.
  func shutDown() { socket.shutDown() }

  private func dispatch(_ reply: AppReply) {
    guard let kind = reply.kind else { return }
    if case .upcall(let upcall) = kind {
      // Full: the app has not looked for long; upcalls say "look", and one more says nothing new.
      _ = upcalls.push(upcall)
      return
    }
    let promise = state.withLock { $0.waiting.removeValue(forKey: reply.id) }
    if case .failure(let failure) = kind {
      promise?.fulfil(.failure(failure.model()))
    } else {
      promise?.fulfil(.success(kind))
    }
  }

  private func close(_ reason: CaravanError) {
    let waiting = state.withLock { state -> [Promise<Answer>] in
      state.isClosed = true
      defer { state.waiting = [:] }
      return state.waiting.values.map(\.self)
    }
    for promise in waiting { promise.fulfil(.failure(reason)) }
    upcalls.finish()
  }
}

/// Blocking socket calls, on a thread of their own.
private actor SocketThread {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  init(_ executor: any SerialExecutor) { self.executor = executor }

  func send(_ message: [UInt8], over socket: AppSocket) throws(CaravanError) { try socket.sendBlocking(message) }
  func receive(from socket: AppSocket) throws(CaravanError) -> [UInt8]? { try socket.receiveBlocking() }
}
