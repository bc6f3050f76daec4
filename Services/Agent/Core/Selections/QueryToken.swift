import CaravanModel

/// A word of an expression, as SQLite tells them apart (https://sqlite.org/src/file/src/tokenize.c).
enum QueryToken: Hashable {
  /// In lower case.
  case word(String)
  /// In double quotes.
  case name(String)
  case text(String)
  case integer(String)
  case real(Double)
  /// Which one of the `?`, from 0.
  case argument(Int)
  case symbol(String)
  /// Nothing that is looked into.
  case other

  static let comparisons: [String: Comparison] = [
    "=": .equal, "==": .equal, "<>": .notEqual, "!=": .notEqual, "<": .less, "<=": .lessOrEqual, ">": .greater,
    ">=": .greaterOrEqual,
  ]

  /// Where a column may stand, these are none.
  static let reserved: Set<String> = [
    "and", "between", "case", "cast", "collate", "current_date", "current_time", "current_timestamp", "else", "end",
    "escape", "exists", "false", "glob", "in", "is", "isnull", "like", "match", "not", "notnull", "null", "or", "raise",
    "regexp", "then", "true", "when",
  ]

  private static let symbols: Set<String> = [
    "(", ")", ",", "-", "=", "==", "<>", "!=", "<", "<=", ">", ">=",
  ]

  static func all(in text: String) -> [QueryToken] {
    var scanner = TokenScanner(bytes: Array(text.utf8))
    var tokens: [QueryToken] = []
    while let token = scanner.next() { tokens.append(token) }
    return tokens
  }

  fileprivate static func symbol(of text: String) -> QueryToken { symbols.contains(text) ? .symbol(text) : .other }
}

private struct TokenScanner {
  let bytes: [UInt8]
  private var position = 0
  private var arguments = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func next() -> QueryToken? {
    while position < bytes.count, [0x20, 0x09, 0x0a, 0x0c, 0x0d].contains(bytes[position]) { position += 1 }
    guard position < bytes.count else { return nil }
    let byte = bytes[position]
    switch byte {
    case UInt8(ascii: "'"): return .text(quoted())
    case UInt8(ascii: "\""): return .name(quoted())
    case UInt8(ascii: "?"):
      position += 1
      arguments += 1
      return .argument(arguments - 1)
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."): return number()
    case _ where Self.isOfWord(byte): return .word(run(while: Self.isOfWord).lowercased())
    case _ where Self.isOfOperator(byte): return QueryToken.symbol(of: run(while: Self.isOfOperator))
    default:
      position += 1
      return QueryToken.symbol(of: String(UnicodeScalar(byte)))
    }
  }

  /// Up to the closing quote; two of them stand for one.
  private mutating func quoted() -> String {
    let quote = bytes[position]
    var content: [UInt8] = []
    position += 1
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == quote {
        guard position < bytes.count, bytes[position] == quote else { break }
        position += 1
      }
      content.append(byte)
    }
    return String(decoding: content, as: UTF8.self)
  }

  /// Digits, or what may stand for a real.
  private mutating func number() -> QueryToken {
    var text = run { Self.isOfWord($0) || $0 == UInt8(ascii: ".") }
    if text.utf8.last.map({ $0 | 0x20 }) == UInt8(ascii: "e"), !text.lowercased().hasPrefix("0x"),
      position < bytes.count, bytes[position] == UInt8(ascii: "-") || bytes[position] == UInt8(ascii: "+")
    {
      text += String(UnicodeScalar(bytes[position]))
      position += 1
      text += run(while: Self.isOfWord)
    }
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    if text.utf8.allSatisfy(digits.contains) { return .integer(text) }
    let isPlain = text.utf8.allSatisfy { digits.contains($0) || ".eE+-".utf8.contains($0) }
    guard isPlain, text.utf8.contains(where: digits.contains), let number = Double(text), number.isFinite else {
      return .other
    }
    return .real(number)
  }

  private mutating func run(while isPart: (UInt8) -> Bool) -> String {
    let start = position
    while position < bytes.count, isPart(bytes[position]) { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xff:
      true
    default: false
    }
  }

  private static func isOfOperator(_ byte: UInt8) -> Bool { "<>=!|&~+*/%".utf8.contains(byte) }
}
