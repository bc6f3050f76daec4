public import CaravanModel

/// The WHERE text of an app, checked before SQLite sees it: `name = ? AND (date > ? OR photo IS NULL)`.
///
/// The text is put between parentheses into a statement of ours, so the one thing it must never do is leave them: no
/// unbalanced parenthesis, no comment, no second statement, no unfinished literal. Which tables, columns and functions
/// it may use is SQLite's authorizer's business; what it may cost is the progress limit's.
public struct SelectionText: Sendable, Hashable {
  public let text: String
  /// `?` in the text.
  public let arguments: Int

  /// - Parameter columns: names that may stand in double quotes. SQLite would take any other quoted name as a text.
  /// - Throws: `invalidData` with the position (in bytes, from 1) and what is wrong there; `limitExceeded`.
  public init(_ text: String, columns: Set<String>) throws(CaravanError) {
    let tokens = try Lexer.tokens(of: text, subject: "selection")
    var check = Check(columns: Set(columns.map { $0.lowercased() }))
    for token in tokens { try check.take(token) }
    self.text = text
    arguments = tokens.count { if case .argument = $0.kind { true } else { false } }
  }
}

private struct Check {
  let columns: Set<String>
  private var depth = 0
  private var isEmpty = true
  /// Where the last token ends, if it is a `?`.
  private var endOfArgument: Int?

  init(columns: Set<String>) { self.columns = columns }

  mutating func take(_ token: Token) throws(CaravanError) {
    defer { endOfArgument = if case .argument = token.kind { token.start + 1 } else { nil } }
    switch token.kind {
    case .open:
      depth += 1
      guard depth <= Limits.queryDepth else {
        throw refusal(token, "more than \(Limits.queryDepth) '(' within each other: simplify it")
      }
    case .close:
      guard depth > 0 else { throw refusal(token, "')' without its '('") }
      depth -= 1
    case .name(let name):
      guard columns.contains(name.lowercased()) else {
        throw refusal(
          token, "there is no column \"\(name.prefix(80))\": texts stand in single quotes, or better, as '?'")
      }
    case .stray(let text): throw refusal(token, Self.complaint(text))
    case .word(let word) where word.contains("$"): throw refusal(token, Self.complaint("$"))
    case .end:
      guard depth == 0 else { throw refusal(token, "\(depth) '(' are not closed") }
      guard !isEmpty else { throw refusal(token, "it is empty: leave the selection out to take every row") }
    case .integer, .real, .foreign:
      guard endOfArgument != token.start else {
        throw refusal(token, "numbered arguments are not allowed: write '?'")
      }
    case .word, .text, .data, .argument, .relation, .comma, .minus: break
    }
    isEmpty = false
  }

  private static func complaint(_ text: String) -> String {
    switch text {
    case "`", "[": "write a column's name plain or in double quotes"
    case ";": "';' is not allowed: a selection is one expression"
    case ":", "@", "$", "#": "arguments are written '?', nothing else is known here"
    default: "'\(text)' is no part of an expression"
    }
  }

  private func refusal(_ token: Token, _ message: String) -> CaravanError {
    CaravanError(.invalidData, "selection, position \(token.start + 1): \(message)")
  }
}
