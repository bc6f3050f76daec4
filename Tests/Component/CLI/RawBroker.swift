import CaravanCrypto
import CaravanEncoding
import Foundation

/// Just enough of the NATS protocol to ask a broker what credentials may do.
struct RawBroker {
  struct Failure: Error { let message: String }

  let port: UInt16

  /// What the broker says to a connection that sends `lines`: empty when it minds nothing.
  /// All in one write: a server that closes on bytes it has not read resets the connection, and its answer is lost.
  func answers(_ credentials: Credentials, _ lines: [String]) throws -> [String] {
    let socket = try connect()
    defer { close(socket) }
    var received = ""
    try receive(socket, into: &received) { $0.contains("\r\n") }
    let info = try JSON.parse(String(received.prefix { !$0.isNewline }.dropFirst("INFO ".count)))
    let nonce = Array((info["nonce"]?.stringValue ?? "").utf8)
    let hello: JSON = [
      "verbose": false, "pedantic": false, "lang": "swift", "version": "0", "protocol": 1, "headers": true,
      "jwt": .string(credentials.jwt.text), "sig": .string(Base64.encodeURL(try credentials.key.sign(nonce))),
    ]
    let bytes = Array((["CONNECT \(hello.encoded())"] + lines + ["PING", ""]).joined(separator: "\r\n").utf8)
    guard send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
      throw Failure(message: "not sent: errno \(errno)")
    }
    received = ""
    try? receive(socket, into: &received) { $0.contains("PONG\r\n") }
    return received.split(separator: "\r\n").map(String.init).filter { $0 != "PONG" && !$0.hasPrefix("INFO") }
  }

  /// A connection that stays until it is closed; nil: the broker did not let it in.
  func stay(_ credentials: Credentials) throws -> Int32? {
    let socket = try connect()
    var received = ""
    do {
      try receive(socket, into: &received) { $0.contains("\r\n") }
      let info = try JSON.parse(String(received.prefix { !$0.isNewline }.dropFirst("INFO ".count)))
      let nonce = Array((info["nonce"]?.stringValue ?? "").utf8)
      let hello: JSON = [
        "verbose": false, "pedantic": false, "lang": "swift", "version": "0", "protocol": 1, "headers": true,
        "jwt": .string(credentials.jwt.text), "sig": .string(Base64.encodeURL(try credentials.key.sign(nonce))),
      ]
      let bytes = Array("CONNECT \(hello.encoded())\r\nPING\r\n".utf8)
      guard send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
        throw Failure(message: "not sent")
      }
      received = ""
      try receive(socket, into: &received) { $0.contains("PONG\r\n") || $0.contains("-ERR") }
      if received.contains("-ERR") { throw Failure(message: received) }
      return socket
    } catch {
      close(socket)
      return nil
    }
  }

  /// Whether the broker has closed it.
  static func hasEnded(_ socket: Int32) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count == 0 { return true }
      if count < 0 { return errno != EAGAIN }
    }
  }

  private func receive(_ socket: Int32, into text: inout String, until isDone: (String) -> Bool) throws {
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while !isDone(text) {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { throw Failure(message: "the connection ended") }
      text += String(decoding: buffer[..<count], as: UTF8.self)
    }
  }

  private func connect() throws -> Int32 {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var patience = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else {
      close(socket)
      throw Failure(message: "no connection: errno \(errno)")
    }
    return socket
  }
}
