internal import CaravanEncoding
internal import CaravanHTTPClient
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime

/// Asks a gateway, as an operator does.
struct GatewayClient: Sendable {
  static let patience: Duration = .seconds(15)

  /// `https://HOST:PORT`, without a path.
  let url: String
  let adminToken: String?
  private let room: HTTPRoom

  /// - Parameters:
  ///   - url: `http://HOST:PORT` or `https://HOST[:PORT]`, without a path.
  ///   - authority: the file of who may have signed its certificate; nil: whom the system trusts.
  ///   - allowsClear: whether what is said, tokens included, may go in clear to another machine.
  /// - Throws: `invalidData` for any other URL, or when it would go in clear.
  init(
    url: String, adminToken: String?, authority: String? = nil, allowsClear: Bool = false, host: Host
  ) throws(CaravanError) {
    let text = url.hasSuffix("/") ? String(url.dropLast()) : url
    let isSecure = text.hasPrefix("https://")
    guard isSecure || text.hasPrefix("http://") else { throw Self.malformed(url) }
    let place = String(text.dropFirst(isSecure ? 8 : 7))
    guard let address = HostPort(flagText: place) ?? (isSecure ? HostPort(flagText: "\(place):443") : nil),
      !address.host.contains(where: { $0 == "/" || $0 == "@" || $0 == "?" || $0.isWhitespace })
    else { throw Self.malformed(url) }
    guard isSecure || allowsClear || address.isLoopback else {
      throw CaravanError(
        .invalidData,
        "--gateway \(url) is another machine, and tokens would go there in clear: write https://HOST:PORT, or say "
          + "--insecure")
    }
    self.url = text
    self.adminToken = adminToken
    room = HTTPRoom(host.executors.makeSerial("http"), authority: authority)
  }

  private static func malformed(_ url: String) -> CaravanError {
    CaravanError(.invalidData, "--gateway '\(url)': write https://HOST:PORT, or http://HOST:PORT on this machine")
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
      .unavailable, "\(url) answered \(answer.status) to \(method) \(path): is a Caravan gateway there?")
  }

  func send(_ method: String, _ path: String, _ body: JSON? = nil) async throws(CaravanError) -> HTTPAnswer {
    var call = HTTPCall(method, url + path)
    if let adminToken { call.headers.append("Authorization: Bearer \(adminToken)") }
    if let body {
      call.headers.append("Content-Type: application/json")
      call.body = .bytes(body.encodedBytes())
    }
    return try await room.perform(call, at: url)
  }
}
