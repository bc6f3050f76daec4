import CaravanRuntime
import CaravanTestKit
import Foundation

/// A network between the store and its server, that can be cut. Every so many messages of the store's it breaks the
/// connection they came on: before the server got the message, or after, so that the answer is lost.
final class Proxy: Sendable {
  let port: Int
  private let listener: Int32
  private let target: Int
  private let state = Mutex(State())

  private struct State {
    var messages = 0
    var cuts = 0
    var isOver = false
    /// Messages from one cut to the next; 0: none is made.
    var period = 0
    /// What becomes of the message after so many.
    var next: (messages: Int, fate: Fate)?
  }

  enum Fate: Sendable { case pass, loseMessage, loseAnswer }

  init(to target: Int) throws {
    let listening = try Listening()
    (listener, port, self.target) = (listening.descriptor, listening.port, target)
    Thread.detachNewThread { self.accept() }
  }

  var cuts: Int { state.withLock { $0.cuts } }

  /// - Parameter period: 0: from now on everything passes.
  func cut(every period: Int) { state.withLock { $0.period = period } }

  /// One cut, at the next message but so many.
  func cut(after messages: Int, _ fate: Fate) { state.withLock { $0.next = (messages, fate) } }

  /// - Returns: whether there were so many messages.
  func wasCut() -> Bool {
    state.withLock { state in
      defer { state.next = nil }
      return state.next == nil
    }
  }

  func stop() {
    state.withLock { $0.isOver = true }
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private func accept() {
    while true {
      let client = Foundation.accept(listener, nil, nil)
      guard client >= 0, !state.withLock({ $0.isOver }) else { break }
      Thread.detachNewThread { self.serve(client) }
    }
    close(listener)
  }

  private func serve(_ client: Int32) {
    let server = connectSocket(target)
    defer { for descriptor in [client, server] { close(descriptor) } }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      var events = [
        pollfd(fd: client, events: Int16(POLLIN), revents: 0), pollfd(fd: server, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&events, 2, -1) > 0 else { return }
      if events[1].revents != 0, !copy(server, client, &buffer) { return }
      guard events[0].revents != 0 else { continue }
      switch fate() {
      case .pass: if !copy(client, server, &buffer) { return }
      case .loseMessage: return
      case .loseAnswer:
        _ = copy(client, server, &buffer)
        // The server is given the time to answer; nobody hears it.
        var answer = pollfd(fd: server, events: Int16(POLLIN), revents: 0)
        poll(&answer, 1, 2_000)
        return
      }
    }
  }

  private func fate() -> Fate {
    state.withLock { state in
      state.messages += 1
      if let next = state.next {
        state.next = next.messages == 0 ? nil : (next.messages - 1, next.fate)
        if next.messages == 0 { return next.fate }
      }
      guard state.period > 0, state.messages.isMultiple(of: state.period) else { return .pass }
      state.cuts += 1
      return state.cuts.isMultiple(of: 2) ? .loseMessage : .loseAnswer
    }
  }

  private func copy(_ from: Int32, _ to: Int32, _ buffer: inout [UInt8]) -> Bool {
    let count = recv(from, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    var sent = 0
    while sent < count {
      let more = buffer.withUnsafeBytes {
        send(to, $0.baseAddress?.advanced(by: sent), count - sent, Int32(MSG_NOSIGNAL))
      }
      guard more > 0 else { return false }
      sent += more
    }
    return true
  }

  private func connectSocket(_ port: Int) -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    _ = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    return descriptor
  }
}
