internal import CaravanModel
internal import CaravanRuntime

/// One client of the hub, as the hub sees it.
final class Peer: Sendable {
  enum Link {
    /// Can become `cut` or `closed`.
    case up
    /// Can become `up` or `closed`.
    case cut
    case closed
  }

  let id: UInt64
  let name: String
  /// Nil: it may do everything.
  let admission: BrokerAdmission?
  let replies = ReplyTable()
  let events = EventFeed()
  private let link = Mutex(Link.up)
  private let ledger = Mutex(AnswerLedger())
  /// Whether it may listen where its answers come.
  let hearsAnswers: Bool
  /// What was found of subjects that it publishes to again and again.
  private let known = Mutex<[String: Bool]>([:])

  init(id: UInt64, name: String, admission: BrokerAdmission?) {
    self.id = id
    self.name = name
    self.admission = admission
    hearsAnswers = admission.map { $0.rights.maySubscribe(to: "\($0.inbox).r.\(id).*") } ?? true
  }

  var isUp: Bool { link.withLock { $0 == .up } }

  var isOpen: Bool { link.withLock { $0 != .closed } }

  func checkUp() throws(CaravanError) {
    switch link.withLock({ $0 }) {
    case .up: return
    case .cut: throw CaravanError(.unavailable, "\(name) is not connected: retry later")
    case .closed: throw .busClosed
    }
  }

  // MARK: Rights

  func mayPublish(to subject: String) -> Bool {
    guard let rights = admission?.rights else { return true }
    if let known = known.withLock({ $0[subject] }) { return known }
    let isAllowed = rights.mayPublish(to: subject)
    known.withLock { known in
      if known.count >= BusLimits.rightsKnown { known = [:] }
      known[subject] = isAllowed
    }
    return isAllowed
  }

  func mayAnswer(_ address: String, at now: Instant) -> Bool {
    guard let rights = admission?.rights else { return true }
    // Most of what is answered has been asked; looking at all rules takes longer.
    return ledger.withLock { $0.answers(address, at: now) } || rights.mayPublish(to: address)
  }

  func maySubscribe(to pattern: String) -> Bool { admission?.rights.maySubscribe(to: pattern) ?? true }
  func mayHear(_ subject: Subject) -> Bool { admission?.rights.mayHear(subject) ?? true }

  /// A request has come from there.
  func asked(from address: ReplyAddress, copies: Int, at now: Instant) {
    guard let answers = admission?.rights.answers else { return }
    ledger.withLock { $0.asked(address.text, answers, copies: copies, at: now) }
  }

  // MARK: The connection

  /// The broker ends it, and lets nobody in with what it had shown.
  func expel(_ reason: String) {
    disconnect()
    events.send(.denied(.connection, reason))
    _ = close()
  }

  func disconnect() {
    guard move(from: .up, to: .cut) else { return }
    events.send(.disconnected)
    replies.failAll(.connectionLost)
  }

  func reconnect() {
    if move(from: .cut, to: .up) { events.send(.connected) }
  }

  /// True the first time.
  func close() -> Bool {
    let isFirst = link.withLock { link in
      defer { link = .closed }
      return link != .closed
    }
    guard isFirst else { return false }
    replies.failAll(.connectionLost)
    events.send(.closed)
    events.finish()
    return true
  }

  private func move(from old: Link, to new: Link) -> Bool {
    link.withLock { link in
      guard link == old else { return false }
      link = new
      return true
    }
  }
}
