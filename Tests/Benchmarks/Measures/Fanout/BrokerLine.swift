internal import CaravanCrypto
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// A connection to the broker on this machine, spoken to in its own words: what it costs is the kernel's and the
/// broker's, hardly ours.
final class BrokerLine: Sendable {
  let descriptor: Int32

  /// Connects, and says who it is.
  init(port: UInt16, _ credentials: Credentials) throws(CaravanError) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = unsafe inet_addr("127.0.0.1")
    let status = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw CaravanError(.unavailable, "no broker on port \(port): error \(errno)") }
    var atOnce: Int32 = 1
    unsafe setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &atOnce, socklen_t(MemoryLayout<Int32>.size))
    try introduce(credentials)
  }

  deinit { close(descriptor) }

  private func introduce(_ credentials: Credentials) throws(CaravanError) {
    var greeting: [UInt8] = []
    while greeting.last != UInt8(ascii: "\n") { greeting += try receive(isWaiting: true) }
    let text = String(decoding: greeting.dropFirst("INFO ".utf8.count), as: UTF8.self).prefix { !$0.isNewline }
    guard let nonce = try? JSON.parse(String(text))["nonce"]?.stringValue,
      let signature = try? credentials.key.sign(Array(nonce.utf8))
    else { throw CaravanError(.notAuthenticated, "the broker's greeting has no nonce") }
    let hello: JSON = [
      "verbose": false, "pedantic": false, "lang": "swift", "version": "0", "protocol": 1, "headers": true,
      "no_responders": false, "jwt": .string(credentials.jwt.text), "sig": .string(Base64.encodeURL(signature)),
    ]
    try send(Array("CONNECT \(hello.encoded())\r\n".utf8))
  }

  /// All of it, waiting for room where there is none.
  func send(_ bytes: [UInt8]) throws(CaravanError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw CaravanError(.unavailable, "the broker does not take more: error \(errno)") }
      rest = rest.dropFirst(count)
    }
  }

  /// - Returns: nothing when there is nothing and nobody waits.
  func receive(isWaiting: Bool = false) throws(CaravanError) -> [UInt8] {
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
      let received = unsafe recv(descriptor, buffer.baseAddress, buffer.count, isWaiting ? 0 : Int32(MSG_DONTWAIT))
      count = max(0, received)
      failure = received > 0 ? 0 : received == 0 ? ECONNRESET : errno
    }
    guard failure == 0 || failure == EAGAIN else {
      throw CaravanError(.unavailable, "the broker broke the connection: error \(failure)")
    }
    return bytes
  }

  /// - Parameter reply: where an answer goes.
  static func publish(_ payload: [UInt8], to subject: String, reply: String = "") -> [UInt8] {
    let reply = reply.isEmpty ? "" : "\(reply) "
    return Array("PUB \(subject) \(reply)\(payload.count)\r\n".utf8) + payload + Array("\r\n".utf8)
  }
}

/// A line that is written to by a thread of its own, which may wait for room.
actor BlockingLine {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
  private let line: BrokerLine

  init(_ line: BrokerLine, executors: any ExecutorSource) {
    self.line = line
    executor = executors.makeSerial("line")
  }

  func send(_ bytes: [UInt8]) throws(CaravanError) { try line.send(bytes) }
}
