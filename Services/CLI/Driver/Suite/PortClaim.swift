internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// A port on which this process is about to have something listen: others that are about to do so are told, before
/// anybody does. It is a name of a unix socket in no directory (https://man7.org/linux/man-pages/man7/unix.7.html): in
/// one network namespace, where the port is, the kernel gives it to one process at a time, and takes it back from one
/// that has ended, however it has.
final class PortClaim: Sendable {
  private let descriptor: Mutex<Int32>

  /// nil: another process has it, or this one may have no more sockets.
  init?(_ port: UInt16) {
    let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0, Self.bind(socket, to: "caravan-port-\(port)") else {
      if socket >= 0 { close(socket) }
      return nil
    }
    descriptor = Mutex(socket)
  }

  deinit { release() }

  func release() {
    descriptor.withLock { descriptor in
      if descriptor >= 0 { close(descriptor) }
      descriptor = -1
    }
  }

  /// The name begins with a byte 0 and ends with the length.
  private static func bind(_ socket: Int32, to name: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = [0] + Array(name.utf8)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
    return unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe Glibc.bind(socket, $0, length) } == 0
    }
  }
}
