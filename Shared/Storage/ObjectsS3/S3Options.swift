public import CaravanModel

/// A bucket of an object store that speaks Amazon's S3.
public struct S3Options: Sendable {
  let endpoint: String
  let bucket: String
  /// Before every path; empty, or ending with a slash.
  let prefix: String
  let region: String
  let keyID: String
  let secret: String
  /// Of credentials that last for a while.
  let sessionToken: String?

  private static let scheme = "s3://"

  /// Whether a place is a bucket, and not a directory.
  /// - Throws: `invalidData` when it is neither: the address of something else.
  public static func isPlace(_ text: String) throws(CaravanError) -> Bool {
    if text.hasPrefix(scheme) { return true }
    guard let slashes = text.firstRange(of: "://"), !text[..<slashes.lowerBound].contains("/") else { return false }
    throw CaravanError(
      .invalidData, "'\(text.prefix(80))' is no object store: give a directory, or s3://BUCKET/PREFIX")
  }

  /// - Parameters:
  ///   - place: `s3://BUCKET[/PREFIX]`.
  ///   - endpoint: `http://…` or `https://…`; the bucket is named in the path.
  /// - Throws: `invalidData`, `notAuthenticated`.
  public init(
    _ place: String, endpoint: String, region: String, keyID: String, secret: String, sessionToken: String? = nil
  ) throws(CaravanError) {
    let parts = place.dropFirst(Self.scheme.count).split(separator: "/", maxSplits: 1).map(String.init)
    let isName = { (byte: UInt8) in
      byte == 0x2d || byte == 0x2e || (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte)
    }
    guard try Self.isPlace(place), let bucket = parts.first, bucket.utf8.allSatisfy(isName) else {
      throw CaravanError(.invalidData, "'\(place)' names no bucket: use s3://BUCKET or s3://BUCKET/PREFIX")
    }
    guard endpoint.hasPrefix("http://") || endpoint.hasPrefix("https://") else {
      throw CaravanError(.invalidData, "'\(endpoint)' is no object store: use http://HOST:PORT or https://HOST")
    }
    guard !keyID.isEmpty, !secret.isEmpty else {
      throw CaravanError(
        .notAuthenticated, "the object store needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    }
    self.bucket = bucket
    prefix = parts.count > 1 ? parts[1].split(separator: "/").map { "\($0)/" }.joined() : ""
    self.endpoint = endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint
    self.region = region
    self.keyID = keyID
    self.secret = secret
    self.sessionToken = sessionToken?.isEmpty ?? true ? nil : sessionToken
  }

  /// Beside those that the library makes; all are signed.
  package func headers(bodyHash: String) -> [String] {
    ["x-amz-content-sha256: \(bodyHash)"] + (sessionToken.map { ["x-amz-security-token: \($0)"] } ?? [])
  }

  func url(of path: String) -> String { "\(endpoint)/\(bucket)/\(prefix)\(path)" }

  /// What an answer means.
  /// - Parameter removing: whether the object was to go, and not to come.
  /// - Returns: nil: it is done.
  package static func refusal(
    _ status: Int, _ text: String, of path: String, removing: Bool = false
  ) -> CaravanError? {
    let words = String(text.prefix(200).map { $0.isNewline ? " " : $0 })
    switch status {
    case 200...299: return nil
    // What is not there need not go; in a bucket that is not there it may be, when there is one again.
    case 404 where removing && !text.contains("<Code>NoSuchBucket</Code>"): return nil
    // S3's word for a body that comes too slowly, which the next one need not.
    case 400 where text.contains("<Code>RequestTimeout</Code>"):
      return CaravanError(.unavailable, "the object store did not wait for '\(path)'")
    case 400, 405, 411, 413, 414, 422:
      return CaravanError(.limitExceeded, "the object store refuses '\(path)' (\(status)): \(words)")
    case 401, 403:
      return CaravanError(.notAuthenticated, "the object store refuses its credentials (\(status)): \(words)")
    case 429, 503: return CaravanError(.serverBusy, "the object store is busy (\(status))")
    default: return CaravanError(.unavailable, "the object store failed with \(status): \(words)")
    }
  }
}
