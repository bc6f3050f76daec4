import CCaravanMicroHTTPD

/// One request and its answer, from the request line to the last byte sent.
///
/// MHD holds it as the request's context and lets it go in the completed callback, nowhere else.
///
/// `@unchecked Sendable` is safe because MHD's thread alone touches everything but `response`. A handler writes that
/// once, under the intake's lock and while the connection is suspended, and MHD's thread reads it after the connection
/// was resumed: "It is safe to resume a suspended connection at any time" (microhttpd.h).
final class Exchange: @unchecked Sendable {
  enum Stage {
    /// Headers are still coming. Can transition to: body, refused.
    case head
    /// The body is coming. Can transition to: handling, refused.
    case body
    /// A handler has the request and the connection is suspended. Ends with `response` set and the connection resumed.
    case handling
    /// The server has answered by itself.
    case refused
  }

  let connection: OpaquePointer
  let link: Link
  let target: [UInt8]
  /// Begun after the server was told to shut down.
  let isLate: Bool
  var stage = Stage.head
  var body: [UInt8] = []
  /// Bytes of the body received, those over the limit, which are not kept, included.
  var received = 0
  var response: HTTPResponse?

  /// Set when the request is complete, read by the one handler.
  private(set) var request: HTTPRequest?

  init(connection: OpaquePointer, link: Link, target: [UInt8], isLate: Bool) {
    self.connection = connection
    self.link = link
    self.target = target
    self.isLate = isLate
  }

  /// Takes the next bytes of the body, and keeps none once there are more than `limit`.
  func receive(_ bytes: UnsafeRawBufferPointer, limit: Int) {
    received += bytes.count
    if received <= limit { body.append(contentsOf: bytes) } else { body = [] }
  }

  /// The stated length of the body; nil if it comes in chunks or there is none.
  var statedLength: Int? {
    guard let value = MHD_lookup_connection_value(connection, .HEADER_KIND, "content-length") else { return nil }
    return Int(String(cString: value))
  }

  /// Why nobody can say where the request ends, so that what follows on the connection might be taken for another
  /// request by one and for its body by the next (RFC 9112, 6.3); nil: it is clear.
  var ambiguity: String? {
    let fields = headers().fields
    let lengths = Set(fields.filter { $0.name == "content-length" }.map(\.value))
    if lengths.count > 1 { return "the request has two Content-Length headers that differ" }
    guard !lengths.isEmpty, fields.contains(where: { $0.name == "transfer-encoding" }) else { return nil }
    return "the request has both Content-Length and Transfer-Encoding"
  }

  /// Composes the request; false if its target is malformed.
  /// - Parameter proxies: those that are trusted.
  func complete(method: String, proxies: [NetworkRange]) -> Bool {
    guard let target = RequestTarget(target) else { return false }
    let headers = headers()
    let peer = CMicroHTTPD_peer(connection).flatMap { NetworkAddress($0) }
    request = HTTPRequest(
      method: method, target: target, headers: headers, body: body, peer: peer,
      origin: Origin(peer: peer, headers: headers, proxies: proxies))
    body = []
    return true
  }

  private func headers() -> HTTPHeaders {
    var headers = HTTPHeaders()
    withUnsafeMutablePointer(to: &headers) { headers in
      _ = MHD_get_connection_values_n(
        connection, .HEADER_KIND,
        { headers, _, name, nameLength, value, valueLength in
          let headers = headers!.assumingMemoryBound(to: HTTPHeaders.self)
          headers.pointee.add(text(name, nameLength), text(value, valueLength))
          return .YES
        }, headers)
    }
    return headers
  }
}

private func text(_ start: UnsafePointer<CChar>?, _ length: Int) -> String {
  guard let start else { return "" }
  return String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
}
