internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStorageClient
internal import CaravanWire

/// A notify service's bus that counts some pushes as taken that nobody carries.
struct LossyPushBus: BusWrapper {
  let bus: any MessageBus
  let turns = Turns(every: 4)

  func request(_ message: Message, to subject: Subject, deadline: Duration) async throws(CaravanError) -> Message {
    guard subject == .service(.push, method: "deliver"), turns.isNext else {
      return try await bus.request(message, to: subject, deadline: deadline)
    }
    return Message(DeliverReply(outcome: .taken, status: 200).encoded())
  }
}

/// A notify service's bus that changes what goes with a push.
struct ChangedPushBus: BusWrapper {
  enum Change: Sendable {
    /// Each try has an id of its own.
    case ids
    /// Some targets get what another one has got, perhaps of another user.
    case users
  }

  let bus: any MessageBus
  let change: Change
  private let turns = Turns(every: 4)
  private let tries = Counted()

  init(bus: any MessageBus, _ change: Change) {
    self.bus = bus
    self.change = change
  }

  func request(_ message: Message, to subject: Subject, deadline: Duration) async throws(CaravanError) -> Message {
    guard subject == .service(.push, method: "deliver"), var request = try? DeliverRequest.decode(message.payload)
    else {
      return try await bus.request(message, to: subject, deadline: deadline)
    }
    switch change {
    case .ids: request.id += "-\(tries.next())"
    case .users:
      let owner = request.target?.registration ?? []
      if let other = tries.swap(request.notification, of: owner), turns.isNext { request.notification = other }
    }
    var other = message
    other.payload = request.encoded()
    return try await bus.request(other, to: subject, deadline: deadline)
  }

  /// Tries so far, and what went last to which target.
  private final class Counted: Sendable {
    private let state = Mutex((count: 0, last: [(owner: [UInt8], notification: [UInt8])]()))

    func next() -> Int {
      state.withLock { state in
        state.count += 1
        return state.count
      }
    }

    /// - Returns: what went last to another target; nil: nothing did.
    func swap(_ notification: [UInt8], of owner: [UInt8]) -> [UInt8]? {
      state.withLock { state in
        let other = state.last.last { $0.owner != owner }?.notification
        state.last = [(owner, notification)]
        return other
      }
    }
  }
}

/// A notify service's bus that keeps to itself what is given up.
struct SilentPushBus: BusWrapper {
  let bus: any MessageBus

  func request(_ message: Message, to subject: Subject, deadline: Duration) async throws(CaravanError) -> Message {
    guard case .partitioned(.storage, _, StorageMethod.commit.rawValue) = subject,
      var commit = try? CommitRequest.decode(message.payload),
      (try? commit.zone?.model())?.name == PushTargets.stateZone
    else { return try await bus.request(message, to: subject, deadline: deadline) }
    for index in commit.mutations.indices {
      guard var stored: StoredTargetState = PushTargets.value(of: commit.mutations[index].body) else { continue }
      stored.state?.givenUp = 0
      stored.state?.last = []
      commit.mutations[index].body = PushTargets.body(of: stored)
    }
    var less = message
    less.payload = commit.encoded()
    return try await bus.request(less, to: subject, deadline: deadline)
  }
}
