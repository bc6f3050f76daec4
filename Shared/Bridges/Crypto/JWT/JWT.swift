internal import CaravanEncoding

/// A NATS JWT, version 2: claims signed by an nkey (nats-io/jwt, v2). A value of this type has a signature that holds;
/// who the issuer is, and whether the time is right, `isIssued(by:)` and `requireCurrent(at:)` say.
public struct JWT: Hashable, Sendable {
  /// Bytes of the longest token read: an account with some ten thousand revocations.
  public static let maximumByteCount = 1 << 20

  public let claims: JWTClaims
  /// Who signed.
  public let issuer: PublicNKey
  /// `jti`: base32 of the SHA-256 of the claims without it.
  public let id: String
  /// The three parts with dots between, as they travel.
  public let text: String

  static let header: JSON = ["typ": "JWT", "alg": "ed25519-nkey"]

  init(claims: JWTClaims, issuer: PublicNKey, id: String, text: String) {
    self.claims = claims
    self.issuer = issuer
    self.id = id
    self.text = text
  }

  /// Reads a token and verifies its signature. Claims unknown to `JWTClaims` are passed over.
  public init(verifying text: String) throws(CryptoError) {
    guard text.utf8.count <= Self.maximumByteCount else {
      throw CryptoError(.invalidToken, "JWT: \(text.utf8.count) bytes are more than \(Self.maximumByteCount)")
    }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3 else {
      throw CryptoError(.invalidToken, "JWT: three parts expected, found \(parts.count)")
    }
    let header = try ClaimReader(Self.parse(parts[0], part: "header"), path: "JWT header")
    guard try header.string("typ") == "JWT", try header.string("alg") == "ed25519-nkey" else {
      throw CryptoError(.invalidToken, "JWT header: typ 'JWT' and alg 'ed25519-nkey' expected")
    }
    let reader = try ClaimReader(Self.parse(parts[1], part: "claims"), path: "JWT claims")
    let issuer = try reader.key("iss")
    guard issuer.verify(try Self.bytes(parts[2], part: "signature"), over: Array("\(parts[0]).\(parts[1])".utf8)) else {
      throw CryptoError(.invalidSignature, "JWT: the signature of issuer \(issuer) does not hold")
    }
    let claims = try JWTClaims(reader)
    try claims.requireIssuer(issuer)
    self.init(claims: claims, issuer: issuer, id: try reader.string("jti"), text: text)
  }

  /// Whether one of these keys signed it: an account and its signing keys, for a user.
  public func isIssued(by keys: [PublicNKey]) -> Bool { keys.contains(issuer) }

  /// Throws `.expired` from `claims.expires` on. `now` in Unix seconds.
  public func requireCurrent(at now: Int64) throws(CryptoError) {
    guard let expires = claims.expires, now >= expires else { return }
    throw CryptoError(.expired, "JWT of '\(claims.name)': expired \(now - expires) s ago; ask its issuer for a new one")
  }

  private static func bytes(_ text: String, part: String) throws(CryptoError) -> [UInt8] {
    do { return try Base64.decodeURL(text) } catch { throw CryptoError(.invalidToken, "JWT \(part): \(error)") }
  }

  private static func parse(_ text: String, part: String) throws(CryptoError) -> JSON {
    let bytes = try bytes(text, part: part)
    do { return try JSON.parse(bytes) } catch { throw CryptoError(.invalidToken, "JWT \(part): \(error)") }
  }
}

extension JWT: CustomStringConvertible {
  /// Never the token, which may be all a bearer needs.
  public var description: String { "JWT(\(claims.subject.kind) '\(claims.name)', \(claims.subject))" }
}
