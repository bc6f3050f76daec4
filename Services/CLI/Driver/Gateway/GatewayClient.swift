internal import Encoding
internal import Launch
internal import Model
internal import Runtime

/// Asks a gateway, as an operator does.
struct GatewayClient: Sendable {
  static let patience: Duration = .seconds(15)

  struct Answer: Sendable {
    let status: Int
    let body: [UInt8]
  }

  let address: HostPort
  let adminToken: String?
  private let room: HTTPRoom

  /// - Parameter url: `http://host:port`, without a path.
  /// - Throws: `invalidData` for any other URL.
  init(url: String, adminToken: String?, host: Host) throws(CaravanError) {
    let scheme = "http://"
    let rest = url.hasSuffix("/") ? url.dropLast() : url[...]
    guard rest.hasPrefix(scheme), let address = HostPort(flagText: String(rest.dropFirst(scheme.count))) else {
      throw CaravanError(.invalidData, "--gateway '\(url)': write http://HOST:PORT")
    }
    self.init(address: address, adminToken: adminToken, host: host)
  }

  init(address: HostPort, adminToken: String?, host: Host) {
    self.address = address
    self.adminToken = adminToken
    room = HTTPRoom(host.executors.makeSerial("http"))
  }

  /// - Throws: `unavailable` when nobody answers; what the gateway refuses.
  func call(_ method: String, _ path: String, _ body: JSON? = nil) async throws(CaravanError) -> JSON {
    let answer = try await send(method, path, body)
    let json: JSON?
    do { json = try JSON.parse(answer.body) } catch { json = nil }
    if (200..<300).contains(answer.status), let json { return json }
    if let error = json?["error"], let code = error["code"]?.stringValue, let text = error["message"]?.stringValue {
      throw CaravanError(ErrorCode(rawValue: code) ?? .internalError, text)
    }
    throw CaravanError(
      .unavailable, "http://\(address) answered \(answer.status) to \(method) \(path): is a Caravan gateway there?")
  }

  func send(_ method: String, _ path: String, _ body: JSON? = nil) async throws(CaravanError) -> Answer {
    var head = "\(method) \(path) HTTP/1.1\r\nHost: \(address)\r\nConnection: close\r\n"
    if let adminToken { head += "Authorization: Bearer \(adminToken)\r\n" }
    let payload = body?.encodedBytes() ?? []
    if body != nil { head += "Content-Type: application/json\r\nContent-Length: \(payload.count)\r\n" }
    let request = Array((head + "\r\n").utf8) + payload
    let bytes = try await room.exchange(request, with: address)
    guard let answer = Self.answer(bytes) else {
      throw CaravanError(.unavailable, "http://\(address) does not speak HTTP, or stopped in the middle of its answer")
    }
    return answer
  }

  /// The whole of an answer that ends with its connection; nil when it is none.
  static func answer(_ bytes: [UInt8]) -> Answer? {
    let separator = Array("\r\n\r\n".utf8)
    guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: separator) }) else { return nil }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n").map(String.init)
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else { return nil }
    let body = Array(bytes[(end + separator.count)...])
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1).map { $0.drop { $0 == " " } }
      if parts.count == 2, parts[0].lowercased() == "content-length", Int(parts[1]) != body.count { return nil }
    }
    return Answer(status: status, body: body)
  }
}
