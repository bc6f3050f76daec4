internal import CCaravanNats
internal import CaravanModel
internal import CaravanRuntime

/// Subscriptions whose answers the event loop takes itself, right after it has read them: a thread less to wake on the
/// way back of most requests.
///
/// The library tells such a subscription that nobody serves a request, but not which one
/// (`natsSubscription_NextMsg`, `NATS_NO_RESPONDERS`). So a lane carries one request at a time, and one whose request
/// got no answer is given up, as the answer may still come. Requests that find no lane free are answered through a
/// thread of the library.
final class AnswerLanes: Sendable {
  /// Listens to `<inbox>.<number>.*`.
  struct Lane: Sendable {
    fileprivate let number: UInt64
    fileprivate let subscription: Handle

    func address(_ request: UInt64, inbox: String) -> String { "\(inbox).\(number).\(request)" }
  }

  private struct Trip {
    let request: UInt64
    let lane: Lane
    var isAnswered = false
  }

  private struct State {
    var free: [Lane] = []
    var trips: [Trip] = []
    var last: UInt64 = 0
  }

  private let loop: EventLoop
  private let state = Mutex(State())

  init(loop: EventLoop) { self.loop = loop }

  deinit { drop(state.withLock { $0.free + $0.trips.map(\.lane) }) }

  /// - Returns: nil when all lanes carry requests, or the connection is closed.
  func enter(_ request: UInt64, _ connection: Handle, inbox: String) -> Lane? {
    state.withLock { state in
      guard state.trips.count < NATSLimits.answerLanes else { return nil }
      let lane = state.free.popLast() ?? Self.open(state.last + 1, connection, inbox)
      guard let lane else { return nil }
      state.last = max(state.last, lane.number)
      state.trips.append(Trip(request: request, lane: lane))
      return lane
    }
  }

  private static func open(_ number: UInt64, _ connection: Handle, _ inbox: String) -> Lane? {
    var pointer: OpaquePointer?
    let status = natsConnection_SubscribeSync(&pointer, connection.pointer, "\(inbox).\(number).*")
    guard status == NATS_OK, let pointer else { return nil }
    return Lane(number: number, subscription: Handle(pointer: pointer))
  }

  /// Nobody waits for the request's answer any more.
  func leave(_ request: UInt64) {
    let lost = state.withLock { state -> Lane? in
      guard let place = state.trips.firstIndex(where: { $0.request == request }) else { return nil }
      let trip = state.trips.remove(at: place)
      if trip.isAnswered { state.free.append(trip.lane) }
      return trip.isAnswered ? nil : trip.lane
    }
    if let lost { drop([lost]) }
  }

  /// On the loop's thread, which may be looking at them.
  private func drop(_ lanes: [Lane]) {
    if lanes.isEmpty { return }
    loop.call { for lane in lanes { natsSubscription_Destroy(lane.subscription.pointer) } }
  }

  /// Hands over what has arrived. For the loop's thread.
  /// - Parameters:
  ///   - accept: a message, which is the callee's then; returns the request that it answers.
  ///   - nobody: the request that nobody serves.
  /// - Returns: how many answers that were, of those that arrived just now; not what had come twice.
  func take(accept: (OpaquePointer) -> UInt64?, nobody: (UInt64) -> Void) -> Int {
    var count = 0
    for trip in state.withLock({ $0.trips }) {
      var waiting: UInt64 = 0
      guard natsSubscription_QueuedMsgs(trip.lane.subscription.pointer, &waiting) == NATS_OK, waiting > 0 else {
        continue
      }
      for _ in 0..<waiting {
        var message: OpaquePointer?
        switch natsSubscription_NextMsg(&message, trip.lane.subscription.pointer, 0) {
        case NATS_OK:
          if let message, accept(message) == trip.request {
            note(trip.request)
            count += 1
          }
        case NATS_NO_RESPONDERS:
          nobody(trip.request)
          note(trip.request)
          count += 1
        default: break
        }
      }
    }
    return count
  }

  private func note(_ request: UInt64) {
    state.withLock { state in
      guard let place = state.trips.firstIndex(where: { $0.request == request }) else { return }
      state.trips[place].isAnswered = true
    }
  }
}
