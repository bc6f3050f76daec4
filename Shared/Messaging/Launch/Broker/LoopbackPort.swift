public import CaravanModel
public import CaravanRuntime
internal import Glibc

/// TCP ports of this machine.
public enum LoopbackPort {
  /// Below the ports that the kernel gives to outgoing connections, which would take one back at any moment.
  private static let range: Range<UInt16> = 10_000..<32_768
  private static let attempts = 100

  /// One that nobody used a moment ago.
  public static func free(random: any RandomSource) throws(CaravanError) -> UInt16 {
    for _ in 0..<attempts {
      let port = range.lowerBound + UInt16(random.below(UInt64(range.count)))
      let socket = makeSocket()
      defer { close(socket) }
      var address = Self.address("127.0.0.1", port)
      if unsafe withAddress(&address, { unsafe bind(socket, $0, $1) }) == 0 { return port }
    }
    throw CaravanError(.unavailable, "no free port on the loopback interface: \(SystemError.text(errno))")
  }

  /// Whether somebody listens there. `0.0.0.0` is looked for on the loopback interface.
  public static func accepts(_ port: UInt16, at host: String = "127.0.0.1") -> Bool {
    let socket = makeSocket()
    defer { close(socket) }
    var address = Self.address(host == "0.0.0.0" ? "127.0.0.1" : host, port)
    return unsafe withAddress(&address, { unsafe connect(socket, $0, $1) }) == 0
  }

  private static func makeSocket() -> Int32 {
    socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  }

  private static func address(_ host: String, _ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = unsafe inet_addr(host)
    return address
  }

  private static func withAddress(
    _ address: inout sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
