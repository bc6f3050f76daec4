internal import Glibc
package import Model
internal import Runtime

internal import struct Synchronization.Atomic

/// One end of a connection between an app and its agent: frames of a 4-byte little-endian length and a message. One
/// thread receives; any may post.
///
/// A post is sent at once if the peer has room, and otherwise left to the receiving thread, which waits for both
/// directions: so a message costs no change of thread, and a slow reader holds up nobody but itself.
package final class FrameSocket: Sendable {
  package struct Bounds: Sendable {
    /// The longest message taken.
    package var messageBytes: Int
    /// While more than this waits to be sent, nothing is received: who does not read is not read.
    package var backlogBytes: Int
    /// A peer that leaves this much unread is cut off.
    package var maximumBacklogBytes: Int
    /// A peer that takes nothing for this long while bytes wait for it is cut off; -1: never.
    package var stallMilliseconds: Int32

    package init(messageBytes: Int, backlogBytes: Int, maximumBacklogBytes: Int, stallMilliseconds: Int32) {
      self.messageBytes = messageBytes
      self.backlogBytes = backlogBytes
      self.maximumBacklogBytes = maximumBacklogBytes
      self.stallMilliseconds = stallMilliseconds
    }
  }

  package enum Event: Sendable {
    case frame([UInt8])
    /// `wake` was called.
    case woken
    /// The peer has gone, or was cut off.
    case closed
  }

  private struct Outgoing {
    var frames: [ArraySlice<UInt8>] = []
    var bytes = 0
    var isClosed = false
  }

  /// The user id of the process at the other end, as the kernel says.
  package let user: UInt32
  private let bounds: Bounds
  private let descriptor: Int32
  /// A byte in it ends the wait of the receiving thread.
  private let wakeUp: (send: Int32, receive: Int32)
  private let outgoing = Mutex(Outgoing())
  /// Woken while a frame was coming in: heard when it is here.
  private let pendingWake = Atomic<Bool>(false)

  package static let streamType = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
  private static let shortBytes = 16 << 10
  private static let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)

  /// Takes the descriptor over.
  package init(_ descriptor: Int32, _ bounds: Bounds) throws(CaravanError) {
    self.descriptor = descriptor
    self.bounds = bounds
    var credentials: [Int32] = [0, -1, -1]  // struct ucred: pid, uid, gid
    var length = socklen_t(MemoryLayout<Int32>.size * credentials.count)
    var pair: [Int32] = [-1, -1]
    guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0,
      unsafe socketpair(AF_UNIX, Self.streamType, 0, &pair) == 0
    else {
      let code = errno
      Glibc.close(descriptor)
      throw CaravanError(.unavailable, "a connection cannot be set up (error \(code)): retry")
    }
    user = UInt32(bitPattern: credentials[1])
    wakeUp = (pair[0], pair[1])
  }

  deinit {
    Glibc.close(descriptor)
    Glibc.close(wakeUp.send)
    Glibc.close(wakeUp.receive)
  }

  // MARK: Any thread

  /// Sends a message, now or as soon as the peer takes it. After the end it is dropped.
  package func post(_ message: [UInt8]) {
    let length = UInt32(message.count)
    var head = (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * UInt32($0))) }
    // One call for a short message, no copy of a long one.
    let isShort = message.count <= Self.shortBytes
    if isShort { head += message }
    let isLeft = outgoing.withLock { outgoing in
      guard !outgoing.isClosed else { return false }
      outgoing.frames.append(head[...])
      if !isShort { outgoing.frames.append(message[...]) }
      outgoing.bytes += 4 + message.count
      flush(&outgoing)
      if outgoing.bytes > bounds.maximumBacklogBytes { close(&outgoing) }
      return outgoing.bytes > 0
    }
    if isLeft { wake() }
  }

  /// Has the receiving thread return `.woken`.
  package func wake() {
    var byte: UInt8 = 1
    // A full pair has woken the thread already.
    _ = unsafe send(wakeUp.send, &byte, 1, Self.flags)
  }

  /// Ends the connection; what was posted and not taken is lost.
  package func shutDown() { outgoing.withLock { close(&$0) } }

  private func close(_ outgoing: inout Outgoing) {
    outgoing = Outgoing(isClosed: true)
    _ = shutdown(descriptor, Int32(SHUT_RDWR))
  }

  private func flush(_ outgoing: inout Outgoing) {
    while let frame = outgoing.frames.first {
      let sent = unsafe frame.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, Self.flags) }
      if sent < 0 {
        if errno == EINTR { continue }
        if errno != EAGAIN { close(&outgoing) }
        return
      }
      outgoing.bytes -= sent
      if sent == frame.count { outgoing.frames.removeFirst() } else { outgoing.frames[0] = frame.dropFirst(sent) }
    }
  }

  // MARK: The receiving thread

  /// The next frame, or what else there is to do.
  /// - Parameter patience: milliseconds to wait for a first byte; -1: for ever.
  /// - Throws: `limitExceeded` for a message beyond the bound, after which nothing more can be understood.
  package func nextBlocking(patience: Int32 = -1) throws(CaravanError) -> Event {
    if pendingWake.exchange(false, ordering: .relaxed) { return .woken }
    var head: [UInt8] = []
    guard fillHead(&head, patience: patience) else { return head.isEmpty ? endOrWake() : .closed }
    let length = head.reversed().reduce(0) { $0 << 8 | Int($1) }
    guard length <= bounds.messageBytes else {
      throw CaravanError(
        .limitExceeded, "a message of \(length) bytes was announced: the limit is \(bounds.messageBytes), send parts")
    }
    let body = body(of: length)
    return body.count == length ? .frame(body) : .closed
  }

  /// - Returns: fewer bytes when the connection ends before they are here.
  private func body(of length: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, filled in
      while filled < length {
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
        let got = unsafe recv(descriptor, rest.baseAddress, rest.count, Self.flags)
        if got > 0 {
          filled += got
        } else if got == 0 || errno != EAGAIN && errno != EINTR
          || !waitBlocking(patience: bounds.stallMilliseconds, isWakeable: false)
        {
          return
        }
      }
    }
  }

  private func endOrWake() -> Event { drainWakeUp() && !outgoing.withLock(\.isClosed) ? .woken : .closed }

  private func drainWakeUp() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 64)
    return unsafe recv(wakeUp.receive, &bytes, bytes.count, Self.flags) > 0
  }

  /// Takes the four bytes of a length.
  /// - Returns: false at the end of the stream, when time is up, and when woken before the first byte.
  private func fillHead(_ head: inout [UInt8], patience: Int32) -> Bool {
    while head.count < 4 {
      var bytes: [UInt8] = [0, 0, 0, 0]
      let got = unsafe recv(descriptor, &bytes, 4 - head.count, Self.flags)
      if got > 0 {
        head += bytes.prefix(got)
      } else if got == 0 || errno != EAGAIN && errno != EINTR
        || !waitBlocking(patience: head.isEmpty ? patience : bounds.stallMilliseconds, isWakeable: head.isEmpty)
      {
        return false
      }
    }
    return true
  }

  /// Until bytes come, sending what waits meanwhile.
  /// - Returns: false when the connection ends, and when woken, if wakeable.
  private func waitBlocking(patience: Int32, isWakeable: Bool) -> Bool {
    while true {
      let (waiting, isClosed) = outgoing.withLock { ($0.bytes, $0.isClosed) }
      guard !isClosed else { return false }
      var events: Int16 = waiting < bounds.backlogBytes ? Int16(POLLIN) : 0
      if waiting > 0 { events |= Int16(POLLOUT) }
      var polled = [
        pollfd(fd: descriptor, events: events, revents: 0),
        pollfd(fd: wakeUp.receive, events: Int16(POLLIN), revents: 0),
      ]
      let ready = unsafe poll(&polled, 2, waiting > 0 ? bounds.stallMilliseconds : patience)
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else { return false }
      if polled[0].revents & Int16(POLLOUT) != 0 { outgoing.withLock { flush(&$0) } }
      if polled[0].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 { return true }
      if polled[1].revents != 0 {
        // Left in the pair for `endOrWake` to find, if it is to be heard now.
        if isWakeable { return false }
        if drainWakeUp() { pendingWake.store(true, ordering: .relaxed) }
      }
    }
  }
}
