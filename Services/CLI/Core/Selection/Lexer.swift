internal import CaravanModel

/// A token of a WHERE text, with its position in bytes from 1.
struct Token: Equatable {
  enum Kind: Equatable {
    case name(String)
    /// `'it''s'`, without its quotes.
    case text(String)
    case number(String)
    /// `= != <> < <= > >=`
    case comparison(String)
    case placeholder
    case open, close, comma
    /// Anything else: a lone character.
    case other(Character)
    case end
  }

  let kind: Kind
  let position: Int
}

extension Token.Kind {
  /// As an error shows it.
  var description: String {
    switch self {
    case .name(let text), .number(let text), .comparison(let text): "'\(text)'"
    case .text(let text): "'\(text)'"
    case .placeholder: "'?'"
    case .open: "'('"
    case .close: "')'"
    case .comma: "','"
    case .other(let character): "'\(character)'"
    case .end: "the end"
    }
  }
}

/// Cuts a WHERE text into tokens.
struct Lexer {
  private let bytes: [UInt8]
  private var position = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  /// Every token, `end` last.
  /// - Throws: `invalidData` when a text has no end.
  static func tokens(of text: String) throws(CaravanError) -> [Token] {
    var lexer = Lexer(text)
    var tokens: [Token] = []
    repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
    return tokens
  }

  private mutating func next() throws(CaravanError) -> Token {
    while let byte = peek, byte == 0x20 || (0x09...0x0d).contains(byte) { position += 1 }
    let start = position
    let kind = try scan()
    return Token(kind: kind, position: start + 1)
  }

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func scan() throws(CaravanError) -> Token.Kind {
    guard let byte = peek else { return .end }
    switch byte {
    case UInt8(ascii: "'"): return .text(try quoted(by: byte))
    case UInt8(ascii: "\""): return .name(try quoted(by: byte))
    case UInt8(ascii: "?"): return single(.placeholder)
    case UInt8(ascii: "("): return single(.open)
    case UInt8(ascii: ")"): return single(.close)
    case UInt8(ascii: ","): return single(.comma)
    case UInt8(ascii: "="), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "!"):
      return .comparison(run { [0x3c, 0x3d, 0x3e, 0x21].contains($0) })
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."):
      return .number(run { Self.isNameByte($0) || [0x2d, 0x2b, 0x2e].contains($0) })
    case _ where Self.isNameByte(byte): return .name(run(Self.isNameByte))
    default: return other()
    }
  }

  private mutating func single(_ kind: Token.Kind) -> Token.Kind {
    position += 1
    return kind
  }

  private mutating func other() -> Token.Kind {
    let rest = String(decoding: bytes[position...], as: UTF8.self)
    let character = rest.first ?? " "
    position += character.utf8.count
    return .other(character)
  }

  private mutating func run(_ belongs: (UInt8) -> Bool) -> String {
    let start = position
    while let byte = peek, belongs(byte) { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  /// Two quotes within stand for one.
  private mutating func quoted(by quote: UInt8) throws(CaravanError) -> String {
    let start = position
    var content: [UInt8] = []
    position += 1
    while let byte = peek {
      position += 1
      guard byte == quote else {
        content.append(byte)
        continue
      }
      guard peek == quote else { return String(decoding: content, as: UTF8.self) }
      content.append(quote)
      position += 1
    }
    throw CaravanError(.invalidData, "--where, position \(start + 1): the text that begins here has no end")
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (0x61...0x7a).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == 0x5f || byte >= 0x80
  }
}
