public import CaravanCrypto
internal import CaravanEncoding
public import CaravanModel
public import CaravanRuntime

extension NKey {
  /// A seed's file.
  /// - Throws: `invalidData` naming the file.
  public static func reading(_ path: String) throws(CaravanError) -> NKey {
    let line = try TextFile.firstLine(path)
    do { return try NKey(seed: line) } catch {
      throw CaravanError(.invalidData, "key file '\(path)': \(error.message)")
    }
  }
}

extension P256PrivateKey {
  /// What the key that signs Web Push messages is called in a directory of keys.
  public static let vapidFile = "vapid.key"

  /// As the file holds it: base64url, as other programs that send Web Push write it, and a line's end.
  public var fileText: String { Base64.encodeURL(bytes) + "\n" }

  /// - Throws: `invalidData` naming the file.
  public static func reading(_ path: String) throws(CaravanError) -> P256PrivateKey {
    let line = try TextFile.firstLine(path)
    guard let bytes = try? Base64.decodeURL(line), let key = try? P256PrivateKey(bytes) else {
      throw CaravanError(.invalidData, "'\(path)' holds no key of P-256 in base64url: is it the right file?")
    }
    return key
  }
}

extension Credentials {
  /// The account they belong to.
  public var account: PublicNKey {
    if case .user(let user) = jwt.claims.body, let account = user.issuerAccount { return account }
    return jwt.issuer
  }
}

extension TextFile {
  /// The first line without white space around it.
  /// - Throws: `invalidData` naming the file, also when there is nothing in it.
  public static func firstLine(_ path: String) throws(CaravanError) -> String {
    let words = try read(path).prefix { !$0.isNewline }.split(whereSeparator: \.isWhitespace)
    guard words.count == 1 else {
      throw CaravanError(.invalidData, "'\(path)' does not begin with a line of one word: is it the right file?")
    }
    return String(words[0])
  }
}
