internal import CaravanEncoding

/// What a NATS JWT says. The kind of the subject's key and the body always agree.
public struct JWTClaims: Hashable, Sendable {
  public enum Body: Hashable, Sendable {
    case `operator`(OperatorClaims)
    case account(AccountClaims)
    case user(UserClaims)
  }

  /// Whom it is about.
  public var subject: PublicNKey
  /// For people; for a scoped user also what `{{name()}}` stands for.
  public var name: String
  /// Unix seconds.
  public var issuedAt: Int64
  /// Unix seconds from which it is void; nil: never.
  public var expires: Int64?
  public var body: Body

  public init(subject: PublicNKey, name: String, issuedAt: Int64, expires: Int64? = nil, _ body: Body) {
    self.subject = subject
    self.name = name
    self.issuedAt = issuedAt
    self.expires = expires
    self.body = body
  }

  /// The value of a user's tag `user:`; nil: it has none, or these are not about a user.
  public var userTag: String? {
    if case .user(let user) = body { user.tag("user") } else { nil }
  }

  /// Deterministic: the same claims and key give the same token.
  public func sign(with issuer: NKey) throws(CryptoError) -> JWT {
    try validate()
    try requireIssuer(issuer.publicKey)
    var payload = json(issuer: issuer.publicKey)
    let id = Base32.encode(SHA256.hash(JSON.object(payload).encodedBytes()).bytes)
    payload["jti"] = .string(id)
    let signed =
      Base64.encodeURL(JWT.header.encodedBytes()) + "." + Base64.encodeURL(JSON.object(payload).encodedBytes())
    let signature = try issuer.sign(Array(signed.utf8))
    return JWT(
      claims: self, issuer: issuer.publicKey, id: id, text: "\(signed).\(Base64.encodeURL(signature))")
  }
}

// MARK: Rules

extension JWTClaims {
  /// Operators sign operators and accounts, accounts sign users.
  func requireIssuer(_ issuer: PublicNKey) throws(CryptoError) {
    let expected: NKeyKind =
      switch body {
      case .operator, .account: .operator
      case .user: .account
      }
    guard issuer.kind == expected else {
      throw CryptoError(
        .invalidToken, "JWT of '\(name)': an \(expected) must sign \(subject.kind) claims, not an \(issuer.kind)")
    }
  }

  func validate() throws(CryptoError) {
    let kind: NKeyKind =
      switch body {
      case .operator: .operator
      case .account: .account
      case .user: .user
      }
    guard subject.kind == kind else {
      throw CryptoError(.invalidToken, "JWT of '\(name)': \(kind) claims about an \(subject.kind) key")
    }
    guard case .user(let user) = body, user.authority == .scoped else { return }
    guard user.issuerAccount != nil else {
      throw CryptoError(.invalidToken, "JWT of '\(name)': a scoped user must name its issuer account")
    }
    // The broker pastes name and tag values into the template's subjects, where a `*` is a wildcard and a `.` makes two
    // tokens; it folds the case of tags; of two tags with one key it grants both; without the tag it ends (2.9.10).
    let tags = user.tags.map { $0.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) }
    let keys = tags.map { String($0[0]) }
    guard keys.contains("user"), Set(keys).count == keys.count else {
      throw CryptoError(.invalidToken, "JWT of '\(name)': a scoped user has one tag 'user:', and each tag once")
    }
    for token in [name] + keys + tags.map({ $0.count == 2 ? String($0[1]) : "" }) {
      guard !token.isEmpty, token.utf8.allSatisfy(Self.isTokenCharacter) else {
        throw CryptoError(
          .invalidToken,
          "JWT of '\(name)': '\(token)' must be one subject token of lower-case letters, digits, '-' and '_'")
      }
    }
  }

  private static func isTokenCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }
}

// MARK: JSON

extension JWTClaims {
  private func json(issuer: PublicNKey) -> JSON.Object {
    var object: JSON.Object = [
      "iat": .int(issuedAt), "iss": issuer.json, "name": .string(name), "sub": subject.json, "nats": nats,
    ]
    object["exp"] = expires.map { .int($0) }
    return object
  }

  private var nats: JSON {
    var (type, object) =
      switch body {
      case .operator(let claims): ("operator", claims.json)
      case .account(let claims): ("account", claims.json)
      case .user(let claims): ("user", claims.json)
      }
    object["type"] = .string(type)
    object["version"] = 2
    return .object(object)
  }

  init(_ reader: ClaimReader) throws(CryptoError) {
    let nats = try reader.object("nats")
    guard try nats.integer("version") == 2 else {
      throw CryptoError(.invalidToken, "\(nats.path): version 2 expected")
    }
    let body: Body
    switch try nats.string("type") {
    case "operator": body = .operator(try OperatorClaims(nats))
    case "account": body = .account(try AccountClaims(nats))
    case "user": body = .user(try UserClaims(nats))
    case let type:
      throw CryptoError(.invalidToken, "\(nats.path).type: operator, account or user expected, found '\(type)'")
    }
    self.init(
      subject: try reader.key("sub"), name: try reader.optionalString("name") ?? "",
      issuedAt: try reader.integer("iat"), expires: try reader.optionalInteger("exp"), body)
    try validate()
  }
}
