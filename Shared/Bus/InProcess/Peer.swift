internal import Model
internal import Runtime

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
  let replies = ReplyTable()
  let events = EventFeed()
  private let link = Mutex(Link.up)

  init(id: UInt64, name: String) {
    self.id = id
    self.name = name
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
