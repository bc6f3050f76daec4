internal import CaravanCrypto
internal import CaravanEncoding
internal import CaravanHTTPClient
public import CaravanModel
public import CaravanObjects
public import CaravanRuntime
internal import Glibc

/// An object store that speaks S3. An object is spooled to a file first, so that its hash and size are known when its
/// request is signed, and a slow object store keeps no object in memory.
public actor S3Lane: ObjectLane {
  private let executor: any SerialExecutor
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private let options: S3Options
  private let client: HTTPClient
  private var spool: Spool
  private var hash = SHA256()

  private static let limits = {
    var limits = HTTPClientLimits()
    // What is said of a refusal; an object never comes from there.
    limits.answerBytes = 1 << 20
    return limits
  }()
  /// Of one PUT (https://docs.aws.amazon.com/AmazonS3/latest/userguide/upload-objects.html).
  private static let largestObject = 5 << 30

  /// - Parameter spool: a directory on this machine.
  public init(_ options: S3Options, spool: String, number: Int, host: Host) throws(CaravanError) {
    executor = host.executors.makeSerial("objects-\(number)")
    self.options = options
    client = try HTTPClient()
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
    try perform("PUT", path, hash: Hex.encode(digest.bytes), .file(path: spool.path, size: spool.size))
  }

  public func remove(_ path: String) throws(CaravanError) {
    try perform("DELETE", path, hash: Hex.encode(SHA256.hash([UInt8]()).bytes), .none)
  }

  private func perform(_ method: String, _ path: String, hash: String, _ body: HTTPCall.Body) throws(CaravanError) {
    let call = HTTPCall(
      method, options.url(of: path), headers: options.headers(bodyHash: hash), body: body,
      signature: .init(scope: "aws:amz:\(options.region):s3", keyID: options.keyID, secret: options.secret))
    let answer: HTTPAnswer
    do throws(HTTPFailure) { answer = try client.performBlocking(call, limits: Self.limits) } catch {
      throw Self.refusal(error)
    }
    let text = String(decoding: answer.body, as: UTF8.self)
    if let refusal = S3Options.refusal(answer.status, text, of: path, removing: method == "DELETE") { throw refusal }
  }

  private static func refusal(_ failure: HTTPFailure) -> CaravanError {
    switch failure {
    case .noBody(let file): CaravanError(.storageFull, "cannot read '\(file)': what was spooled is gone")
    case .forbidden: CaravanError(.unavailable, "the object store has no address that may be asked")
    case .timedOut: CaravanError(.unavailable, "the object store did not answer in time")
    case .tooLong(let bytes): CaravanError(.unavailable, "the object store answered with more than \(bytes) bytes")
    case .unreachable(let reason), .untrusted(let reason), .broken(let reason):
      CaravanError(.unavailable, "the object store cannot be reached: \(reason)")
    }
  }
}
