public import CaravanCrypto
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
