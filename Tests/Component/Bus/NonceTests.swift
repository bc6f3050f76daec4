import CaravanBusNATS
import CaravanCrypto
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Glibc
import Testing

/// A broker for one client: offers the nonces it is told to, and refuses who does not sign. Blocks a thread of its own.
private actor NonceBroker {
  private static let patience = timeval(tv_sec: 10, tv_usec: 0)

  private let executor: any SerialExecutor
  private let listener: Int32
  private let address: sockaddr_in
  nonisolated let port: UInt16
  private var refusals = 0

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ host: Host) throws {
    executor = host.executors.makeSerial("nonces")
    port = try LoopbackPort.free(random: host.random)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    self.address = address
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    Self.setPatience(listener)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard bound == 0, listen(listener, 8) == 0 else { throw Unexpected("no socket: error \(errno)") }
  }

  deinit { close(listener) }

  private static func setPatience(_ socket: Int32) {
    var patience = patience
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  /// One connection a nonce, one after the other; hangs up on each but the last.
  /// - Returns: how often the client asked to be let in without a signature, and its last connection.
  func serve(_ nonces: [String]) throws -> (refusals: Int, last: Int32) {
    var client: Int32 = -1
    for nonce in nonces {
      if client >= 0 { close(client) }
      client = accept(listener, nil, nil)
      guard client >= 0 else { throw Unexpected("nobody came for '\(nonce)'") }
      Self.setPatience(client)
      say("INFO {\"version\":\"2.9.10\",\"max_payload\":1048576,\"nonce\":\"\(nonce)\"}", to: client)
      let request = hear(client, until: "PING")
      if request.contains("\"sig\":\"") {
        say("PONG", to: client)
        // What a client that has connected says first. libnats 3.4 does not survive to be hung up on before.
        _ = hear(client, until: "SUB")
      } else if request.contains("CONNECT") {
        refusals += 1
        say("-ERR 'Authorization Violation'", to: client)
      }
    }
    return (refusals, client)
  }

  private func say(_ line: String, to client: Int32) {
    let bytes = Array("\(line)\r\n".utf8)
    _ = send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// Until the client has said the word, or hangs up.
  private func hear(_ client: Int32, until word: String) -> String {
    var text = ""
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while !text.contains(word) {
      let count = recv(client, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      text += String(decoding: buffer[..<count], as: UTF8.self)
    }
    return text
  }
}

@Suite("Signing in", .timeLimit(.minutes(1)))
struct NonceTests {
  private func credentials() throws -> Credentials {
    let (key, account) = (try NKey.generate(.user), try NKey.generate(.account))
    let claims = JWTClaims(
      subject: key.publicKey, name: "pi-4", issuedAt: 1,
      .user(UserClaims(.explicit(Permissions(publish: .init(allow: ["edge.>"]))))))
    return try Credentials(jwt: claims.sign(with: account), key: key)
  }

  /// The first of endless nonces whose signature begins with a zero byte, or does not.
  private func nonce(_ key: NKey, zero: Bool) throws -> String {
    for number in 0..<100_000 {
      let nonce = "nonce-\(number)"
      if (try key.sign(Array(nonce.utf8)).first == 0) == zero { return nonce }
    }
    throw Unexpected("no such nonce")
  }

  @Test("A signature that begins with a zero byte, one in 256, is no refusal: at first, and coming back")
  func zeroByte() async throws {
    let host = Host.quiet
    let credentials = try credentials()
    let (good, bad) = (try nonce(credentials.key, zero: false), try nonce(credentials.key, zero: true))
    let broker = try NonceBroker(host)
    var options = NATSOptions(urls: ["nats://127.0.0.1:\(broker.port)"], credentials: credentials, name: "test")
    options.firstRetry = .milliseconds(2)
    async let served = broker.serve([bad, good, bad, bad, good])
    let bus = try await NATSBus.connect(options, host: host)
    let (refusals, last) = try await served
    defer { close(last) }
    #expect(refusals == 0)
    try await eventually("connected again") { bus.isConnected }
    await bus.drain(deadline: .milliseconds(10))
  }
}
