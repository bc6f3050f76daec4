import CaravanModel
import CaravanQuery
import Foundation
import Testing

private typealias Value = CaravanModel.Value

/// Goal: the page about the query language says what the language does. Method: every expression in a table of the page
/// is parsed and bound to the record that the page describes, and evaluated where the page says what comes out.
@Suite struct PageTests {
  private static let type = RecordType(
    id: 1, definition: 1, name: "photos",
    fields: [
      FieldDefinition(id: 1, name: "name", kind: .text), FieldDefinition(id: 2, name: "date", kind: .integer),
      FieldDefinition(id: 3, name: "size", kind: .real), FieldDefinition(id: 4, name: "hash", kind: .data),
      FieldDefinition(id: 5, name: "note", kind: .text), FieldDefinition(id: 6, name: "photo", kind: .object),
      FieldDefinition(id: 7, name: "place", kind: .location),
      FieldDefinition(id: 8, name: "tags", kind: .text, isList: true),
    ])

  private static func row() throws -> RecordFields {
    RecordFields([
      1: .text("Snow on the Fjord"), 2: .integer(5), 3: .real(2.5), 4: .data([1, 0, 255]),
      7: .location(try Location(latitude: 62.4723, longitude: 6.1549)), 8: .list([.text("snow"), .text("Fjord")]),
    ])
  }

  /// A row of a table whose first cell is an expression.
  private struct Line {
    let text: String
    let says: String
  }

  /// - Returns: the rows of tables that begin with the column "expression".
  private static func lines(_ page: String) -> [Line] {
    var (isInside, found): (Bool, [Line]) = (false, [])
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("| expression |") { isInside = true }
      if !line.hasPrefix("|") { isInside = false }
      guard isInside, let match = line.firstMatch(of: /^\| `(.+?)` \| (\w+|`\w+`).* \|$/) else { continue }
      found.append(Line(text: String(match.output.1), says: match.output.2.filter { $0 != "`" }))
    }
    return found
  }

  /// What the language says of the page's record: an answer, or the code with which the text is refused.
  private static func answer(_ text: String) throws -> String {
    do {
      let expression = try ExpressionText(text).bound(to: type) { _, _ throws(CaravanError) in .null }
      switch expression.truth(of: try row()) {
      case .yes: return "yes"
      case .no: return "no"
      case .unknown: return "unknown"
      }
    } catch let error as CaravanError {
      return error.code.rawValue
    }
  }

  private static func page() throws -> String {
    let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..").standardized
    return try String(contentsOf: root.appendingPathComponent("Shared/Values/Query/README.md"), encoding: .utf8)
  }

  @Test("CK-80: every expression on the page comes out as the page says")
  func page() throws {
    let lines = Self.lines(try Self.page())
    #expect(lines.count > 55, "the tables were not found")
    for line in lines { #expect(try Self.answer(line.text) == line.says, "\(line.text)") }
  }

  @Test("a page that says something else is found")
  func canary() throws {
    let lines = Self.lines("| expression | answer |\n|---|---|\n| `date = 5` | no | x |\n\n| `date = 4` | no |\n")
    #expect(lines.map(\.text) == ["date = 5"])
    #expect(try Self.answer(lines[0].text) != lines[0].says)
  }

  @Test("the page names every word of the language, and every limit with its figure")
  func complete() throws {
    let page = try Self.page()
    for word in ["IN", "BETWEEN", "LIKE", "IS", "MATCH", "CONTAINS", "NEAR", "WITHIN"] {
      #expect(page.contains(" \(word) "), "\(word)")
    }
    let limits = [
      "queryTextBytes": Limits.queryTextBytes, "queryArguments": Limits.queryArguments,
      "queryDepth": Limits.queryDepth, "queryListItems": Limits.queryListItems,
      "queryPatternBytes": Limits.queryPatternBytes, "predicateTerms": Limits.predicateTerms,
      "queryRows": Limits.queryRows,
    ]
    for (name, value) in limits {
      let line = page.split(separator: "\n").first { $0.hasSuffix("| `\(name)` |") } ?? ""
      let figure = Int(line.dropFirst(2).prefix { $0.isNumber || $0 == "," }.filter { $0 != "," })
      #expect(figure == value, "\(name)")
    }
  }
}
