internal import Glibc
internal import Model

/// The app's end of the agent's unix socket: frames of a 4-byte little-endian length and a message. Calls block.
struct AppSocket: Sendable {
  private let descriptor: Int32

  /// - Throws: `networkNotConnected` when no agent listens at `path`.
  init(connectingTo path: String) throws(CaravanError) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Self.failure("no socket", errno) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let fits = unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
      guard bytes.count < target.count else { return false }
      unsafe target.copyBytes(from: bytes)
      return true
    }
    guard fits else {
      Glibc.close(descriptor)
      throw CaravanError(.invalidData, "the socket's path '\(path)' is too long: use one below 108 bytes")
    }
    let status = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0 else {
      let code = errno
      Glibc.close(descriptor)
      throw CaravanError(
        .networkNotConnected, "no agent answers at '\(path)' (\(Self.text(code))): is caravan-agent running?")
    }
    self.descriptor = descriptor
  }

  /// - Throws: `networkNotConnected` when the agent has gone.
  func sendBlocking(_ message: [UInt8]) throws(CaravanError) {
    let length = UInt32(message.count)
    let frame = (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + message
    var sent = 0
    while sent < frame.count {
      let count = unsafe frame.withUnsafeBytes { bytes in
        unsafe send(descriptor, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.failure("the agent has closed the connection", errno) }
      sent += count
    }
  }

  /// - Returns: nil at the end of the stream.
  /// - Throws: `limitExceeded` for a frame beyond `Limits.appMessageBytes` and its envelope.
  func receiveBlocking() throws(CaravanError) -> [UInt8]? {
    guard let head = try readBlocking(4) else { return nil }
    let length = head.reversed().reduce(0) { $0 << 8 | Int($1) }
    guard length <= Limits.appMessageBytes + Self.envelopeBytes else {
      throw CaravanError(.limitExceeded, "the agent sent a message of \(length) bytes")
    }
    return try readBlocking(length)
  }

  /// What a message may have beside its payload.
  private static let envelopeBytes = 4 << 10

  private func readBlocking(_ count: Int) throws(CaravanError) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let got = unsafe bytes.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress! + filled, count - filled, 0) }
      if got < 0, errno == EINTR { continue }
      guard got > 0 else {
        if got == 0, filled == 0 { return nil }
        throw Self.failure("the agent has closed the connection", got == 0 ? ECONNRESET : errno)
      }
      filled += got
    }
    return bytes
  }

  /// Ends both directions: a blocked `receiveBlocking` returns.
  func shutDown() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Once, when nobody uses the socket any more.
  func close() { Glibc.close(descriptor) }

  private static func failure(_ what: String, _ code: Int32) -> CaravanError {
    CaravanError(.networkNotConnected, "\(what) (\(text(code))): connect again")
  }

  private static func text(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}

/// The token that proves an app to its agent, in a file that only the app's user can read.
enum AppToken {
  static func path(socket: String, app: ContainerID) -> String { "\(socket).tokens/\(app)" }

  /// - Returns: empty when there is none yet: the agent makes it on first contact.
  static func read(socket: String, app: ContainerID) -> String {
    let descriptor = unsafe open(path(socket: socket, app: app), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { Glibc.close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
    let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    return String(text.prefix { !$0.isWhitespace })
  }
}
