internal import CCurl
internal import Crypto
internal import Encoding
internal import Glibc
public import Model
public import Objects
public import Runtime

/// An object store that speaks S3. An object is spooled to a file first, so that its hash and size are known when its
/// request is signed, and a slow object store keeps no object in memory.
public actor S3Lane: ObjectLane {
  private let executor: any SerialExecutor
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private let options: S3Options
  private let handle: CurlHandle
  private var spool: Spool
  private var hash = SHA256()

  private static let connectMilliseconds = 5_000
  private static let stallSeconds = 30
  /// Of one PUT (https://docs.aws.amazon.com/AmazonS3/latest/userguide/upload-objects.html).
  private static let largestObject = 5 << 30

  /// - Parameter spool: a directory on this machine.
  public init(_ options: S3Options, spool: String, number: Int, host: Host) throws(CaravanError) {
    executor = host.executors.makeSerial("objects-\(number)")
    self.options = options
    handle = try CurlHandle()
    self.spool = Spool(in: spool, number: number, host: host)
  }

  public func begin() throws(CaravanError) {
    try spool.begin()
    hash = SHA256()
  }

  public func append(_ bytes: [UInt8]) throws(CaravanError) {
    try spool.append(bytes)
    hash.update(bytes)
  }

  public func put(at path: String) throws(CaravanError) {
    guard spool.size <= Self.largestObject else {
      throw CaravanError(
        .limitExceeded, "'\(path)' has \(spool.size) bytes: the object store takes \(Self.largestObject)")
    }
    try spool.finish()
    defer { unlink(spool.path) }
    var ended = SHA256()
    swap(&ended, &hash)
    let digest = ended.finalize()
    guard let file = fopen(spool.path, "rbe") else {
      throw CaravanError(.storageFull, "cannot read '\(spool.path)': what was spooled is gone")
    }
    defer { fclose(file) }
    try perform("PUT", path, hash: Hex.encode(digest.bytes), body: file, bytes: spool.size)
  }

  public func remove(_ path: String) throws(CaravanError) {
    try perform("DELETE", path, hash: Hex.encode(SHA256.hash([UInt8]()).bytes), body: nil, bytes: 0)
  }

  private func perform(
    _ method: String, _ path: String, hash: String, body: UnsafeMutablePointer<FILE>?, bytes: Int
  ) throws(CaravanError) {
    let texts = [
      method, options.url(of: path), "aws:amz:\(options.region):s3", "\(options.keyID):\(options.secret)",
    ].map { (text: String) -> UnsafeMutablePointer<CChar>? in strdup(text) }
    var headers: UnsafeMutablePointer<curl_slist>?
    for header in options.headers(bodyHash: hash) { headers = curl_slist_append(headers, header) }
    defer {
      for text in texts { free(text) }
      curl_slist_free_all(headers)
    }
    var request = CCurl_request(
      method: texts[0], url: texts[1], signature: texts[2], credentials: texts[3], headers: headers, body: body,
      body_bytes: curl_off_t(bytes), connect_milliseconds: Self.connectMilliseconds, stall_seconds: Self.stallSeconds)
    var answer = CCurl_answer()
    var code = CURLE_OK
    let status = CCurl_perform(handle.curl, &request, &answer, &code)
    guard code == CURLE_OK else {
      let reason = String(cString: curl_easy_strerror(code))
      throw CaravanError(.unavailable, "the object store cannot be reached: \(reason)")
    }
    let length = answer.length
    let text = withUnsafeBytes(of: &answer.text) { String(decoding: $0.prefix(length), as: UTF8.self) }
    if let refusal = S3Options.refusal(status, text, of: path, removing: method == "DELETE") { throw refusal }
  }
}

/// One libcurl handle: it keeps its connection from request to request.
///
/// `@unchecked Sendable` is safe because only the actor that owns it uses it: libcurl asks that no handle is used by
/// more than one thread at the same time (https://curl.se/libcurl/c/threadsafe.html).
private final class CurlHandle: @unchecked Sendable {
  let curl: UnsafeMutableRawPointer

  init() throws(CaravanError) {
    Self.prepareLibrary
    guard let curl = curl_easy_init() else { throw CaravanError(.internalError, "libcurl cannot be used") }
    self.curl = curl
  }

  deinit { curl_easy_cleanup(curl) }

  private static let prepareLibrary: Void = CCurl_prepare()
}
