internal import Glibc

/// Where a supervisor such as systemd hears how a service is: sd_notify(3), in a few lines of our own. What is said is
/// a datagram of lines such as `READY=1`; a supervisor that does not listen is nobody's problem.
public struct NotifySocket: Sendable {
  let path: String

  /// - Parameter environment: has the supervisor's address in `NOTIFY_SOCKET`: a path, or `@` and an abstract name.
  /// - Returns: nil when nobody wants to know.
  public init?(environment: [String: String]) {
    guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@"),
      path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
    else { return nil }
    self.path = path
  }

  /// - Returns: whether the supervisor took it.
  @discardableResult
  public func tell(_ state: String) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var name = Array(path.utf8)
    if path.hasPrefix("@") { name[0] = 0 }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
    // An abstract name ends with the address's length, and not with a zero.
    let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
    let bytes = Array(state.utf8)
    let sent = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), $0, length)
      }
    }
    return sent == bytes.count
  }
}
