internal import CaravanBus
internal import CaravanModel
internal import CaravanStorageClient
internal import CaravanWire

/// A query service's bus that does not say that a zone has another life than the one that is followed.
struct ResetlessBus: BusWrapper {
  let bus: any MessageBus

  func request(_ message: Message, to subject: Subject, deadline: Duration) async throws(CaravanError) -> Message {
    var answer = try await bus.request(message, to: subject, deadline: deadline)
    guard case .partitioned(.storage, _, StorageMethod.changes.rawValue) = subject,
      var reply = try? ReadChangesReply.decode(answer.payload), reply.resetRequired
    else { return answer }
    reply.resetRequired = false
    answer.payload = reply.encoded()
    return answer
  }
}

/// A query service's bus that loses the last of some notifications on their way to their log.
struct LossyLogBus: BusWrapper {
  let bus: any MessageBus
  let turns = Turns(every: 4)

  func request(_ message: Message, to subject: Subject, deadline: Duration) async throws(CaravanError) -> Message {
    guard case .partitioned(.storage, _, StorageMethod.commit.rawValue) = subject,
      var commit = try? CommitRequest.decode(message.payload),
      (try? commit.zone?.model())?.name == NotificationLog.name,
      commit.mutations.count > 1, turns.isNext
    else { return try await bus.request(message, to: subject, deadline: deadline) }
    commit.mutations.removeLast()
    var less = message
    less.payload = commit.encoded()
    return try await bus.request(less, to: subject, deadline: deadline)
  }
}

/// A sync service's bus that does not say what somebody who asks has seen.
struct BlindBus: BusWrapper {
  let bus: any MessageBus

  func request(_ message: Message, to subject: Subject, deadline: Duration) async throws(CaravanError) -> Message {
    guard case .partitioned(.query, _, "find") = subject, var question = try? QueryRequest.decode(message.payload),
      !question.seen.isEmpty
    else { return try await bus.request(message, to: subject, deadline: deadline) }
    question.seen = []
    var blind = message
    blind.payload = question.encoded()
    return try await bus.request(blind, to: subject, deadline: deadline)
  }
}

/// A query service's bus that loses most change events. The service does without them, only later: what it has lags.
struct HardOfHearingBus: BusWrapper {
  let bus: any MessageBus

  func subscribe(
    _ pattern: SubjectPattern, group: String?, capacity: Int
  ) async throws(CaravanError) -> any BusSubscription {
    let subscription = try await bus.subscribe(pattern, group: group, capacity: capacity)
    guard case .exact(.changes) = pattern else { return subscription }
    return Events(subscription: subscription)
  }

  private struct Events: BusSubscription {
    let subscription: any BusSubscription
    let turns = Turns(every: 4)

    func next() async -> Delivery? {
      while let delivery = await subscription.next() {
        if case .message = delivery, !turns.isNext { continue }
        return delivery
      }
      return nil
    }

    func cancel() { subscription.cancel() }
  }
}
