internal import Glibc
internal import Launch
internal import Model
internal import SwiftOverlayShims

/// Where blocking calls of sockets are made: on a thread of its own.
actor HTTPRoom {
  private static let answerBytes = 16 << 20

  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  init(_ executor: any SerialExecutor) { self.executor = executor }

  /// Sends the request on a new connection, and returns everything until its end.
  /// - Throws: `unavailable`, `timedOut`.
  func exchange(_ request: [UInt8], with address: HostPort) throws(CaravanError) -> [UInt8] {
    let socket = try Self.connectBlocking(to: address)
    defer { close(socket) }
    var rest = request[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { throw Self.failure(address) }
      rest = rest.dropFirst(count)
    }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = unsafe recv(socket, &buffer, buffer.count, 0)
      guard count >= 0 else { throw Self.failure(address) }
      if count == 0 { return answer }
      answer += buffer[..<count]
      guard answer.count <= Self.answerBytes else {
        throw CaravanError(.limitExceeded, "http://\(address) answered with more than \(Self.answerBytes) bytes")
      }
    }
  }

  private static func connectBlocking(to address: HostPort) throws(CaravanError) -> Int32 {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(address.host, String(address.port), &hints, &list) == 0 else {
      throw CaravanError(.unavailable, "'\(address.host)' is no known host")
    }
    defer { unsafe freeaddrinfo(list) }
    var next = unsafe list
    while let info = unsafe next?.pointee {
      let kind = unsafe info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue)
      let socket = unsafe Glibc.socket(info.ai_family, kind, info.ai_protocol)
      var patience = timeval(tv_sec: Int(GatewayClient.patience.components.seconds), tv_usec: 0)
      let size = socklen_t(MemoryLayout<timeval>.size)
      for option in [SO_RCVTIMEO, SO_SNDTIMEO] { unsafe setsockopt(socket, SOL_SOCKET, option, &patience, size) }
      if unsafe connect(socket, info.ai_addr, info.ai_addrlen) == 0 { return socket }
      close(socket)
      unsafe next = info.ai_next
    }
    throw CaravanError(.unavailable, "nobody answers at http://\(address): does caravan up run?")
  }

  private static func failure(_ address: HostPort) -> CaravanError {
    errno == EAGAIN
      ? CaravanError(.timedOut, "http://\(address) did not answer in time: try again")
      : CaravanError(.unavailable, "http://\(address) broke the connection: try again")
  }
}
