import CaravanModel
import CaravanRuntime
import Glibc

/// One open connection, from when it is accepted until it is closed. MHD holds it as the connection's context.
final class Link: Sendable {
  fileprivate let number: UInt64
  private let links: Links
  /// What it was shown, which has to stay as long as its TLS session.
  private let shown = Mutex<HTTPCertificate?>(nil)

  fileprivate init(_ number: UInt64, of links: Links) {
    self.number = number
    self.links = links
  }

  /// The certificate of a handshake that begins; nil: there is none.
  func present() -> HTTPCertificate? {
    let certificate = links.certificate.withLock { $0 }
    shown.withLock { $0 = certificate }
    return certificate
  }
}

/// All open connections: how many there may be, of whom, and how long each may take for what it does.
///
/// MHD's own timeout ends a connection on which nothing moves. Whoever sends a byte now and then is ended here, by
/// shutting its socket down: MHD's thread then sees the end of the stream and closes it.
final class Links: Sendable {
  enum Phase {
    /// A TLS handshake, a request line and headers are coming, or nothing yet.
    case head
    case body
    /// A handler has the request: the client may wait for as long as that takes.
    case handling
    case answer
    /// It was shut down and is about to be closed.
    case ended
  }

  private struct Entry {
    let descriptor: Int32
    /// Whose connection counts; nil: a trusted proxy's, which brings many clients.
    let block: NetworkAddress?
    var phase = Phase.head
    var deadline: Instant?
  }

  private struct State {
    var entries: [UInt64: Entry] = [:]
    var counts: [NetworkAddress: Int] = [:]
    var last: UInt64 = 0
    /// A look at the deadlines is on its way.
    var isWatched = false
  }

  /// What new connections are shown; nil: no TLS.
  let certificate: Mutex<HTTPCertificate?>
  private let limits: HTTPLimits
  private let clock: any Clock
  private let state = Mutex(State())

  init(limits: HTTPLimits, clock: any Clock, certificate: HTTPCertificate?) {
    self.limits = limits
    self.clock = clock
    self.certificate = Mutex(certificate)
  }

  // MARK: MHD's thread

  /// Whether one more may come from there. Where all places are taken, whoever has waited longest with an unfinished
  /// head gives up its own: who wants to keep others out by connections has to send whole requests on them.
  func mayOpen(from address: NetworkAddress?) -> Bool {
    state.withLock { state in
      if let block = counted(address), state.counts[block, default: 0] >= limits.connectionsPerAddress { return false }
      guard state.entries.count >= limits.connections else { return true }
      let waiting = state.entries.filter { $0.value.phase == .head }
      guard let oldest = waiting.min(by: { ($0.value.deadline ?? Self.never) < ($1.value.deadline ?? Self.never) })
      else {
        return false
      }
      Self.end(oldest.key, &state)
      return state.entries.count < limits.connections + HTTPLimits.reserve
    }
  }

  func open(_ descriptor: Int32, from address: NetworkAddress?) -> Link {
    let (number, begins) = state.withLock { state in
      state.last += 1
      let block = counted(address)
      state.entries[state.last] = Entry(
        descriptor: descriptor, block: block, deadline: clock.now + limits.headTimeout)
      if let block { state.counts[block, default: 0] += 1 }
      defer { state.isWatched = true }
      return (state.last, !state.isWatched)
    }
    if begins { watch() }
    return Link(number, of: self)
  }

  /// MHD closes the socket after this, so nobody may shut it down any more.
  func close(_ link: Link) {
    state.withLock { state in
      guard let block = state.entries.removeValue(forKey: link.number)?.block else { return }
      let left = state.counts[block, default: 1] - 1
      state.counts[block] = left > 0 ? left : nil
    }
  }

  /// - Parameter isAgain: whether the connection has carried a request before.
  func enter(_ phase: Phase, _ link: Link, isAgain: Bool = false) {
    let patience: Duration? =
      switch phase {
      case .head: isAgain ? .seconds(limits.idleTimeoutSeconds) : limits.headTimeout
      case .body: limits.bodyTimeout
      case .answer: limits.answerTimeout
      case .handling, .ended: nil
      }
    let deadline = patience.map { clock.now + $0 }
    state.withLock { state in
      guard state.entries[link.number].map({ $0.phase != .ended }) == true else { return }
      state.entries[link.number]?.phase = phase
      state.entries[link.number]?.deadline = deadline
    }
  }

  private static let never = Instant(nanoseconds: .max)

  private func counted(_ address: NetworkAddress?) -> NetworkAddress? {
    guard let address, !limits.trustedProxies.contains(where: { $0.contains(address) }) else { return nil }
    return address.block
  }

  // MARK: Deadlines

  private func watch() {
    clock.call(at: clock.now + limits.watchPeriod) { [weak self] in self?.look() }
  }

  private func look() {
    let now = clock.now
    let goesOn = state.withLock { state in
      for (number, entry) in state.entries where entry.deadline.map({ $0 <= now }) == true {
        Self.end(number, &state)
      }
      state.isWatched = !state.entries.isEmpty
      return state.isWatched
    }
    if goesOn { watch() }
  }

  private static func end(_ number: UInt64, _ state: inout State) {
    guard let descriptor = state.entries[number]?.descriptor else { return }
    shutdown(descriptor, Int32(SHUT_RDWR))
    state.entries[number]?.phase = .ended
    state.entries[number]?.deadline = nil
  }
}
