import CaravanModel
import Glibc

/// A bound and listening TCP socket. The server binds by itself, not through MHD, which reports no reason when it
/// fails.
struct ListenSocket {
  let descriptor: Int32
  let port: UInt16

  /// - Parameter address: a numeric IPv4 or IPv6 address; names would need a blocking look-up.
  init(address: String, port: UInt16) throws(CaravanError) {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(address, String(port), &hints, &list) == 0, let info = list?.pointee else {
      throw CaravanError(
        .invalidData, "cannot listen on \"\(address)\": not a numeric address; give one such as 127.0.0.1 or ::")
    }
    defer { freeaddrinfo(list) }

    let descriptor = socket(info.ai_family, info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), info.ai_protocol)
    guard descriptor >= 0 else { throw Self.failure(address, port) }
    var one: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    guard bind(descriptor, info.ai_addr, info.ai_addrlen) == 0, listen(descriptor, Int32(SOMAXCONN)) == 0 else {
      let error = Self.failure(address, port)
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    self.port = Self.boundPort(descriptor)
  }

  private static func boundPort(_ descriptor: Int32) -> UInt16 {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { storage in
      storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &length) }
      // The port is at the same place, in network order, in addresses of both families.
      return storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin_port) }
    }
  }

  private static func failure(_ address: String, _ port: UInt16) -> CaravanError {
    let reason = String(cString: strerror(errno))
    return CaravanError(
      .unavailable, "cannot listen on \(address) port \(port): \(reason); free the port or choose another address")
  }
}
