public import CaravanModel

/// Cuts a text into tokens where SQLite cuts it (https://sqlite.org/src/file/src/tokenize.c): what a device gives to
/// SQLite is judged by these tokens before.
public struct Lexer {
  private let bytes: [UInt8]
  private let subject: String
  private var position = 0
  private var arguments = 0

  private init(_ text: String, _ subject: String) {
    bytes = Array(text.utf8)
    self.subject = subject
  }

  /// Every token, `end` last.
  /// - Parameter subject: what errors call the text.
  /// - Throws: `invalidData` with the position, for a literal without an end, a comment or a NUL character;
  ///   `limitExceeded` beyond `Limits.queryTextBytes` and `Limits.queryArguments`.
  public static func tokens(of text: String, subject: String) throws(CaravanError) -> [Token] {
    guard text.utf8.count <= Limits.queryTextBytes else {
      throw CaravanError(
        .limitExceeded,
        "the \(subject) has \(text.utf8.count) bytes: the limit is \(Limits.queryTextBytes), use arguments")
    }
    var lexer = Lexer(text, subject)
    var tokens: [Token] = []
    // As many as there can be: an array that grows takes three times as much while it does.
    tokens.reserveCapacity(lexer.bytes.count + 1)
    repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
    guard lexer.arguments <= Limits.queryArguments else {
      throw CaravanError(
        .limitExceeded, "the \(subject) has \(lexer.arguments) arguments: the limit is \(Limits.queryArguments)")
    }
    return tokens
  }

  private func refusal(_ message: String, at place: Int? = nil) -> CaravanError {
    CaravanError(.invalidData, "\(subject), position \((place ?? position) + 1): \(message)")
  }

  // MARK: Tokens

  private func peek(_ ahead: Int = 0) -> UInt8? { position + ahead < bytes.count ? bytes[position + ahead] : nil }

  private mutating func next() throws(CaravanError) -> Token {
    while let byte = peek(), [0x20, 0x09, 0x0a, 0x0c, 0x0d].contains(byte) { position += 1 }
    let start = position
    return Token(kind: try scan(), start: start)
  }

  private mutating func scan() throws(CaravanError) -> Token.Kind {
    guard let byte = peek() else { return .end }
    switch byte {
    case 0: throw refusal("a NUL character is not allowed")
    case UInt8(ascii: "'"): return .text(try quoted("text"))
    case UInt8(ascii: "\""): return .name(try quoted("name"))
    case UInt8(ascii: "x") where peek(1) == UInt8(ascii: "'"), UInt8(ascii: "X") where peek(1) == UInt8(ascii: "'"):
      return .data(try data())
    case UInt8(ascii: "?"):
      position += 1
      arguments += 1
      return .argument(arguments - 1)
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."): return number()
    // A byte order mark is a space to SQLite where a token begins.
    case 0xef where peek(1) == 0xbb && peek(2) == 0xbf: return .stray(take(3))
    case UInt8(ascii: "$"): return .stray(take(1))
    case _ where Self.isOfWord(byte): return .word(run(while: Self.isOfWord))
    default: return try sign()
    }
  }

  private mutating func take(_ count: Int) -> String {
    defer { position += count }
    return String(decoding: bytes[position..<position + count], as: UTF8.self)
  }

  private mutating func run(while isPart: (UInt8) -> Bool) -> String {
    let start = position
    while let byte = peek(), isPart(byte) { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    (0x61...0x7a).contains(byte | 0x20) || isDigit(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
      || byte >= 0x80
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  // MARK: Signs

  private static let long = ["->>", "<=", "<>", "<<", ">=", ">>", "==", "!=", "||", "->"]

  private mutating func sign() throws(CaravanError) -> Token.Kind {
    let two = String(decoding: bytes[position..<min(position + 2, bytes.count)], as: UTF8.self)
    guard two != "--", two != "/*" else { throw refusal("comments are not allowed") }
    let three = String(decoding: bytes[position..<min(position + 3, bytes.count)], as: UTF8.self)
    let text = take(Self.long.first { three.hasPrefix($0) }?.utf8.count ?? 1)
    if let relation = Relation.signs[text] { return .relation(relation) }
    switch text {
    case "(": return .open
    case ")": return .close
    case ",": return .comma
    case "-": return .minus
    case "+", "*", "/", "%", "&", "|", "~", "<<", ">>", "||", "->", "->>": return .foreign(text)
    default: return .stray(text)
    }
  }

  // MARK: Numbers

  /// Digits, or what may stand for a real.
  private mutating func number() -> Token.Kind {
    var text = run { Self.isOfWord($0) || $0 == UInt8(ascii: ".") }
    if text.utf8.last.map({ $0 | 0x20 }) == UInt8(ascii: "e"), !text.lowercased().hasPrefix("0x"),
      let sign = peek(), sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+")
    {
      text += take(1) + run(while: Self.isOfWord)
    }
    if text.utf8.allSatisfy(Self.isDigit) { return .integer(digits: text) }
    let isPlain = text.utf8.allSatisfy { Self.isDigit($0) || ".eE+-".utf8.contains($0) }
    guard isPlain, text.utf8.contains(where: Self.isDigit), let number = Double(text), number.isFinite else {
      return .foreign(text)
    }
    return .real(number)
  }

  // MARK: Literals

  /// Up to the closing quote; two of them stand for one.
  private mutating func quoted(_ kind: String) throws(CaravanError) -> String {
    let (start, quote) = (position, bytes[position])
    var content: [UInt8] = []
    position += 1
    while let byte = peek() {
      if byte == 0 { break }
      position += 1
      guard byte == quote else {
        content.append(byte)
        continue
      }
      guard peek() == quote else { return String(decoding: content, as: UTF8.self) }
      content.append(quote)
      position += 1
    }
    throw refusal("the \(kind) that begins here has no end", at: start)
  }

  private mutating func data() throws(CaravanError) -> [UInt8] {
    let start = position
    position += 2
    var data: [UInt8] = []
    while let high = peek().flatMap(Self.nibble), let low = peek(1).flatMap(Self.nibble) {
      data.append(high << 4 | low)
      position += 2
    }
    guard peek() == UInt8(ascii: "'") else {
      throw refusal("data are written x'00ff': pairs of hexadecimal digits in single quotes", at: start)
    }
    position += 1
    return data
  }

  private static func nibble(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
      (byte | 0x20) - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
