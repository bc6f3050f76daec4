internal import CaravanAgentCore
internal import CaravanClient
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// The listening end of the agent's socket. Its calls block.
final class UnixSocket: Sendable {
  let path: String
  private let descriptor: Int32
  /// The socket's name in its directory, as this process made it; nil: it is the supervisor's, who goes on listening
  /// when this process has ended.
  private let made: Made?
  /// A byte in it ends the wait for apps: shutting the socket down would end the supervisor's as well.
  private let wakeUp: (receive: Int32, send: Int32)
  private let isOpen = Mutex(true)

  private struct Made {
    let directory: HeldDirectory
    let name: String
    let identity: [UInt64]
  }

  /// Every user may connect; who may speak for an app is decided by its token and its user. Nobody else may replace
  /// what lies in the socket's directory (`TokenDirectory`).
  /// - Parameter inherited: listens at the path already, as systemd's socket activation hands it over; nil: the socket
  ///   is made, in place of one that a crash left behind.
  /// - Throws: `unavailable` when another agent answers there, `invalidData` when the supervisor listens elsewhere.
  init(listeningAt path: String, inherited: Int32? = nil) throws(CaravanError) {
    if let inherited {
      try Self.confirm(inherited, listensAt: path)
      (descriptor, made) = (inherited, nil)
    } else {
      (descriptor, made) = try Self.listener(at: path)
    }
    self.path = path
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else {
      let failure = Self.failure("no pipe")
      Glibc.close(descriptor)
      throw failure
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    wakeUp = (ends[0], ends[1])
  }

  deinit { close() }

  /// - Returns: nil when the socket was shut down.
  /// - Throws: `limitExceeded` when the process has no more descriptors.
  func acceptBlocking() throws(CaravanError) -> FrameSocket? {
    while waitBlocking() {
      let accepted = accept(descriptor, nil, nil)
      if accepted >= 0 { return try FrameSocket(accepted, AppLimits.socket) }
      switch errno {
      case EINTR, ECONNABORTED, EAGAIN: continue
      case EMFILE, ENFILE, ENOMEM, ENOBUFS:
        throw CaravanError(
          .limitExceeded, "an app cannot be let in (\(Self.text(errno))): raise the limit on open files")
      default: return nil
      }
    }
    return nil
  }

  /// - Returns: whether somebody may have come; false when the socket was shut down.
  private func waitBlocking() -> Bool {
    var polled = [
      pollfd(fd: wakeUp.receive, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
    ]
    while unsafe poll(&polled, nfds_t(polled.count), -1) < 0 {
      guard errno == EINTR else { return false }
    }
    return polled[0].revents == 0
  }

  /// Ends a blocked `acceptBlocking`, and those that come.
  func shutDown() {
    isOpen.withLock { isOpen in
      var byte: UInt8 = 1
      if isOpen { _ = unsafe write(wakeUp.send, &byte, 1) }
    }
  }

  /// Nobody waits for apps any more.
  func close() {
    isOpen.withLock { isOpen in
      guard isOpen else { return }
      isOpen = false
      for each in [descriptor, wakeUp.receive, wakeUp.send] { Glibc.close(each) }
      // Another agent may have made one of that name meanwhile.
      guard let made, let facts = try? made.directory.facts(of: made.name), facts.identity == made.identity else {
        return
      }
      try? made.directory.remove(made.name)
    }
  }

  // MARK: Parts

  private static func listener(at path: String) throws(CaravanError) -> (Int32, Made) {
    let address = try UnixAddress(path)
    let place = SocketPath(path)
    let directory = try HeldDirectory(place.directory)
    let descriptor = socket(AF_UNIX, FrameSocket.streamType, 0)
    guard descriptor >= 0 else { throw failure("no socket") }
    do throws(CaravanError) {
      if address.connect(descriptor) {
        throw CaravanError(.unavailable, "another agent answers at '\(path)': stop it, or use another socket")
      }
      if let old = try directory.facts(of: place.name) {
        guard old.kind == .socket else {
          throw CaravanError(.invalidData, "'\(path)' is there, and no socket: remove it, or use another socket")
        }
        try directory.remove(place.name)
      }
      guard address.bind(descriptor) else { throw failure("cannot listen at '\(path)'") }
      // At once: whoever waits for the path connects as soon as it is there.
      guard listen(descriptor, Int32(AppLimits.connections.all)) == 0 else {
        throw failure("cannot listen at '\(path)'")
      }
      guard let made = try directory.facts(of: place.name), made.kind == .socket, made.owner == geteuid() else {
        throw CaravanError(.unavailable, "somebody else has put something at '\(path)': use another socket")
      }
      try directory.setMode(0o666, of: place.name)
      return (descriptor, Made(directory: directory, name: place.name, identity: made.identity))
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  private static func confirm(_ descriptor: Int32, listensAt path: String) throws(CaravanError) {
    var address = sockaddr_un()
    var length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let status = unsafe withUnsafeMutablePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
    }
    let bound = unsafe withUnsafeBytes(of: &address.sun_path) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    guard status == 0, bound == path else {
      throw CaravanError(
        .invalidData, "the supervisor listens at '\(bound)', and --socket says '\(path)': make them the same")
    }
  }

  private static func failure(_ what: String) -> CaravanError { CaravanError(.unavailable, "\(what): \(text(errno))") }

  private static func text(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}
