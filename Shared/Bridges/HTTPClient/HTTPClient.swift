internal import CCaravanCurl
public import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// Asks HTTP servers, one call at a time, in bounded time and memory. It follows no redirect, and no variable of the
/// environment makes it ask a proxy. The connection is kept for the next call.
///
/// `@unchecked Sendable` is safe because whoever owns it makes one call at a time, from an executor of its own: "You
/// can pass the handles around among threads, but you must never use a single handle from more than one thread at any
/// given time" (libcurl-thread(3)).
public final class HTTPClient: @unchecked Sendable {
  private let curl: UnsafeMutableRawPointer
  private let authorityFile: String?

  private static let prepareLibrary: Void = CCurl_prepare()

  /// - Parameter authorityFile: who may have signed a server's certificate (PEM); nil: whom the system trusts.
  /// - Throws: `internalError` when the library cannot be used.
  public init(authorityFile: String? = nil) throws(CaravanError) {
    Self.prepareLibrary
    guard let curl = curl_easy_init() else { throw CaravanError(.internalError, "libcurl cannot be used") }
    self.curl = curl
    self.authorityFile = authorityFile
  }

  deinit { curl_easy_cleanup(curl) }

  /// Blocks until the answer is here whole.
  public func performBlocking(
    _ call: HTTPCall, limits: HTTPClientLimits = HTTPClientLimits()
  ) throws(HTTPFailure) -> HTTPAnswer {
    var texts: [UnsafeMutablePointer<CChar>] = []
    var headers: UnsafeMutablePointer<curl_slist>?
    var file: UnsafeMutablePointer<FILE>?
    defer {
      for text in texts { free(text) }
      curl_slist_free_all(headers)
      if let file { fclose(file) }
    }
    func copy(_ text: String?) -> UnsafePointer<CChar>? {
      guard let text, let copy = strdup(text) else { return nil }
      texts.append(copy)
      return UnsafePointer(copy)
    }
    for header in call.headers { headers = curl_slist_append(headers, header) }
    let credentials = call.signature.map { "\($0.keyID):\($0.secret)" }
    var request = CCurl_request(
      method: copy(call.method), url: copy(call.url), signature: copy(call.signature?.scope),
      credentials: copy(credentials), authority: copy(authorityFile), headers: headers, file: nil, bytes: nil,
      body_bytes: 0, connect_milliseconds: Int(limits.connect.wholeMilliseconds), stall_seconds: limits.stallSeconds,
      total_milliseconds: Int(limits.total?.wholeMilliseconds ?? 0), writer: nil, header_writer: nil,
      permits: nil, context: nil)
    switch call.body {
    case .none: return try perform(&request, call, limits)
    case .bytes(let bytes):
      request.body_bytes = curl_off_t(bytes.count)
      // Without a terminating byte an empty array has no address.
      let padded = bytes.map { CChar(bitPattern: $0) } + [0]
      let result = padded.withUnsafeBufferPointer { pointer -> Result<HTTPAnswer, HTTPFailure> in
        request.bytes = pointer.baseAddress
        do throws(HTTPFailure) { return .success(try perform(&request, call, limits)) } catch { return .failure(error) }
      }
      return try result.get()
    case .file(let path, let size):
      file = fopen(path, "rbe")
      guard let file else { throw .noBody(path) }
      request.file = file
      request.body_bytes = curl_off_t(size)
      return try perform(&request, call, limits)
    }
  }

  private func perform(
    _ request: inout CCurl_request, _ call: HTTPCall, _ limits: HTTPClientLimits
  ) throws(HTTPFailure) -> HTTPAnswer {
    let intake = Intake(limits, permits: call.permits)
    request.context = Unmanaged.passUnretained(intake).toOpaque()
    request.writer = { data, size, count, context in
      Unmanaged<Intake>.fromOpaque(context!).takeUnretainedValue().take(data, size * count)
    }
    request.header_writer = { data, size, count, context in
      Unmanaged<Intake>.fromOpaque(context!).takeUnretainedValue().takeHeader(data, size * count)
    }
    if call.permits != nil {
      request.permits = { address, context in
        Unmanaged<Intake>.fromOpaque(context!).takeUnretainedValue().isPermitted(address) ? 1 : 0
      }
    }
    var error = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
    var code = CURLE_OK
    let status = withExtendedLifetime(intake) { CCurl_perform(curl, &request, &error, &code) }
    guard code == CURLE_OK else { throw Self.failure(code, error, intake) }
    return HTTPAnswer(status: status, headers: intake.headers, body: intake.bytes)
  }

  private static func failure(_ code: CURLcode, _ error: [CChar], _ intake: Intake) -> HTTPFailure {
    let said = String(decoding: error.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let reason = said.isEmpty ? String(cString: curl_easy_strerror(code)) : said
    switch code {
    case CURLE_COULDNT_CONNECT where intake.hasForbidden: return .forbidden
    case CURLE_OPERATION_TIMEDOUT: return .timedOut
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_URL_MALFORMAT:
      return .unreachable(reason)
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
      return .untrusted(reason)
    case CURLE_WRITE_ERROR where intake.isFull: return .tooLong(intake.limit)
    default: return .broken(reason)
    }
  }
}

/// Keeps an answer as it comes, up to a bound, and asks of addresses.
private final class Intake {
  let limit: Int
  private let mostHeaders: Int
  private let permits: (@Sendable (ServerAddress) -> Bool)?
  var bytes: [UInt8] = []
  var headers: [String: String] = [:]
  var isFull = false
  var hasForbidden = false

  init(_ limits: HTTPClientLimits, permits: (@Sendable (ServerAddress) -> Bool)?) {
    limit = limits.answerBytes
    mostHeaders = limits.headers
    self.permits = permits
  }

  func take(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    guard bytes.count + count <= limit else {
      isFull = true
      return 0
    }
    bytes.append(contentsOf: UnsafeRawBufferPointer(start: data, count: count))
    return count
  }

  func takeHeader(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    let line = String(decoding: UnsafeRawBufferPointer(start: data, count: count), as: UTF8.self)
    if line.hasPrefix("HTTP/") {
      // That of an interim answer was not the last.
      headers = [:]
    } else if let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")), headers.count < mostHeaders {
      let value = line[line.index(after: colon)...].split(whereSeparator: \.isWhitespace).joined(separator: " ")
      headers[line[..<colon].lowercased()] = value
    }
    return count
  }

  func isPermitted(_ address: UnsafePointer<sockaddr>?) -> Bool {
    guard let permits, let address, let address = ServerAddress(address) else { return false }
    if permits(address) { return true }
    hasForbidden = true
    return false
  }
}

extension ServerAddress {
  fileprivate init?(_ address: UnsafePointer<sockaddr>) {
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      self = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
        ServerAddress(
          bytes: withUnsafeBytes(of: address.pointee.sin_addr) { Array($0) },
          port: UInt16(bigEndian: address.pointee.sin_port))
      }
    case AF_INET6:
      self = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
        ServerAddress(
          bytes: withUnsafeBytes(of: address.pointee.sin6_addr) { Array($0) },
          port: UInt16(bigEndian: address.pointee.sin6_port))
      }
    default: return nil
    }
  }
}
