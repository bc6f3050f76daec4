internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// How an app reaches its agent.
enum AppSocket {
  /// - Throws: `networkNotConnected` when no agent listens at `path`.
  static func connected(to path: String) throws(CaravanError) -> FrameSocket {
    let address = try UnixAddress(path)
    let descriptor = socket(AF_UNIX, FrameSocket.streamType, 0)
    guard descriptor >= 0 else { throw failure("no socket", errno) }
    guard address.connect(descriptor) else {
      let code = errno
      Glibc.close(descriptor)
      throw CaravanError(
        .networkNotConnected, "no agent answers at '\(path)' (\(text(code))): is caravan-agent running?")
    }
    return try FrameSocket(descriptor, ClientLimits.socket)
  }

  static func failure(_ what: String, _ code: Int32) -> CaravanError {
    CaravanError(.networkNotConnected, "\(what) (\(text(code))): connect again")
  }

  private static func text(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}

/// The token that proves an app to its agent, in a file that only the app's user can read.
struct AppToken {
  private let path: String

  init(socket: String, app: ContainerID) { path = "\(socket).tokens/\(app)" }

  /// - Returns: empty when there is none yet: the agent makes it on first contact. What another user has put there is
  ///   none.
  func read() -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { Glibc.close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
      return ""
    }
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
    let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    return String(text.prefix { !$0.isWhitespace })
  }

  /// Keeps the token, for good.
  /// - Throws: `storageFull` when the file cannot be written.
  func write(_ token: String) throws(CaravanError) {
    do throws(CaravanError) { try TextFile.writeSecret("\(token)\n", to: path) } catch {
      throw CaravanError(.storageFull, "the app's token cannot be kept (\(error.message)): make its directory writable")
    }
  }
}
