public import CaravanModel

/// A line of a file, cut into words as a shell does it: at blanks, outside of quotes.
public enum LineWords {
  /// - Returns: nothing for an empty line and for a comment, which begins with `#`.
  /// - Throws: `invalidData` when a quote is not closed, or nothing follows a backslash.
  public static func split(_ line: String) throws(CaravanError) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var rest = line[...]
    while let character = rest.popFirst() {
      switch (character, quote) {
      case (quote, .some): quote = nil
      case ("\\", nil), ("\\", "\""):
        guard let next = rest.popFirst() else {
          throw CaravanError(.invalidData, "the line ends with a backslash: write '\\\\' for one")
        }
        word = (word ?? "") + String(next)
      case (_, .some): word?.append(character)
      case ("'", nil), ("\"", nil): (quote, word) = (character, word ?? "")
      case ("#", nil) where words.isEmpty && word == nil: return []
      case (_, nil) where character.isWhitespace:
        if let word { words.append(word) }
        word = nil
      case (_, nil): word = (word ?? "") + String(character)
      }
    }
    guard quote == nil else { throw CaravanError(.invalidData, "a quote is not closed: \(line.prefix(80))") }
    words += word.map { [$0] } ?? []
    assert(
      words.reduce(0) { $0 + $1.unicodeScalars.count } <= line.unicodeScalars.count, "words hold more than the line")
    return words
  }
}
