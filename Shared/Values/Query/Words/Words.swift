// The standard library decomposes texts itself; its only public way to that is through Foundation, which values do not
// import.
@_spi(_Unicode) internal import Swift

/// The words of a text as text search knows them: cut where something other than letters, marks and numbers stands,
/// and folded, so that `Ångström`, `ANGSTROM` and `angstrom` are one word.
///
/// Folding decomposes (NFD), drops the combining marks of Latin, Greek and Cyrillic letters (U+0300 to U+036F), and
/// maps each letter to the lower case of its upper case, which makes `ß` two letters `s`. Ideographs and kana are words
/// of their own, as no spaces stand between words there; so a phrase of them is found anywhere in a text.
public struct Words: Sequence, IteratorProtocol {
  private var scalars: Array<Unicode.Scalar>.Iterator
  private var ahead: Unicode.Scalar?

  public init(_ text: String) {
    scalars = Array(text._nfd).makeIterator()
    ahead = scalars.next()
  }

  public mutating func next() -> String? {
    var word = String.UnicodeScalarView()
    while let scalar = ahead {
      let role = Role(scalar)
      if role == .separator || role == .word, !word.isEmpty { break }
      ahead = scalars.next()
      switch role {
      case .separator, .dropped: continue
      case .word:
        word.append(scalar)
        return String(word)
      case .letter: Self.fold(scalar, into: &word)
      }
    }
    return word.isEmpty ? nil : String(word)
  }

  private enum Role {
    case letter
    /// A word by itself.
    case word
    /// Part of a letter that folding leaves out.
    case dropped
    case separator

    init(_ scalar: Unicode.Scalar) {
      switch scalar.value {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: self = .letter
      case 0..<0x80: self = .separator
      case 0x300...0x36f: self = .dropped
      // Hiragana and katakana.
      case 0x3041...0x3096, 0x30a1...0x30fa, 0x31f0...0x31ff: self = .word
      default:
        self =
          switch scalar.properties.generalCategory {
          case _ where scalar.properties.isIdeographic: .word
          case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
            .letter
          default: .separator
          }
      }
    }
  }

  private static func fold(_ scalar: Unicode.Scalar, into word: inout String.UnicodeScalarView) {
    if scalar.isASCII {
      let isUpper = (0x41...0x5a).contains(scalar.value)
      return word.append(isUpper ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar)
    }
    for upper in scalar.properties.uppercaseMapping.unicodeScalars {
      word.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
    }
  }
}
