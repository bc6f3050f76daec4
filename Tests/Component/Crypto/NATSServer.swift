import CaravanCrypto
import CaravanEncoding
import Foundation

struct NATSFailure: Error { let message: String }

/// A real nats-server on a free loopback port, ended with this object.
final class NATSServer {
  static let program = "/usr/sbin/nats-server"
  static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }

  let port: UInt16
  private let process = Process()

  /// `configuration` without port and host.
  init(configuration: String, in folder: TemporaryFolder) throws {
    let file = try folder.write(
      "nats-\(UUID().uuidString).conf",
      "host: 127.0.0.1\nport: -1\nports_file_dir: \"\(folder.path)\"\n\(configuration)")
    process.executableURL = URL(fileURLWithPath: Self.program)
    process.arguments = ["-c", file, "-l", "\(file).log"]
    try process.run()
    let portsFile = "\(folder.path)/nats-server_\(process.processIdentifier).ports"
    let deadline = Date().addingTimeInterval(20)
    while true {
      if let port = Self.port(in: portsFile) {
        self.port = port
        return
      }
      guard process.isRunning, Date() < deadline else {
        process.terminate()
        process.waitUntilExit()
        let log = (try? String(contentsOfFile: "\(file).log", encoding: .utf8)) ?? "no log"
        throw NATSFailure(message: "nats-server did not start: \(log)")
      }
      usleep(10_000)
    }
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
  }

  /// From `{"nats":["nats://127.0.0.1:4222"]}`; nil while the file is not there or not complete.
  private static func port(in file: String) -> UInt16? {
    guard let text = try? String(contentsOfFile: file, encoding: .utf8), let json = try? JSON.parse(text) else {
      return nil
    }
    return json["nats"]?.arrayValue?.first?.stringValue?.split(separator: ":").last.flatMap { UInt16($0) }
  }
}

/// Just enough of the NATS protocol to be let in, or not.
final class NATSConnection {
  private var input: LineReader
  private let greeting: String

  /// Connects and signs the server's nonce; `answers` sends it.
  init(port: UInt16, token: String, key: NKey) throws {
    var input = LineReader(socket: try Self.connect(port))
    let info = try JSON.parse(String(try input.line().dropFirst("INFO ".count)))
    guard let nonce = info["nonce"]?.stringValue else { throw NATSFailure(message: "the server asks for no signature") }
    let hello: JSON = [
      "verbose": false, "pedantic": false, "lang": "swift", "version": "0", "protocol": 1, "jwt": .string(token),
      "sig": .string(Base64.encodeURL(try key.sign(Array(nonce.utf8)))),
    ]
    self.input = input
    greeting = "CONNECT \(hello.encoded())"
  }

  deinit { close(input.socket) }

  /// Greets, sends the lines and a PING, and returns what comes before the PONG or the end of the connection.
  /// All in one write: a server that closes on bytes it has not read resets the connection, and its answer is lost.
  func answers(to lines: [String]) throws -> [String] {
    let bytes = Array(([greeting] + lines + ["PING", ""]).joined(separator: "\r\n").utf8)
    guard send(input.socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
      throw NATSFailure(message: "not sent: errno \(errno)")
    }
    var answers: [String] = []
    while let line = try? input.line(), line != "PONG" {
      if !line.hasPrefix("INFO") { answers.append(line) }
    }
    return answers
  }

  private static func connect(_ port: UInt16) throws -> Int32 {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var patience = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else {
      close(socket)
      throw NATSFailure(message: "no connection: errno \(errno)")
    }
    return socket
  }
}

/// A socket's input, line by line.
private struct LineReader {
  let socket: Int32
  private var received: [UInt8] = []

  init(socket: Int32) { self.socket = socket }

  mutating func line() throws -> String {
    while true {
      if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: received[..<end], as: UTF8.self)
        received.removeSubrange(...end)
        return line.trimmingCharacters(in: .whitespacesAndNewlines)
      }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { throw NATSFailure(message: "the connection ended") }
      received += buffer[..<count]
    }
  }
}
