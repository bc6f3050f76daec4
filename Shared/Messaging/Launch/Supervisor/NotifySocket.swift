internal import CaravanRuntime
internal import Glibc

/// Where a supervisor such as systemd hears how a service is: sd_notify(3), in a few lines of our own. What is said is
/// a datagram of lines such as `READY=1`; a supervisor that does not listen is nobody's problem.
public struct NotifySocket: Sendable {
  let path: String
  private let address: UnixAddress

  /// - Parameter environment: has the supervisor's address in `NOTIFY_SOCKET`: a path, or `@` and an abstract name.
  /// - Returns: nil when nobody wants to know.
  public init?(environment: [String: String]) {
    guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@"),
      let address = try? UnixAddress(path)
    else { return nil }
    self.path = path
    self.address = address
  }

  /// - Returns: whether the supervisor took it.
  @discardableResult
  public func tell(_ state: String) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let bytes = Array(state.utf8)
    guard address.connect(descriptor) else { return false }
    let sent = unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    return sent == bytes.count
  }
}
