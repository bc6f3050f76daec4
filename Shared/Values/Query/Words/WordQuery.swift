public import CaravanModel

/// What `MATCH` looks for: words, `"several words in this order"`, and beginnings of words with a `*` behind them. What
/// is cut into several words (`e-mail`) is looked for as a phrase.
public struct WordQuery: Sendable, Hashable {
  /// Words that follow each other in the text.
  public struct Phrase: Sendable, Hashable {
    public let words: [String]
    /// The last word may go on in the text.
    public let isPrefix: Bool
  }

  public let phrases: [Phrase]
  /// How many of the phrases have to be there.
  public let quantity: Quantity

  /// - Throws: `invalidData` for a quote without its end, and where no word is left; `limitExceeded` beyond
  ///   `Limits.queryPatternBytes` and `Limits.queryPrefixes`.
  public init(_ text: String, _ quantity: Quantity) throws(CaravanError) {
    guard text.utf8.count <= Limits.queryPatternBytes else {
      throw CaravanError(
        .limitExceeded, "a text query has \(text.utf8.count) bytes: the limit is \(Limits.queryPatternBytes)")
    }
    var phrases: [Phrase] = []
    var rest = text.unicodeScalars[...]
    while let first = rest.first {
      if first.properties.isWhitespace || first == "*" {
        rest.removeFirst()
        continue
      }
      let part: Substring.UnicodeScalarView
      if first == "\"" {
        rest.removeFirst()
        guard let end = rest.firstIndex(of: "\"") else {
          throw CaravanError(.invalidData, "a text query has a '\"' without its end: close it")
        }
        part = rest[..<end]
        rest = rest[rest.index(after: end)...]
      } else {
        part = rest.prefix { !$0.properties.isWhitespace && $0 != "\"" && $0 != "*" }
        rest = rest[part.endIndex...]
      }
      let words = Array(Words(String(part)))
      guard !words.isEmpty else { continue }
      let phrase = Phrase(words: words, isPrefix: rest.first == "*")
      if !phrases.contains(phrase) { phrases.append(phrase) }
    }
    let prefixes = phrases.count(where: \.isPrefix)
    guard prefixes <= Limits.queryPrefixes else {
      throw CaravanError(
        .limitExceeded,
        "a text query has \(prefixes) beginnings of words: the limit is \(Limits.queryPrefixes), as each is looked for "
          + "in all words there are")
    }
    guard !phrases.isEmpty else {
      throw CaravanError(.invalidData, "a text query '\(text.prefix(80))' has no word: write a letter or a number")
    }
    self.phrases = phrases
    self.quantity = quantity
  }

  /// Whether the text has what is looked for. Each of its words is compared with the beginnings of phrases, each of
  /// their other words with what comes next: at most the text's words by the query's.
  public func matches(_ text: String) -> Bool {
    let words = Array(Words(text))
    let isIn = { (phrase: Phrase) in words.indices.contains { phrase.stands(at: $0, in: words) } }
    return quantity == .all ? phrases.allSatisfy(isIn) : phrases.contains(where: isIn)
  }
}

extension WordQuery.Phrase {
  fileprivate func stands(at start: Int, in text: [String]) -> Bool {
    guard start + words.count <= text.count else { return false }
    for (place, word) in zip(start..., words.dropLast()) where text[place] != word { return false }
    let (last, found) = (words[words.count - 1], text[start + words.count - 1])
    // Of folded texts the bytes are compared: a letter with a mark of another script is not that letter.
    return isPrefix ? found.utf8.starts(with: last.utf8) : found == last
  }
}
