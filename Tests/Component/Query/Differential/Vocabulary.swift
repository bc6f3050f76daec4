import CaravanModel
import CaravanTestKit

/// Words and phrases that are looked for, and what they come to.
struct SoughtWords {
  struct Phrase {
    let words: [String]
    /// The last may go on.
    let isPrefix: Bool
  }

  /// As it is asked.
  let text: String
  let phrases: [Phrase]
}

/// Texts of which is known, by hand, which words they have when they are cut and folded. So the oracle needs no rules
/// for that, and cannot share a fault with the product's.
enum Vocabulary {
  /// Without spaces in them.
  static let pieces: [(text: String, words: [String])] = [
    ("snow", ["snow"]), ("Snow", ["snow"]), ("SNÖ", ["sno"]), ("sno\u{308}", ["sno"]), ("snowing", ["snowing"]),
    ("Straße", ["strasse"]), ("STRASSE", ["strasse"]), ("straßen", ["strassen"]), ("e-mail", ["e", "mail"]),
    ("Ångström", ["angstrom"]), ("angst", ["angst"]), ("東京", ["東", "京"]), ("京都", ["京", "都"]),
    ("カナ", ["カ", "ナ"]), ("Ёлка", ["елка"]), ("ёлка", ["елка"]), ("ΟΔΟΣ", ["οδοσ"]), ("οδός", ["οδοσ"]),
    ("1984", ["1984"]), ("fjord", ["fjord"]), ("Fjord", ["fjord"]), ("it's", ["it", "s"]), ("a_b", ["a", "b"]),
    ("\u{fb01}n", ["fin"]), ("fin", ["fin"]), ("İstanbul", ["istanbul"]), ("½", ["½"]), ("the", ["the"]),
    ("on", ["on"]), ("a", ["a"]), ("b", ["b"]), ("\"", []), ("—", []), ("🙂", []), ("100%", ["100"]),
  ]
  static let separators = [" ", "  ", ", ", "\n", "/", " \u{b7} "]
  /// Of one word that none of the pieces begins with.
  static let other = "w"
  /// Beginnings of words, as they are asked for.
  private static let beginnings = ["s", "sn", "snow", "STRA", "ang", "e", "ел", "οδ", "19", "fj", "東", "i", "z"]
  private static let folded = ["STRA": "stra"]

  static func sought(_ chance: Chance) -> SoughtWords {
    var texts: [String] = []
    var phrases: [SoughtWords.Phrase] = []
    for _ in 0...chance.below(3) {
      let piece = chance.pick(pieces.filter { !$0.words.isEmpty })
      switch chance.below(5) {
      case 0:
        let beginning = chance.pick(beginnings)
        texts.append(beginning + "*")
        phrases.append(.init(words: [folded[beginning] ?? beginning], isPrefix: true))
      case 1:
        let next = chance.pick(pieces.filter { !$0.words.isEmpty })
        let isPrefix = chance.below(3) == 0
        texts.append("\"\(piece.text) \(next.text)\"\(isPrefix ? "*" : "")")
        phrases.append(.init(words: piece.words + next.words, isPrefix: isPrefix))
      default:
        texts.append(piece.text)
        phrases.append(.init(words: piece.words, isPrefix: false))
      }
    }
    return SoughtWords(text: texts.joined(separator: " "), phrases: phrases)
  }
}

/// A text and its words.
struct KnownText {
  let text: String
  let words: [String]

  init(_ text: String, _ words: [String]) {
    self.text = text
    self.words = words
  }

  /// A few pieces of the vocabulary.
  init(_ chance: Chance) {
    var (text, words) = ("", [String]())
    for place in 0..<chance.below(7) {
      let piece = chance.pick(Vocabulary.pieces)
      text += (place == 0 ? "" : chance.pick(Vocabulary.separators)) + piece.text
      words += piece.words
    }
    self.init(text, words)
  }

  /// With more words than an index takes.
  static func long(_ chance: Chance, words count: Int) -> KnownText {
    let last = chance.pick(Vocabulary.pieces)
    return KnownText(
      String(repeating: "\(Vocabulary.other) ", count: count) + last.text,
      Array(repeating: Vocabulary.other, count: count) + last.words)
  }

  /// Those whose bytes are looked at: neighbours in the order of bytes, wildcards, and texts around the length of which
  /// a key holds no more.
  static let edges: [KnownText] = {
    let base = String(repeating: "k", count: 1_020)
    let long = ["", "kk", "kka", "kkb", "kkka", "kkkb", "kka%", "kkkk\u{e9}"].map { KnownText(base + $0, []) }
    return long.map { KnownText($0.text, [words(of: $0.text)]) } + [
      KnownText("", []), KnownText("a", ["a"]), KnownText("ab", ["ab"]), KnownText("abc", ["abc"]),
      KnownText("b", ["b"]), KnownText("A", ["a"]), KnownText("\u{e9}", ["e"]), KnownText("e\u{301}", ["e"]),
      KnownText("\u{e9}2", ["e2"]), KnownText("z\u{10ffff}", ["z"]), KnownText("z", ["z"]),
      KnownText("it's; --", ["it", "s"]), KnownText("%", []), KnownText("_", []),
      KnownText("\u{ffff}", []), KnownText("a_c", ["a", "c"]), KnownText("a%c", ["a", "c"]),
    ]
  }()

  private static func words(of long: String) -> String {
    long.replacing("%", with: "").replacing("\u{e9}", with: "e")
  }
}

/// Where all that is random comes from.
final class Chance {
  private var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
  func pick<Element>(_ list: [Element]) -> Element { list[below(list.count)] }
  func number(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &random) }
  func shuffled<Element>(_ list: [Element]) -> [Element] { list.shuffled(using: &random) }
}
