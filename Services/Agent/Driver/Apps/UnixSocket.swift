internal import Client
internal import Glibc
internal import Model

/// The listening end of the agent's socket. Its calls block.
struct UnixSocket: Sendable {
  let path: String
  private let descriptor: Int32

  /// Makes the socket, in place of one that a crash left behind, and the directory for the apps' tokens beside it.
  /// Every user may connect; who may speak for an app is decided by its token and its user.
  /// - Throws: `unavailable` when another agent answers there.
  init(listeningAt path: String) throws(CaravanError) {
    self.path = path
    descriptor = socket(AF_UNIX, FrameSocket.streamType, 0)
    guard descriptor >= 0 else { throw Self.failure("no socket") }
    do throws(CaravanError) {
      if try unsafe Self.with(path, descriptor, connect) == 0 {
        throw CaravanError(.unavailable, "another agent answers at '\(path)': stop it, or use another socket")
      }
      unsafe unlink(path)
      guard try unsafe Self.with(path, descriptor, bind) == 0 else { throw Self.failure("cannot listen at '\(path)'") }
      guard unsafe chmod(path, 0o666) == 0, listen(descriptor, Int32(AppLimits.connections)) == 0 else {
        throw Self.failure("cannot listen at '\(path)'")
      }
      try Self.makeTokenDirectory(path)
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  /// Sticky, like /tmp: every app's user keeps its own file there.
  private static func makeTokenDirectory(_ path: String) throws(CaravanError) {
    let directory = "\(path).tokens"
    guard unsafe mkdir(directory, 0o1777) == 0 || errno == EEXIST, unsafe chmod(directory, 0o1777) == 0 else {
      throw failure("cannot make '\(directory)'")
    }
  }

  /// - Returns: nil when the socket was shut down.
  /// - Throws: `limitExceeded` when the process has no more descriptors.
  func acceptBlocking() throws(CaravanError) -> FrameSocket? {
    while true {
      let accepted = accept(descriptor, nil, nil)
      if accepted >= 0 { return try FrameSocket(accepted, AppLimits.socket) }
      switch errno {
      case EINTR, ECONNABORTED: continue
      case EMFILE, ENFILE, ENOMEM, ENOBUFS:
        throw CaravanError(
          .limitExceeded, "an app cannot be let in (\(Self.text(errno))): raise the limit on open files")
      default: return nil
      }
    }
  }

  /// Ends a blocked `acceptBlocking`.
  func shutDown() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  func close() {
    Glibc.close(descriptor)
    unsafe unlink(path)
  }

  // MARK: Parts

  private static func with(
    _ path: String, _ descriptor: Int32, _ call: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32
  ) throws(CaravanError) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let fits = unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
      guard bytes.count < target.count else { return false }
      unsafe target.copyBytes(from: bytes)
      return true
    }
    guard fits else {
      throw CaravanError(.invalidData, "the socket's path '\(path)' is too long: use one below 108 bytes")
    }
    return unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  private static func failure(_ what: String) -> CaravanError { CaravanError(.unavailable, "\(what): \(text(errno))") }

  private static func text(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}
