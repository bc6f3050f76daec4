internal import CaravanEncoding

/// The content of a creds file: a user's token and the seed that proves it is its own.
public struct Credentials: Hashable, Sendable {
  public let jwt: JWT
  public let key: NKey

  /// Throws if the token is not about that key.
  public init(jwt: JWT, key: NKey) throws(CryptoError) {
    guard case .user = jwt.claims.body, jwt.claims.subject == key.publicKey else {
      throw CryptoError(
        .invalidToken, "credentials: the token is about \(jwt.claims.subject), the seed belongs to \(key.publicKey)")
    }
    self.jwt = jwt
    self.key = key
  }

  /// Tells these credentials from others, and gives nothing away: 32 hexadecimal digits of the token's SHA-256.
  public var digest: String {
    Hex.encode(Array(SHA256.hash(Array(jwt.text.utf8)).bytes.prefix(16)))
  }

  private static let tokenTitle = "NATS USER JWT"
  private static let seedTitle = "USER NKEY SEED"

  /// Reads what `rendered` or the `nsc` tool wrote; the token's signature must hold.
  public init(parsing text: String) throws(CryptoError) {
    try self.init(
      jwt: JWT(verifying: Self.block(Self.tokenTitle, of: text)), key: NKey(seed: Self.block(Self.seedTitle, of: text)))
  }

  /// The file's text. It holds a secret: mode 0600.
  public var rendered: String {
    """
    -----BEGIN \(Self.tokenTitle)-----
    \(jwt.text)
    ------END \(Self.tokenTitle)------

    -----BEGIN \(Self.seedTitle)-----
    \(key.seedText)
    ------END \(Self.seedTitle)------

    """
  }

  /// The one line between `-----BEGIN title-----` and the dashes that end it.
  private static func block(_ title: String, of text: String) throws(CryptoError) -> String {
    let lines = text.split(whereSeparator: \.isNewline)
    guard let begin = lines.firstIndex(of: "-----BEGIN \(title)-----"), begin + 2 < lines.count,
      lines[begin + 2].hasPrefix("-----")
    else {
      throw CryptoError(.invalidToken, "credentials: no block '-----BEGIN \(title)-----' with one line in it")
    }
    return String(lines[begin + 1])
  }
}

extension Credentials: CustomStringConvertible {
  /// Neither token nor seed.
  public var description: String { "Credentials(\(jwt))" }
}
