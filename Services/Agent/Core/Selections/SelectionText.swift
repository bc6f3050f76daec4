public import CaravanModel

/// The WHERE text of an app, checked before SQLite sees it: `name = ? AND (date > ? OR photo IS NULL)`.
///
/// The text is put between parentheses into a statement of ours, so the one thing it must never do is leave them: no
/// unbalanced parenthesis, no comment, no second statement, no unfinished literal. Which tables, columns and functions
/// it may use is SQLite's authorizer's business; what it may cost is the progress limit's.
public struct SelectionText: Sendable, Hashable {
  public static let maximumBytes = 8 << 10
  public static let maximumArguments = 100
  /// SQLite evaluates nested expressions recursively.
  public static let maximumDepth = 64

  public let text: String
  /// `?` in the text.
  public let arguments: Int

  /// - Parameter columns: names that may stand in double quotes. SQLite would take any other quoted name as a text.
  /// - Throws: `invalidData` with the position (in bytes, from 1) and what is wrong there.
  public init(_ text: String, columns: Set<String>) throws(CaravanError) {
    guard text.utf8.count <= Self.maximumBytes else {
      throw CaravanError(
        .limitExceeded, "the selection has \(text.utf8.count) bytes: the limit is \(Self.maximumBytes), use arguments")
    }
    var scanner = Scanner(bytes: Array(text.utf8), columns: Set(columns.map { $0.lowercased() }))
    try scanner.scan()
    guard scanner.arguments <= Self.maximumArguments else {
      throw CaravanError(
        .limitExceeded, "the selection has \(scanner.arguments) arguments: the limit is \(Self.maximumArguments)")
    }
    self.text = text
    arguments = scanner.arguments
  }
}

private struct Scanner {
  let bytes: [UInt8]
  let columns: Set<String>
  var position = 0
  var depth = 0
  var arguments = 0
  var isEmpty = true

  mutating func scan() throws(CaravanError) {
    while position < bytes.count {
      let byte = bytes[position]
      if ![0x20, 0x09, 0x0a, 0x0d].contains(byte) { isEmpty = false }
      switch byte {
      case 0x00: throw refusal("a NUL character is not allowed")
      case UInt8(ascii: "'"): _ = try literal(closing: byte, "text")
      case UInt8(ascii: "\""): try quotedName()
      case UInt8(ascii: "`"), UInt8(ascii: "["): throw refusal("write a column's name plain or in double quotes")
      case UInt8(ascii: "("): try open()
      case UInt8(ascii: ")"): try close()
      case UInt8(ascii: ";"): throw refusal("';' is not allowed: a selection is one expression")
      case UInt8(ascii: "-") where next == byte, UInt8(ascii: "/") where next == UInt8(ascii: "*"):
        throw refusal("comments are not allowed")
      case UInt8(ascii: "?"): try argument()
      case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "#"):
        throw refusal("arguments are written '?', nothing else is known here")
      default: position += 1
      }
    }
    guard depth == 0 else { throw refusal("\(depth) '(' are not closed") }
    guard !isEmpty else { throw refusal("it is empty: leave the selection out to take every row") }
  }

  private var next: UInt8? { position + 1 < bytes.count ? bytes[position + 1] : nil }

  private mutating func open() throws(CaravanError) {
    depth += 1
    guard depth <= SelectionText.maximumDepth else {
      throw refusal("more than \(SelectionText.maximumDepth) '(' within each other: simplify it")
    }
    position += 1
  }

  private mutating func close() throws(CaravanError) {
    guard depth > 0 else { throw refusal("')' without its '('") }
    depth -= 1
    position += 1
  }

  private mutating func argument() throws(CaravanError) {
    if let next, (0x30...0x39).contains(next) { throw refusal("numbered arguments are not allowed: write '?'") }
    arguments += 1
    position += 1
  }

  private mutating func quotedName() throws(CaravanError) {
    let start = position
    let name = try literal(closing: UInt8(ascii: "\""), "name")
    guard columns.contains(name.lowercased()) else {
      position = start
      throw refusal("there is no column \"\(name.prefix(80))\": texts stand in single quotes, or better, as '?'")
    }
  }

  /// Up to the closing quote; two of them stand for one.
  private mutating func literal(closing quote: UInt8, _ kind: String) throws(CaravanError) -> String {
    let start = position
    var content: [UInt8] = []
    position += 1
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == 0 { break }
      guard byte == quote else {
        content.append(byte)
        continue
      }
      guard position < bytes.count, bytes[position] == quote else { return String(decoding: content, as: UTF8.self) }
      content.append(quote)
      position += 1
    }
    position = start
    throw refusal("the \(kind) that begins here has no end")
  }

  private func refusal(_ message: String) -> CaravanError {
    CaravanError(.invalidData, "selection, position \(position + 1): \(message)")
  }
}
